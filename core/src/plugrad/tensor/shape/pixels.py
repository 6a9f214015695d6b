"""Channels as pixels, and pixels as channels."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from typing import TYPE_CHECKING, Any

from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.arguments import whole
from plugrad.tensor.base import TensorBase
from plugrad.tensor.shapes import show, size_today

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class PixelMixin(TensorBase):
    """Moving elements between channels and places."""

    __slots__ = ()

    def pixel_shuffle(self: Tensor, upscale_factor: int) -> Tensor:
        """Return groups of channels spread over blocks of pixels: (..., C*r*r, H, W) -> (..., C, H*r, W*r).

        Source: Shi et al. 2016, equation 4.

        Raises:
            ArgumentError: the factor is not positive.
            ShapeError: there are fewer than 3 axes, or the factor's square does not divide the channels.

        Example:
            >>> Tensor.arange(4).reshape(4, 1, 1).pixel_shuffle(2).tolist()
            [[[0, 1], [2, 3]]]
        """
        r = _checked(self, upscale_factor, "pixel_shuffle")
        *lead, channels, height, width = _shape(self)
        if size_today(channels) % (r * r):
            raise ShapeError(
                f"pixel_shuffle of shape {show(self.shape)} by {r}: {r}*{r} must divide the "
                f"{size_today(channels)} channels."
            )
        n = len(lead)
        blocks = self.reshape(*lead, channels // (r * r), r, r, height, width)
        order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
        return blocks.permute(order).reshape(*lead, channels // (r * r), height * r, width * r)

    def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Tensor:
        """Return blocks of pixels as channels: (..., C, H*r, W*r) -> (..., C*r*r, H, W).

        Raises:
            ArgumentError: the factor is not positive.
            ShapeError: there are fewer than 3 axes, or the factor does not divide height and width.

        Example:
            >>> Tensor([[[0, 1], [2, 3]]]).pixel_unshuffle(2).flatten().tolist()
            [0, 1, 2, 3]
        """
        r = _checked(self, downscale_factor, "pixel_unshuffle")
        *lead, channels, height, width = _shape(self)
        if size_today(height) % r or size_today(width) % r:
            raise ShapeError(
                f"pixel_unshuffle of shape {show(self.shape)} by {r}: it must divide {size_today(height)} "
                f"and {size_today(width)}."
            )
        n = len(lead)
        blocks = self.reshape(*lead, channels, height // r, r, width // r, r)
        order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
        return blocks.permute(order).reshape(*lead, channels * r * r, height // r, width // r)


def _checked(x: PixelMixin, factor: int, what: str) -> int:
    if whole(factor, "factor") < 1:
        raise ArgumentError(f"{what}: a factor of {factor}. Pass at least 1.")
    if x.ndim < 3:
        raise ShapeError(f"{what} of shape {show(x.shape)}: it takes (..., C, H, W).")
    return int(factor)


def _shape(x: PixelMixin) -> Any:
    return x.shape
