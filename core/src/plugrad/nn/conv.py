"""Convolutions: what a model learns by sliding windows."""

import math
from typing import Any

from plugrad.errors import ShapeError
from plugrad.nn.init import kaiming_uniform, uniform_bias
from plugrad.tensor import Tensor
from plugrad.tensor.spatial import Padding, Sizes, sizes_of

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _Convolution:
    """What convolutions over any number of axes share."""

    axes = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        _check_groups(type(self).__name__, in_channels, out_channels, groups)
        self.kernel_size = sizes_of(kernel_size, self.axes, "kernel_size")
        self.stride = stride
        self.padding: Padding = padding
        self.dilation = dilation
        self.groups = groups
        fan_in = in_channels // groups * math.prod(self.kernel_size)
        self.weight = kaiming_uniform(out_channels, in_channels // groups, *self.kernel_size, fan_in=fan_in)
        self.bias = uniform_bias(out_channels, fan_in) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        options: Any = (self.groups, self.stride, self.dilation, self.padding)
        return getattr(x, f"conv{self.axes}d")(self.weight, self.bias, *options)


class Conv1d(_Convolution):
    """A window of weights over sequences: (N, in_channels, L) -> (N, out_channels, L').

    Takes the arguments of `Conv2d`.

    Example:
        >>> Conv1d(1, 8, 3, padding="same")(Tensor.ones(2, 1, 9)).shape
        (2, 8, 9)
    """

    axes = 1


class Conv2d(_Convolution):
    """A window of weights over images: (N, in_channels, H, W) -> (N, out_channels, H', W').

    Args:
        in_channels: channels of the images.
        out_channels: channels of the result.
        kernel_size: height and width of the window, or one number for both.
        stride: steps between windows.
        padding: zeros around the images, as `Tensor.conv2d` takes it.
        dilation: steps between the elements of a window.
        groups: how many groups of channels are kept apart.
        bias: add a learnt number for each output channel.

    Raises:
        ShapeError: `groups` does not divide the channels.

    Example:
        >>> Conv2d(1, 8, 3, padding=1)(Tensor.ones(2, 1, 8, 8)).shape
        (2, 8, 8, 8)
    """


class Conv3d(_Convolution):
    """A window of weights over volumes: (N, in_channels, D, H, W) -> (N, out_channels, D', H', W').

    Takes the arguments of `Conv2d`.

    Example:
        >>> Conv3d(1, 2, 2)(Tensor.ones(1, 1, 3, 3, 3)).shape
        (1, 2, 2, 2, 2)
    """

    axes = 3


class _Transposed:
    """What transposed convolutions over any number of axes share."""

    axes = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
    ) -> None:
        _check_groups(type(self).__name__, in_channels, out_channels, groups)
        self.kernel_size = sizes_of(kernel_size, self.axes, "kernel_size")
        self.stride = stride
        self.padding: Padding = padding
        self.output_padding = output_padding
        self.dilation = dilation
        self.groups = groups
        fan_in = out_channels // groups * math.prod(self.kernel_size)
        self.weight = kaiming_uniform(in_channels, out_channels // groups, *self.kernel_size, fan_in=fan_in)
        self.bias = uniform_bias(out_channels, fan_in) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        options: Any = (self.groups, self.stride, self.dilation, self.padding, self.output_padding)
        return getattr(x, f"conv_transpose{self.axes}d")(self.weight, self.bias, *options)


class ConvTranspose1d(_Transposed):
    """A window of weights that each element spreads: (N, in_channels, L) -> (N, out_channels, L').

    Takes the arguments of `ConvTranspose2d`.

    Example:
        >>> ConvTranspose1d(1, 8, 2, stride=2)(Tensor.ones(2, 1, 9)).shape
        (2, 8, 18)
    """

    axes = 1


class ConvTranspose2d(_Transposed):
    """A window of weights that each element spreads: (N, in_channels, H, W) -> (N, out_channels, H', W').

    Args:
        in_channels: channels of the images.
        out_channels: channels of the result.
        kernel_size: height and width of the window, or one number for both.
        stride: steps between the places that elements spread to.
        padding: how much is cut from each side of the result.
        output_padding: how much longer the result is at its end.
        groups: how many groups of channels are kept apart.
        bias: add a learnt number for each output channel.
        dilation: steps between the elements of a window.

    Raises:
        ShapeError: `groups` does not divide the channels.

    Example:
        >>> ConvTranspose2d(1, 8, 3, stride=2, padding=1)(Tensor.ones(2, 1, 8, 8)).shape
        (2, 8, 15, 15)
    """


class ConvTranspose3d(_Transposed):
    """A window of weights that each element spreads: (N, in_channels, D, H, W) -> (N, out_channels, ...).

    Takes the arguments of `ConvTranspose2d`.

    Example:
        >>> ConvTranspose3d(1, 2, 2)(Tensor.ones(1, 1, 3, 3, 3)).shape
        (1, 2, 4, 4, 4)
    """

    axes = 3


def _check_groups(name: str, in_channels: int, out_channels: int, groups: int) -> None:
    if groups < 1 or in_channels % groups or out_channels % groups:
        raise ShapeError(
            f"{name} of {in_channels} to {out_channels} channels does not divide into {groups} groups. "
            "Choose groups that divide both."
        )
