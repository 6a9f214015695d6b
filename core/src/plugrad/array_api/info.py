"""Dtypes and capabilities of this namespace."""

from typing import Any

from plugrad.array_api.methods import check_keeps_imaginary
from plugrad.device import Device
from plugrad.dtype import DType, Number, complex_dtype, dtypes, element_dtype, least_upper_dtype
from plugrad.errors import ArgumentError, DtypeError
from plugrad.limits import FloatInfo, IntInfo
from plugrad.tensor import Tensor
from plugrad.tensor.base import promoted
from plugrad.tensor.shapes import is_one_of

__all__ = [
    "SUPPORTED_VERSIONS",
    "__array_namespace_info__",
    "astype",
    "can_cast",
    "finfo",
    "iinfo",
    "isdtype",
    "result_type",
]

SUPPORTED_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")

_SIGNED = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
_UNSIGNED = (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64)
_REAL = (dtypes.float32, dtypes.float64)
_COMPLEX = (dtypes.complex64, dtypes.complex128)
_KINDS: dict[str, tuple[DType, ...]] = {
    "bool": (dtypes.bool,),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED + _UNSIGNED,
    "real floating": (dtypes.float16, dtypes.bfloat16, *_REAL),
    "complex floating": _COMPLEX,
    "numeric": (*_SIGNED, *_UNSIGNED, dtypes.float16, dtypes.bfloat16, *_REAL, *_COMPLEX),
}


def _dtype_of(x: "DType | Tensor") -> DType:
    return x.dtype if isinstance(x, Tensor) else element_dtype(x)


def finfo(type: "DType | Tensor", /) -> FloatInfo:
    """Return the limits of a float dtype; of a complex one, those of its parts.

    Raises:
        DtypeError: it is none, or one of a byte.

    Example:
        >>> finfo(dtypes.float16).max
        65504.0
    """
    return dtypes.finfo(_dtype_of(type))


def iinfo(type: "DType | Tensor", /) -> IntInfo:
    """Return the limits of an integer dtype.

    Raises:
        DtypeError: it is none.

    Example:
        >>> iinfo(dtypes.int8).min
        -128
    """
    return dtypes.iinfo(_dtype_of(type))


def isdtype(dtype: DType, kind: "DType | str | tuple[DType | str, ...]") -> bool:
    """Return whether a dtype is of a kind, such as "integral", or one of several.

    Raises:
        ArgumentError: there is no such kind.

    Example:
        >>> isdtype(dtypes.int8, "integral")
        True
    """
    dtype = element_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, DType):
        return dtype is kind
    if not is_one_of(kind, _KINDS):
        raise ArgumentError(f"isdtype of kind {kind!r:.60}: pass one of {', '.join(map(repr, _KINDS))}.")
    return dtype in _KINDS[kind]


def result_type(*arrays_and_dtypes: "Tensor | DType | Number") -> DType:
    """Return the dtype in which arrays, dtypes and Python numbers meet.

    Raises:
        ArgumentError: nothing was passed.
        DtypeError: something is none of these.

    Example:
        >>> result_type(dtypes.int8, dtypes.uint8)
        dtypes.int16
    """
    if not arrays_and_dtypes:
        raise ArgumentError("result_type of nothing: pass at least one array or dtype.")
    for x in arrays_and_dtypes:
        if not isinstance(x, (Tensor, DType, bool, int, float, complex)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DtypeError(
                f"result_type of {x!r:.60} ({type(x).__name__}): pass arrays, dtypes and numbers."
            )
    given = [Tensor(0, dtype=x) if isinstance(x, DType) else x for x in arrays_and_dtypes]
    return promoted(given)


def can_cast(from_: "DType | Tensor", to: DType, /) -> bool:
    """Say whether promotion leads from one dtype to the other.

    Example:
        >>> can_cast(dtypes.int8, dtypes.int16), can_cast(dtypes.float32, dtypes.int64)
        (True, False)
    """
    source, to = _dtype_of(from_), element_dtype(to)
    kinds = [dtype.kind.removeprefix("u") for dtype in (source, to)]
    if kinds[0] not in (kinds[1], "bool") and kinds != ["float", "complex"]:
        return False
    return least_upper_dtype(source, to) is to


def astype(x: Tensor, dtype: DType, /, *, copy: bool = True, device: str | None = None) -> Tensor:
    """Return the values in another dtype, in memory of their own if `copy` is set.

    Raises:
        DtypeError: complex numbers are to become real ones.

    Example:
        >>> astype(Tensor([1, 2]), dtypes.float32).tolist()
        [1.0, 2.0]
    """
    check_keeps_imaginary(x, dtype)
    out = x.cast(dtype).to(device)
    return out.contiguous() if copy and out is x else out


class NamespaceInfo:
    """Result of `__array_namespace_info__`."""

    def capabilities(self) -> dict[str, Any]:
        """Return the optional features of the standard that this namespace has."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> str:
        """Return the device of arrays that are made without one."""
        return Device.DEFAULT

    def default_dtypes(self, *, device: str | None = None) -> dict[str, DType]:
        """Return the dtypes of Python numbers, and of positions."""
        return {
            "real floating": dtypes.default_float,
            "complex floating": complex_dtype(dtypes.default_float),
            "integral": dtypes.default_int,
            "indexing": dtypes.default_int,
        }

    def devices(self) -> list[str]:
        """Return the devices available without further installation: the default and the host."""
        return list(dict.fromkeys([Device.DEFAULT, "PYTHON"]))

    def dtypes(
        self, *, device: str | None = None, kind: "str | tuple[str, ...] | None" = None
    ) -> dict[str, DType]:
        """Return the dtypes of the standard, by name, of some kinds or all."""
        known = (dtypes.bool, *_SIGNED, *_UNSIGNED, *_REAL, *_COMPLEX)
        return {d.name: d for d in known if kind is None or isdtype(d, kind)}


def __array_namespace_info__() -> NamespaceInfo:
    """Return the capabilities of this namespace.

    Example:
        >>> sorted(__array_namespace_info__().dtypes(kind="real floating"))
        ['float32', 'float64']
    """
    return NamespaceInfo()
