"""Copy the windows of a convolution where rows of images are too short for vectors.

Lanes run along a row of results, and padding keeps rows apart in memory: vectors hold few of 7 columns.
A copy of the windows, with all columns of an image side by side, makes the convolution a product of matrices.
"""

import math
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.movement import is_contiguous
from plugrad.schedule.prepare.factors import sizes_of, stored_in_order, with_factor
from plugrad.uop import MOVEMENT, Ops, UOp


def copy_windows(ctx: Devices, reduced: UOp, product: UOp) -> UOp | None:
    """Return a sum of products over copied windows, where the cost model gains.

    before: REDUCE_AXIS(ADD, MUL(windows of (C, H, W), weight)) over C and the window
    after:  the same of CONTIGUOUS(windows with H and W last)
    """
    op, axes = reduced.arg
    model = ctx.cost.get(reduced.device or ctx.default)
    shape: Any = product.shape
    if op is not Ops.ADD or model is None or not all(isinstance(size, int) for size in shape):
        return None
    return with_factor(reduced, product, lambda view, other: _copied(model, view, other, axes))


def _copied(model: CostModel, view: UOp, other: UOp, axes: Sequence[int]) -> UOp | None:
    if view.op is not Ops.EXPAND or view.base.device is None:
        return None
    own, base = view.src[0], view.base
    sizes, full = sizes_of(own), sizes_of(view)
    beside = sizes_of(other.src[0] if other.op is Ops.EXPAND else other)
    kept = [a for a, size in enumerate(full) if a not in axes and size > 1]
    columns = [*takewhile(lambda a: sizes[a] > 1 and beside[a] == 1, reversed(kept))][::-1]
    if len(columns) < 2 or math.prod(sizes) == math.prod(sizes_of(base)):
        return None
    # a kernel packs filters side by side where they are read for many places
    is_packed = math.prod(full[a] for a in kept if beside[a] == 1) >= model.rows_to_pack
    along = [
        a
        for a, size in enumerate(full)
        if (a == columns[-1])
        or (a in kept and sizes[a] == 1 and is_packed)
        or (size > 1 and is_contiguous(other, a) and (sizes[a] == 1 or is_contiguous(view, a)))
    ]
    steps = min(model.vector_steps(full[a], view.dtype.itemsize) / full[a] for a in along)
    merged = math.prod(full[a] for a in columns)
    fewer = steps - model.vector_steps(merged, view.dtype.itemsize) / merged
    rows = math.prod(full[a] for a in kept if sizes[a] == 1)
    if not model.copy_windows(math.prod(sizes), rows, fewer, view.dtype.itemsize):
        return None
    order = (*(a for a in range(len(full)) if a not in axes and a not in columns), *axes, *columns)
    return stored_in_order(_with_padding(own, model), order, full)


def _with_padding(view: UOp, model: CostModel) -> UOp:
    """Return the view with its padding stored, where gates would cost more."""
    if view.op not in MOVEMENT:
        return view
    source = _with_padding(view.src[0], model)
    out = UOp(view.op, view.dtype, (source, *view.src[1:]), view.arg, view.tag)
    numel = math.prod(sizes_of(view))
    return out.contiguous() if view.op is Ops.PAD and model.pad_boundary(2 * numel, numel) else out
