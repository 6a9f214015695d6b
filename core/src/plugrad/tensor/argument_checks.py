"""Check arguments: real numbers, tensors, the dtypes of real functions."""

from collections.abc import Iterable
from typing import Any, TypeVar

from plugrad.dtype import DType, dtypes, is_complex, is_float, sum_acc_dtype
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor.base import TensorBase

T = TypeVar("T")


def real_number(value: T, name: str) -> T:
    """Return a number as it is."""
    if isinstance(value, (int, float)):
        return value
    # what a number of NumPy holds: neither an array, nor a number of dates
    number: Any = getattr(value, "item", None) if not hasattr(value, "__len__") else None
    if callable(number) and not isinstance(value, type) and isinstance(number := number(), (int, float)):
        return number  # pyright: ignore[reportReturnType]
    raise ArgumentError(f"{name}={value!r:.60} ({type(value).__name__}) is no number. Pass one.")


def require_tensors(**given: Any) -> None:
    """Raise DtypeError for arguments that are no tensors, naming their parameters."""
    for name, value in given.items():
        if not isinstance(value, TensorBase):
            raise DtypeError(f"{name}={value!r:.60} ({type(value).__name__}) is no tensor. Pass one.")


def require_optional_tensors(**given: Any) -> None:
    """Raise DtypeError for arguments that are neither tensors nor None."""
    require_tensors(**{name: value for name, value in given.items() if value is not None})


def check_tensors(given: Iterable[object], what: str = "operation") -> None:
    """Raise DtypeError for values that are no tensors."""
    for one in given:
        if not isinstance(one, TensorBase):
            raise DtypeError(f"{what} of {one!r:.200} ({type(one).__name__}). Pass tensors: Tensor(data).")


def float_dtypes(x: TensorBase) -> tuple[DType, DType]:
    """Return the dtype of a float result and the dtype to accumulate in.

    Example:
        >>> float_dtypes(Tensor([1]).cast(dtypes.float16))
        (dtypes.float16, dtypes.float32)
    """
    refuse_complex(x.dtype)
    dtype = x.dtype if is_float(x.dtype) else dtypes.default_float
    return dtype, sum_acc_dtype(dtype)


def refuse_complex(dtype: DType) -> None:
    """Raise DtypeError for complex numbers, in a function of real ones."""
    if is_complex(dtype):
        raise DtypeError(
            "operation of complex numbers: it takes real ones. Take .real, .imag or .abs() first."
        )
