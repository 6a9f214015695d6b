"""Convolution layers."""

import functools
import math
from collections.abc import Sequence
from typing import Literal, get_args

from plugrad.errors import ShapeError
from plugrad.nn.checks import check_counts, check_tensors, check_windows
from plugrad.nn.init import draw_by_fan_in
from plugrad.nn.module import Module, UnaryModule
from plugrad.tensor import Tensor
from plugrad.tensor.base import DTypeLike
from plugrad.tensor.functional.pool import axes_of
from plugrad.tensor.shape.spatial import Padding, Sizes, not_negative, sizes_of, widths_of_words
from plugrad.tensor.shapes import check_choice, fixed_shape

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


PaddingMode = Literal["zeros", "reflect", "replicate", "circular"]


class _Convolution(Module):
    """A window of weights over the last axes of (N, C, ...), or of (C, ...)."""

    axes = 2
    #: Whether a kernel of another number of sizes is one of as many axes.
    _takes_any_axes = False

    def _set_up(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        padding: Padding,
        dilation: Sizes,
        groups: int,
    ) -> None:
        name = type(self).__name__
        check_counts(self, 0, in_channels=in_channels, out_channels=out_channels, groups=groups)
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ShapeError(
                f"{name} of {in_channels} to {out_channels} channels does not divide into {groups} groups. "
                "Choose groups that divide both."
            )
        if self._takes_any_axes and 1 <= (axes := axes_of(kernel_size, self.axes)) <= 3:
            self.axes = axes
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = sizes_of(kernel_size, self.axes, "kernel_size")
        self.stride = stride
        self.padding: Padding = padding
        self.dilation = dilation
        self.groups = groups
        self._steps = sizes_of(stride, self.axes, "stride")
        self._gaps = sizes_of(dilation, self.axes, "dilation")
        check_windows(self, kernel_size=self.kernel_size, stride=self._steps, dilation=self._gaps)
        widths = widths_of_words(padding, self.kernel_size, self._steps, self._gaps, name)
        self._widths = not_negative(widths, name)

    def _draw(self, rows: int, columns: int, bias: bool, device: str | None, dtype: DTypeLike | None) -> None:
        """Draw the weight, (rows, columns / groups, *kernel_size), and the bias."""
        columns //= self.groups
        fan_in = columns * math.prod(self.kernel_size)
        draw = functools.partial(draw_by_fan_in, fan_in=fan_in, device=device, dtype=dtype)
        self.weight = draw(rows, columns, *self.kernel_size)
        self.bias = draw(self.out_channels) if bias else None


class _Forward(_Convolution, UnaryModule):
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
        padding_mode: PaddingMode = "zeros",
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        check_choice(padding_mode, get_args(PaddingMode), f"{type(self).__name__}: padding_mode")
        self._set_up(in_channels, out_channels, kernel_size, stride, padding, dilation, groups)
        self._draw(out_channels, in_channels, bias, device, dtype)
        self.padding_mode: PaddingMode = padding_mode

    def forward(self, x: Tensor) -> Tensor:
        padding: Padding = self._widths
        if self.padding_mode != "zeros":
            rest = x.ndim - self.axes
            x, padding = x.pad([*[(0, 0)] * rest, *self._widths], self.padding_mode), 0
        convolve = getattr(x, f"conv{self.axes}d")
        windows = {"stride": self._steps, "dilation": self._gaps, "padding": padding}
        return convolve(self.weight, self.bias, groups=self.groups, **windows)


class Conv1d(_Forward):
    """A window of weights over sequences: (N, in_channels, L) -> (N, out_channels, L').

    Takes the arguments of `Conv2d`.

    Example:
        >>> Conv1d(1, 8, 3, padding="same")(Tensor.ones(2, 1, 9)).shape
        (2, 8, 9)
    """

    axes = 1


class Conv2d(_Forward):
    """A window of weights over images: (N, in_channels, H, W) -> (N, out_channels, H', W').

    Args:
        kernel_size: height and width of the window, or one number for both. One or three sizes make the
            layer `Conv1d` or `Conv3d`, as in tinygrad.
        stride: steps between windows.
        padding: zeros around the images, as `Tensor.conv2d` takes it.
        dilation: steps between the elements of a window.
        groups: how many groups of channels are kept apart.
        bias: add a learnt number for each output channel.
        padding_mode: what is around the images: "zeros", or what `Tensor.pad` calls "reflect", "replicate" or
            "circular".
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.

    Raises:
        ArgumentError: there is no such `padding_mode`.
        ShapeError: `groups` does not divide the channels, or a size, step or width is none.

    Example:
        >>> Conv2d(1, 8, 3, padding=1)(Tensor.ones(2, 1, 8, 8)).shape
        (2, 8, 8, 8)
    """

    _takes_any_axes = True


class Conv3d(_Forward):
    """A window of weights over volumes: (N, in_channels, D, H, W) -> (N, out_channels, D', H', W').

    Takes the arguments of `Conv2d`.

    Example:
        >>> Conv3d(1, 2, 2)(Tensor.ones(1, 1, 3, 3, 3)).shape
        (1, 2, 2, 2, 2)
    """

    axes = 3


class _Transposed(_Convolution):
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
        padding_mode: Literal["zeros"] = "zeros",
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        check_choice(padding_mode, ("zeros",), f"{type(self).__name__}: padding_mode")
        if isinstance(padding, str):
            raise ShapeError(f"{type(self).__name__}: padding={padding!r:.60}: pass widths.")
        self._set_up(in_channels, out_channels, kernel_size, stride, padding, dilation, groups)
        self._draw(in_channels, out_channels, bias, device, dtype)
        sizes_of(output_padding, self.axes, "output_padding")
        self.output_padding = output_padding

    def forward(self, x: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Return the output for a batch, or for one example without that axis.

        Args:
            x: the input.
            output_size: sizes of the output's last axes, in place of `output_padding`.

        Raises:
            ShapeError: no `output_padding` gives that size.
        """
        check_tensors(self, x=x)
        extra = self.output_padding if output_size is None else self._extra(x, output_size)
        convolve = getattr(x, f"conv_transpose{self.axes}d")
        windows = {"stride": self._steps, "dilation": self._gaps, "padding": self._widths}
        return convolve(self.weight, self.bias, groups=self.groups, **windows, output_padding=extra)

    def _extra(self, x: Tensor, output_size: Sequence[int]) -> tuple[int, ...]:
        wanted = tuple(output_size)[-self.axes :]
        sizes = fixed_shape(x.shape, type(self).__name__)[-self.axes :]
        least = tuple(
            (size - 1) * step - before - after + gap * (kernel - 1) + 1
            for size, step, (before, after), gap, kernel in zip(
                sizes, self._steps, self._widths, self._gaps, self.kernel_size, strict=True
            )
        )
        most = tuple(low + step - 1 for low, step in zip(least, self._steps, strict=True))
        if len(wanted) != self.axes or not all(
            low <= size <= high for low, size, high in zip(least, wanted, most, strict=True)
        ):
            raise ShapeError(
                f"{type(self).__name__}: output_size={tuple(output_size)} of an input {x.shape}: it may be "
                f"{least} up to {most}."
            )
        return tuple(size - low for size, low in zip(wanted, least, strict=True))


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
        kernel_size: height and width of the window, or one number for both.
        stride: steps between the places that elements spread to.
        padding: how much is cut from each side of the result.
        output_padding: how much longer the result is at its end.
        groups: how many groups of channels are kept apart.
        bias: add a learnt number for each output channel.
        dilation: steps between the elements of a window.
        padding_mode: "zeros", as in PyTorch, which knows no other here.
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.

    Raises:
        ArgumentError: there is no such `padding_mode`.
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
