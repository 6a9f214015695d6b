"""Split long reductions into many short ones and one more, for all cores."""

import math
from itertools import islice
from typing import Any

from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.movement import lies_along, moves, views_of
from plugrad.schedule.prepare.tuple_reductions import Split, reduce_pieces
from plugrad.schedule.scatter import atomic_selection
from plugrad.schedule.selection import selection_of
from plugrad.uop import UOp

# Results that one group of a grid computes: a tile of a product, and neighbours of a sum that read together.
_OF_A_TILE = 64 * 64
_SIDE_BY_SIDE = 32
# Pieces begin at multiples of these elements, so that they are read by wide accesses.
_ALIGNED = 8


def split_long_reduction(ctx: Devices, reduced: UOp, x: UOp) -> UOp | None:
    """Split one long reduction into many short ones and one more.

    before: sum of (N,) -> (1,)
    after:  sum of (pieces, N/pieces) -> (pieces, 1), in memory; sum of those -> (1,)
    """
    op, axes = reduced.arg
    if not all(isinstance(size, int) for size in x.shape):
        return None
    sizes: Any = x.shape
    model = ctx.cost.get(reduced.device or ctx.default)
    if model is None:
        return None
    kept: Any = math.prod(reduced.shape)
    length = math.prod(sizes[a] for a in axes)
    # more results of a group are more pieces: most reductions are too short for the most
    if model.split_reduce(length, kept, _OF_A_TILE, x.dtype.itemsize) < 2:
        return None
    together = 1 if model.runs_loops else _results_of_a_group(x, axes)
    pieces = model.split_reduce(length, kept, together, x.dtype.itemsize)
    if pieces < 2:
        return None
    cut = _cut(model, sizes, axes, pieces)
    if cut is None or ((selection := selection_of(reduced)) is not None and selection.axes):
        return None
    if atomic_selection(reduced, model) is not None:
        return None
    axis, pieces, elements = cut
    # what a group stores together lies side by side: the pieces are apart
    split = Split(sizes, axes, axis, pieces, elements, is_apart=together > 1)
    return reduce_pieces(x, op, split).reshape(reduced.shape)


def _cut(
    model: CostModel, sizes: tuple[int, ...], axes: tuple[int, ...], pieces: int
) -> tuple[int, int, int] | None:
    """Return the axis to cut, its pieces and their elements, or None.

    The outermost reduced axis that divides keeps each piece's memory together.
    """
    near = range(-(-pieces // 2), 2 * pieces)
    # each core takes as many as the others
    share = model.cores if model.runs_loops else 1
    wanted = sorted((n for n in near if n % share == 0), key=lambda n: abs(n - pieces))
    for axis in axes:
        for count in wanted:
            if sizes[axis] % count == 0 and count > 1:
                return axis, count, sizes[axis] // count
    axis = max(axes, key=lambda a: sizes[a])
    if model.runs_loops or sizes[axis] < pieces * _ALIGNED:
        return None
    elements = -(-sizes[axis] // (pieces * _ALIGNED)) * _ALIGNED
    # what stands beyond the end is the identity, which no load reads
    return axis, -(-sizes[axis] // elements), elements


def _results_of_a_group(x: UOp, axes: tuple[int, ...]) -> int:
    """Return the number of results that one group computes of a reduction of `x`."""
    kept = [a for a, size in enumerate(x.shape) if size != 1 and a not in axes]
    has_several = len(list(islice(views_of(x), 2))) > 1
    if has_several and all(any(not moves(view, a) for a in kept) for view in views_of(x)):
        return _OF_A_TILE
    return 1 if lies_along(x, axes) else _SIDE_BY_SIDE
