"""Convolutions: what a model learns by sliding windows."""

import math

from plugrad.errors import ShapeError
from plugrad.nn.init import kaiming_uniform, uniform_bias
from plugrad.tensor import Tensor

__all__ = ["Conv2d"]


class Conv2d:
    """A window of weights over images: (N, in_channels, H, W) -> (N, out_channels, H', W').

    Args:
        in_channels: channels of the images.
        out_channels: channels of the result.
        kernel_size: height and width of the window, or one number for both.
        stride: steps between windows.
        padding: zeros around the images.
        dilation: steps between the elements of a window.
        groups: how many groups of channels are kept apart.
        bias: add a learnt number for each output channel.

    Raises:
        ShapeError: `groups` does not divide the channels.

    Example:
        >>> Conv2d(1, 8, 3, padding=1)(Tensor.ones(2, 1, 8, 8)).shape
        (2, 8, 8, 8)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, int] = 0,
        dilation: int | tuple[int, int] = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        if in_channels % groups or out_channels % groups:
            raise ShapeError(
                f"Conv2d of {in_channels} to {out_channels} channels does not divide into {groups} groups. "
                "Choose groups that divide both."
            )
        self.kernel_size = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.groups = groups
        fan_in = in_channels // groups * math.prod(self.kernel_size)
        self.weight = kaiming_uniform(out_channels, in_channels // groups, *self.kernel_size, fan_in=fan_in)
        self.bias = uniform_bias(out_channels, fan_in) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        return x.conv2d(
            self.weight,
            self.bias,
            groups=self.groups,
            stride=self.stride,
            dilation=self.dilation,
            padding=self.padding,
        )
