"""The frequencies of Fourier transforms: which they are, and in which order."""

from collections.abc import Sequence
from typing import Any

from plugrad.array_api.checks import checked
from plugrad.dtype import DType, dtypes, is_float
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor import Tensor
from plugrad.tensor.base import the_dtype
from plugrad.tensor.shapes import as_int, as_number, size_today, some_axes
from plugrad.uop.shape import add_sizes
from plugrad.uop.uop import UOp

__all__ = ["fftfreq", "fftshift", "ifftshift", "length", "rfftfreq"]


@checked
def fftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Return the frequency of each element of `fft`, per unit of `d`: [0, 1, ..., -2, -1] / (n * d).

    Args:
        n: how many elements; a bound Variable gives frequencies of symbolic number.
        d: the distance of two samples.
        dtype: of the result, a real float; by default the default float.
        device: where the result lives.

    Raises:
        ArgumentError: `n` is less than 1, or `d` is 0.
        DtypeError: `d` is no number, or `dtype` no real float.

    Example:
        >>> fftfreq(4).tolist()
        [0.0, 0.25, -0.5, -0.25]
    """
    count = length(n, "fftfreq")
    place = Tensor.arange(count, dtype=dtypes.int64, device=device)
    whole, half = _today(count, place), _today(count // 2, place)
    return _frequencies((place + half) % whole - half, count, d, dtype, "fftfreq")


@checked
def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Return the frequency of each element of `rfft`, as `fftfreq`: [0, 1, ..., n//2] / (n * d).

    Raises:
        ArgumentError: `n` is less than 1, or `d` is 0.
        DtypeError: `d` is no number, or `dtype` no real float.

    Example:
        >>> rfftfreq(4).tolist()
        [0.0, 0.25, 0.5]
    """
    count = length(n, "rfftfreq")
    place = Tensor.arange(count // 2 + 1, dtype=dtypes.int64, device=device)
    return _frequencies(place, count, d, dtype, "rfftfreq")


@checked
def fftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """Return a transform with frequency 0 in the middle of some axes, or all.

    Raises:
        AxisError: an axis does not exist, or comes twice.

    Example:
        >>> fftshift(Tensor([0, 1, -2, -1])).tolist()
        [-2, -1, 0, 1]
    """
    return _rolled(x, axes, 1, "fftshift")


@checked
def ifftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """Return a transform with frequency 0 in front again: the inverse of `fftshift`.

    Raises:
        AxisError: an axis does not exist, or comes twice.

    Example:
        >>> ifftshift(Tensor([-2, -1, 0, 1])).tolist()
        [0, 1, -2, -1]
    """
    return _rolled(x, axes, -1, "ifftshift")


# --- what these are made of ---


def _rolled(x: Any, axes: int | Sequence[int] | None, direction: int, what: str) -> Tensor:
    for at in some_axes(axes, x.ndim, what):
        size = x.shape[at]
        half = size // 2
        if isinstance(size, int):
            x = x.roll(direction * half, at)
        else:
            middle = add_sizes(size, -half) if direction > 0 else half
            x = x._interval(at, middle, size).cat(x._interval(at, 0, middle), axis=at)
    return x


def _today(count: Any, beside: Tensor) -> Any:
    """Return a number, one that is symbolic as a tensor of the dtype of another."""
    make: Any = beside
    return count if isinstance(count, int) else make._make(count.cast(beside.dtype), beside.device)


def _frequencies(place: Tensor, count: Any, d: float, dtype: DType | None, what: str) -> Tensor:
    out = the_dtype(dtype, dtypes.default_float)
    if not is_float(out):
        raise DtypeError(f"{what}: dtype={out.name} cannot hold fractions. Pass a real float.")
    distance = as_number(d, f"{what}: d")
    if not distance:
        raise ArgumentError(f"{what}: d={d!r} between samples leaves no frequencies finite. Pass another.")
    wide = out if out is dtypes.float64 else dtypes.float32
    places = place.cast(wide)
    return (places / (_today(count, places) * distance)).cast(out)


def length(n: Any, what: str) -> Any:
    """Return how many elements a transform has; a node where that is symbolic.

    Raises:
        ArgumentError: `n` is no integer, or less than 1.

    Example:
        >>> length(3, "fft")
        3
    """
    count = n if isinstance(n, UOp) else as_int(n, what, "n")
    if size_today(count) < 1:
        raise ArgumentError(f"{what}: n={size_today(count)} elements. There must be at least 1.")
    return count
