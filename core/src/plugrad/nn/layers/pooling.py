"""Pooling as layers.

`Tensor`'s methods of these names say what they compute.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from plugrad.nn.checks import check_tensors, check_windows
from plugrad.nn.module import FunctionModule
from plugrad.tensor import Tensor
from plugrad.tensor.functional.pool import axes_of, padding_around
from plugrad.tensor.shape.spatial import Padding, Sizes, dims_of, sizes_of

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


class _Pool(FunctionModule):
    """A function of windows over the last axes."""

    def __call__(self, x: Tensor, *more: Any, **options: Any) -> Any:
        """Return the method's result for `x`; of maxima also their places, with `return_indices`."""
        check_tensors(self, x=x)
        return super().__call__(x, *more, **options)


class _PaddedPool(_Pool):
    """A pool with windows, which are checked when the layer is made."""

    axes: ClassVar[int] = 2

    def __init_subclass__(cls, axes: int | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.axes = axes or cls.axes

    def __post_init__(self) -> None:
        """Refuse windows without elements or steps, and padding that holds whole windows."""
        settings = vars(self)
        axes = axes_of(settings["kernel_size"], self.axes)
        kernel = dims_of(settings["kernel_size"], axes, "kernel_size")
        gaps = sizes_of(settings.get("dilation", 1), axes, "dilation")
        given = settings["stride"]
        steps = kernel if given is None else dims_of(given, axes, "stride")
        check_windows(self, kernel_size=kernel, stride=steps, dilation=gaps)
        padding_around(kernel, gaps, settings["padding"], type(self).__name__)


class _MaxPool(_PaddedPool):
    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Padding = 0
    dilation: Sizes = 1
    return_indices: bool = False
    ceil_mode: bool = False


class _MaxUnpool(_Pool):
    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0

    def forward(self, x: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        check_tensors(self, indices=indices)
        return super().forward(x, indices, output_size=output_size)


class _AvgPool(_PaddedPool):
    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Padding = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None


class _AdaptiveAvgPool(_Pool):
    output_size: OutputSizes


class _AdaptiveMaxPool(_Pool):
    output_size: OutputSizes
    return_indices: bool = False


class MaxPool1d(_MaxPool, function=Tensor.max_pool1d, axes=1):
    """The largest elements of windows over sequences (N, C, L): `Tensor.max_pool1d`.

    Example:
        >>> MaxPool1d(2)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 2)
    """


class MaxPool2d(_MaxPool, function=Tensor.max_pool2d):
    """The largest elements of windows over images (N, C, H, W): `Tensor.max_pool2d`.

    Example:
        >>> MaxPool2d(2)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 2, 2)
    """


class MaxPool3d(_MaxPool, function=Tensor.max_pool3d, axes=3):
    """The largest elements of windows over volumes (N, C, D, H, W): `Tensor.max_pool3d`.

    Example:
        >>> MaxPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 2, 2, 2)
    """


class MaxUnpool1d(_MaxUnpool, function=Tensor.max_unpool1d):
    """Elements put back where `MaxPool1d` took them from sequences (N, C, L): `Tensor.max_unpool1d`.

    Example:
        >>> out, indices = MaxPool1d(2, return_indices=True)(Tensor.ones(1, 1, 4))
        >>> MaxUnpool1d(2)(out, indices).shape
        (1, 1, 4)
    """


class MaxUnpool2d(_MaxUnpool, function=Tensor.max_unpool2d):
    """Elements put back where `MaxPool2d` took them from images (N, C, H, W): `Tensor.max_unpool2d`.

    Example:
        >>> out, indices = MaxPool2d(2, return_indices=True)(Tensor.ones(1, 1, 4, 4))
        >>> MaxUnpool2d(2)(out, indices).shape
        (1, 1, 4, 4)
    """


class MaxUnpool3d(_MaxUnpool, function=Tensor.max_unpool3d):
    """Elements put back where `MaxPool3d` took them from volumes (N, C, D, H, W): `Tensor.max_unpool3d`.

    Example:
        >>> out, indices = MaxPool3d(2, return_indices=True)(Tensor.ones(1, 1, 4, 4, 4))
        >>> MaxUnpool3d(2)(out, indices).shape
        (1, 1, 4, 4, 4)
    """


class AvgPool1d(_AvgPool, function=Tensor.avg_pool1d, axes=1):
    """The means of windows over sequences (N, C, L): `Tensor.avg_pool1d`.

    Example:
        >>> AvgPool1d(2)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 2)
    """


class AvgPool2d(_AvgPool, function=Tensor.avg_pool2d):
    """The means of windows over images (N, C, H, W): `Tensor.avg_pool2d`.

    Example:
        >>> AvgPool2d(2)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 2, 2)
    """


class AvgPool3d(_AvgPool, function=Tensor.avg_pool3d, axes=3):
    """The means of windows over volumes (N, C, D, H, W): `Tensor.avg_pool3d`.

    Example:
        >>> AvgPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 2, 2, 2)
    """


class AdaptiveAvgPool1d(_AdaptiveAvgPool, function=Tensor.adaptive_avg_pool1d):
    """Means of a given number of windows over sequences (N, C, L): `Tensor.adaptive_avg_pool1d`.

    Example:
        >>> AdaptiveAvgPool1d(2)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 2)
    """


class AdaptiveAvgPool2d(_AdaptiveAvgPool, function=Tensor.adaptive_avg_pool2d):
    """Means of a given number of windows over images (N, C, H, W): `Tensor.adaptive_avg_pool2d`.

    Example:
        >>> AdaptiveAvgPool2d(2)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 2, 2)
    """


class AdaptiveAvgPool3d(_AdaptiveAvgPool, function=Tensor.adaptive_avg_pool3d):
    """Means of a given number of windows over volumes: `Tensor.adaptive_avg_pool3d`.

    Example:
        >>> AdaptiveAvgPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 2, 2, 2)
    """


class AdaptiveMaxPool1d(_AdaptiveMaxPool, function=Tensor.adaptive_max_pool1d):
    """The largest elements of a given number of windows over sequences.

    As `Tensor.adaptive_max_pool1d`.

    Example:
        >>> AdaptiveMaxPool1d(2)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 2)
    """


class AdaptiveMaxPool2d(_AdaptiveMaxPool, function=Tensor.adaptive_max_pool2d):
    """The largest elements of a given number of windows over images.

    As `Tensor.adaptive_max_pool2d`.

    Example:
        >>> AdaptiveMaxPool2d(2)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 2, 2)
    """


class AdaptiveMaxPool3d(_AdaptiveMaxPool, function=Tensor.adaptive_max_pool3d):
    """The largest elements of a given number of windows over volumes.

    As `Tensor.adaptive_max_pool3d`.

    Example:
        >>> AdaptiveMaxPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 2, 2, 2)
    """
