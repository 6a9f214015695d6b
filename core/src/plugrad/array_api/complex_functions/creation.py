"""Complex arrays made of shapes, numbers and other arrays: `plugrad.array_api` says what the functions do."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from plugrad._util import numpy as np
from plugrad.array_api import creation as real_creation
from plugrad.array_api.complex_functions.operands import AnyDType, is_complex
from plugrad.array_api.complexes.array import Array, Complex, as_complex
from plugrad.array_api.complexes.dtypes import ComplexDType, complex64, complex128, default_complex
from plugrad.array_api.complexes.host import holds_complex, pair_of_array
from plugrad.array_api.creation import Shape
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor import Tensor

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["CONVERSIONS", "FUNCTIONS", "is_about_complex"]


def is_about_complex(obj: Any, dtype: Any) -> bool:
    """Say whether `asarray` is asked for complex numbers, or given some."""
    return isinstance(dtype, ComplexDType) or _kind_of(obj) is not None


def asarray(
    obj: Any, /, *, dtype: AnyDType | None = None, device: str | None = None, copy: bool | None = None
) -> Complex:
    wanted = _complex_only(dtype, "asarray")
    if isinstance(obj, Complex):
        out = obj if device is None else obj.to_device(device)
        out = out if wanted is None else out.cast(wanted)
        if copy is False and out is not obj:
            raise ArgumentError(f"asarray(copy=False) of {obj!r}: another dtype or device needs a copy.")
        return _copied(out) if copy and out is obj else out
    if copy is False:
        raise ArgumentError(
            f"asarray(copy=False) of {obj!r:.60}: complex numbers lie in two pieces of memory. Let them be "
            "copied."
        )
    out = _made(obj, wanted, device)
    return out if wanted is None else out.cast(wanted)


def _copied(x: Complex) -> Complex:
    return Complex.of_parts(*(part.detach().contiguous() for part in x.parts()))


def _kind_of(obj: Any) -> str | None:
    """Return how an object holds complex numbers: as arrays of ours, or of the host; None if it does not."""
    if isinstance(obj, Complex):
        return "array"
    items: Any = obj
    if isinstance(obj, (list, tuple)) and any(_kind_of(item) == "array" for item in items):
        return "array"
    return "host" if holds_complex(obj) else None


def _made(obj: Any, wanted: ComplexDType | None, device: str | None) -> Complex:
    kind = _kind_of(obj)
    if kind is None:
        component = None if wanted is None else wanted.component
        return as_complex(real_creation.asarray(obj, device=device, dtype=component))
    if isinstance(obj, Complex):
        return obj if device is None else obj.to_device(device)
    if kind == "array":
        rows = [_made(item, wanted, device) for item in obj]
        widest = max((row.dtype for row in rows), key=lambda dtype: dtype.itemsize)
        stacked = zip(*(row.cast(widest).parts() for row in rows), strict=True)
        return Complex.of_parts(*(first.stack(*others) for first, *others in stacked))
    if isinstance(obj, memoryview) or hasattr(obj, "__array__"):
        return Complex.of_parts(*pair_of_array(np.asarray(obj), device))
    return Complex.of_parts(*pair_of_array(_listed(obj), device)).cast(wanted or _meeting(obj))


def _meeting(obj: Any) -> ComplexDType:
    """Return the dtype in which the arrays in nested lists meet; numbers alone take the default dtype."""
    kinds = [dtype for dtype in _dtypes_in(obj) if dtype.kind in "fc"]
    if not kinds:
        return default_complex()
    return complex64 if np.result_type(np.complex64, *kinds) == np.complex64 else complex128


def _dtypes_in(obj: Any) -> "Iterator[np.dtype[Any]]":
    """Return the dtypes of the arrays in nested lists: those of axes, for numbers of NumPy are numbers."""
    if isinstance(obj, memoryview) or hasattr(obj, "__array__"):
        array: npt.NDArray[Any] = np.asarray(obj)
        if array.ndim:
            yield array.dtype
    elif isinstance(obj, (list, tuple)):
        for item in cast("Sequence[Any]", obj):
            yield from _dtypes_in(item)


def _listed(obj: Any) -> Any:
    """Return nested lists of numbers, or one, as an array of NumPy."""
    try:
        numbers: Any = np.asarray(obj)
    except (ValueError, OverflowError) as error:
        raise DtypeError(f"asarray of {obj!r:.60}: {error}") from error
    if numbers.dtype.kind != "c":
        raise DtypeError(f"asarray of {obj!r:.60}: something in it is no number.")
    return numbers


def _complex_only(dtype: AnyDType | None, what: str) -> ComplexDType | None:
    if dtype is None or isinstance(dtype, ComplexDType):
        return dtype
    raise DtypeError(
        f"{what} of complex numbers as {dtype!r:.60}: the imaginary parts would be lost. Pass complex64 or "
        "complex128."
    )


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Complex:
    if isinstance(x, Complex):
        return asarray(x, device=device, copy=copy)
    return asarray(np.from_dlpack(x), device=device, copy=copy)


def full(
    shape: Shape, fill_value: complex, *, dtype: AnyDType | None = None, device: str | None = None
) -> Complex:
    wanted = _complex_only(dtype, "full") or default_complex()
    number = _number(fill_value, "full")
    real, imag = (
        Tensor.full(shape, part, dtype=wanted.component, device=device) for part in (number.real, number.imag)
    )
    return Complex.of_parts(real, imag)


def _number(value: Any, what: str) -> complex:
    if isinstance(value, (bool, int, float, complex)):
        return complex(value)
    raise DtypeError(f"{what}: fill_value={value!r:.60} ({type(value).__name__}) is no number.")


def zeros(shape: Shape, *, dtype: AnyDType | None = None, device: str | None = None) -> Complex:
    return full(shape, 0.0, dtype=dtype, device=device)


def ones(shape: Shape, *, dtype: AnyDType | None = None, device: str | None = None) -> Complex:
    return full(shape, 1.0, dtype=dtype, device=device)


def empty(shape: Shape, *, dtype: AnyDType | None = None, device: str | None = None) -> Complex:
    component = (_complex_only(dtype, "empty") or default_complex()).component
    real, imag = (Tensor.empty(shape, dtype=component, device=device) for _ in range(2))
    return Complex.of_parts(real, imag)


def full_like(
    x: Array, /, fill_value: complex, *, dtype: AnyDType | None = None, device: str | None = None
) -> Array:
    shape: Any = x.shape
    place = x.device if device is None else device
    if dtype is None and isinstance(x, Tensor):
        raise DtypeError(
            f"full_like: {fill_value!r:.60} is no number of {x.dtype.name}. Pass dtype=complex64 or "
            "complex128."
        )
    chosen: Any = x.dtype if dtype is None else dtype
    if not isinstance(chosen, ComplexDType) and not is_complex(fill_value):
        return real_creation.full(shape, fill_value, dtype=chosen, device=place)  # pyright: ignore
    return full(shape, fill_value, dtype=chosen, device=place)


def zeros_like(x: Array, /, *, dtype: AnyDType | None = None, device: str | None = None) -> Array:
    return full_like(x, 0.0, dtype=dtype, device=device)


def ones_like(x: Array, /, *, dtype: AnyDType | None = None, device: str | None = None) -> Array:
    return full_like(x, 1.0, dtype=dtype, device=device)


def empty_like(x: Array, /, *, dtype: AnyDType | None = None, device: str | None = None) -> Array:
    shape: Any = x.shape
    place = x.device if device is None else device
    chosen: Any = x.dtype if dtype is None else dtype
    make: Any = empty if isinstance(chosen, ComplexDType) else real_creation.empty
    return make(shape, dtype=chosen, device=place)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: AnyDType | None = None,
    device: str | None = None,
) -> Complex:
    component = (_complex_only(dtype, "eye") or default_complex()).component
    return as_complex(real_creation.eye(n_rows, n_cols, k=k, dtype=component, device=device))


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: AnyDType | None = None,
    device: str | None = None,
    endpoint: bool = True,
) -> Complex:
    component = (_complex_only(dtype, "linspace") or default_complex()).component
    first, last = _number(start, "linspace"), _number(stop, "linspace")
    real, imag = (
        real_creation.linspace(*ends, num, dtype=component, device=device, endpoint=endpoint)
        for ends in ((first.real, last.real), (first.imag, last.imag))
    )
    return Complex.of_parts(real, imag)


#: The functions of anything that may hold complex numbers: `is_about_complex` says whether it does.
CONVERSIONS = (asarray, from_dlpack)

#: The functions.
FUNCTIONS = (
    *CONVERSIONS,
    *(full, zeros, ones, empty, full_like, zeros_like, ones_like, empty_like, eye, linspace),
)
