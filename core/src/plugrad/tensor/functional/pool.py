"""Windows of a pool: their number, beginnings, elements, and where the greatest of them was."""

from typing import Any

from plugrad._frozen import frozen
from plugrad.autodiff import inputs_of, with_rule
from plugrad.autodiff.vjp import sum_over
from plugrad.dtype import ConstType, dtypes, is_float
from plugrad.errors import ShapeError
from plugrad.tensor.base import TensorBase
from plugrad.tensor.lookup import number_of, position_dtype
from plugrad.tensor.shape.spatial import Dims, Padding, Sizes, Widths, dims_of, sizes_of, widths_of
from plugrad.tensor.shape.windows import windows
from plugrad.tensor.shapes import Dim, expanded, greater, is_static, lesser, product, show, size_today
from plugrad.uop import Ops, UOp, greatest, least


class Pool:
    """The windows of one call: sizes, steps, and how far they reach over the edges."""

    def __init__(
        self,
        x: TensorBase,
        axes: int,
        kernel_size: Dims,
        stride: Dims | None,
        dilation: Sizes,
        padding: Padding,
        ceil_mode: bool,
        what: str,
    ) -> None:
        shape = checked_shape(x, axes)
        self.lead, self.sizes = shape[: len(shape) - axes], shape[len(shape) - axes :]
        self.kernel = dims_of(kernel_size, axes, "kernel_size")
        self.steps = self.kernel if stride is None else dims_of(stride, axes, "stride")
        self.gaps = sizes_of(dilation, axes, "dilation")
        self.widths = padding_around(self.kernel, self.gaps, padding, what)
        self.extra: Any = (0,) * axes
        if ceil_mode:
            parts = zip(self.sizes, self.widths, self.kernel, self.steps, self.gaps, strict=True)
            self.extra = tuple(_last_reach(*part) for part in parts)
            pairs = zip(self.widths, self.extra, strict=True)
            self.widths = tuple((before, after + more) for (before, after), more in pairs)
        probe = UOp.const(dtypes.bool, True).reshape((1,) * axes).expand(self.sizes).pad(self.widths)
        counts: Any = windows(probe, self.kernel, self.steps, self.gaps).shape[:axes]
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
        return windows(x._graph, self.kernel, self.steps, self.gaps)


def axes_of(sizes: Any, otherwise: int) -> int:
    """Return the number of axes that `sizes` describes, `otherwise` for a single number."""
    given: Any = sizes
    return len(given) if isinstance(sizes, (list, tuple)) and sizes else otherwise


def checked_shape(x: TensorBase, axes: int) -> Any:
    """Return the shape of `x`, which has at least `axes` axes."""
    shape: Any = x.shape
    if len(shape) < axes:
        raise ShapeError(f"operation of shape {show(shape)}: it takes at least {axes} axes.")
    return shape


def padding_around(kernel: tuple[Dim, ...], gaps: tuple[int, ...], padding: Padding, what: str) -> Widths:
    """Return (before, after) of each axis, none of which holds a whole window."""
    widths = widths_of(padding, len(kernel), what)
    for (before, after), k, gap in zip(widths, kernel, gaps, strict=True):
        # whatever values variables have in a replay; a size of 0 is refused where windows are counted
        reach = gap * (max(least(k), 1) - 1) + 1 if not isinstance(k, int) else gap * (k - 1) + 1
        if not 0 <= min(before, after) <= max(before, after) <= reach // 2:
            raise ShapeError(
                f"{what}: padding {before} and {after} around windows of {reach}: a window may hold nothing "
                f"but padding. Use 0 to {reach // 2}, or pad() first."
            )
    return widths


def _last_reach(size: Dim, widths: tuple[int, int], kernel: Any, step: Any, gap: int) -> Dim:
    """Return the extent beyond the padding of the last window that begins inside."""
    before, after = widths
    reach = gap * (kernel - 1) + 1
    if size_today(step) < 1:
        return 0  # refused where windows are counted
    free: Any = size + before + after - reach
    if not is_static((size, kernel, step)):
        last: Any = lesser(-(-free // step), (size + before - 1) // step)
        return greater(last * step - free, 0)
    if free <= -step:
        return 0
    count = -(-free // step) + 1
    if (count - 1) * step >= size + before:
        count -= 1
    return max((count - 1) * step + reach - (size + before + after), 0)


def from_end_of(sizes: tuple[int, ...]) -> UOp:
    """Return positions in a volume as distances from its end; padding has 0."""
    total: Any = product(sizes)
    dtype = position_dtype(greatest(total))
    return (number_of(total, dtype) - UOp.iota(total, dtype)).reshape(sizes)


def max_of_windows(pool: Pool, x: UOp, view: UOp, from_end: UOp, from_end_view: UOp) -> UOp:
    """Return window maxima of a pool, with gradients for the first of equals or NaN.

    Args:
        pool: where the windows lie.
        x: what they lie in, (..., *sizes).
        view: the windows, (..., *counts, *kernel).
        from_end: `from_end_of(sizes)`, (*sizes).
        from_end_view: its windows, (*counts, *kernel).

    Returns:
        the values, (..., *counts).
    """
    values = view.reduce_axis(Ops.MAX, pool.window_axes).reshape(pool.shape)
    if not is_float(view.dtype):
        return values
    if not is_static((*pool.kernel, *pool.steps)):
        return max_of_symbolic_windows(view, from_end_view, values)
    # written once: within the kernel of the gradient they would keep it from working on vectors
    ranks = _ranks(view.detach(), from_end_view).reshape(pool.shape).contiguous()
    befores = tuple([before for before, _ in pool.widths])
    reaches = tuple([gap * (k - 1) + 1 for gap, k in zip(pool.gaps, pool.kernel, strict=True)])
    return with_rule([values], [x, ranks, from_end], _MaxGradient(pool.steps, befores, reaches))[0]


@frozen
class _MaxGradient:
    """The gradient rule of `max_of_windows`: each element asks its windows if it is their maximum.

    Element `i` of an axis lies in window `(i + before) // step` and in few before it. To ask them costs a
    small sum without holes; the transpose of `windows` would be one over many zeros.
    """

    steps: tuple[int, ...]
    befores: tuple[int, ...]
    reaches: tuple[int, ...]

    def __call__(self, gradients: tuple[UOp], function: UOp) -> list[UOp | None]:
        (gradient,), (x, ranks, from_end) = gradients, inputs_of(function)
        axes = len(self.steps)
        sizes: Any = from_end.shape
        blocks = tuple(
            [-(-(b + size) // step) for b, size, step in zip(self.befores, sizes, self.steps, strict=True)]
        )
        mine = self._in_blocks(from_end, blocks)
        asked, given = self._windows_around(ranks, blocks), self._windows_around(gradient, blocks)
        mine = expanded(mine.reshape((*mine.shape, *(1,) * axes)), asked.shape)
        parts = mine.eq(asked).where(given, given.const_like(0.0))
        last = len(parts.shape)
        total = sum_over(parts, tuple([a for a in range(last - axes, last) if parts.shape[a] != 1]))
        padded = tuple([block * step for block, step in zip(blocks, self.steps, strict=True)])
        lead = x.shape[: len(x.shape) - axes]
        found = total.reshape((*lead, *padded))
        inner = [(b, b + size) for b, size in zip(self.befores, sizes, strict=True)]
        return [found.shrink([*[(0, n) for n in lead], *inner]), None, None]

    def _in_blocks(self, from_end: UOp, blocks: tuple[int, ...]) -> UOp:
        """Return the elements of a padded volume by steps: (*sizes) -> (block, step, block, step, ...)."""
        sizes: Any = from_end.shape
        parts = list(zip(sizes, self.befores, blocks, self.steps, strict=True))
        padded = from_end.pad([(b, block * step - b - size) for size, b, block, step in parts])
        return padded.reshape(tuple([n for _, _, block, step in parts for n in (block, step)]))

    def _windows_around(self, u: UOp, blocks: tuple[int, ...]) -> UOp:
        """Return values of the windows that may contain each element, for `_in_blocks`.

        (..., *counts) -> (..., block, step, block, step, ..., *m)
        """
        axes = len(blocks)
        most = tuple([-(-reach // step) for reach, step in zip(self.reaches, self.steps, strict=True)])
        lead, counts = u.shape[: len(u.shape) - axes], u.shape[len(u.shape) - axes :]
        after: Any = [block - count for block, count in zip(blocks, counts, strict=True)]
        widths = [(m - 1, more) for m, more in zip(most, after, strict=True)]
        ones = (1,) * axes
        u = u.pad([*[(0, 0)] * len(lead), *widths])
        u = windows(u, most, ones, ones)
        u = u.reshape((*lead, *[n for block in blocks for n in (block, 1)], *most))
        pairs = zip(blocks, self.steps, strict=True)
        return u.expand((*lead, *[n for pair in pairs for n in pair], *most))


def max_of_symbolic_windows(view: UOp, from_end: UOp, values: UOp) -> UOp:
    """Return maxima of windows whose size or step is symbolic, with gradients as `max_of_windows`.

    (..., *counts, *kernel) with (*counts, *kernel) and the values themselves, (..., *counts) -> the same.
    """
    if not is_float(view.dtype):
        return values
    wide = values.reshape((*values.shape, *(1,) * (len(from_end.shape) // 2)))
    return with_rule([wide], [view, from_end], _symbolic_windows_gradient)[0].reshape(values.shape)


def _symbolic_windows_gradient(gradients: tuple[UOp], function: UOp) -> list[UOp | None]:
    """Return the gradient of `max_of_symbolic_windows`.

    Not a closure: a new function for each call would keep equal graphs from being one node.
    """
    (gradient,), (view, from_end) = gradients, inputs_of(function)
    # written once: a look into a window inside of a look into all of them is too much for one kernel
    ranks = _ranks(view.contiguous(), from_end)
    is_first = expanded(from_end, view.shape).eq(ranks.expand(view.shape))
    return [is_first.where(gradient.expand(view.shape), gradient.const_like(0.0)), None]


def argmax_of_windows(view: UOp, from_end: UOp, total: Dim) -> UOp:
    """Return the position of each window's maximum: the first of equals, or of NaN.

    (..., *counts, *kernel) with (*counts, *kernel) -> (..., *counts)
    """
    rank = _ranks(view.detach(), from_end)
    return place_from_end(rank, total).reshape(view.shape[: -(len(from_end.shape) // 2)])


def place_from_end(rank: UOp, total: Dim) -> UOp:
    """Return positions from the front for distances from the end of `total` elements."""
    return number_of(total, rank.dtype) - rank


def _ranks(view: UOp, from_end: UOp) -> UOp:
    """Return the distance from the end of each window's maximum, keeping the window axes."""
    window_axes = tuple(range(len(view.shape) - len(from_end.shape) // 2, len(view.shape)))
    best = view.reduce_axis(Ops.MAX, window_axes).expand(view.shape)
    found = view.eq(best) | view.ne(view) if is_float(view.dtype) else view.eq(best)
    rank = expanded(from_end, view.shape)
    return found.where(rank, rank.const_like(0)).reduce_axis(Ops.MAX, window_axes)
