"""Pooling: the greatest or the mean of each window, of fixed size or as many as are asked for."""

from collections.abc import Sequence
from typing import Any, Self

from plugrad.dtype import ConstType, dtype_min, dtypes, is_float, is_int, sum_acc_dtype
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.gather import GatherMixin
from plugrad.tensor.lookup import counted, pick_last, position_dtype
from plugrad.tensor.shapes import product, show
from plugrad.tensor.spatial import Padding, Sizes, Widths, sizes_of, widths_of
from plugrad.tensor.windows import windows
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

OutputSizes = int | None | Sequence[int | None]


class PoolingMixin(GatherMixin):
    """Pooling over the last axes: `(..., *sizes) -> (..., *counts)`; what comes before them is not touched.

    A single number as `kernel_size` or `output_size` stands for the 1, 2 or 3 axes of the method's name. With
    a sequence the methods for images pool over as many axes as it has numbers.
    """

    __slots__ = ()

    # --- the greatest ---

    def max_pool2d(
        self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Return the greatest value in each window; NaN where there is one.

        (..., H, W) -> (..., H', W')

        Args:
            kernel_size: size of the window.
            stride: step between windows; the window's size if left out.
            dilation: step between the elements of a window.
            padding: how far windows reach over the edge, at most half of their size; as for `conv2d`.
            ceil_mode: let a last window begin inside although it ends outside.
            return_indices: also return where in its image each value was, counted row by row, as
                `max_unpool2d` takes it: the first of equals.

        Raises:
            ShapeError: the window does not fit.

        Example:
            >>> Tensor.arange(4).reshape(1, 1, 2, 2).max_pool2d().tolist()
            [[[[3]]]]
        """
        axes = _axes_of(kernel_size, 2)
        return self._max_pool(
            axes, kernel_size, stride, dilation, padding, ceil_mode, return_indices, "max_pool2d"
        )

    def max_pool1d(
        self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Return `max_pool2d` over the last axis: (..., L) -> (..., L').

        Raises:
            ShapeError: the window does not fit.

        Example:
            >>> Tensor([[1, 3, 2, 0]]).max_pool1d().tolist()
            [[3, 2]]
        """
        return self._max_pool(
            1, kernel_size, stride, dilation, padding, ceil_mode, return_indices, "max_pool1d"
        )

    def max_pool3d(
        self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Return `max_pool2d` over the last three axes: (..., D, H, W) -> (..., D', H', W').

        Raises:
            ShapeError: the window does not fit.

        Example:
            >>> Tensor.arange(8).reshape(1, 1, 2, 2, 2).max_pool3d().tolist()
            [[[[[7]]]]]
        """
        return self._max_pool(
            3, kernel_size, stride, dilation, padding, ceil_mode, return_indices, "max_pool3d"
        )

    def _max_pool(
        self,
        axes: int,
        kernel_size: Sizes,
        stride: Sizes | None,
        dilation: Sizes,
        padding: Padding,
        ceil_mode: bool,
        return_indices: bool,
        what: str,
    ) -> Any:
        pool = _Pool(self, axes, kernel_size, stride, dilation, padding, ceil_mode, what)
        view = pool.windows_of(self, dtype_min(self.dtype))
        values = view.reduce_axis(Ops.MAX, pool.window_axes).reshape(pool.shape)
        if not return_indices:
            return self._like(values)
        from_end = self._like(_from_end(pool.sizes))
        return self._like(values), self._like(
            _first_places(view, pool.windows_of(from_end, 0), product(pool.sizes), axes)
        )

    def max_unpool2d(
        self,
        indices: Self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        output_size: Sequence[int] | None = None,
    ) -> Self:
        """Return zeros with the values of `max_pool2d` where they were; of several at one place, the last.

        (..., H', W') with indices of the same shape -> (..., H, W)

        Args:
            indices: what `max_pool2d(return_indices=True)` returned.
            kernel_size: that call's.
            stride: that call's.
            dilation: that call's.
            padding: that call's.
            output_size: H and W, where several sizes give the same number of windows. May have leading sizes.

        Raises:
            ShapeError: shapes do not fit.
            DtypeError: `indices` holds no integers.

        Example:
            >>> best, where = Tensor([[[[1, 5], [2, 3]]]]).max_pool2d(return_indices=True)
            >>> best.max_unpool2d(where).tolist()
            [[[[0, 5], [0, 0]]]]
        """
        axes = _axes_of(kernel_size, 2)
        return self._max_unpool(
            axes, indices, kernel_size, stride, dilation, padding, output_size, "max_unpool2d"
        )

    def max_unpool1d(
        self,
        indices: Self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        output_size: Sequence[int] | None = None,
    ) -> Self:
        """Return zeros with the values of `max_pool1d` where they were, as `max_unpool2d`.

        Example:
            >>> Tensor([[[3, 4]]]).max_unpool1d(Tensor([[[1, 2]]])).tolist()
            [[[0, 3, 4, 0]]]
        """
        return self._max_unpool(
            1, indices, kernel_size, stride, dilation, padding, output_size, "max_unpool1d"
        )

    def max_unpool3d(
        self,
        indices: Self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        output_size: Sequence[int] | None = None,
    ) -> Self:
        """Return zeros with the values of `max_pool3d` where they were, as `max_unpool2d`.

        Example:
            >>> Tensor([[[[[3]]]]]).max_unpool3d(Tensor([[[[[7]]]]])).flatten().tolist()
            [0, 0, 0, 0, 0, 0, 0, 3]
        """
        return self._max_unpool(
            3, indices, kernel_size, stride, dilation, padding, output_size, "max_unpool3d"
        )

    def _max_unpool(
        self,
        axes: int,
        indices: Self,
        kernel_size: Sizes,
        stride: Sizes | None,
        dilation: Sizes,
        padding: Sizes,
        output_size: Sequence[int] | None,
        what: str,
    ) -> Self:
        shape = _checked_shape(self, axes, what)
        if indices.shape != shape or not is_int(indices.dtype):
            raise (ShapeError if is_int(indices.dtype) else DtypeError)(
                f"{what} of shape {show(shape)} with indices {show(indices.shape)} of {indices.dtype.name}. "
                "Pass the integers that pooling returned, one for each value."
            )
        lead, counts = shape[: len(shape) - axes], shape[len(shape) - axes :]
        kernel = sizes_of(kernel_size, axes, "kernel_size")
        steps = kernel if stride is None else sizes_of(stride, axes, "stride")
        gaps, widths = sizes_of(dilation, axes, "dilation"), sizes_of(padding, axes, "padding")
        sizes = tuple(
            (count - 1) * step - 2 * width + gap * (k - 1) + 1
            for count, step, width, gap, k in zip(counts, steps, widths, gaps, kernel, strict=True)
        )
        if output_size is not None:
            sizes = sizes_of(tuple(output_size)[-axes:], axes, "output_size")
        total: int = product(sizes)
        empty = self._like(self._graph.const_like(0).reshape((1,) * self.ndim).expand((*lead, *(1,) * axes)))
        flat = empty.reshape(*lead, 1).expand(*lead, total)
        rows = indices.reshape(*lead, product(counts))
        return flat.scatter(-1, rows, self.reshape(*lead, product(counts))).reshape(*lead, *sizes)

    # --- the mean ---

    def avg_pool2d(
        self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:
        """Return the mean of each window.

        (..., H, W) -> (..., H', W'), floats; integers give the default float.

        Args:
            kernel_size: size of the window.
            stride: step between windows; the window's size if left out.
            dilation: step between the elements of a window.
            padding: zeros around the images, at most half of the window's size; as for `conv2d`.
            ceil_mode: let a last window begin inside although it ends outside.
            count_include_pad: count the zeros of `padding` as elements.
            divisor_override: divide the sums by this number, not by that of the elements.

        Raises:
            ShapeError: the window does not fit.
            ArgumentError: `divisor_override` is 0.

        Example:
            >>> Tensor.arange(4).reshape(1, 1, 2, 2).avg_pool2d().tolist()
            [[[[1.5]]]]
        """
        axes = _axes_of(kernel_size, 2)
        return self._avg_pool(
            axes,
            kernel_size,
            stride,
            dilation,
            padding,
            ceil_mode,
            count_include_pad,
            divisor_override,
            "avg_pool2d",
        )

    def avg_pool1d(
        self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:
        """Return `avg_pool2d` over the last axis: (..., L) -> (..., L').

        Raises:
            ShapeError: the window does not fit.
            ArgumentError: `divisor_override` is 0.

        Example:
            >>> Tensor([[1, 3, 2, 0]]).avg_pool1d().tolist()
            [[2.0, 1.0]]
        """
        return self._avg_pool(
            1,
            kernel_size,
            stride,
            dilation,
            padding,
            ceil_mode,
            count_include_pad,
            divisor_override,
            "avg_pool1d",
        )

    def avg_pool3d(
        self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:
        """Return `avg_pool2d` over the last three axes: (..., D, H, W) -> (..., D', H', W').

        Raises:
            ShapeError: the window does not fit.
            ArgumentError: `divisor_override` is 0.

        Example:
            >>> Tensor.arange(8).reshape(1, 1, 2, 2, 2).avg_pool3d().item()
            3.5
        """
        return self._avg_pool(
            3,
            kernel_size,
            stride,
            dilation,
            padding,
            ceil_mode,
            count_include_pad,
            divisor_override,
            "avg_pool3d",
        )

    def _avg_pool(
        self,
        axes: int,
        kernel_size: Sizes,
        stride: Sizes | None,
        dilation: Sizes,
        padding: Padding,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
        what: str,
    ) -> Self:
        pool = _Pool(self, axes, kernel_size, stride, dilation, padding, ceil_mode, what)
        narrow = self.dtype if is_float(self.dtype) else dtypes.default_float
        wide = sum_acc_dtype(narrow)
        total = pool.windows_of(self.cast(wide), 0).reduce_axis(Ops.ADD, pool.window_axes)
        total = total.reshape(pool.shape)
        if divisor_override is not None:
            if not divisor_override:
                raise ArgumentError(f"{what}: divisor_override=0. Pass another number, or None.")
            return self._like((total / float(divisor_override)).cast(narrow))
        is_padding_one = count_include_pad and not any(pool.extra)
        if is_padding_one or not any(map(any, pool.widths)):
            return self._like((total / float(product(pool.kernel))).cast(narrow))
        ones = UOp.const(wide, 1).reshape((1,) * axes).expand(pool.sizes)
        counts = pool.windows_of(self._like(ones), 0, counted_padding=count_include_pad)
        count = counts.reduce_axis(Ops.ADD, tuple(range(axes, 2 * axes))).reshape(pool.counts)
        return self._like((total / _behind(count, pool.shape)).cast(narrow))

    # --- as many windows as are asked for ---

    def adaptive_avg_pool2d(self, output_size: OutputSizes) -> Self:
        """Return means over as many windows as are asked for: (..., H, W) -> (..., *output_size).

        Window `i` of `n` over `size` elements runs from `floor(i*size/n)` to `ceil((i+1)*size/n)`.

        Args:
            output_size: numbers of windows; None keeps an axis as it is.

        Raises:
            ShapeError: a number is not positive, or there are too many.

        Example:
            >>> Tensor([[1.0, 2.0, 3.0]]).adaptive_avg_pool2d((1, 2)).tolist()
            [[1.5, 2.5]]
        """
        return self._adaptive_avg(output_size, _axes_of(output_size, 2), "adaptive_avg_pool2d")

    def adaptive_avg_pool1d(self, output_size: OutputSizes) -> Self:
        """Return `adaptive_avg_pool2d` over the last axis: (..., L) -> (..., output_size).

        Example:
            >>> Tensor([1.0, 2.0, 3.0]).adaptive_avg_pool1d(1).tolist()
            [2.0]
        """
        return self._adaptive_avg(output_size, 1, "adaptive_avg_pool1d")

    def adaptive_avg_pool3d(self, output_size: OutputSizes) -> Self:
        """Return `adaptive_avg_pool2d` over the last three axes: (..., D, H, W) -> (..., *output_size).

        Example:
            >>> Tensor.arange(8).reshape(2, 2, 2).adaptive_avg_pool3d(1).item()
            3.5
        """
        return self._adaptive_avg(output_size, 3, "adaptive_avg_pool3d")

    def adaptive_max_pool2d(self, output_size: OutputSizes, return_indices: bool = False) -> Any:
        """Return the greatest values of as many windows as are asked for, those of `adaptive_avg_pool2d`.

        Args:
            output_size: numbers of windows; None keeps an axis as it is.
            return_indices: also return where each value was, as `max_pool2d` does.

        Raises:
            ShapeError: a number is not positive, or there are too many.

        Example:
            >>> Tensor([[1.0, 4.0, 3.0]]).adaptive_max_pool2d((1, 2)).tolist()
            [[4.0, 4.0]]
        """
        axes = _axes_of(output_size, 2)
        return self._adaptive_max(output_size, axes, return_indices, "adaptive_max_pool2d")

    def adaptive_max_pool1d(self, output_size: OutputSizes, return_indices: bool = False) -> Any:
        """Return `adaptive_max_pool2d` over the last axis: (..., L) -> (..., output_size).

        Example:
            >>> Tensor([1, 2, 3]).adaptive_max_pool1d(1).tolist()
            [3]
        """
        return self._adaptive_max(output_size, 1, return_indices, "adaptive_max_pool1d")

    def adaptive_max_pool3d(self, output_size: OutputSizes, return_indices: bool = False) -> Any:
        """Return `adaptive_max_pool2d` over the last three axes: (..., D, H, W) -> (..., *output_size).

        Example:
            >>> Tensor.arange(8).reshape(2, 2, 2).adaptive_max_pool3d(1).item()
            7
        """
        return self._adaptive_max(output_size, 3, return_indices, "adaptive_max_pool3d")

    def _adaptive_avg(self, output_size: OutputSizes, axes: int, what: str) -> Self:
        counts = _adaptive_counts(self, output_size, axes, what)
        narrow = self.dtype if is_float(self.dtype) else dtypes.default_float
        u = self._graph.cast(sum_acc_dtype(narrow))
        for axis, count in enumerate(counts, self.ndim - axes):
            u = _mean_of_bins(u, axis, count)
        return self._like(u.cast(narrow))

    def _adaptive_max(self, output_size: OutputSizes, axes: int, return_indices: bool, what: str) -> Any:
        counts = _adaptive_counts(self, output_size, axes, what)
        first = self.ndim - axes
        view = self._graph
        for number, count in enumerate(counts):
            view, _ = _bins(view, first + 2 * number, count)
        order = (*range(first), *range(first, first + 2 * axes, 2), *range(first + 1, first + 2 * axes, 2))
        view = view.permute(order)
        sizes: Any = self.shape[first:]
        window_axes = tuple(range(first + axes, first + 2 * axes))
        values = view.reduce_axis(Ops.MAX, window_axes).reshape(view.shape[: first + axes])
        if not return_indices:
            return self._like(values)
        from_end = _from_end(sizes)
        for number, count in enumerate(counts):
            from_end, _ = _bins(from_end, 2 * number, count)
        from_end = from_end.permute((*range(0, 2 * axes, 2), *range(1, 2 * axes, 2)))
        return self._like(values), self._like(_first_places(view, from_end, product(sizes), axes))


class _Pool:
    """The windows of one call: sizes, steps, and how far they reach over the edges."""

    def __init__(
        self,
        x: PoolingMixin,
        axes: int,
        kernel_size: Sizes,
        stride: Sizes | None,
        dilation: Sizes,
        padding: Padding,
        ceil_mode: bool,
        what: str,
    ) -> None:
        shape = _checked_shape(x, axes, what)
        self.what = what
        self.lead, self.sizes = shape[: len(shape) - axes], shape[len(shape) - axes :]
        self.kernel = sizes_of(kernel_size, axes, "kernel_size")
        self.steps = self.kernel if stride is None else sizes_of(stride, axes, "stride")
        self.gaps = sizes_of(dilation, axes, "dilation")
        self.widths: Widths = widths_of(padding, axes, what)
        _check_widths(self.widths, self.kernel, self.gaps, what)
        self.extra = (0,) * axes
        if ceil_mode:
            parts = zip(self.sizes, self.widths, self.kernel, self.steps, self.gaps, strict=True)
            self.extra = tuple(_last_reach(*part) for part in parts)
            pairs = zip(self.widths, self.extra, strict=True)
            self.widths = tuple((before, after + more) for (before, after), more in pairs)
        probe = UOp.const(dtypes.bool, True).reshape((1,) * axes).expand(self.sizes).pad(self.widths)
        counts: Any = windows(probe, self.kernel, self.steps, self.gaps, what).shape[:axes]
        self.counts = counts
        self.shape = (*self.lead, *self.counts)
        self.window_axes = tuple(range(len(self.shape), len(self.shape) + axes))

    def windows_of(self, x: Any, fill: ConstType, counted_padding: bool = False) -> UOp:
        """Return the windows (..., *counts, *kernel) of `x`: a view, which no kernel writes.

        With `counted_padding` what the caller asked for as padding is 1, and only what lies behind is `fill`.
        """
        none: Any = [(0, 0)] * (x.ndim - len(self.sizes))
        if any(map(any, self.widths)):
            if counted_padding:
                inner = [(b, a - more) for (b, a), more in zip(self.widths, self.extra, strict=True)]
                x = x.pad([*none, *inner], value=1).pad(
                    [*none, *[(0, more) for more in self.extra]], value=fill
                )
            else:
                x = x.pad([*none, *self.widths], value=fill)
        return windows(x._graph, self.kernel, self.steps, self.gaps, self.what)


def _axes_of(sizes: Any, otherwise: int) -> int:
    return otherwise if isinstance(sizes, int) or sizes is None else len(sizes)


def _checked_shape(x: PoolingMixin, axes: int, what: str) -> Any:
    shape = x.static_shape(what)
    if len(shape) < axes:
        raise ShapeError(f"{what} of shape {show(shape)}: it takes at least {axes} axes.")
    return shape


def _check_widths(widths: Widths, kernel: tuple[int, ...], gaps: tuple[int, ...], what: str) -> None:
    for (before, after), k, gap in zip(widths, kernel, gaps, strict=True):
        reach = gap * (k - 1) + 1
        if not 0 <= min(before, after) <= max(before, after) <= reach // 2:
            raise ShapeError(
                f"{what}: padding {before} and {after} around windows of {reach}: a window may hold nothing "
                f"but padding. Use 0 to {reach // 2}, or pad() first."
            )


def _last_reach(size: int, widths: tuple[int, int], kernel: int, step: int, gap: int) -> int:
    """Return how far beyond the padding the last window ends that begins before the padding behind."""
    before, after = widths
    reach = gap * (kernel - 1) + 1
    free = size + before + after - reach
    if step < 1 or free < 0:
        return 0  # refused where windows are counted
    count = -(-free // step) + 1
    if (count - 1) * step >= size + before:
        count -= 1
    return max((count - 1) * step + reach - (size + before + after), 0)


def _from_end(sizes: tuple[int, ...]) -> UOp:
    """Return positions in a volume as distances from its end: the first is the greatest, none is 0."""
    total: int = product(sizes)
    dtype = position_dtype(total)
    return (UOp.const(dtype, total) - UOp.iota(total, dtype)).reshape(sizes)


def _first_places(view: UOp, from_end: UOp, total: int, axes: int) -> UOp:
    """Return where the greatest of each window was: the first of equals, or of NaN.

    (..., *counts, *kernel) with (*counts, *kernel) -> (..., *counts)
    """
    window_axes = tuple(range(len(view.shape) - axes, len(view.shape)))
    best = view.reduce_axis(Ops.MAX, window_axes).expand(view.shape)
    found = view.eq(best) | view.ne(view) if is_float(view.dtype) else view.eq(best)
    rank = _behind(from_end, view.shape)
    last = found.where(rank, rank.const_like(0)).reduce_axis(Ops.MAX, window_axes)
    return last.const_like(total) - last.reshape(view.shape[: -len(window_axes)])


def _behind(u: UOp, shape: Any) -> UOp:
    """Return `u` expanded by leading axes to `shape`."""
    return u.reshape((1,) * (len(shape) - len(u.shape)) + u.shape).expand(shape)


def _adaptive_counts(x: PoolingMixin, output_size: OutputSizes, axes: int, what: str) -> tuple[int, ...]:
    shape = _checked_shape(x, axes, what)
    given: Any = (output_size,) * axes if isinstance(output_size, int) or output_size is None else output_size
    if len(given) != axes:
        raise ShapeError(
            f"{what}: output_size={tuple(given)} has {len(given)} numbers. Pass one, or one for each of "
            f"{axes} axes."
        )
    sizes = shape[len(shape) - axes :]
    counts = tuple(size if count is None else count for count, size in zip(given, sizes, strict=True))
    if min(counts) < 1 or min(sizes) < 1:
        raise ShapeError(f"{what} of shape {show(shape)} to {counts}: all sizes must be at least 1.")
    return counts


def _mean_of_bins(u: UOp, axis: int, count: int) -> UOp:
    shape: Any = u.shape
    size = shape[axis]
    if size == count:
        return u
    view, inside = _bins(u, axis, count)
    if inside is None:
        total = view.reduce_axis(Ops.ADD, (axis + 1,)) / float(size // count)
    else:
        mask = inside.reshape((*(1,) * axis, *inside.shape, *(1,) * (len(shape) - axis - 1)))
        kept = mask.expand(view.shape).where(view, view.const_like(0.0))
        lengths = mask.cast(u.dtype).reduce_axis(Ops.ADD, (axis + 1,))
        sums = kept.reduce_axis(Ops.ADD, (axis + 1,))
        total = sums / lengths.expand(sums.shape)
    return total.reshape((*shape[:axis], count, *shape[axis + 1 :]))


def _bins(u: UOp, axis: int, count: int) -> tuple[UOp, UOp | None]:
    """Return one axis as `count` windows of one size: (..., size, ...) -> (..., count, longest, ...).

    Shorter windows repeat their last element; the second result (count, longest) tells where they do not, or
    is None where all are equally long.
    """
    shape: Any = u.shape
    size = shape[axis]
    if size % count == 0:
        return u.reshape((*shape[:axis], count, size // count, *shape[axis + 1 :])), None
    begins = [i * size // count for i in range(count)]
    ends = [-(-(i + 1) * size // count) for i in range(count)]
    longest = max(end - begin for begin, end in zip(begins, ends, strict=True))
    dtype = position_dtype(size * count)
    window = counted(count, dtype, (count, longest), 0)
    begin = (window * size) // count
    last = ((window + 1) * size - 1) // count
    place = begin + counted(longest, dtype, (count, longest), 1)
    inside = place <= last
    flat = inside.where(place, last).reshape((count * longest,))
    order = (*[a for a in range(len(shape)) if a != axis], axis)
    rows = u.permute(order)
    picked = pick_last(rows, _behind(flat, (*rows.shape[:-1], count * longest)))
    picked = picked.reshape((*rows.shape[:-1], count, longest))
    back = (*range(axis), len(shape) - 1, len(shape), *range(axis, len(shape) - 1))
    return picked.permute(back), inside
