"""Layers that change nothing but shapes or sizes."""

from collections.abc import Sequence
from typing import Any

from plugrad.nn.module import Module, UnaryFunction, UnaryModule
from plugrad.tensor import Tensor
from plugrad.tensor.functional.interpolation import InterpolationMode
from plugrad.tensor.shape.spatial import Sizes

__all__ = ["Flatten", "Identity", "PixelShuffle", "PixelUnshuffle", "Unflatten", "Upsample"]


class Identity(Module):
    """The input itself. Takes any arguments, so that it can stand in for any layer.

    Example:
        >>> Identity(54, unused=True)(Tensor([1.0])).tolist()
        [1.0]
    """

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        """Accept the arguments of the layer that this replaces."""

    def forward(self, x: Tensor) -> Tensor:
        return x


class Flatten(UnaryFunction, function=Tensor.flatten):
    """The axes from `start_dim` to `end_dim` as one: `Tensor.flatten`.

    Example:
        >>> Flatten()(Tensor.ones(2, 3, 4)).shape
        (2, 12)
    """

    start_dim: int = 1
    end_dim: int = -1


class Unflatten(UnaryModule):
    """An axis as several: `Tensor.unflatten`.

    Example:
        >>> Unflatten(1, (3, 4))(Tensor.ones(2, 12)).shape
        (2, 3, 4)
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, x: Tensor) -> Tensor:
        return x.unflatten(self.dim, self.unflattened_size)


class PixelShuffle(UnaryFunction, function=Tensor.pixel_shuffle):
    """Channels as pixels: (N, C*r*r, H, W) -> (N, C, H*r, W*r): `Tensor.pixel_shuffle`.

    Example:
        >>> PixelShuffle(2)(Tensor.ones(1, 4, 3, 3)).shape
        (1, 1, 6, 6)
    """

    upscale_factor: int


class PixelUnshuffle(UnaryFunction, function=Tensor.pixel_unshuffle):
    """Pixels as channels: (N, C, H*r, W*r) -> (N, C*r*r, H, W): `Tensor.pixel_unshuffle`.

    Example:
        >>> PixelUnshuffle(2)(Tensor.ones(1, 1, 6, 6)).shape
        (1, 4, 3, 3)
    """

    downscale_factor: int


class Upsample(UnaryFunction, function=Tensor.interpolate):
    """Other sizes by interpolation, (N, C, ...) -> (N, C, ...): `Tensor.interpolate`.

    Example:
        >>> Upsample(scale_factor=2)(Tensor.ones(1, 1, 3, 3)).shape
        (1, 1, 6, 6)
    """

    size: Sizes | None = None
    scale_factor: float | Sequence[float] | None = None
    mode: InterpolationMode = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None
