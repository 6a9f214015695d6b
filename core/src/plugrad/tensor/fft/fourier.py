"""Discrete Fourier transforms along an axis, of real and of complex numbers.

What has a complex result returns complex64, or complex128 for float64 and complex128. The lengths that are
fast are those of `plugrad.tensor.fft.frequencies`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Unpack

from plugrad.dtype import COMPLEX, complex_dtype, dtypes, is_complex, is_inexact
from plugrad.errors import ArgumentError, AxisError, DtypeError
from plugrad.tensor.base import Tensor
from plugrad.tensor.fft.frequencies import frequencies, half_frequencies, mirrored, real_numbers, resized
from plugrad.tensor.fft.twiddles import conjugate
from plugrad.tensor.keywords import AxisNames, renamed
from plugrad.tensor.lookup import size_beside
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import Dim, as_int, check_choice, one_axis, show, size_today
from plugrad.uop import UOp

Norm = Literal["backward", "ortho", "forward"] | None


def fft(
    self: Tensor, n: Dim | None = None, axis: int = -1, norm: Norm = "backward", **names: Unpack[AxisNames]
) -> Tensor:
    """Return the Fourier transform along an axis, complex numbers: (..., n) -> (..., n).

    In single precision, errors are about a millionth of the greatest result.

    Args:
        n: how many elements to take, also a bound Variable; zeros are added where there are fewer.
        axis: which axis.
        norm: what divides by n: "backward" (or None) the inverse, "forward" this; "ortho" both by its root.

    Raises:
        ArgumentError: `n` is less than 1, or `norm` none of these.
        AxisError: the axis does not exist.

    Example:
        >>> Tensor([1.0, 0.0]).fft().tolist()
        [(1+0j), (1+0j)]
    """
    return complex_transform(self, *_along(fft, self, n, axis, names), norm, -1)


def ifft(
    self: Tensor, n: Dim | None = None, axis: int = -1, norm: Norm = "backward", **names: Unpack[AxisNames]
) -> Tensor:
    """Return the inverse of `fft`: (..., n) -> (..., n).

    Example:
        >>> Tensor([1 + 0j, 1 + 0j]).ifft().tolist()
        [(1+0j), 0j]
    """
    return complex_transform(self, *_along(ifft, self, n, axis, names), norm, 1)


def rfft(
    self: Tensor, n: Dim | None = None, axis: int = -1, norm: Norm = "backward", **names: Unpack[AxisNames]
) -> Tensor:
    """Return the Fourier transform of real numbers without its mirror: (..., n) -> (..., n//2+1).

    Args:
        n: how many elements to take; zeros are added where there are fewer.
        axis: which axis.
        norm: as for `fft`.

    Raises:
        ArgumentError: `n` is less than 1, or `norm` none of these.
        AxisError: the axis does not exist.
        DtypeError: the numbers are complex.

    Example:
        >>> Tensor([1.0, 2.0]).rfft().tolist()
        [(3+0j), (-1+0j)]
    """
    return half_transform(self, *_along(rfft, self, n, axis, names), norm)


def irfft(
    self: Tensor, n: Dim | None = None, axis: int = -1, norm: Norm = "backward", **names: Unpack[AxisNames]
) -> Tensor:
    """Return the inverse of `rfft`, real numbers: (..., n//2+1) -> (..., n).

    Imaginary parts that a transform of real numbers could not have are ignored.

    Args:
        n: how many elements to return; by default an even number, 2 less than twice the frequencies.
        axis: which axis.
        norm: as for `fft`.

    Raises:
        ArgumentError: `n` is less than 1, or `norm` none of these.
        AxisError: the axis does not exist.

    Example:
        >>> Tensor([3 + 0j, -1 + 0j]).irfft().tolist()
        [1.0, 2.0]
    """
    return real_transform(self, *_along(irfft, self, n, axis, names), norm)


def hfft(
    self: Tensor, n: Dim | None = None, axis: int = -1, norm: Norm = "backward", **names: Unpack[AxisNames]
) -> Tensor:
    """Return the real Fourier transform of the first half of a Hermitian signal.

    (..., n//2+1) -> (..., n).

    Args:
        n: how many elements to return; by default an even number, 2 less than twice those given.
        axis: which axis.
        norm: as for `fft`.

    Raises:
        ArgumentError: `n` is less than 1, or `norm` none of these.
        AxisError: the axis does not exist.

    Example:
        >>> Tensor([1.5 + 0j, -0.5 + 0j]).hfft().tolist()
        [1.0, 2.0]
    """
    return real_transform(self.conj(), *_along(hfft, self, n, axis, names), _inverse_norm(norm))


def ihfft(
    self: Tensor, n: Dim | None = None, axis: int = -1, norm: Norm = "backward", **names: Unpack[AxisNames]
) -> Tensor:
    """Return the inverse of `hfft`: the conjugates of `rfft`, divided by n.

    Args:
        n: how many elements to take; zeros are added where there are fewer.
        axis: which axis.
        norm: as for `fft`.

    Raises:
        ArgumentError: `n` is less than 1, or `norm` none of these.
        AxisError: the axis does not exist.
        DtypeError: the numbers are complex.

    Example:
        >>> Tensor([1.0, 2.0]).ihfft().real.tolist()
        [1.5, -0.5]
    """
    return half_transform(self, *_along(ihfft, self, n, axis, names), _inverse_norm(norm)).conj()


Sizes = Sequence[Dim | None]


def _along(
    method: Callable[..., Tensor], x: Tensor, n: Dim | None, axis: int, names: Mapping[str, Any]
) -> tuple[Sizes, Sequence[int]]:
    """Return the size and the axis of a method of one axis."""
    if names:
        (axis,) = renamed(method, names, axis=axis)
    return (n,), (one_axis(axis, x.ndim),)


def complex_transform(x: Tensor, sizes: Sizes, axes: Sequence[int], norm: Norm, sign: int) -> Tensor:
    """Return complex frequencies of any numbers.

    Args:
        x: any numbers.
        sizes: how many elements to take of each axis; None: all.
        axes: which, each once.
        norm: what divides.
        sign: of the exponent: -1, or 1 for an inverse.
    """
    _check_norm(norm)
    x = _as_inexact(x)
    given = [(at, _count(x, at, n)) for at, n in zip(axes, sizes, strict=True)]
    if is_complex(x.dtype):
        pairs = x.view_as_real()
    elif given and isinstance(given[-1][1], int):
        pairs = _transform_real(x, *given.pop(), norm, sign)
    else:
        pairs = x.stack(x.zeros_like(), axis=-1)
    for at, size in given:
        pairs = _transform_axis(pairs, at, size, norm, sign)
    return pairs.view_as_complex()


def half_transform(x: Tensor, sizes: Sizes, axes: Sequence[int], norm: Norm) -> Tensor:
    """Return the frequencies of real numbers, half of the last axis (see `complex_transform`)."""
    _check_axis(x, axes)
    _check_norm(norm)
    if is_complex(x.dtype):
        raise DtypeError(f"operation of {x.dtype.name}: it takes real numbers only. Use fft, fft2 or fftn.")
    x = _as_inexact(x)
    *others, (last, size) = [(at, _count(x, at, n)) for at, n in zip(axes, sizes, strict=True)]
    if isinstance(size, int):
        half = half_frequencies(resized(x, last, size).movedim(last, -1)).movedim(-2, last)
        pairs = _normalized(half, size, norm, -1)
    else:
        whole = _transform_axis(x.stack(x.zeros_like(), axis=-1), last, size, norm, -1)
        pairs = interval(whole, last, 0, size // 2 + 1)
    for at, n in others:
        pairs = _transform_axis(pairs, at, n, norm, -1)
    return pairs.view_as_complex()


def real_transform(x: Tensor, sizes: Sizes, axes: Sequence[int], norm: Norm) -> Tensor:
    """Return the real numbers of `half_transform` frequencies; see `complex_transform`."""
    _check_axis(x, axes)
    _check_norm(norm)
    x = _as_inexact(x)
    last, n = axes[-1], sizes[-1]
    count: Any = (x.shape[last] - 1) * 2 if n is None else as_size(n)
    if size_today(count) < 1:
        raise ArgumentError(f"n={size_today(count)} elements. Ask for at least 1, with n=.")
    pairs = x.view_as_real() if is_complex(x.dtype) else x.stack(x.zeros_like(), axis=-1)
    for at, size in zip(axes[:-1], sizes, strict=False):
        pairs = _transform_axis(pairs, at, _count(x, at, size), norm, 1)
    half = resized(pairs, last, count // 2 + 1)
    if isinstance(count, int) and count % 2 == 0:
        return _normalized(real_numbers(half.movedim(last, -2)), count, norm, 1).movedim(-1, last)
    full = half.cat(mirrored(half, last, count), axis=last)
    return interval(_transform_axis(full, last, full.shape[last], norm, 1), x.ndim, 0, 1).squeeze(-1)


def as_size(n: Any) -> Dim:
    """Return a number of elements; a node where that is symbolic."""
    count = n if isinstance(n, UOp) else as_int(n, "n")
    if size_today(count) < 1:
        raise ArgumentError(f"n={size_today(count)} elements. There must be at least 1.")
    return count


def _count(x: Tensor, axis: int, n: Any) -> Dim:
    return as_size(x.shape[axis] if n is None else n)


def _check_axis(x: Tensor, axes: Sequence[int]) -> None:
    if not axes:
        raise AxisError(f"operation of shape {show(x.shape)}: there is no axis to transform.")


def _check_norm(norm: Any) -> None:
    if norm is not None:
        check_choice(norm, ("backward", "ortho", "forward"), "norm")


def _inverse_norm(norm: Norm) -> Norm:
    """Return the norm that divides a transform as the given one divides its inverse."""
    _check_norm(norm)
    return "forward" if norm is None or norm == "backward" else "backward" if norm == "forward" else norm


def _as_inexact(x: Tensor) -> Tensor:
    """Return complex numbers unchanged, others as floats that may be parts of complex ones."""
    if is_complex(x.dtype):
        return x
    return x.cast(COMPLEX[complex_dtype(x.dtype if is_inexact(x.dtype) else dtypes.default_float)])


def _transform_axis(pairs: Tensor, axis: int, size: Dim, norm: Norm, sign: int) -> Tensor:
    out = frequencies(resized(pairs, axis, size), sign, axis - pairs.ndim)
    return _normalized(out, size, norm, sign)


def _transform_real(x: Tensor, axis: int, size: Any, norm: Norm, sign: int) -> Tensor:
    """Return the transform of real numbers as pairs: half computed, half mirrored."""
    half = half_frequencies(resized(x, axis, size).movedim(axis, -1))
    half = _normalized(half if sign < 0 else conjugate(half), size, norm, sign)
    return half.cat(mirrored(half, x.ndim - 1, size), axis=x.ndim - 1).movedim(-2, axis)


def _normalized(pairs: Tensor, size: Dim, norm: Norm, sign: int) -> Tensor:
    if norm == "ortho":
        root = math.sqrt(size) if isinstance(size, int) else size_beside(pairs, size, pairs.dtype).sqrt()
        return pairs / root
    return pairs / size_beside(pairs, size, pairs.dtype) if (norm != "forward") == (sign > 0) else pairs
