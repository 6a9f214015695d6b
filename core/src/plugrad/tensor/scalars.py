"""Python numbers beside dtypes: range checks and promotion."""

import sys
from typing import Any

from plugrad.dtype import (
    ConstType,
    DType,
    Number,
    complex_dtype,
    dtype_max,
    dtype_min,
    dtypes,
    from_py,
    is_bool,
    is_complex,
    is_float,
    is_inexact,
    part_dtype,
)
from plugrad.errors import DtypeError

_LARGEST = sys.float_info.max


def check_element(value: Any, dtype: DType) -> Number:
    """Return `value` as a number that fits `dtype`, complex or real."""
    if is_complex(dtype):
        return value if isinstance(value, complex) else check_fits(value, part_dtype(dtype))
    return check_fits(value, dtype)


def check_fits(value: Any, dtype: DType) -> ConstType:
    """Return `value` as a number that fits the real `dtype`."""
    if not isinstance(value, (bool, int, float)):
        raise DtypeError(
            f"cannot make a {dtype.name} of {value!r:.200} ({type(value).__name__}). Pass a bool, int or "
            "float."
        )
    if is_bool(dtype):
        return value
    if is_float(dtype):
        if isinstance(value, int) and not -_LARGEST <= value <= _LARGEST:
            raise DtypeError(
                f"an integer of {value.bit_length()} bits is beyond every float. Pass a smaller one."
            )
        return value
    if value != value or value in (float("inf"), float("-inf")):
        raise DtypeError(f"{value} is no {dtype.name}. Use a float dtype.")
    if not dtype_min(dtype) <= int(value) <= dtype_max(dtype):
        # Python refuses to write down the longest integers
        text = f"an integer of {int(value).bit_length()} bits" if abs(value) >= 1 << 99 else str(value)
        raise DtypeError(
            f"{text} does not fit {dtype.name}, which holds {dtype_min(dtype)}..{dtype_max(dtype)}. "
            "Cast to a wider dtype first."
        )
    return int(value)


def scalar_dtype(value: Number, beside: DType) -> DType:
    """Return the result dtype of an operation on `beside` and a Python number.

    Python numbers are weak: they take the tensor's dtype where its kind can hold them. A complex number
    beside others gives their complex dtype, a float beside integers the default float, an int beside bools
    the default int.

    Example:
        >>> scalar_dtype(1, dtypes.float16), scalar_dtype(1.5, dtypes.int8)
        (dtypes.float16, dtypes.float32)
    """
    if isinstance(value, complex):
        return complex_dtype(beside)
    if isinstance(value, bool) or is_inexact(beside):
        return beside
    if isinstance(value, float):
        return dtypes.default_float
    return from_py(value) if is_bool(beside) else beside
