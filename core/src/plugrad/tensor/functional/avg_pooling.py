"""Pooling: the mean of each window."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from typing import TYPE_CHECKING, Any

from plugrad.dtype import DType, dtypes, is_float, sum_acc_dtype
from plugrad.errors import ArgumentError
from plugrad.tensor.arguments import real
from plugrad.tensor.base import TensorBase
from plugrad.tensor.functional.pool import Pool, axes_of, behind
from plugrad.tensor.shape.spatial import Dims, Padding, Sizes
from plugrad.tensor.shapes import Dim, product
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class AvgPoolingMixin(TensorBase):
    """Means over the last axes: `(..., *sizes) -> (..., *counts)`; windows are given as for `max_pool2d`."""

    __slots__ = ()

    def avg_pool2d(
        self: Tensor,
        kernel_size: Dims = 2,
        stride: Dims | None = None,
        *,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        """Return the mean of each window.

        (..., H, W) -> (..., H', W'), floats; integers give the default float.

        Args:
            kernel_size: size of the window, which may be symbolic.
            stride: step between windows; the window's size if left out.
            dilation: step between the elements of a window.
            padding: zeros around the images, at most half of the window's size; as for `conv2d`.
            ceil_mode: let a last window begin inside although it ends outside.
            count_include_pad: count the zeros of `padding` as elements.
            divisor_override: divide the sums by this number, not by that of the elements.

        Raises:
            ShapeError: the window does not fit, or the stride is symbolic and not the window's size.
            ArgumentError: `divisor_override` is 0.

        Example:
            >>> Tensor.arange(4).reshape(1, 1, 2, 2).avg_pool2d().tolist()
            [[[[1.5]]]]
        """
        axes = axes_of(kernel_size, 2)
        pool = Pool(self, axes, kernel_size, stride, dilation, padding, ceil_mode, "avg_pool2d")
        return self._avg_pool(pool, count_include_pad, divisor_override)

    def avg_pool1d(
        self: Tensor,
        kernel_size: Dims = 2,
        stride: Dims | None = None,
        *,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        """Return `avg_pool2d` over the last axis: (..., L) -> (..., L').

        Raises:
            ShapeError: the window does not fit, or the stride is symbolic and not the window's size.
            ArgumentError: `divisor_override` is 0.

        Example:
            >>> Tensor([[1, 3, 2, 0]]).avg_pool1d().tolist()
            [[2.0, 1.0]]
        """
        pool = Pool(self, 1, kernel_size, stride, dilation, padding, ceil_mode, "avg_pool1d")
        return self._avg_pool(pool, count_include_pad, divisor_override)

    def avg_pool3d(
        self: Tensor,
        kernel_size: Dims = 2,
        stride: Dims | None = None,
        *,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        """Return `avg_pool2d` over the last three axes: (..., D, H, W) -> (..., D', H', W').

        Raises:
            ShapeError: the window does not fit, or the stride is symbolic and not the window's size.
            ArgumentError: `divisor_override` is 0.

        Example:
            >>> Tensor.arange(8).reshape(1, 1, 2, 2, 2).avg_pool3d().item()
            3.5
        """
        pool = Pool(self, 3, kernel_size, stride, dilation, padding, ceil_mode, "avg_pool3d")
        return self._avg_pool(pool, count_include_pad, divisor_override)

    def _avg_pool(self: Tensor, pool: Pool, count_include_pad: bool, divisor_override: int | None) -> Tensor:
        narrow = self.dtype if is_float(self.dtype) else dtypes.default_float
        wide = sum_acc_dtype(narrow)
        total = pool.windows_of(self.cast(wide), 0).reduce_axis(Ops.ADD, pool.window_axes)
        total = total.reshape(pool.shape)
        if divisor_override is not None:
            if not real(divisor_override, "divisor_override"):
                raise ArgumentError(f"{pool.what}: divisor_override=0. Pass another number, or None.")
            return self._like((total / float(divisor_override)).cast(narrow))
        is_padding_one = count_include_pad and not any(pool.extra)
        if is_padding_one or not any(map(any, pool.widths)):
            return self._like((total / _as_float(product(pool.kernel), wide)).cast(narrow))
        axes = len(pool.sizes)
        ones = UOp.const(wide, 1).reshape((1,) * axes).expand(pool.sizes)
        counts = pool.windows_of(self._like(ones), 0, counted_padding=count_include_pad)
        count = counts.reduce_axis(Ops.ADD, tuple(range(axes, 2 * axes))).reshape(pool.counts)
        return self._like((total / behind(count, pool.shape)).cast(narrow))


def _as_float(count: Dim, dtype: DType) -> Any:
    """Return a number, one that is symbolic as a node of `dtype`."""
    return float(count) if isinstance(count, int) else count.cast(dtype)
