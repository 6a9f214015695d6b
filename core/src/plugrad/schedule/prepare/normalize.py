"""Bring the tensor graph into the form that the other passes expect.

Runs first, on the graph with buffers numbered and bound values taken out.
"""

from plugrad.schedule.fusion import Devices
from plugrad.schedule.movement import ALWAYS, source_indices
from plugrad.schedule.prepare.long_reductions import split_long_reduction
from plugrad.schedule.prepare.products import rewrite_product
from plugrad.schedule.versions import VERSIONS, slice_of
from plugrad.uop import MOVEMENT, Ops, PatternMatcher, UOp, UPat, graph_rewrite, identity_of
from plugrad.uop.shape import output_of


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
    (UPat(Ops.CONTIGUOUS, src=(UPat({Ops.FOURIER, Ops.FACTOR}, name="x"),)), lambda x: x),
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
    (UPat(Ops.REDUCE_AXIS, src=(_x,), name="reduced"), split_long_reduction),
    (UPat(Ops.REDUCE_AXIS, src=(UPat(Ops.MUL, name="product"),), name="reduced"), rewrite_product),
)


def normalize(sink: UOp, devices: Devices) -> UOp:
    """Remove what only autograd or the user's spelling needed, and split long reductions."""
    return graph_rewrite(sink, pm_normalize, devices, name="normalize")
