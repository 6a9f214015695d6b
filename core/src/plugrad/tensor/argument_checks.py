"""Check the dtypes of real functions."""

from plugrad.dtype import DType, dtypes, is_complex, is_float, sum_acc_dtype
from plugrad.errors import DtypeError
from plugrad.tensor.base import TensorBase


def float_dtypes(x: TensorBase) -> tuple[DType, DType]:
    """Return the dtype of a float result and the dtype to accumulate in.

    Example:
        >>> float_dtypes(Tensor([1]).cast(dtypes.float16))
        (dtypes.float16, dtypes.float32)
    """
    refuse_complex("a function", x.dtype)
    dtype = x.dtype if is_float(x.dtype) else dtypes.default_float
    return dtype, sum_acc_dtype(dtype)


def refuse_complex(what: str, dtype: DType) -> None:
    """Raise DtypeError for complex numbers, in a function of real ones."""
    if is_complex(dtype):
        raise DtypeError(f"{what} of complex numbers: it takes real ones. Take .real, .imag or .abs() first.")
