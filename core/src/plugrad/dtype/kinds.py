"""The kind of a dtype, and its lowest and highest value."""

import math

from plugrad.dtype.types import ConstType, DType
from plugrad.errors import DtypeError

# What a cast of infinity gives NaN for: the formats of a byte with neither infinities nor -0.0.
_LARGEST = {"fp8e4m3fnuz": 240.0, "fp8e5m2fnuz": 57344.0}


def is_float(dtype: DType) -> bool:
    """Say whether `dtype` holds floating-point values.

    Example:
        >>> is_float(dtypes.bfloat16), is_float(dtypes.int8)
        (True, False)
    """
    return dtype.kind == "float"


def is_complex(dtype: DType) -> bool:
    """Say whether `dtype` holds complex numbers.

    Example:
        >>> is_complex(dtypes.complex64), is_complex(dtypes.float32)
        (True, False)
    """
    return dtype.kind == "complex"


def is_inexact(dtype: DType) -> bool:
    """Say whether `dtype` holds floats or complex numbers: values that have gradients.

    Example:
        >>> is_inexact(dtypes.complex64), is_inexact(dtypes.float32), is_inexact(dtypes.int32)
        (True, True, False)
    """
    return dtype.kind == "float" or dtype.kind == "complex"


def is_int(dtype: DType) -> bool:
    """Say whether `dtype` holds integers, signed, unsigned or `index`.

    Example:
        >>> is_int(dtypes.uint8), is_int(dtypes.bool)
        (True, False)
    """
    return dtype.kind in ("int", "uint", "index")


def is_unsigned(dtype: DType) -> bool:
    """Say whether `dtype` holds unsigned integers.

    Example:
        >>> is_unsigned(dtypes.uint8), is_unsigned(dtypes.int8)
        (True, False)
    """
    return dtype.kind == "uint"


def is_bool(dtype: DType) -> bool:
    """Say whether `dtype` holds truth values.

    Example:
        >>> is_bool(dtypes.bool)
        True
    """
    return dtype.kind == "bool"


def dtype_min(dtype: DType) -> ConstType:
    """Return the lowest value of `dtype` (`-inf` for floats that have it).

    Raises:
        DtypeError: complex numbers have no order.

    Example:
        >>> dtype_min(dtypes.int8), dtype_min(dtypes.float32)
        (-128, -inf)
    """
    if is_float(dtype):
        return -_LARGEST.get(dtype.name, math.inf)
    if is_complex(dtype):
        raise _no_order(dtype)
    if is_bool(dtype):
        return False
    if is_unsigned(dtype):
        return 0
    return -(1 << (dtype.itemsize * 8 - 1))


def dtype_max(dtype: DType) -> ConstType:
    """Return the highest value of `dtype` (`inf` for floats that have it).

    Raises:
        DtypeError: complex numbers have no order.

    Example:
        >>> dtype_max(dtypes.int8), dtype_max(dtypes.float32)
        (127, inf)
    """
    if is_float(dtype):
        return _LARGEST.get(dtype.name, math.inf)
    if is_complex(dtype):
        raise _no_order(dtype)
    if is_bool(dtype):
        return True
    if is_unsigned(dtype):
        return (1 << (dtype.itemsize * 8)) - 1
    return (1 << (dtype.itemsize * 8 - 1)) - 1


def _no_order(dtype: DType) -> DtypeError:
    return DtypeError(f"{dtype.name} has no lowest and no highest value: complex numbers have no order.")
