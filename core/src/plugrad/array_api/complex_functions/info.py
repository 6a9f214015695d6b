"""Dtypes, some of them complex: `plugrad.array_api` says what the functions do."""

from plugrad.array_api import info as real_info
from plugrad.array_api.complex_functions.creation import asarray
from plugrad.array_api.complex_functions.operands import AnyDType
from plugrad.array_api.complexes.array import Array, Complex
from plugrad.array_api.complexes.dtypes import (
    ComplexDType,
    complex_of,
    default_complex,
)
from plugrad.dtype import DType, element_dtype, is_bool, is_float, least_upper_dtype
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor
from plugrad.tensor.base import promoted

__all__ = ["FUNCTIONS"]

_KINDS = ("complex floating", "numeric")


def astype(x: Array, dtype: AnyDType, /, *, copy: bool = True, device: str | None = None) -> Complex:
    if isinstance(x, Complex):
        return asarray(x.cast(dtype), device=device, copy=True if copy and x.dtype is dtype else None)  # pyright: ignore
    return asarray(x, dtype=dtype, device=device)


def can_cast(from_: "AnyDType | Array", to: AnyDType, /) -> bool:
    source, target = _dtype_of(from_), _dtype_of(to)
    if not isinstance(target, ComplexDType):
        return False
    if isinstance(source, ComplexDType):
        return source.itemsize <= target.itemsize
    # integers go into no floats here, nor in `can_cast` of real ones
    return is_bool(source) or (
        is_float(source) and least_upper_dtype(source, target.component) is target.component
    )


def _dtype_of(x: "AnyDType | Array") -> AnyDType:
    if isinstance(x, ComplexDType):
        return x
    return x.dtype if isinstance(x, (Complex, Tensor)) else element_dtype(x)


def finfo(type: "AnyDType | Array", /) -> real_info.FloatInfo:
    dtype = _dtype_of(type)
    return real_info.finfo(dtype.component if isinstance(dtype, ComplexDType) else dtype)


def isdtype(dtype: AnyDType, kind: "AnyDType | str | tuple[AnyDType | str, ...]") -> bool:
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, ComplexDType) or (isinstance(kind, DType) and isinstance(dtype, ComplexDType)):
        return dtype is kind
    if isinstance(dtype, ComplexDType):
        # asked of a real dtype, which knows all kinds
        real_info.isdtype(dtype.component, kind)
        return kind in _KINDS
    return real_info.isdtype(dtype, kind)


def result_type(*arrays_and_dtypes: "Array | AnyDType | bool | int | float | complex") -> ComplexDType:
    strong = [
        _dtype_of(x) for x in arrays_and_dtypes if isinstance(x, (Complex, Tensor, DType, ComplexDType))
    ]
    weak = [x for x in arrays_and_dtypes if not isinstance(x, (Complex, Tensor, DType, ComplexDType))]
    for x in weak:
        if not isinstance(x, (bool, int, float, complex)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DtypeError(
                f"result_type of {x!r:.60} ({type(x).__name__}): pass arrays, dtypes and numbers."
            )
    if not strong:
        return default_complex()
    components = [x.component if isinstance(x, ComplexDType) else x for x in strong]
    return complex_of(promoted([*(Tensor(0, dtype=x) for x in components), *(x.real for x in weak)]))


#: The functions.
FUNCTIONS = (astype, can_cast, finfo, isdtype, result_type)
