"""Discrete Fourier transforms along several axes, one after the other, and the order of frequencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from plugrad.errors import ArgumentError, AxisError
from plugrad.tensor.base import Tensor
from plugrad.tensor.fft.fourier import Norm, complex_transform, half_transform, real_transform
from plugrad.tensor.keywords import AxesNames, renamed
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import Axes, Dim, as_int, axes_in_order, several, some_axes
from plugrad.uop import UOp, add_sizes

Sizes = Sequence[Dim | None] | None


def fft2(
    self: Tensor,
    s: Sizes = None,
    axes: tuple[int, int] = (-2, -1),
    norm: Norm = "backward",
    **names: Unpack[AxesNames],
) -> Tensor:
    """Return the Fourier transform along two axes, complex numbers: (..., m, n) -> (..., m, n).

    Args:
        s: how many elements to take of each axis, as `n` of `fft`; all for -1.
        axes: which axes.
        norm: as for `fft`.

    Raises:
        ArgumentError: a size is less than 1, there are not as many as axes, or `norm` is unknown.
        AxisError: these are not two axes, one does not exist, or both are the same.

    Example:
        >>> Tensor([[1.0, 0.0]]).fft2().tolist()
        [[(1+0j), (1+0j)]]
    """
    return complex_transform(self, *_two_axes(fft2, self, s, axes, names), norm, -1)


def ifft2(
    self: Tensor,
    s: Sizes = None,
    axes: tuple[int, int] = (-2, -1),
    norm: Norm = "backward",
    **names: Unpack[AxesNames],
) -> Tensor:
    """Return the inverse of `fft2`: (..., m, n) -> (..., m, n).

    Example:
        >>> Tensor([[1 + 0j, 1 + 0j]]).ifft2().tolist()
        [[(1+0j), 0j]]
    """
    return complex_transform(self, *_two_axes(ifft2, self, s, axes, names), norm, 1)


def fftn(
    self: Tensor, s: Sizes = None, axes: Axes = None, norm: Norm = "backward", **names: Unpack[AxesNames]
) -> Tensor:
    """Return the Fourier transform along several axes, complex numbers.

    Args:
        s: how many elements to take of each axis, as `n` of `fft`; all for -1.
        axes: which axes; by default all or, with `s`, as many of the last ones.
        norm: as for `fft`.

    Raises:
        ArgumentError: a size is less than 1, there are not as many as axes, or `norm` is unknown.
        AxisError: an axis does not exist, or comes twice.

    Example:
        >>> Tensor([[1.0, 0.0]]).fftn().tolist()
        [[(1+0j), (1+0j)]]
    """
    return complex_transform(self, *_sizes_and_axes(fftn, self, s, axes, names), norm, -1)


def ifftn(
    self: Tensor, s: Sizes = None, axes: Axes = None, norm: Norm = "backward", **names: Unpack[AxesNames]
) -> Tensor:
    """Return the inverse of `fftn`.

    Example:
        >>> Tensor([[1 + 0j, 1 + 0j]]).ifftn().tolist()
        [[(1+0j), 0j]]
    """
    return complex_transform(self, *_sizes_and_axes(ifftn, self, s, axes, names), norm, 1)


def rfft2(
    self: Tensor,
    s: Sizes = None,
    axes: tuple[int, int] = (-2, -1),
    norm: Norm = "backward",
    **names: Unpack[AxesNames],
) -> Tensor:
    """Return `rfft` along the second of two axes, and then `fft` along the first.

    (..., m, n) -> (..., m, n//2+1).

    Example:
        >>> Tensor([[1.0, 2.0]]).rfft2().tolist()
        [[(3+0j), (-1+0j)]]
    """
    return half_transform(self, *_two_axes(rfft2, self, s, axes, names), norm)


def irfft2(
    self: Tensor,
    s: Sizes = None,
    axes: tuple[int, int] = (-2, -1),
    norm: Norm = "backward",
    **names: Unpack[AxesNames],
) -> Tensor:
    """Return the inverse of `rfft2`: (..., m, n//2+1) -> (..., m, n).

    Example:
        >>> Tensor([[3 + 0j, -1 + 0j]]).irfft2().tolist()
        [[1.0, 2.0]]
    """
    return real_transform(self, *_two_axes(irfft2, self, s, axes, names), norm)


def rfftn(
    self: Tensor, s: Sizes = None, axes: Axes = None, norm: Norm = "backward", **names: Unpack[AxesNames]
) -> Tensor:
    """Return `rfft` along the last of several axes, and then `fft` along the others.

    Args:
        s: how many elements to take of each axis; all for -1.
        axes: which axes; by default all or, with `s`, as many of the last ones.
        norm: as for `fft`.

    Raises:
        ArgumentError: a size is less than 1, there are not as many as axes, or `norm` is unknown.
        AxisError: an axis does not exist, or comes twice, or there is none.
        DtypeError: the numbers are complex.

    Example:
        >>> Tensor([[1.0, 2.0]]).rfftn().tolist()
        [[(3+0j), (-1+0j)]]
    """
    return half_transform(self, *_sizes_and_axes(rfftn, self, s, axes, names), norm)


def irfftn(
    self: Tensor, s: Sizes = None, axes: Axes = None, norm: Norm = "backward", **names: Unpack[AxesNames]
) -> Tensor:
    """Return the inverse of `rfftn`, with `s[-1]` real numbers along the last axis.

    Example:
        >>> Tensor([[3 + 0j, -1 + 0j]]).irfftn().tolist()
        [[1.0, 2.0]]
    """
    return real_transform(self, *_sizes_and_axes(irfftn, self, s, axes, names), norm)


def fftshift(self: Tensor, axes: Axes = None, **names: Unpack[AxesNames]) -> Tensor:
    """Return a transform with frequency 0 in the middle of some axes, or of all.

    Raises:
        AxisError: an axis does not exist, or comes twice.

    Example:
        >>> Tensor([0, 1, -2, -1]).fftshift().tolist()
        [-2, -1, 0, 1]
    """
    if names:
        (axes,) = renamed(fftshift, names, axes=axes)
    return _roll_half(self, axes, 1)


def ifftshift(self: Tensor, axes: Axes = None, **names: Unpack[AxesNames]) -> Tensor:
    """Return a transform with frequency 0 in front again: the inverse of `fftshift`.

    Raises:
        AxisError: an axis does not exist, or comes twice.

    Example:
        >>> Tensor([-2, -1, 0, 1]).ifftshift().tolist()
        [0, 1, -2, -1]
    """
    if names:
        (axes,) = renamed(ifftshift, names, axes=axes)
    return _roll_half(self, axes, -1)


def _roll_half(x: Tensor, axes: Axes, direction: int) -> Tensor:
    for at in some_axes(axes, x.ndim):
        size: Any = x.shape[at]
        half = size // 2
        if isinstance(size, int):
            x = x.roll(direction * half, at)
        else:
            middle = add_sizes(size, -half) if direction > 0 else half
            x = interval(x, at, middle, size).cat(interval(x, at, 0, middle), axis=at)
    return x


AxisSizes = tuple[tuple[Dim | None, ...], tuple[int, ...]]
Method = Callable[..., "Tensor"]


def _two_axes(method: Method, x: Tensor, s: Sizes, axes: Axes, names: Mapping[str, Any]) -> AxisSizes:
    if names:
        (axes,) = renamed(method, names, axes=axes)
    if axes is None or len(several(axes)) != 2:
        raise AxisError(f"axes={axes!r} are not two. Name two axes, or use {method.__name__[:-1]}n.")
    return _sizes_and_axes(method, x, s, axes, {})


def _sizes_and_axes(method: Method, x: Tensor, s: Sizes, axes: Axes, names: Mapping[str, Any]) -> AxisSizes:
    """Return the sizes, None for all of an axis, and the axes."""
    if names:
        (axes,) = renamed(method, names, axes=axes)
    sizes = None if s is None else several(s)
    if axes is None:
        count = x.ndim if sizes is None else len(sizes)
        if count > x.ndim:
            raise ArgumentError(f"s={s!r} are more sizes than axes: there are {x.ndim}.")
        found = tuple(range(x.ndim - count, x.ndim))
    else:
        found = axes_in_order(several(axes), x.ndim)
    if sizes is None:
        return (None,) * len(found), found
    if len(sizes) != len(found):
        raise ArgumentError(f"s={s!r} for {len(found)} axes. Pass a size for each axis.")
    given = [n if n is None or isinstance(n, UOp) else as_int(n, "s") for n in sizes]
    return tuple([None if isinstance(n, int) and n == -1 else n for n in given]), found
