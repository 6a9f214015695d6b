"""The way back from pooling: values put where they were."""

from __future__ import annotations

from plugrad.dtype import is_int
from plugrad.errors import DtypeError, ShapeError
from plugrad.tensor.base import Tensor
from plugrad.tensor.functional.pool import axes_of, checked_shape
from plugrad.tensor.shape.spatial import Sizes, not_negative, sizes_of
from plugrad.tensor.shape.windows import check_window
from plugrad.tensor.shapes import product, show
from plugrad.uop import least


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
    return _max_unpool(
        self, axes, indices, kernel_size, stride, dilation, padding, output_size, "max_unpool2d"
    )


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
    return _max_unpool(self, 1, indices, kernel_size, stride, dilation, padding, output_size, "max_unpool1d")


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
    return _max_unpool(self, 3, indices, kernel_size, stride, dilation, padding, output_size, "max_unpool3d")


def _max_unpool(
    x: Tensor,
    axes: int,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    dilation: Sizes,
    padding: Sizes,
    output_size: Sizes | None,
    what: str,
) -> Tensor:
    shape = checked_shape(x, axes, what)
    if indices.shape != shape or not is_int(indices.dtype):
        raise (ShapeError if is_int(indices.dtype) else DtypeError)(
            f"{what} of shape {show(shape)} with indices {show(indices.shape)} of {indices.dtype.name}. "
            "Pass the integers that pooling returned, one for each value."
        )
    lead, counts = shape[: len(shape) - axes], shape[len(shape) - axes :]
    kernel = sizes_of(kernel_size, axes, "kernel_size")
    steps = kernel if stride is None else sizes_of(stride, axes, "stride")
    gaps, widths = sizes_of(dilation, axes, "dilation"), sizes_of(padding, axes, "padding")
    for window in zip(kernel, steps, gaps, strict=True):
        check_window(*window)
    not_negative(tuple((width, width) for width in widths), what)
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
            f"{what} of shape {show(shape)} with kernel_size={show(kernel)}, stride={show(steps)} and "
            f"padding={show(widths)} gives axes of {show(sizes)}. Pad less, or pass output_size."
        )
    total = product(sizes)
    empty = x._like(x._graph.const_like(0).reshape((1,) * x.ndim).expand((*lead, *(1,) * axes)))
    flat = empty.reshape(*lead, 1).expand(*lead, total)
    rows = indices.reshape(*lead, product(counts))
    return flat.scatter(-1, rows, x.reshape(*lead, product(counts))).reshape(*lead, *sizes)
