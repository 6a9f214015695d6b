"""Pooling as layers: what is left of windows.

`Tensor`'s methods of these names say what they compute.
"""

from collections.abc import Sequence
from typing import Any

from plugrad.nn.checks import check_tensors
from plugrad.tensor import Tensor
from plugrad.tensor.shape.spatial import Padding, Sizes

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]

OutputSizes = int | Sequence[int | None] | None


class _MaxPool:
    axes = 2

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding: Padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def __call__(self, x: Tensor) -> Any:
        """Return the largest elements of windows; with `return_indices` also where they are."""
        check_tensors(self, x=x)
        pool = getattr(x, f"max_pool{self.axes}d")
        windows = {"dilation": self.dilation, "padding": self.padding, "ceil_mode": self.ceil_mode}
        return pool(self.kernel_size, self.stride, **windows, return_indices=self.return_indices)


class _MaxUnpool:
    axes = 2

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding

    def __call__(self, x: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Return `x` with its elements where `indices` says, and 0 elsewhere."""
        check_tensors(self, x=x, indices=indices)
        unpool = getattr(x, f"max_unpool{self.axes}d")
        windows = {"kernel_size": self.kernel_size, "stride": self.stride, "padding": self.padding}
        return unpool(indices, **windows, output_size=output_size)


class _AvgPool:
    axes = 2

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding: Padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def __call__(self, x: Tensor) -> Tensor:
        """Return the means of windows."""
        check_tensors(self, x=x)
        pool = getattr(x, f"avg_pool{self.axes}d")
        windows = {"padding": self.padding, "ceil_mode": self.ceil_mode}
        means = {"count_include_pad": self.count_include_pad, "divisor_override": self.divisor_override}
        return pool(self.kernel_size, self.stride, **windows, **means)


class _AdaptiveAvgPool:
    axes = 2

    def __init__(self, output_size: OutputSizes) -> None:
        self.output_size = output_size

    def __call__(self, x: Tensor) -> Tensor:
        """Return means of windows that give the output's size."""
        check_tensors(self, x=x)
        return getattr(x, f"adaptive_avg_pool{self.axes}d")(self.output_size)


class _AdaptiveMaxPool:
    axes = 2

    def __init__(self, output_size: OutputSizes, return_indices: bool = False) -> None:
        self.output_size = output_size
        self.return_indices = return_indices

    def __call__(self, x: Tensor) -> Any:
        """Return the largest elements of windows that give the output's size; if asked their places, too."""
        check_tensors(self, x=x)
        return getattr(x, f"adaptive_max_pool{self.axes}d")(self.output_size, self.return_indices)


class MaxPool1d(_MaxPool):
    """The largest elements of windows over sequences (N, C, L): `Tensor.max_pool1d`.

    Example:
        >>> MaxPool1d(2)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 2)
    """

    axes = 1


class MaxPool2d(_MaxPool):
    """The largest elements of windows over images (N, C, H, W): `Tensor.max_pool2d`.

    Example:
        >>> MaxPool2d(2)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 2, 2)
    """


class MaxPool3d(_MaxPool):
    """The largest elements of windows over volumes (N, C, D, H, W): `Tensor.max_pool3d`.

    Example:
        >>> MaxPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 2, 2, 2)
    """

    axes = 3


class MaxUnpool1d(_MaxUnpool):
    """Elements put back where `MaxPool1d` took them from sequences (N, C, L): `Tensor.max_unpool1d`.

    Example:
        >>> out, indices = MaxPool1d(2, return_indices=True)(Tensor.ones(1, 1, 4))
        >>> MaxUnpool1d(2)(out, indices).shape
        (1, 1, 4)
    """

    axes = 1


class MaxUnpool2d(_MaxUnpool):
    """Elements put back where `MaxPool2d` took them from images (N, C, H, W): `Tensor.max_unpool2d`.

    Example:
        >>> out, indices = MaxPool2d(2, return_indices=True)(Tensor.ones(1, 1, 4, 4))
        >>> MaxUnpool2d(2)(out, indices).shape
        (1, 1, 4, 4)
    """


class MaxUnpool3d(_MaxUnpool):
    """Elements put back where `MaxPool3d` took them from volumes (N, C, D, H, W): `Tensor.max_unpool3d`.

    Example:
        >>> out, indices = MaxPool3d(2, return_indices=True)(Tensor.ones(1, 1, 4, 4, 4))
        >>> MaxUnpool3d(2)(out, indices).shape
        (1, 1, 4, 4, 4)
    """

    axes = 3


class AvgPool1d(_AvgPool):
    """The means of windows over sequences (N, C, L): `Tensor.avg_pool1d`.

    Example:
        >>> AvgPool1d(2)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 2)
    """

    axes = 1


class AvgPool2d(_AvgPool):
    """The means of windows over images (N, C, H, W): `Tensor.avg_pool2d`.

    Example:
        >>> AvgPool2d(2)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 2, 2)
    """


class AvgPool3d(_AvgPool):
    """The means of windows over volumes (N, C, D, H, W): `Tensor.avg_pool3d`.

    Example:
        >>> AvgPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 2, 2, 2)
    """

    axes = 3


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of as many windows over sequences (N, C, L) as asked for: `Tensor.adaptive_avg_pool1d`.

    Example:
        >>> AdaptiveAvgPool1d(2)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 2)
    """

    axes = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of as many windows over images (N, C, H, W) as asked for: `Tensor.adaptive_avg_pool2d`.

    Example:
        >>> AdaptiveAvgPool2d(2)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 2, 2)
    """


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The means of as many windows over volumes (N, C, D, H, W) as asked for: `Tensor.adaptive_avg_pool3d`.

    Example:
        >>> AdaptiveAvgPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 2, 2, 2)
    """

    axes = 3


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest elements of as many windows as asked for over sequences (N, C, L).

    As `Tensor.adaptive_max_pool1d`.

    Example:
        >>> AdaptiveMaxPool1d(2)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 2)
    """

    axes = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest elements of as many windows as asked for over images (N, C, H, W).

    As `Tensor.adaptive_max_pool2d`.

    Example:
        >>> AdaptiveMaxPool2d(2)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 2, 2)
    """


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest elements of as many windows as asked for over volumes (N, C, D, H, W).

    As `Tensor.adaptive_max_pool3d`.

    Example:
        >>> AdaptiveMaxPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 2, 2, 2)
    """

    axes = 3
