"""Lay the constant factor of a sum of products out for lanes along its results.

A convolution to short rows has output channels as lanes. Their weights lie apart, and a kernel packs them in
each call. What stays from call to call is packed once.
"""

import math
from collections.abc import Sequence
from typing import Any

from plugrad.schedule.fusion import Devices
from plugrad.schedule.movement import is_contiguous
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
    for number, factor in enumerate(product.src):
        packed = _packed(ctx, factor, product.src[1 - number], axes)
        if packed is not None:
            src = (packed, product.src[1]) if number == 0 else (product.src[0], packed)
            return product.replace(src=src).reduce_axis(op, axes)
    return None


def _packed(ctx: Devices, factor: UOp, other: UOp, axes: Sequence[int]) -> UOp | None:
    memory, model = factor.base, ctx.cost.get(factor.device or ctx.default)
    if factor.op is not Ops.EXPAND or memory not in ctx.constants or model is None or not model.runs_loops:
        return None
    own, windows = factor.src[0], other.src[0] if other.op is Ops.EXPAND else other
    sizes, full, beside = _sizes(own), _sizes(factor), _sizes(windows)
    kept = [a for a, size in enumerate(full) if a not in axes and size > 1]
    lanes = [a for a in kept if sizes[a] > 1]
    if not lanes or math.prod(sizes) != math.prod(_sizes(memory)) or is_contiguous(own, lanes[-1]):
        return None
    if sizes[kept[-1]] > 1 or any(beside[a] > 1 for a in lanes) or not _overlaps(windows):
        return None
    row, itemsize = full[kept[-1]], own.dtype.itemsize
    if row >= model.vector_bytes // itemsize:
        return None
    if model.filled_lanes(full[lanes[-1]], itemsize) <= model.filled_lanes(row, itemsize):
        return None
    order = (*(a for a in range(len(full)) if a not in lanes), *lanes)
    return own.permute(order).contiguous().permute(tuple(map(order.index, range(len(order))))).expand(full)


def _overlaps(windows: UOp) -> bool:
    """Say whether elements are read several times: the columns of others are lanes together."""
    read: Any = windows.base.shape
    return all(isinstance(size, int) for size in read) and math.prod(_sizes(windows)) > math.prod(read)


def _sizes(u: UOp) -> tuple[int, ...]:
    sizes: Any = u.shape
    return sizes
