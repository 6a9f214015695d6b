"""The four layouts of floats in a byte, and Python floats to and from them.

Source: OCP 8-bit Floating Point Specification (2023), section 5, for e4m3 and e5m2; ONNX operators
documentation, "Float stored in 8 bits", for the variants fnuz (finite, no negative zero).
"""

import math
from typing import Literal

from plugrad._frozen import frozen

Special = Literal["ieee", "fn", "fnuz"]


@frozen
class Float8Layout:
    """One layout: a sign bit, exponent bits, and `fraction_bits` of the significand.

    Attributes:
        fraction_bits: stored bits of the significand.
        bias: of the exponent.
        largest_code: the code of the largest number.
        special: what is no number. "ieee": infinity and NaN have the highest exponent, and what is too large
            is infinite. "fn": NaN is all ones, and what is too large becomes the largest number. "fnuz": NaN
            is where -0.0 would be, and what is too large becomes it.
    """

    fraction_bits: int
    bias: int
    largest_code: int
    special: Special

    @property
    def nan_code(self) -> int:
        """The code of NaN, without a sign."""
        return 0x80 if self.special == "fnuz" else 0x7F

    @property
    def overflow_code(self) -> int:
        """The code that numbers above the largest one get, without their sign."""
        return {"ieee": 0x7C, "fn": self.largest_code, "fnuz": 0x80}[self.special]

    @property
    def smallest_exponent(self) -> int:
        """The power of two that the code 1 stands for."""
        return 1 - self.bias - self.fraction_bits

    @property
    def largest(self) -> float:
        """The largest number."""
        return self.decode(self.largest_code)

    def decode(self, code: int) -> float:
        """Return the number with the bits `code`.

        Example:
            >>> E4M3.decode(0x7E), E5M2.decode(0xFC)
            (448.0, -inf)
        """
        size = code & 0x7F
        sign = -1.0 if code & 0x80 else 1.0
        is_nan = code == 0x80 if self.special == "fnuz" else size > self.overflow_code
        if is_nan:
            return math.nan
        if size > self.largest_code:
            return sign * math.inf
        field, fraction = size >> self.fraction_bits, size & ((1 << self.fraction_bits) - 1)
        digits = fraction + (1 << self.fraction_bits if field else 0)
        return sign * math.ldexp(digits, self.smallest_exponent + max(field - 1, 0))

    def encode(self, value: float) -> int:
        """Return the bits of the nearest number, ties to even.

        Example:
            >>> E4M3.encode(1.0625), E4M3.encode(1e9), E5M2.encode(1e9)
            (56, 126, 124)
        """
        if math.isnan(value):
            return self.nan_code
        size = self._encode_size(abs(value))
        if self.special == "fnuz" and size in (0, self.nan_code):
            return size
        return size | (0x80 if math.copysign(1.0, value) < 0 else 0)

    def _encode_size(self, size: float) -> int:
        if size == 0.0 or math.isinf(size):
            return self.overflow_code if size else 0
        lowest = self.smallest_exponent + self.fraction_bits
        exponent = max(math.frexp(size)[1] - 1, lowest)
        # the steps of the format, in which the exponent field goes on counting where digits overflow
        steps = round(math.ldexp(size, self.fraction_bits - exponent))
        code = steps + ((exponent - lowest) << self.fraction_bits)
        return code if code <= self.largest_code else self.overflow_code


E4M3 = Float8Layout(3, 7, 0x7E, "fn")
E5M2 = Float8Layout(2, 15, 0x7B, "ieee")
E4M3_FNUZ = Float8Layout(3, 8, 0x7F, "fnuz")
E5M2_FNUZ = Float8Layout(2, 16, 0x7F, "fnuz")
