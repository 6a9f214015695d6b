"""Bring the tensor graph into the form that the other passes expect.

Runs first, on the graph with buffers numbered and bound values taken out.
"""

import math
from typing import Any

from plugrad.schedule.fusion import Devices
from plugrad.schedule.selection import selection_of
from plugrad.schedule.versions import VERSIONS, base_of, slice_of
from plugrad.schedule.window_copies import copy_windows
from plugrad.uop.ops import MOVEMENT, Ops, identity_of
from plugrad.uop.rewrite import PatternMatcher, graph_rewrite
from plugrad.uop.shape import output_of
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat


def _empty_reduce(reduced: UOp, x: UOp) -> UOp | None:
    if 0 not in x.shape or 0 in reduced.shape:
        return None
    identity = reduced.const_like(identity_of(reduced.arg[0], reduced.dtype))
    return identity.reshape((1,) * len(reduced.shape)).expand(reduced.shape)


def _copy_to_own_device(x: UOp, copy: UOp) -> UOp | None:
    if x.device != copy.arg:
        return None
    # memory may be assigned to, and then the copy keeps what it was
    return x.contiguous() if base_of(x).op in VERSIONS else x


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
    pieces = model.split_reduce(math.prod(sizes[a] for a in axes), kept)
    # the outermost reduced axis that divides keeps each piece's memory together
    axis = next((a for a in axes if pieces > 1 and sizes[a] % pieces == 0), None)
    if axis is None or ((selection := selection_of(reduced)) is not None and selection.axes):
        return None
    split = x.reshape((*sizes[:axis], pieces, sizes[axis] // pieces, *sizes[axis + 1 :]))
    inner_axes = tuple(a + (a >= axis) for a in axes)
    partial = split.reduce_axis(op, inner_axes).contiguous()
    return partial.reduce_axis(op, (axis,)).reshape(reduced.shape)


_x = UPat.var("x")

pm_normalize = PatternMatcher(
    (UPat(Ops.DETACH, src=(_x,)), lambda x: x),
    (UPat(Ops.OUTPUT, name="x"), lambda x: output_of(x)),
    (UPat(Ops.CONTIGUOUS, src=(UPat(Ops.CONTIGUOUS, name="x"),)), lambda x: x),
    (UPat(Ops.CONTIGUOUS, src=(UPat(Ops.COPY, name="x"),)), lambda x: x),
    # numbers need no memory of their own
    (UPat(Ops.CONTIGUOUS, src=(_x,)), lambda x: x if x.device is None else None),
    (UPat(Ops.COPY, src=(_x,), name="copy"), _copy_to_own_device),
    (UPat(Ops.COPY, src=(UPat(MOVEMENT, name="m"),), name="copy"), _move_after_copy),
    (UPat(Ops.COPY, src=(UPat(MOVEMENT | {Ops.ASSIGN}, name="x"),), name="copy"), _copy_in_order),
    (
        UPat(Ops.RESHAPE, src=(UPat(Ops.RESHAPE, name="x"),), prefix=True, name="outer"),
        lambda x, outer: x.src[0].reshape(outer.shape),
    ),
    (UPat(Ops.REDUCE_AXIS, src=(_x,), name="reduced"), _empty_reduce),
    (UPat(Ops.REDUCE_AXIS, src=(_x,), name="reduced"), _split_long_reduce),
    (UPat(Ops.REDUCE_AXIS, src=(UPat(Ops.MUL, name="product"),), name="reduced"), copy_windows),
)


def normalize(sink: UOp, devices: Devices) -> UOp:
    """Remove what only autograd or the user's spelling needed, and split long reductions."""
    return graph_rewrite(sink, pm_normalize, devices, name="normalize")
