"""Windows of a pool: their number, beginnings and elements."""

from typing import Any

from plugrad.dtype import ConstType, dtypes
from plugrad.errors import ShapeError
from plugrad.tensor.base import TensorBase
from plugrad.tensor.shape.spatial import Dims, Padding, Sizes, Widths, dims_of, sizes_of, widths_of
from plugrad.tensor.shape.windows import windows
from plugrad.tensor.shapes import Dim, greater, is_static, lesser, show, size_today
from plugrad.uop.shape import least
from plugrad.uop.uop import UOp


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
        shape = checked_shape(x, axes, what)
        self.what = what
        self.lead, self.sizes = shape[: len(shape) - axes], shape[len(shape) - axes :]
        self.kernel = dims_of(kernel_size, axes, "kernel_size")
        self.steps = self.kernel if stride is None else dims_of(stride, axes, "stride")
        self.gaps = sizes_of(dilation, axes, "dilation")
        self.widths: Widths = widths_of(padding, axes, what)
        _check_widths(self.widths, self.kernel, self.gaps, what)
        self.extra: Any = (0,) * axes
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


def axes_of(sizes: Any, otherwise: int) -> int:
    """Return the number of axes that `sizes` describes, `otherwise` for a single number."""
    given: Any = sizes
    return len(given) if isinstance(sizes, (list, tuple)) and sizes else otherwise


def checked_shape(x: TensorBase, axes: int, what: str) -> Any:
    """Return the shape of `x`, which has at least `axes` axes."""
    shape: Any = x.shape
    if len(shape) < axes:
        raise ShapeError(f"{what} of shape {show(shape)}: it takes at least {axes} axes.")
    return shape


def _check_widths(widths: Widths, kernel: tuple[Dim, ...], gaps: tuple[int, ...], what: str) -> None:
    for (before, after), k, gap in zip(widths, kernel, gaps, strict=True):
        # whatever values variables have in a replay; a size of 0 is refused where windows are counted
        reach = gap * (max(least(k), 1) - 1) + 1 if not isinstance(k, int) else gap * (k - 1) + 1
        if not 0 <= min(before, after) <= max(before, after) <= reach // 2:
            raise ShapeError(
                f"{what}: padding {before} and {after} around windows of {reach}: a window may hold nothing "
                f"but padding. Use 0 to {reach // 2}, or pad() first."
            )


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
