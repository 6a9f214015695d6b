"""Discrete Fourier transforms along several axes: one after the other.

Complex numbers are a last axis of two elements, as in `plugrad.tensor.fft.fourier`.
"""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from plugrad.errors import ArgumentError, AxisError
from plugrad.tensor.base import TensorBase
from plugrad.tensor.fft.fourier import FourierNorm
from plugrad.tensor.keywords import AxesNames, renamed
from plugrad.tensor.shapes import Axes, Dim, as_int, one_axis, several, show
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor

Sizes = Sequence[Dim | None] | None


class FourierAxesMixin(TensorBase):
    """Transforms of images and volumes."""

    __slots__ = ()

    def fft2(
        self: Tensor,
        s: Sizes = None,
        axes: tuple[int, int] = (-2, -1),
        norm: FourierNorm | None = "backward",
        **names: Unpack[AxesNames],
    ) -> Tensor:
        """Return the Fourier transform along two axes: (..., m, n, 2) -> (..., m, n, 2).

        Args:
            s: how many elements to take of each axis, as `n` of `fft`.
            axes: which axes, counted without the one of real and imaginary parts.
            norm: as for `fft`.

        Raises:
            ArgumentError: a size is less than 1, there are not as many as axes, or `norm` is unknown.
            AxisError: these are not two axes, one does not exist, or both are the same.
            ShapeError: the last axis has not two elements.

        Example:
            >>> Tensor([[[1.0, 0.0], [0.0, 0.0]]]).fft2().tolist()
            [[[1.0, 0.0], [1.0, 0.0]]]
        """
        if names:
            (axes,) = renamed(self.fft2, names, axes=axes)
        self._check_complex("fft2", -1)
        return self._transformed_along(self._two_axes("fft2", axes, self.ndim - 1), s, norm, -1, "fft2")

    def ifft2(
        self: Tensor,
        s: Sizes = None,
        axes: tuple[int, int] = (-2, -1),
        norm: FourierNorm | None = "backward",
        **names: Unpack[AxesNames],
    ) -> Tensor:
        """Return the inverse of `fft2`: (..., m, n, 2) -> (..., m, n, 2).

        Example:
            >>> Tensor([[[1.0, 0.0], [1.0, 0.0]]]).ifft2().tolist()
            [[[1.0, 0.0], [0.0, 0.0]]]
        """
        if names:
            (axes,) = renamed(self.ifft2, names, axes=axes)
        self._check_complex("ifft2", -1)
        return self._transformed_along(self._two_axes("ifft2", axes, self.ndim - 1), s, norm, 1, "ifft2")

    def fftn(
        self: Tensor,
        s: Sizes = None,
        axes: Axes = None,
        norm: FourierNorm | None = "backward",
        **names: Unpack[AxesNames],
    ) -> Tensor:
        """Return the Fourier transform along several axes of complex numbers.

        Args:
            s: how many elements to take of each axis, as `n` of `fft`.
            axes: which axes, counted without the one of real and imaginary parts; by default all or, with
                `s`, as many of the last ones.
            norm: as for `fft`.

        Raises:
            ArgumentError: a size is less than 1, there are not as many as axes, or `norm` is unknown.
            AxisError: an axis does not exist, or comes twice.
            ShapeError: the last axis has not two elements.

        Example:
            >>> Tensor([[[1.0, 0.0], [0.0, 0.0]]]).fftn().tolist()
            [[[1.0, 0.0], [1.0, 0.0]]]
        """
        if names:
            (axes,) = renamed(self.fftn, names, axes=axes)
        self._check_complex("fftn", -1)
        return self._transformed_along(_axes_of("fftn", s, axes, self.ndim - 1), s, norm, -1, "fftn")

    def ifftn(
        self: Tensor,
        s: Sizes = None,
        axes: Axes = None,
        norm: FourierNorm | None = "backward",
        **names: Unpack[AxesNames],
    ) -> Tensor:
        """Return the inverse of `fftn`.

        Example:
            >>> Tensor([[[1.0, 0.0], [1.0, 0.0]]]).ifftn().tolist()
            [[[1.0, 0.0], [0.0, 0.0]]]
        """
        if names:
            (axes,) = renamed(self.ifftn, names, axes=axes)
        self._check_complex("ifftn", -1)
        return self._transformed_along(_axes_of("ifftn", s, axes, self.ndim - 1), s, norm, 1, "ifftn")

    def rfft2(
        self: Tensor,
        s: Sizes = None,
        axes: tuple[int, int] = (-2, -1),
        norm: FourierNorm | None = "backward",
        **names: Unpack[AxesNames],
    ) -> Tensor:
        """Return `rfft` along the second of two axes, and then `fft` along the first.

        (..., m, n) -> (..., m, n//2+1, 2).

        Example:
            >>> Tensor([[1.0, 2.0]]).rfft2().tolist()
            [[[3.0, 0.0], [-1.0, 0.0]]]
        """
        if names:
            (axes,) = renamed(self.rfft2, names, axes=axes)
        return self._real_along(self._two_axes("rfft2", axes, self.ndim), s, norm, "rfft2")

    def irfft2(
        self: Tensor,
        s: Sizes = None,
        axes: tuple[int, int] = (-2, -1),
        norm: FourierNorm | None = "backward",
        **names: Unpack[AxesNames],
    ) -> Tensor:
        """Return the inverse of `rfft2`: (..., m, n//2+1, 2) -> (..., m, n).

        Example:
            >>> Tensor([[[3.0, 0.0], [-1.0, 0.0]]]).irfft2().tolist()
            [[1.0, 2.0]]
        """
        if names:
            (axes,) = renamed(self.irfft2, names, axes=axes)
        self._check_complex("irfft2", -1)
        return self._back_along(self._two_axes("irfft2", axes, self.ndim - 1), s, norm, "irfft2")

    def rfftn(
        self: Tensor,
        s: Sizes = None,
        axes: Axes = None,
        norm: FourierNorm | None = "backward",
        **names: Unpack[AxesNames],
    ) -> Tensor:
        """Return `rfft` along the last of several axes, and then `fft` along the others.

        Args:
            s: how many elements to take of each axis.
            axes: which axes of this tensor; by default all or, with `s`, as many of the last ones.
            norm: as for `fft`.

        Raises:
            ArgumentError: a size is less than 1, there are not as many as axes, or `norm` is unknown.
            AxisError: an axis does not exist, or comes twice.

        Example:
            >>> Tensor([[1.0, 2.0]]).rfftn().tolist()
            [[[3.0, 0.0], [-1.0, 0.0]]]
        """
        if names:
            (axes,) = renamed(self.rfftn, names, axes=axes)
        return self._real_along(_axes_of("rfftn", s, axes, self.ndim), s, norm, "rfftn")

    def irfftn(
        self: Tensor,
        s: Sizes = None,
        axes: Axes = None,
        norm: FourierNorm | None = "backward",
        **names: Unpack[AxesNames],
    ) -> Tensor:
        """Return the inverse of `rfftn`; the last size of `s` says how many real numbers to return.

        Example:
            >>> Tensor([[[3.0, 0.0], [-1.0, 0.0]]]).irfftn().tolist()
            [[1.0, 2.0]]
        """
        if names:
            (axes,) = renamed(self.irfftn, names, axes=axes)
        self._check_complex("irfftn", -1)
        return self._back_along(_axes_of("irfftn", s, axes, self.ndim - 1), s, norm, "irfftn")

    # --- what these are made of ---

    def _two_axes(self: Tensor, what: str, axes: Axes, ndim: int) -> tuple[int, ...]:
        if axes is None or len(several(axes)) != 2:
            raise AxisError(f"{what}: axes={axes!r} are not two. Name two axes, or use {what[:-1]}n.")
        return _axes_of(what, None, axes, ndim)

    def _transformed_along(
        self: Tensor, axes: tuple[int, ...], s: Sizes, norm: FourierNorm | None, sign: int, what: str
    ) -> Tensor:
        out = self
        for axis, size in zip(axes, _sizes_of(what, s, axes), strict=True):
            out = out._transformed(what, size, axis, norm, sign)
        return out

    def _real_along(
        self: Tensor, axes: tuple[int, ...], s: Sizes, norm: FourierNorm | None, what: str
    ) -> Tensor:
        sizes = _sizes_of(what, s, axes)
        if not axes:
            raise AxisError(f"{what} of shape {show(self.shape)}: there is no axis to transform.")
        out = self.rfft(sizes[-1], axes[-1], norm)
        for axis, size in zip(axes[:-1], sizes, strict=False):
            out = out._transformed(what, size, axis, norm, -1)
        return out

    def _back_along(
        self: Tensor, axes: tuple[int, ...], s: Sizes, norm: FourierNorm | None, what: str
    ) -> Tensor:
        sizes = _sizes_of(what, s, axes)
        if not axes:
            raise AxisError(f"{what} of shape {show(self.shape)}: there is no axis to transform.")
        out = self
        for axis, size in zip(axes[:-1], sizes, strict=False):
            out = out._transformed(what, size, axis, norm, 1)
        return out.irfft(sizes[-1], axes[-1], norm)


def _axes_of(what: str, s: Sizes, axes: Axes, ndim: int) -> tuple[int, ...]:
    """Return the axes to transform, in the order given."""
    if axes is None:
        count = ndim if s is None else len(several(s))
        if count > ndim:
            raise ArgumentError(f"{what}: s={s!r} are more sizes than axes: there are {ndim}.")
        return tuple(range(ndim - count, ndim))
    found = tuple([one_axis(axis, ndim, what) for axis in several(axes)])
    if len(set(found)) != len(found):
        raise AxisError(f"{what}: axes={axes!r} name one axis twice. Name each axis once.")
    return found


def _sizes_of(what: str, s: Sizes, axes: tuple[int, ...]) -> tuple[Dim | None, ...]:
    """Return the size to take of each axis, None for all of it; as in PyTorch, -1 means that too."""
    if s is None:
        return (None,) * len(axes)
    sizes = [
        size if size is None or isinstance(size, UOp) else as_int(size, what, "s") for size in several(s)
    ]
    if len(sizes) != len(axes):
        raise ArgumentError(f"{what}: s={s!r} for {len(axes)} axes. Pass a size for each axis.")
    return tuple([None if isinstance(size, int) and size == -1 else size for size in sizes])
