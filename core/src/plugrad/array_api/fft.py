"""Discrete Fourier transforms, the extension `fft` of the array API standard.

The transforms are those of tensors, `plugrad.tensor.fft.fourier`. Where a transform takes complex numbers,
real ones will do, and integers, which become floats.

Source: Python array API standard 2024.12, "Fourier transform Functions".
"""

from collections.abc import Sequence
from typing import Any, Literal

from plugrad.array_api.checks import checked
from plugrad.array_api.frequencies import fftfreq, fftshift, ifftshift, length, rfftfreq
from plugrad.dtype import dtypes, is_complex, is_float
from plugrad.errors import ArgumentError
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import is_one_of, one_axis

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

# transforms of what is Hermitian divide where those of what is real do not
_OPPOSITE: dict[Norm, Norm] = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


# --- complex to complex ---


@checked
def fft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Return the Fourier transform along an axis.

    Args:
        x: real or complex numbers.
        n: how many elements to take; zeros are added where there are fewer.
        axis: which axis.
        norm: what divides by n: "backward" the inverse, "forward" this; "ortho" both by its root.

    Raises:
        ArgumentError: `n` is less than 1, or `norm` none of these.
        AxisError: the axis does not exist.

    Example:
        >>> fft(Tensor([1.0, 0.0])).real.tolist()
        [1.0, 1.0]
    """
    at = _axis(x, axis, norm, "fft")
    return _complex(_pairs(x).fft(n, at, norm))


@checked
def ifft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Return the inverse of `fft`.

    Example:
        >>> ifft(Tensor([1.0, 1.0])).real.tolist()
        [1.0, 0.0]
    """
    at = _axis(x, axis, norm, "ifft")
    return _complex(_pairs(x).ifft(n, at, norm))


@checked
def fftn(
    x: Tensor,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """Return the Fourier transform along several axes.

    Args:
        x: real or complex numbers.
        s: how many elements to take of each axis, as `n` of `fft`; all for -1.
        axes: which axes; by default all or, with `s`, as many of the last ones.
        norm: as for `fft`.

    Raises:
        ArgumentError: a size is less than 1, there are not as many as axes, or `norm` is unknown.
        AxisError: an axis does not exist, or comes twice.

    Example:
        >>> fftn(Tensor([[1.0, 0.0]])).real.tolist()
        [[1.0, 1.0]]
    """
    _check_norm(norm, "fftn")
    return _complex(_pairs(x) if _has_no_axes(x, s, axes) else _pairs(x).fftn(s, axes, norm))


@checked
def ifftn(
    x: Tensor,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """Return the inverse of `fftn`.

    Example:
        >>> ifftn(Tensor([[1.0, 1.0]])).real.tolist()
        [[1.0, 0.0]]
    """
    _check_norm(norm, "ifftn")
    return _complex(_pairs(x) if _has_no_axes(x, s, axes) else _pairs(x).ifftn(s, axes, norm))


# --- real to complex, and back ---


@checked
def rfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Return the Fourier transform of real numbers along an axis without its mirror: n//2 + 1 elements.

    Args:
        x: real numbers.
        n: how many elements to take; zeros are added where there are fewer.
        axis: which axis.
        norm: as for `fft`.

    Raises:
        ArgumentError: `n` is less than 1, or `norm` unknown.
        AxisError: the axis does not exist.
        DtypeError: the numbers are complex.

    Example:
        >>> rfft(Tensor([1.0, 2.0])).real.tolist()
        [3.0, -1.0]
    """
    at = _axis(x, axis, norm, "rfft")
    return _complex(_floats(x).rfft(n, at, norm))


@checked
def irfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Return the inverse of `rfft`, real numbers.

    Imaginary parts that a transform of real numbers could not have are ignored.

    Args:
        x: real or complex numbers.
        n: how many elements to return; by default an even number, 2 less than twice the frequencies.
        axis: which axis.
        norm: as for `fft`.

    Raises:
        ArgumentError: `n` is less than 1, or `norm` unknown.
        AxisError: the axis does not exist.

    Example:
        >>> irfft(Tensor([3.0, -1.0])).tolist()
        [1.0, 2.0]
    """
    at = _axis(x, axis, norm, "irfft")
    return _pairs(x).irfft(n, at, norm)


@checked
def rfftn(
    x: Tensor,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """Return `rfft` along the last of several axes, and then `fft` along the others.

    Args:
        x: real numbers.
        s: how many elements to take of each axis; all for -1.
        axes: which axes; by default all or, with `s`, as many of the last ones.
        norm: as for `fft`.

    Raises:
        ArgumentError: a size is less than 1, there are not as many as axes, or `norm` is unknown.
        AxisError: an axis does not exist, comes twice, or there is none.
        DtypeError: the numbers are complex.

    Example:
        >>> rfftn(Tensor([[1.0, 2.0]])).real.tolist()
        [[3.0, -1.0]]
    """
    _check_norm(norm, "rfftn")
    return _complex(_floats(x).rfftn(s, axes, norm))


@checked
def irfftn(
    x: Tensor,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Tensor:
    """Return the inverse of `rfftn`; the last size of `s` says how many real numbers to return.

    Example:
        >>> irfftn(Tensor([[3.0, -1.0]])).tolist()
        [[1.0, 2.0]]
    """
    _check_norm(norm, "irfftn")
    one_axis(-1, x.ndim, "irfftn")
    return _pairs(x).irfftn(s, axes, norm)


# --- Hermitian to real, and back ---


@checked
def hfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Return the Fourier transform of what is the conjugate of its mirror, of which half is given.

    The result is real: it is `irfft` of the conjugates, and what divides by n is the other transform.

    Args:
        x: real or complex numbers.
        n: how many elements to return; by default an even number, 2 less than twice those given.
        axis: which axis.
        norm: as for `fft`.

    Raises:
        ArgumentError: `n` is less than 1, or `norm` unknown.
        AxisError: the axis does not exist.

    Example:
        >>> hfft(Tensor([1.5, -0.5])).tolist()
        [1.0, 2.0]
    """
    at = _axis(x, axis, norm, "hfft")
    size: Any = x.shape[at]
    count = length(2 * (size - 1) if n is None else n, "hfft")
    conjugates = _pairs(x) * Tensor([1, -1], dtype=dtypes.int8, device=x.device)
    return conjugates.irfft(count, at, _OPPOSITE[norm])


@checked
def ihfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Return the inverse of `hfft`: n//2 + 1 elements, the conjugates of `rfft`, divided by n.

    Args:
        x: real numbers.
        n: how many elements to take; zeros are added where there are fewer.
        axis: which axis.
        norm: as for `fft`.

    Raises:
        ArgumentError: `n` is less than 1, or `norm` unknown.
        AxisError: the axis does not exist.
        DtypeError: the numbers are complex.

    Example:
        >>> ihfft(Tensor([1.0, 2.0])).real.tolist()
        [1.5, -0.5]
    """
    at = _axis(x, axis, norm, "ihfft")
    count = length(x.shape[at] if n is None else n, "ihfft")
    return _complex(_floats(x).rfft(count, at, _OPPOSITE[norm])).conj()


# --- what these are made of ---


def _check_norm(norm: str, what: str) -> None:
    if not is_one_of(norm, _OPPOSITE):
        raise ArgumentError(f"{what}: norm={norm!r:.60} is none of 'backward', 'ortho' and 'forward'.")


def _axis(x: Tensor, axis: int, norm: str, what: str) -> int:
    _check_norm(norm, what)
    return one_axis(axis, x.ndim, what)


def _floats(x: Tensor) -> Tensor:
    """Return real numbers as floats of which complex numbers can consist."""
    wide = x.dtype if is_float(x.dtype) else dtypes.default_float
    return x.cast(dtypes.float64 if wide is dtypes.float64 else dtypes.float32)


def _pairs(x: Tensor) -> Tensor:
    """Return complex numbers as a last axis of two elements, as transforms of tensors take them."""
    if is_complex(x.dtype):
        return x.view_as_real()
    real = _floats(x)
    return real.stack(real.zeros_like(), axis=-1)


def _has_no_axes(x: Tensor, s: Sequence[int] | None, axes: Sequence[int] | None) -> bool:
    """Say whether a transform along several axes has none, and changes nothing."""
    return not x.ndim and not (s or axes)


def _complex(pairs: Tensor) -> Tensor:
    return pairs.view_as_complex()
