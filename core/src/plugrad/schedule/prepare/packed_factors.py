"""Lay the constant factor of a sum of products out for lanes along its results.

A convolution to short rows has output channels as lanes. Their weights lie apart, and a kernel packs them in
each call. What stays from call to call is packed once.
"""

import math
from collections.abc import Sequence
from typing import Any

from plugrad.schedule.fusion import Devices
from plugrad.schedule.movement import is_contiguous
from plugrad.schedule.prepare.factors import sizes_of, stored_in_order, with_factor
from plugrad.uop import Ops, UOp


def pack_factor(ctx: Devices, reduced: UOp, product: UOp) -> UOp | None:
    """Return a sum of products with its constant factor in another order.

    before: REDUCE_AXIS(ADD, MUL(windows, weights (M, C, K, K))) over C and the window
    after:  the same of CONTIGUOUS(weights with M last)
    """
    op, axes = reduced.arg
    shape: Any = product.shape
    if op is not Ops.ADD or not ctx.constants or not all(isinstance(size, int) for size in shape):
        return None
    return with_factor(reduced, product, lambda factor, other: _packed(ctx, factor, other, axes))


def _packed(ctx: Devices, factor: UOp, other: UOp, axes: Sequence[int]) -> UOp | None:
    memory, model = factor.base, ctx.cost.get(factor.device or ctx.default)
    if factor.op is not Ops.EXPAND or memory not in ctx.constants or model is None or not model.runs_loops:
        return None
    own, windows = factor.src[0], other.src[0] if other.op is Ops.EXPAND else other
    sizes, full, beside = sizes_of(own), sizes_of(factor), sizes_of(windows)
    kept = [a for a, size in enumerate(full) if a not in axes and size > 1]
    lanes = [a for a in kept if sizes[a] > 1]
    if not lanes or math.prod(sizes) != math.prod(sizes_of(memory)) or is_contiguous(own, lanes[-1]):
        return None
    if sizes[kept[-1]] > 1 or any(beside[a] > 1 for a in lanes) or not _overlaps(windows):
        return None
    row, itemsize = full[kept[-1]], own.dtype.itemsize
    if row >= model.vector_bytes // itemsize:
        return None
    if model.filled_lanes(full[lanes[-1]], itemsize) <= model.filled_lanes(row, itemsize):
        return None
    order = (*(a for a in range(len(full)) if a not in lanes), *lanes)
    return stored_in_order(own, order, full)


def _overlaps(windows: UOp) -> bool:
    """Say whether elements are read several times: the columns of others are lanes together."""
    read: Any = windows.base.shape
    return all(isinstance(size, int) for size in read) and math.prod(sizes_of(windows)) > math.prod(read)
