"""Images read at computed places.

Source: Jaderberg et al. 2015, "Spatial transformer networks", section 3.3.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Literal, cast

from plugrad.dtype import dtypes, is_float, sum_acc_dtype
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import Tensor
from plugrad.tensor.functional.interpolation import cubic_weights
from plugrad.tensor.linalg.jvp import in_memory
from plugrad.tensor.lookup import pick_last
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import Dim, check_choice, product, show
from plugrad.uop import least

SampleMode = Literal["bilinear", "nearest", "bicubic"]
PaddingMode = Literal["zeros", "border", "reflection"]


def grid_sample(
    self: Tensor,
    grid: Tensor,
    mode: SampleMode = "bilinear",
    padding_mode: PaddingMode = "zeros",
    align_corners: bool = False,
) -> Tensor:
    """Return the values at the places that `grid` names.

    Its gradient for this tensor is one pass over the grid; on devices that run threads in no order, it
    compares each element with each place.

    (N, C, H, W) with (N, H', W', 2) -> (N, C, H', W'), or (N, C, D, H, W) with (N, D', H', W', 3).

    Args:
        grid: coordinates (x, y) or (x, y, z): -1 is the left (upper, front) end, 1 the right one. They
            get no gradient where they name an end itself or what lies beyond, except with "zeros".
        mode: "bilinear" (of the 4 or 8 neighbours), "nearest", or "bicubic" (two axes only).
        padding_mode: what lies outside: "zeros", the "border"'s elements, or a "reflection".
        align_corners: the ends are the middles of the corner pixels, not their outer edges.

    Raises:
        ShapeError: shapes do not fit each other.
        ArgumentError: there is no such mode.
        DtypeError: one of them holds no floats.

    Example:
        >>> x = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> x.grid_sample(Tensor([[[[0.0, 0.0], [-0.5, -0.5]]]])).tolist()
        [[[[2.5, 1.0]]]]
    """
    axes = self.ndim - 2
    require_tensors(grid=grid)
    check_choice(mode, ("bilinear", "nearest", "bicubic"), "mode")
    check_choice(padding_mode, ("zeros", "border", "reflection"), "padding_mode")
    if mode == "bicubic" and axes == 3:
        raise ArgumentError("mode='bicubic' takes images (N, C, H, W), no volumes.")
    shape: Any = self.shape
    wanted: Any = grid.shape
    fits = axes in (2, 3) and len(wanted) == axes + 2 and wanted[-1] == axes and wanted[0] == shape[0]
    if not fits or min(map(least, shape[2:])) < 1:
        raise ShapeError(
            f"grid_sample of shape {show(shape)} with a grid of shape {show(wanted)}: it takes "
            "(N, C, H, W) and (N, H', W', 2), or (N, C, D, H, W) and (N, D', H', W', 3)."
        )
    for x in (self, grid):
        if not is_float(x.dtype):
            raise DtypeError(f"grid_sample of {x.dtype.name}: it takes floats. Cast first.")
    self._check_device(grid)
    wide = sum_acc_dtype(self.dtype)
    lines = _Lines(self.cast(wide), shape[2:], wanted[:-1], padding_mode, align_corners)
    last = grid.ndim - 1
    # coordinates come with the last axis of the image first
    numbers = range(axes - 1, -1, -1)
    places = [interval(grid.cast(wide), last, i, i + 1).squeeze(last) for i in numbers]
    found = lines.cubic(places) if mode == "bicubic" else lines.linear(places, mode == "nearest")
    return cast("Tensor", found.cast(self.dtype))


class _Lines:
    """An image flattened to one row, read by places along each of its axes.

    Sizes of axes are numbers, or tensors of shape () where they are symbolic: of floats beside coordinates,
    of integers beside positions.
    """

    def __init__(
        self, x: Any, sizes: tuple[Dim, ...], grid: tuple[Dim, ...], padding_mode: str, align_corners: bool
    ) -> None:
        self.sizes = [size if isinstance(size, int) else x._like(size.cast(x.dtype)) for size in sizes]
        self.counts = [size if isinstance(size, int) else x._like(size.cast(dtypes.int32)) for size in sizes]
        self.grid = grid
        self.padding_mode = padding_mode
        self.align_corners = align_corners
        self.rows = x.reshape(*x.shape[:2], product(sizes))

    def linear(self, places: list[Any], is_nearest: bool) -> Any:
        """Interpolate between the neighbours along each axis, or return the nearest one."""
        sides: list[list[tuple[Any, Any]]] = []
        for place, size in zip(places, self.sizes, strict=True):
            at = self._inside(self._unnormalized(place, size), size)
            if is_nearest:
                sides.append([(at.round(), None)])
                continue
            low = at.floor().detach()
            part = at - low
            sides.append([(low, 1 - part), (low + 1, part)])
        return self._weighted_sum(sides)

    def cubic(self, places: list[Any]) -> Any:
        """Return the mix of four neighbours along each axis, each brought inside on its own."""
        sides: list[list[tuple[Any, Any]]] = []
        for place, size in zip(places, self.sizes, strict=True):
            at = self._unnormalized(place, size)
            low = at.floor().detach()
            steps = enumerate(cubic_weights(at - low), -1)
            sides.append([(self._inside(low + step, size), weight) for step, weight in steps])
        return self._weighted_sum(sides)

    def _weighted_sum(self, sides: list[list[tuple[Any, Any]]]) -> Any:
        """Return the weighted sum of the elements at all corners: (N, C, *grid).

        One read of all of them, so that its gradient writes once, by positions. Several corners are read from
        memory with the channels last, where all channels of a corner are found at once.
        """
        corners = list(itertools.product(*sides))
        n, channels, _ = self.rows.shape
        # read for each channel and in the gradients
        index = in_memory(_joined([self._index([place for place, _ in corner]) for corner in corners]))
        rows = self.rows if len(corners) == 1 else _packed(self.rows)
        places = index.expand(n, channels, len(corners) * product(self.grid[1:]))
        read = rows._like(pick_last(rows._graph, places._graph))
        if len(corners) > 1:
            read = read * in_memory(_joined([math.prod([w for _, w in corner]) for corner in corners]))
        out = read.reshape(n, channels, len(corners), *self.grid[1:]).sum(2)
        return out if len(corners) == 1 else _packed(out)

    def _index(self, places: list[Any]) -> Any:
        """Return the index of the element at integer places, -1 where there is none."""
        index: Any = None
        inside: Any = None
        for place, size, count in zip(places, self.sizes, self.counts, strict=True):
            is_in = (place >= 0) & (place <= size - 1)
            # NaN and what no integer holds are outside
            whole = is_in.where(place, 0).cast("int32")
            index = whole if index is None else index * count + whole
            inside = is_in if inside is None else inside & is_in
        return inside.where(index, -1)

    def _unnormalized(self, place: Any, size: Any) -> Any:
        if self.align_corners:
            return (place + 1) * ((size - 1) / 2)
        return ((place + 1) * size - 1) / 2

    def _inside(self, place: Any, size: Any) -> Any:
        if self.padding_mode == "zeros":
            return place
        if self.padding_mode == "reflection":
            low, high = (0.0, size - 1.0) if self.align_corners else (-0.5, size - 0.5)
            place = _reflect(place, low, high)
        # no clamp: NaN is the first place, and at both ends there is no gradient
        above = (place > 0).where(place, 0.0)
        return (above < size - 1).where(above, size - 1.0)


def _joined(corners: list[Any]) -> Any:
    """Join what each corner has for each position: (N, *grid) each -> (N, 1, corners * positions)."""
    first, *others = [x.flatten(1).unsqueeze(1) for x in corners]
    return first.cat(*others, axis=2) if others else first


def _packed(x: Any) -> Any:
    """Return `x` from memory where its second axis is the last."""
    return in_memory(x.movedim(1, -1)).movedim(-1, 1)


def _reflect(place: Any, low: float, high: Any) -> Any:
    """Reflect coordinates at both ends of an axis until they lie inside."""
    span = high - low
    if not isinstance(span, float):
        span = (span > 0).where(span, 1.0)
    elif span <= 0:
        return place * 0
    away = (place - low).abs()
    turns = (away / span).floor().detach()
    rest = away - turns * span
    is_even = (turns / 2).floor() * 2 == turns
    return is_even.where(rest + low, high - rest)
