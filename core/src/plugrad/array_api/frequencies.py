"""The frequencies of Fourier transforms: which they are, and in which order."""

from collections.abc import Sequence

from plugrad.array_api.checks import checked
from plugrad.array_api.complex_matrices import each
from plugrad.array_api.complexes import Array
from plugrad.dtype import DType, dtypes, is_float
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor import Tensor
from plugrad.tensor.base import the_dtype
from plugrad.tensor.shapes import as_int, as_number, show, some_axes

__all__ = ["fftfreq", "fftshift", "ifftshift", "length", "rfftfreq"]


@checked
def fftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Return the frequency of each element of `fft`, per unit of `d`: [0, 1, ..., -2, -1] / (n * d).

    Args:
        n: how many elements.
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
    return _frequencies((place + count // 2) % count - count // 2, count, d, dtype, "fftfreq")


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
def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Return a transform with frequency 0 in the middle of some axes, or all.

    Raises:
        AxisError: an axis does not exist, or comes twice.
        ShapeError: an axis is symbolic.

    Example:
        >>> fftshift(Tensor([0, 1, -2, -1])).tolist()
        [-2, -1, 0, 1]
    """
    return each(x, lambda part: _rolled(part, axes, 1, "fftshift"))


@checked
def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Return a transform with frequency 0 in front again: the inverse of `fftshift`.

    Raises:
        AxisError: an axis does not exist, or comes twice.
        ShapeError: an axis is symbolic.

    Example:
        >>> ifftshift(Tensor([-2, -1, 0, 1])).tolist()
        [0, 1, -2, -1]
    """
    return each(x, lambda part: _rolled(part, axes, -1, "ifftshift"))


# --- what these are made of ---


def _rolled(x: Tensor, axes: int | Sequence[int] | None, direction: int, what: str) -> Tensor:
    chosen = some_axes(axes, x.ndim, what)
    shifts = [direction * (_size(x, at, what) // 2) for at in chosen]
    return x.roll(shifts, chosen) if chosen else x


def _frequencies(place: Tensor, count: int, d: float, dtype: DType | None, what: str) -> Tensor:
    out = the_dtype(dtype, dtypes.default_float)
    if not is_float(out):
        raise DtypeError(f"{what}: dtype={out.name} cannot hold fractions. Pass a real float.")
    distance = as_number(d, f"{what}: d")
    if not distance:
        raise ArgumentError(f"{what}: d={d!r} between samples leaves no frequencies finite. Pass another.")
    wide = out if out is dtypes.float64 else dtypes.float32
    return (place.cast(wide) / (count * distance)).cast(out)


def length(n: int, what: str) -> int:
    """Return how many elements a transform has.

    Raises:
        ArgumentError: `n` is no integer, or less than 1.

    Example:
        >>> length(3, "fft")
        3
    """
    count = as_int(n, what, "n")
    if count < 1:
        raise ArgumentError(f"{what}: n={count} elements. There must be at least 1.")
    return count


def _size(x: Tensor, axis: int, what: str) -> int:
    size = x.shape[axis]
    if not isinstance(size, int):
        raise ShapeError(
            f"{what}: axis {axis} of shape {show(x.shape)} is symbolic, and so is its middle. Take a slice "
            "of fixed size."
        )
    return size
