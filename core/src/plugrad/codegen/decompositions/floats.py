"""The layout of IEEE 754 floats, and what the decompositions do with their bits.

Nothing here relies on the order in which a compiler adds, or breaks when it fuses a product into a sum:
where a product has to be exact, its factors are short enough.
"""

import struct
from collections.abc import Sequence

from plugrad._frozen import frozen
from plugrad.dtype import DType, dtypes
from plugrad.uop import Ops, UOp


@frozen
class FloatFormat:
    """The layout of a float dtype.

    Attributes:
        dtype: the float. bits: the signed integer of the same size. digits: bits of the significand, the
        hidden one included. bias: of the exponent. low_half: how many low bits to clear for the high half
        of a value: the product of two such halves is exact.
    """

    dtype: DType
    bits: DType
    digits: int
    bias: int
    low_half: int

    @property
    def fraction_bits(self) -> int:
        """Stored bits of the significand."""
        return self.digits - 1

    @property
    def sign_mask(self) -> int:
        """The sign bit."""
        return -1 << (self.bits.itemsize * 8 - 1)

    @property
    def smallest_normal(self) -> float:
        """The smallest number above 0 with all its digits."""
        return 2.0 ** (1 - self.bias)

    def bits_of(self, value: float) -> int:
        """Return the bits of a constant."""
        code = {dtypes.float32: "<f", dtypes.float64: "<d"}[self.dtype]
        return int.from_bytes(struct.pack(code, value), "little", signed=True)


FLOAT32 = FloatFormat(dtypes.float32, dtypes.int32, 24, 127, 12)
FLOAT64 = FloatFormat(dtypes.float64, dtypes.int64, 53, 1023, 27)
FORMATS = {dtypes.float32: FLOAT32, dtypes.float64: FLOAT64}


def format_of(x: UOp) -> FloatFormat:
    """Return the layout of `x`'s dtype."""
    return FORMATS[x.dtype.scalar()]


def bits(x: UOp) -> UOp:
    """Return the bits of `x` as a signed integer."""
    return x.bitcast(format_of(x).bits)


def magnitude(x: UOp) -> UOp:
    """Return `x` without its sign."""
    return (bits(x) & ~format_of(x).sign_mask).bitcast(x.dtype)


def sign_bit(x: UOp) -> UOp:
    """Return the sign bit of `x`, all other bits clear."""
    return bits(x) & format_of(x).sign_mask


def high_half(x: UOp, spare: int = 0) -> UOp:
    """Return the upper half of the digits of `x`, less `spare`."""
    return (bits(x) & (-1 << (format_of(x).low_half + spare))).bitcast(x.dtype)


def split(value: float, more: float, layout: FloatFormat) -> tuple[float, float]:
    """Return the constant `value + more` as (high half, the rest rounded to the dtype)."""
    high = layout.bits_of(value) & (-1 << layout.low_half)
    code_int, code_float = ("<i", "<f") if layout is FLOAT32 else ("<q", "<d")
    upper: float = struct.unpack(code_float, struct.pack(code_int, high))[0]
    return upper, value - upper + more


def multiply_add(x: UOp, y: UOp | float, z: UOp) -> UOp:
    """Return `x * y + z`, rounded once where the target can."""
    return x.alu(Ops.MULACC, y if isinstance(y, UOp) else x.const_like(y), z)


def polynomial(x: UOp, coefficients: Sequence[float]) -> UOp:
    """Return the polynomial in `x` by Horner's rule, with fused steps where possible."""
    out = x.const_like(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        out = multiply_add(out, x, x.const_like(c))
    return out


def fraction_and_exponent(x: UOp) -> tuple[UOp, UOp]:
    """Return floats (m, e) with `x == m * 2**e`, for positive finite `x`.

    m is in [sqrt(1/2), sqrt(2)).
    """
    layout = format_of(x)
    tiny = x < layout.smallest_normal
    m, e = fraction_and_exponent_of_normal(tiny.where(x * 2.0**layout.digits, x))
    return m, e + tiny.where(e.const_like(-layout.digits), e.const_like(0.0))


def fraction_and_exponent_of_normal(x: UOp) -> tuple[UOp, UOp]:
    """Return `fraction_and_exponent` of a number that is not below the normal ones."""
    layout = format_of(x)
    # counted from sqrt(1/2), the exponent field steps where m does
    start = layout.bits_of(0.5**0.5)
    above = bits(x) - start
    m = ((above & ((1 << layout.fraction_bits) - 1)) + start).bitcast(x.dtype)
    # int32 converts to every float in vectors, int64 not on all machines
    return m, (above >> layout.fraction_bits).cast(dtypes.int32).cast(x.dtype)
