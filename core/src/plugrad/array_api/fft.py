"""Discrete Fourier transforms, the extension `fft` of the array API standard: those of tensors.

Source: Python array API standard 2024.12, "Fourier transform Functions".
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from plugrad.array_api.methods import describe_all, named_after
from plugrad.dtype import DType, dtypes, is_float
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor import Tensor
from plugrad.tensor.base import the_dtype
from plugrad.tensor.fft.fourier import as_size
from plugrad.tensor.lookup import size_beside
from plugrad.tensor.shapes import as_number

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Norm = Literal["backward", "ortho", "forward"]
Integers = Sequence[int]


class Transform(Protocol):
    """A transform along an axis."""

    def __call__(
        self, x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
    ) -> Tensor: ...


class Transforms(Protocol):
    """A transform along several axes."""

    def __call__(
        self,
        x: Tensor,
        /,
        *,
        s: Integers | None = None,
        axes: Integers | None = None,
        norm: Norm = "backward",
    ) -> Tensor: ...


def _transform(method: Callable[..., Tensor]) -> Transform:
    def function(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
        return method(x, n, axis, norm)

    return named_after(method, function)


def _transforms(method: Callable[..., Tensor]) -> Transforms:
    def function(
        x: Tensor, /, *, s: Integers | None = None, axes: Integers | None = None, norm: Norm = "backward"
    ) -> Tensor:
        return method(x, s, axes, norm)

    return named_after(method, function)


fft = _transform(Tensor.fft)
ifft = _transform(Tensor.ifft)
rfft = _transform(Tensor.rfft)
irfft = _transform(Tensor.irfft)
hfft = _transform(Tensor.hfft)
ihfft = _transform(Tensor.ihfft)
fftn = _transforms(Tensor.fftn)
ifftn = _transforms(Tensor.ifftn)
rfftn = _transforms(Tensor.rfftn)
irfftn = _transforms(Tensor.irfftn)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Return the frequencies of `fft`: [0, 1, ..., -2, -1] / (n * d).

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
    count: Any = as_size(n)
    place = Tensor.arange(count, dtype=dtypes.int64, device=device)
    whole, half = (size_beside(place, size, place.dtype) for size in (count, count // 2))
    return _frequencies((place + half) % whole - half, count, d, dtype)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Return the frequencies of `rfft`: [0, 1, ..., n//2] / (n * d).

    Raises:
        ArgumentError: `n` is less than 1, or `d` is 0.
        DtypeError: `d` is no number, or `dtype` no real float.

    Example:
        >>> rfftfreq(4).tolist()
        [0.0, 0.25, 0.5]
    """
    count: Any = as_size(n)
    place = Tensor.arange(count // 2 + 1, dtype=dtypes.int64, device=device)
    return _frequencies(place, count, d, dtype)


def fftshift(x: Tensor, /, *, axes: int | Integers | None = None) -> Tensor:
    return x.fftshift(axes)


def ifftshift(x: Tensor, /, *, axes: int | Integers | None = None) -> Tensor:
    return x.ifftshift(axes)


def _frequencies(place: Tensor, count: Any, d: float, dtype: DType | None) -> Tensor:
    out = the_dtype(dtype, dtypes.default_float)
    if not is_float(out):
        raise DtypeError(f"dtype={out.name} cannot hold fractions. Pass a real float.")
    distance = as_number(d, "d")
    if not distance:
        raise ArgumentError(f"d={d!r} between samples leaves no frequencies finite. Pass another.")
    wide = out if out is dtypes.float64 else dtypes.float32
    places = place.cast(wide)
    return (places / (size_beside(places, count, wide) * distance)).cast(out)


describe_all(globals())
