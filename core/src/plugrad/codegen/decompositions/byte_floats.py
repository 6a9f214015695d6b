"""Floats of a byte, converted by integer arithmetic and stored as uint8.

Arithmetic on them is widened to float32 first (see `small_floats`), so what is left are conversions from and
to float32, choices, and movement.
"""

from plugrad.codegen.decompositions.floats import FLOAT32, bits, magnitude
from plugrad.codegen.rebuild import rebuild
from plugrad.dtype import FLOAT8, DType, dtypes
from plugrad.float8 import Float8Layout
from plugrad.target import Capabilities
from plugrad.uop import Ops, PatternMatcher, UOp, UPat

_FLOAT32_NAN = 0x7FC00000
_FLOAT32_INFINITY = 0x7F800000


def to_float32(x: UOp, layout: Float8Layout) -> UOp:
    """Return the numbers that bytes stand for, as float32."""
    code = x.cast(dtypes.int32)
    size = code & 0x7F
    shift = FLOAT32.fraction_bits - layout.fraction_bits
    normal = (size << shift) + ((FLOAT32.bias - layout.bias) << FLOAT32.fraction_bits)
    subnormal = bits(size.cast(dtypes.float32) * 2.0**layout.smallest_exponent)
    out = (size < (1 << layout.fraction_bits)).where(subnormal, normal)
    if layout.special == "ieee":
        is_special = size > layout.largest_code
        out = is_special.where((size << shift) | _FLOAT32_INFINITY, out)
    if layout.special == "fn":
        out = size.eq(layout.nan_code).where(out.const_like(_FLOAT32_NAN), out)
    out = out | ((code & 0x80) << 24)
    if layout.special == "fnuz":
        out = code.eq(layout.nan_code).where(out.const_like(_FLOAT32_NAN), out)
    return out.bitcast(dtypes.float32)


def from_float32(x: UOp, layout: Float8Layout) -> UOp:
    """Return the bytes of the nearest numbers, ties to even."""
    a = magnitude(x)
    shift = FLOAT32.fraction_bits - layout.fraction_bits
    # half a step less one, and one more where the digit above is odd: what carries, carries into the exponent
    rounded = bits(a) + ((1 << (shift - 1)) - 1) + ((bits(a) >> shift) & 1)
    normal = (rounded >> shift) - ((FLOAT32.bias - layout.bias) << layout.fraction_bits)
    # the sum with a number whose last place is the smallest step rounds to a whole number of steps
    ruler = 2.0 ** (FLOAT32.fraction_bits + layout.smallest_exponent)
    subnormal = bits(a + ruler) - FLOAT32.bits_of(ruler)
    size = (a < 2.0 ** (1 - layout.bias)).where(subnormal, normal)
    size = (size > layout.largest_code).where(size.const_like(layout.overflow_code), size)
    size = x.ne(x).where(size.const_like(layout.nan_code), size)
    sign = (bits(x) >> 24) & 0x80
    if layout.special == "fnuz":
        sign = size.eq(0).where(sign.const_like(0), sign)
    return (size | sign).cast(dtypes.uint8)


def _table(dtype: DType, layout: Float8Layout) -> PatternMatcher:
    return PatternMatcher(
        (
            UPat(Ops.CAST, dtypes.float32, (UPat.var("x", dtype),)),
            lambda x: to_float32(x.bitcast(dtypes.uint8), layout),
        ),
        (
            UPat(Ops.CAST, dtype, (UPat.var("x", dtypes.float32),)),
            lambda x: from_float32(x, layout).bitcast(dtype),
        ),
    )


TABLES = {dtype: _table(dtype, layout) for dtype, layout in FLOAT8.items()}


def store_as_bytes(sink: UOp, capabilities: Capabilities) -> UOp:
    """Give what is left of such floats the dtype of their bits.

    before: STORE(INDEX(p, i), LOAD(INDEX(q, i))), p and q: fp8e4m3
    after:  the same, p and q: uint8
    """
    absent = {dtype for dtype in FLOAT8 if dtype not in capabilities.storage_dtypes}
    if all(u.dtype.scalar() not in absent for u in sink.toposort()):
        return sink

    def change(u: UOp) -> UOp | None:
        dtype = u.dtype.scalar()
        if dtype not in absent:
            return None
        as_bytes = dtypes.uint8.vec(u.dtype.count)
        if u.op is Ops.CONST:
            return UOp(Ops.CONST, as_bytes, (), FLOAT8[dtype].encode(u.arg))
        if u.op is Ops.BITCAST and u.src[0].dtype is as_bytes:
            return u.src[0]
        return UOp(u.op, as_bytes, u.src, u.arg, u.tag)

    return rebuild(sink, change)
