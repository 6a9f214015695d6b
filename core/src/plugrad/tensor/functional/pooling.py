"""Averages and greatest elements of windows."""

from __future__ import annotations

from typing import Any

from plugrad.dtype import DType, dtype_min, dtypes, is_float, sum_acc_dtype
from plugrad.errors import ArgumentError
from plugrad.tensor.argument_checks import real_number
from plugrad.tensor.base import Tensor
from plugrad.tensor.functional.pool import Pool, axes_of, first_places, from_end_of, greatest_in
from plugrad.tensor.shape.spatial import Dims, Padding, Sizes
from plugrad.tensor.shapes import Dim, expanded, product
from plugrad.uop import Ops, UOp


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
    return _avg_pool(self, pool, count_include_pad, divisor_override)


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
    return _avg_pool(self, pool, count_include_pad, divisor_override)


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
    return _avg_pool(self, pool, count_include_pad, divisor_override)


def _avg_pool(x: Tensor, pool: Pool, count_include_pad: bool, divisor_override: int | None) -> Tensor:
    narrow = x.dtype if is_float(x.dtype) else dtypes.default_float
    wide = sum_acc_dtype(narrow)
    total = pool.windows_of(x.cast(wide), 0).reduce_axis(Ops.ADD, pool.window_axes)
    total = total.reshape(pool.shape)
    if divisor_override is not None:
        if not real_number(divisor_override, "divisor_override"):
            raise ArgumentError("divisor_override=0. Pass another number, or None.")
        return x._like((total / float(divisor_override)).cast(narrow))
    is_padding_one = count_include_pad and not any(pool.extra)
    if is_padding_one or not any(map(any, pool.widths)):
        return x._like((total / _as_float(product(pool.kernel), wide)).cast(narrow))
    axes = len(pool.sizes)
    ones = UOp.const(wide, 1).reshape((1,) * axes).expand(pool.sizes)
    counts = pool.windows_of(x._like(ones), 0, counted_padding=count_include_pad)
    count = counts.reduce_axis(Ops.ADD, tuple(range(axes, 2 * axes))).reshape(pool.counts)
    return x._like((total / expanded(count, pool.shape)).cast(narrow))


def max_pool2d(
    self: Tensor,
    kernel_size: Dims = 2,
    stride: Dims | None = None,
    *,
    dilation: Sizes = 1,
    padding: Padding = 0,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the greatest value in each window; NaN where there is one.

    (..., H, W) -> (..., H', W'). Of equal values, the first one gets the gradient. What follows the
    stride is given by name: PyTorch and tinygrad have it in different orders.

    Args:
        kernel_size: size of the window, which may be symbolic.
        stride: step between windows; the window's size if left out.
        dilation: step between the elements of a window.
        padding: how far windows reach over the edge, at most half of their size; as for `conv2d`.
        ceil_mode: let a last window begin inside although it ends outside.
        return_indices: also return where in its image each value was, counted row by row, as
            `max_unpool2d` takes it: the first of equals, or of NaN (of which PyTorch names the last).

    Raises:
        ShapeError: the window does not fit, or the stride is symbolic and not the window's size.

    Example:
        >>> Tensor.arange(4).reshape(1, 1, 2, 2).max_pool2d().tolist()
        [[[[3]]]]
    """
    axes = axes_of(kernel_size, 2)
    pool = Pool(self, axes, kernel_size, stride, dilation, padding, ceil_mode, "max_pool2d")
    return _max_pool(self, pool, return_indices)


def max_pool1d(
    self: Tensor,
    kernel_size: Dims = 2,
    stride: Dims | None = None,
    *,
    dilation: Sizes = 1,
    padding: Padding = 0,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return `max_pool2d` over the last axis: (..., L) -> (..., L').

    Raises:
        ShapeError: the window does not fit, or the stride is symbolic and not the window's size.

    Example:
        >>> Tensor([[1, 3, 2, 0]]).max_pool1d().tolist()
        [[3, 2]]
    """
    pool = Pool(self, 1, kernel_size, stride, dilation, padding, ceil_mode, "max_pool1d")
    return _max_pool(self, pool, return_indices)


def max_pool3d(
    self: Tensor,
    kernel_size: Dims = 2,
    stride: Dims | None = None,
    *,
    dilation: Sizes = 1,
    padding: Padding = 0,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return `max_pool2d` over the last three axes: (..., D, H, W) -> (..., D', H', W').

    Raises:
        ShapeError: the window does not fit, or the stride is symbolic and not the window's size.

    Example:
        >>> Tensor.arange(8).reshape(1, 1, 2, 2, 2).max_pool3d().tolist()
        [[[[[7]]]]]
    """
    pool = Pool(self, 3, kernel_size, stride, dilation, padding, ceil_mode, "max_pool3d")
    return _max_pool(self, pool, return_indices)


def _max_pool(x: Tensor, pool: Pool, return_indices: bool) -> Any:
    view = pool.windows_of(x, dtype_min(x.dtype))
    from_end = from_end_of(pool.sizes)
    from_end_view = pool.windows_of(x._like(from_end), 0)
    values = x._like(greatest_in(pool, x._graph, view, from_end, from_end_view))
    if not return_indices:
        return values
    return values, x._like(first_places(view, from_end_view, product(pool.sizes)))


def _as_float(count: Dim, dtype: DType) -> Any:
    return float(count) if isinstance(count, int) else count.cast(dtype)
