"""Bring the tensor graph into the form that the other passes expect.

Runs first, on the graph with buffers numbered and bound values taken out.
"""

import math
from itertools import islice
from typing import Any

from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.movement import ALWAYS, lies_along, moves, source_indices, views_of
from plugrad.schedule.prepare.products import rewrite_product
from plugrad.schedule.scatter import atomic_selection
from plugrad.schedule.selection import selection_of
from plugrad.schedule.versions import VERSIONS, slice_of
from plugrad.uop import MOVEMENT, Ops, PatternMatcher, UOp, UPat, graph_rewrite, identity_of
from plugrad.uop.shape import output_of

# Results that one group of a grid computes: a tile of a product, and neighbours of a sum that read together.
_OF_A_TILE = 64 * 64
_SIDE_BY_SIDE = 32
# Pieces begin at multiples of these elements, so that they are read by wide accesses.
_ALIGNED = 8


def _empty_reduce(reduced: UOp, x: UOp) -> UOp | None:
    if 0 not in x.shape or 0 in reduced.shape:
        return None
    return reduced.const_like(identity_of(reduced.arg[0], reduced.dtype)).spread(reduced.shape)


def _copy_to_own_device(x: UOp, copy: UOp) -> UOp | None:
    if x.device != copy.arg:
        return None
    # memory may be assigned to, and then the copy keeps what it was
    return x.contiguous() if x.base.op in VERSIONS else x


def _move_after_copy(ctx: Devices, m: UOp, copy: UOp) -> UOp | None:
    """Copy before a movement that adds elements, or is impossible on the device."""
    if m.device is None or (m.device in ctx.cost and m.op not in (Ops.EXPAND, Ops.PAD)):
        return None
    if m.op not in (Ops.EXPAND, Ops.PAD) and slice_of(m) is not None:
        return None
    return UOp(m.op, m.dtype, (m.src[0].copy_to_device(copy.arg), *m.src[1:]), m.arg)


def _copy_in_order(x: UOp, copy: UOp) -> UOp | None:
    """Copies move consecutive bytes: elements that lie otherwise are put in order first."""
    if x.device is None or slice_of(x) is not None:
        return None
    return x.contiguous().copy_to_device(copy.arg)


def _split_long_reduce(ctx: Devices, reduced: UOp, x: UOp) -> UOp | None:
    """Split one long reduction into many short ones and one more, for all cores.

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
    if model.split_reduce(length, kept, _OF_A_TILE) < 2:
        return None
    together = 1 if model.runs_loops else _results_of_a_group(x, axes)
    pieces = model.split_reduce(length, kept, together)
    if pieces < 2:
        return None
    cut = _cut(model, x, op, axes, pieces)
    if cut is None or ((selection := selection_of(reduced)) is not None and selection.axes):
        return None
    if atomic_selection(reduced, model) is not None:
        return None
    whole, axis, pieces = cut
    sizes = whole.shape
    split = whole.reshape((*sizes[:axis], pieces, sizes[axis] // pieces, *sizes[axis + 1 :]))
    inner_axes = tuple(a + (a >= axis) for a in axes)
    partial = split.reduce_axis(op, inner_axes)
    if together > 1:
        # what a group stores together lies side by side: the pieces are apart
        order = (axis, *(a for a in range(len(partial.shape)) if a != axis))
        partial, axis = partial.permute(order), 0
    return partial.contiguous().reduce_axis(op, (axis,)).reshape(reduced.shape)


def _cut(
    model: CostModel, x: UOp, op: Ops, axes: tuple[int, ...], pieces: int
) -> tuple[UOp, int, int] | None:
    """Return the value to cut, the axis, and its pieces; None without such an axis.

    The outermost reduced axis that divides keeps each piece's memory together.
    """
    sizes: Any = x.shape
    near = range(-(-pieces // 2), 2 * pieces)
    wanted = (pieces,) if model.runs_loops else sorted(near, key=lambda n: abs(n - pieces))
    for axis in axes:
        for count in wanted:
            if sizes[axis] % count == 0 and count > 1:
                return x, axis, count
    axis = max(axes, key=lambda a: sizes[a])
    if model.runs_loops or op is not Ops.ADD or sizes[axis] < pieces * _ALIGNED:
        return None
    piece = -(-sizes[axis] // (pieces * _ALIGNED)) * _ALIGNED
    pieces = -(-sizes[axis] // piece)
    # what stands beyond the end is 0, which no load reads
    ends = ((0, pieces * piece - size if a == axis else 0) for a, size in enumerate(sizes))
    return x.pad(tuple(ends)), axis, pieces


def _results_of_a_group(x: UOp, axes: tuple[int, ...]) -> int:
    """Return the number of results that one group computes of a reduction of `x`."""
    kept = [a for a, size in enumerate(x.shape) if size != 1 and a not in axes]
    has_several = len(list(islice(views_of(x), 2))) > 1
    if has_several and all(any(not moves(view, a) for a in kept) for view in views_of(x)):
        return _OF_A_TILE
    return 1 if lies_along(x, axes) else _SIDE_BY_SIDE


def _choose_in_slice(sliced: UOp, place: UOp, limit: UOp, low: UOp, high: UOp) -> UOp | None:
    """Slice only what a choice by position takes there, for gradients of joined values.

    before: SHRINK(WHERE(iota of 8 < 4, x, y), 4..8)
    after:  SHRINK(y, 4..8)
    """
    idxs, view = tuple([UOp.range(size, axis) for axis, size in enumerate(sliced.shape)]), sliced
    if place.base.op is not Ops.IOTA:
        return None
    while view is not place.base:
        idxs, inside = source_indices(view, idxs)
        if inside is not ALWAYS:
            return None
        view = place if view is sliced else view.src[0]
    (index,) = idxs
    if index.vmax >= limit.arg > index.vmin:
        return None
    chosen = low if index.vmax < limit.arg else high
    if chosen.shape == ():
        return chosen.spread(sliced.shape)
    return UOp(sliced.op, sliced.dtype, (chosen, *sliced.src[1:]))


_x = UPat.var("x")
_choice_by_position = UPat(
    Ops.WHERE,
    src=(
        UPat(Ops.CMPLT, src=(UPat(MOVEMENT, name="place"), UPat(Ops.CONST, name="limit"))),
        UPat.var("low"),
        UPat.var("high"),
    ),
)

pm_normalize = PatternMatcher(
    (UPat(Ops.DETACH, src=(_x,)), lambda x: x),
    (UPat(Ops.OUTPUT, name="x"), lambda x: output_of(x)),
    (UPat(Ops.CONTIGUOUS, src=(UPat(Ops.CONTIGUOUS, name="x"),)), lambda x: x),
    (UPat(Ops.CONTIGUOUS, src=(UPat(Ops.COPY, name="x"),)), lambda x: x),
    (UPat(Ops.CONTIGUOUS, src=(UPat(Ops.FOURIER, name="x"),)), lambda x: x),
    # numbers need no memory of their own
    (UPat(Ops.CONTIGUOUS, src=(_x,)), lambda x: x if x.device is None else None),
    (UPat(Ops.COPY, src=(_x,), name="copy"), _copy_to_own_device),
    (UPat(Ops.COPY, src=(UPat(MOVEMENT, name="m"),), name="copy"), _move_after_copy),
    (UPat(Ops.COPY, src=(UPat(MOVEMENT | {Ops.ASSIGN}, name="x"),), name="copy"), _copy_in_order),
    (
        UPat(Ops.RESHAPE, src=(UPat(Ops.RESHAPE, name="x"),), prefix=True, name="outer"),
        lambda x, outer: x.src[0].reshape(outer.shape),
    ),
    (UPat(Ops.SHRINK, src=(_choice_by_position,), prefix=True, name="sliced"), _choose_in_slice),
    (UPat(Ops.REDUCE_AXIS, src=(_x,), name="reduced"), _empty_reduce),
    (UPat(Ops.REDUCE_AXIS, src=(_x,), name="reduced"), _split_long_reduce),
    (UPat(Ops.REDUCE_AXIS, src=(UPat(Ops.MUL, name="product"),), name="reduced"), rewrite_product),
)


def normalize(sink: UOp, devices: Devices) -> UOp:
    """Remove what only autograd or the user's spelling needed, and split long reductions."""
    return graph_rewrite(sink, pm_normalize, devices, name="normalize")
