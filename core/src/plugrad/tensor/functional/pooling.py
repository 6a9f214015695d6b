"""Averages and greatest elements of windows."""

from __future__ import annotations

from typing import Any

from plugrad.dtype import dtype_min, dtypes, is_float, is_int, sum_acc_dtype
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.argument_checks import real_number, require_tensors
from plugrad.tensor.base import Tensor
from plugrad.tensor.functional.pool import (
    Pool,
    argmax_of_windows,
    axes_of,
    checked_shape,
    from_end_of,
    max_of_windows,
)
from plugrad.tensor.shape.spatial import Dims, Padding, Sizes, not_negative, sizes_of
from plugrad.tensor.shape.windows import check_window
from plugrad.tensor.shapes import expanded, product, show
from plugrad.uop import Ops, UOp, least


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
        count = product(pool.kernel)
        return x._like((total / (float(count) if isinstance(count, int) else count.cast(wide))).cast(narrow))
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
    values = x._like(max_of_windows(pool, x._graph, view, from_end, from_end_view))
    if not return_indices:
        return values
    return values, x._like(argmax_of_windows(view, from_end_view, product(pool.sizes)))


def max_unpool2d(
    self: Tensor,
    indices: Tensor,
    kernel_size: Sizes = 2,
    stride: Sizes | None = None,
    *,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    output_size: Sizes | None = None,
) -> Tensor:
    """Write the values of `max_pool2d` back to their places, among zeros.

    Of several values at one place, the last is kept.

    (..., H', W') with indices of the same shape -> (..., H, W). A value whose index lies outside of H*W
    is dropped, as `scatter` drops it; torch refuses it.

    Args:
        indices: what `max_pool2d(return_indices=True)` returned.
        kernel_size: that call's.
        stride: that call's.
        dilation: that call's.
        padding: that call's.
        output_size: H and W (or one number for both), where several sizes give the same number of
            windows. May have leading sizes.

    Raises:
        ShapeError: shapes do not fit, a size is not positive, or the padding leaves no room.
        DtypeError: `indices` holds no integers.

    Example:
        >>> best, where = Tensor([[[[1, 5], [2, 3]]]]).max_pool2d(return_indices=True)
        >>> best.max_unpool2d(where).tolist()
        [[[[0, 5], [0, 0]]]]
    """
    axes = axes_of(kernel_size, 2)
    return _max_unpool(self, axes, indices, kernel_size, stride, dilation, padding, output_size)


def max_unpool1d(
    self: Tensor,
    indices: Tensor,
    kernel_size: Sizes = 2,
    stride: Sizes | None = None,
    *,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    output_size: Sizes | None = None,
) -> Tensor:
    """Return zeros with the values of `max_pool1d` where they were, as `max_unpool2d`.

    Example:
        >>> Tensor([[[3, 4]]]).max_unpool1d(Tensor([[[1, 2]]])).tolist()
        [[[0, 3, 4, 0]]]
    """
    return _max_unpool(self, 1, indices, kernel_size, stride, dilation, padding, output_size)


def max_unpool3d(
    self: Tensor,
    indices: Tensor,
    kernel_size: Sizes = 2,
    stride: Sizes | None = None,
    *,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    output_size: Sizes | None = None,
) -> Tensor:
    """Return zeros with the values of `max_pool3d` where they were, as `max_unpool2d`.

    Example:
        >>> Tensor([[[[[3]]]]]).max_unpool3d(Tensor([[[[[7]]]]])).flatten().tolist()
        [0, 0, 0, 0, 0, 0, 0, 3]
    """
    return _max_unpool(self, 3, indices, kernel_size, stride, dilation, padding, output_size)


def _max_unpool(
    x: Tensor,
    axes: int,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    dilation: Sizes,
    padding: Sizes,
    output_size: Sizes | None,
) -> Tensor:
    shape = checked_shape(x, axes)
    require_tensors(indices=indices)
    if indices.shape != shape or not is_int(indices.dtype):
        raise (ShapeError if is_int(indices.dtype) else DtypeError)(
            f"operation of shape {show(shape)} with indices {show(indices.shape)} of {indices.dtype.name}. "
            "Pass the integers that pooling returned, one for each value."
        )
    lead, counts = shape[: len(shape) - axes], shape[len(shape) - axes :]
    kernel = sizes_of(kernel_size, axes, "kernel_size")
    steps = kernel if stride is None else sizes_of(stride, axes, "stride")
    gaps, widths = sizes_of(dilation, axes, "dilation"), sizes_of(padding, axes, "padding")
    for window in zip(kernel, steps, gaps, strict=True):
        check_window(*window)
    not_negative(tuple((width, width) for width in widths))
    sizes = tuple(
        (count - 1) * step - 2 * width + gap * (k - 1) + 1
        for count, step, width, gap, k in zip(counts, steps, widths, gaps, kernel, strict=True)
    )
    if output_size is not None:
        given = output_size[-axes:] if isinstance(output_size, (list, tuple)) else output_size
        sizes = sizes_of(given, axes, "output_size")
    smallest = min(map(least, sizes))
    if smallest < 0 or (smallest < 1 and 0 not in counts):
        raise ShapeError(
            f"operation of shape {show(shape)} with kernel_size={show(kernel)}, stride={show(steps)} and "
            f"padding={show(widths)} gives axes of {show(sizes)}. Pad less, or pass output_size."
        )
    total = product(sizes)
    empty = x._like(x._graph.const_like(0).reshape((1,) * x.ndim).expand((*lead, *(1,) * axes)))
    flat = empty.reshape(*lead, 1).expand(*lead, total)
    rows = indices.reshape(*lead, product(counts))
    return flat.scatter(-1, rows, x.reshape(*lead, product(counts))).reshape(*lead, *sizes)
