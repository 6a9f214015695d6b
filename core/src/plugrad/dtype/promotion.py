"""The dtype in which others meet, that of Python numbers, and that of sums."""

from functools import cache

from plugrad.dtype.elements import FLOAT8, complex_dtype, dtypes
from plugrad.dtype.kinds import is_bool, is_complex, is_float, is_int, is_unsigned
from plugrad.dtype.types import DType
from plugrad.errors import DtypeError


def from_py(value: object) -> DType:
    """Return the default dtype of a Python scalar.

    Raises:
        DtypeError: `value` is no number.

    Example:
        >>> from_py(2.5)
        dtypes.float32
    """
    if isinstance(value, bool):
        return dtypes.bool
    if isinstance(value, int):
        return dtypes.default_int
    if isinstance(value, float):
        return dtypes.default_float
    if isinstance(value, complex):
        return complex_dtype(dtypes.default_float)
    raise DtypeError(f"cannot make an element of {value!r} ({type(value).__name__}): pass a number.")


# One signed step up for each unsigned type; no integer holds both int64 and uint64, so those meet in float32
# as in the promotion tables of JAX (jax.readthedocs.io, "Type promotion semantics").
_SIGNED_ABOVE = {
    dtypes.uint8: dtypes.int16,
    dtypes.uint16: dtypes.int32,
    dtypes.uint32: dtypes.int64,
    dtypes.uint64: dtypes.default_float,
}


def _join(a: DType, b: DType) -> DType:
    if a is b:
        return a
    if a.priority > b.priority:
        a, b = b, a
    if is_complex(b):
        return dtypes.complex128 if a is dtypes.float64 else b
    if b in FLOAT8 and a in FLOAT8:
        return dtypes.float16
    if is_float(b):
        return dtypes.float32 if (a, b) == (dtypes.float16, dtypes.bfloat16) else b
    if is_bool(a) or a is dtypes.index or a.kind == b.kind:
        return b
    unsigned, signed = (a, b) if is_unsigned(a) else (b, a)
    return signed if signed.itemsize > unsigned.itemsize else _SIGNED_ABOVE[unsigned]


@cache
def least_upper_dtype(*given: DType) -> DType:
    """Return the narrowest dtype that all of `given` promote to, by the lattice of `plugrad.dtype`.

    Example:
        >>> least_upper_dtype(dtypes.int8, dtypes.uint8)
        dtypes.int16
    """
    out = given[0]
    for dtype in given[1:]:
        out = _join(out, dtype)
    return out


def sum_acc_dtype(dtype: DType) -> DType:
    """Return the accumulator dtype of matrix products: the same kind, at least 32 bits.

    Example:
        >>> sum_acc_dtype(dtypes.int8), sum_acc_dtype(dtypes.float16)
        (dtypes.int32, dtypes.float32)
    """
    if is_unsigned(dtype):
        return least_upper_dtype(dtype, dtypes.uint32)
    if is_int(dtype) or is_bool(dtype):
        return least_upper_dtype(dtype, dtypes.int32)
    return least_upper_dtype(dtype, dtypes.float32)


def sum_dtype(dtype: DType) -> DType:
    """Return the dtype of sums and products, 64 bits for integers and bools.

    Floats are added up in `sum_acc_dtype`, and the result is rounded to what they were.

    Example:
        >>> sum_dtype(dtypes.int8), sum_dtype(dtypes.uint8), sum_dtype(dtypes.float16)
        (dtypes.int64, dtypes.uint64, dtypes.float32)
    """
    if is_unsigned(dtype):
        return dtypes.uint64
    return dtypes.int64 if is_int(dtype) or is_bool(dtype) else sum_acc_dtype(dtype)
