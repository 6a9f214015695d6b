"""The limits of element types, as NumPy and PyTorch report them."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from plugrad.dtype import DType

#: Bits of the fraction, least exponent of a normal number, largest exponent: IEEE 754-2019, table 3.5.
FLOAT_FORMATS = {
    "float16": (10, -14, 15),
    "bfloat16": (7, -126, 127),
    "float32": (23, -126, 127),
    "float64": (52, -1022, 1023),
}


class FloatInfo(NamedTuple):
    """The limits of a float dtype.

    Attributes:
        bits: its size.
        eps: the distance from 1 to the next number.
        max: the greatest number.
        min: the least number.
        smallest_normal: the least positive number of full precision.
        dtype: the dtype.
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: "DType"


class IntInfo(NamedTuple):
    """Limits of an integer dtype: bits, greatest and least number."""

    bits: int
    max: int
    min: int
    dtype: "DType"


def float_info(dtype: "DType") -> FloatInfo:
    """Return the limits of a float dtype of `FLOAT_FORMATS`.

    Example:
        >>> float_info(dtypes.float16).max
        65504.0
    """
    fraction, least, most = FLOAT_FORMATS[dtype.name]
    largest = (2.0 - 2.0**-fraction) * 2.0**most
    return FloatInfo(dtype.itemsize * 8, 2.0**-fraction, largest, -largest, 2.0**least, dtype)
