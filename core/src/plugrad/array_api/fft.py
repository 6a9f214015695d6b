"""Discrete Fourier transforms, the extension `fft` of the array API standard: those of tensors.

Source: Python array API standard 2024.12, "Fourier transform Functions".
"""

from collections.abc import Sequence
from typing import Any, Literal

from plugrad.array_api.checks import checked
from plugrad.dtype import DType, dtypes, is_float
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor import Tensor
from plugrad.tensor.base import the_dtype
from plugrad.tensor.fft.fourier import as_size
from plugrad.tensor.fft.pairs import size_beside
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


# --- complex to complex ---


@checked
def fft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Return the Fourier transform along an axis; see `Tensor.fft`.

    Example:
        >>> fft(Tensor([1.0, 0.0])).real.tolist()
        [1.0, 1.0]
    """
    return x.fft(n, axis, norm)


@checked
def ifft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Return the inverse of `fft`.

    Example:
        >>> ifft(Tensor([1.0, 1.0])).real.tolist()
        [1.0, 0.0]
    """
    return x.ifft(n, axis, norm)


@checked
def fftn(
    x: Tensor, /, *, s: Integers | None = None, axes: Integers | None = None, norm: Norm = "backward"
) -> Tensor:
    """Return the Fourier transform along several axes; see `Tensor.fftn`.

    Example:
        >>> fftn(Tensor([[1.0, 0.0]])).real.tolist()
        [[1.0, 1.0]]
    """
    return x.fftn(s, axes, norm)


@checked
def ifftn(
    x: Tensor, /, *, s: Integers | None = None, axes: Integers | None = None, norm: Norm = "backward"
) -> Tensor:
    """Return the inverse of `fftn`.

    Example:
        >>> ifftn(Tensor([[1.0, 1.0]])).real.tolist()
        [[1.0, 0.0]]
    """
    return x.ifftn(s, axes, norm)


# --- real to complex, and back ---


@checked
def rfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Return the Fourier transform of real numbers without its mirror; see `Tensor.rfft`.

    Example:
        >>> rfft(Tensor([1.0, 2.0])).real.tolist()
        [3.0, -1.0]
    """
    return x.rfft(n, axis, norm)


@checked
def irfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Return the inverse of `rfft`, real numbers; see `Tensor.irfft`.

    Example:
        >>> irfft(Tensor([3.0, -1.0])).tolist()
        [1.0, 2.0]
    """
    return x.irfft(n, axis, norm)


@checked
def rfftn(
    x: Tensor, /, *, s: Integers | None = None, axes: Integers | None = None, norm: Norm = "backward"
) -> Tensor:
    """Return `rfft` along the last of several axes, then `fft` along the others.

    Example:
        >>> rfftn(Tensor([[1.0, 2.0]])).real.tolist()
        [[3.0, -1.0]]
    """
    return x.rfftn(s, axes, norm)


@checked
def irfftn(
    x: Tensor, /, *, s: Integers | None = None, axes: Integers | None = None, norm: Norm = "backward"
) -> Tensor:
    """Return the inverse of `rfftn`, with `s[-1]` real numbers along the last axis.

    Example:
        >>> irfftn(Tensor([[3.0, -1.0]])).tolist()
        [[1.0, 2.0]]
    """
    return x.irfftn(s, axes, norm)


# --- Hermitian to real, and back ---


@checked
def hfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Return the real transform of the first half of a Hermitian signal, see `Tensor.hfft`.

    Example:
        >>> hfft(Tensor([1.5, -0.5])).tolist()
        [1.0, 2.0]
    """
    return x.hfft(n, axis, norm)


@checked
def ihfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Return the inverse of `hfft`; see `Tensor.ihfft`.

    Example:
        >>> ihfft(Tensor([1.0, 2.0])).real.tolist()
        [1.5, -0.5]
    """
    return x.ihfft(n, axis, norm)


# --- the frequencies: which they are, and in which order ---


@checked
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
    count: Any = as_size(n, "fftfreq")
    place = Tensor.arange(count, dtype=dtypes.int64, device=device)
    whole, half = (size_beside(place, size, place.dtype) for size in (count, count // 2))
    return _frequencies((place + half) % whole - half, count, d, dtype, "fftfreq")


@checked
def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Return the frequencies of `rfft`: [0, 1, ..., n//2] / (n * d).

    Raises:
        ArgumentError: `n` is less than 1, or `d` is 0.
        DtypeError: `d` is no number, or `dtype` no real float.

    Example:
        >>> rfftfreq(4).tolist()
        [0.0, 0.25, 0.5]
    """
    count: Any = as_size(n, "rfftfreq")
    place = Tensor.arange(count // 2 + 1, dtype=dtypes.int64, device=device)
    return _frequencies(place, count, d, dtype, "rfftfreq")


@checked
def fftshift(x: Tensor, /, *, axes: int | Integers | None = None) -> Tensor:
    """Return a transform with frequency 0 in the middle of some axes, or of all.

    Example:
        >>> fftshift(Tensor([0, 1, -2, -1])).tolist()
        [-2, -1, 0, 1]
    """
    return x.fftshift(axes)


@checked
def ifftshift(x: Tensor, /, *, axes: int | Integers | None = None) -> Tensor:
    """Return a transform with frequency 0 in front again: the inverse of `fftshift`.

    Example:
        >>> ifftshift(Tensor([-2, -1, 0, 1])).tolist()
        [0, 1, -2, -1]
    """
    return x.ifftshift(axes)


def _frequencies(place: Tensor, count: Any, d: float, dtype: DType | None, what: str) -> Tensor:
    out = the_dtype(dtype, dtypes.default_float)
    if not is_float(out):
        raise DtypeError(f"{what}: dtype={out.name} cannot hold fractions. Pass a real float.")
    distance = as_number(d, f"{what}: d")
    if not distance:
        raise ArgumentError(f"{what}: d={d!r} between samples leaves no frequencies finite. Pass another.")
    wide = out if out is dtypes.float64 else dtypes.float32
    places = place.cast(wide)
    return (places / (size_beside(places, count, wide) * distance)).cast(out)
