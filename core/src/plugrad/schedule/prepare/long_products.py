"""Cut long sums of products, so that the caches hold what their tiles read again."""

import math
from typing import Any

from plugrad.schedule.fusion import Devices
from plugrad.schedule.movement import moves, views_of
from plugrad.uop import Ops, UOp

# Sums of pieces take at most this share of the factors' memory.
_SHARE = 1 / 4


def cut_long_product(ctx: Devices, reduced: UOp, product: UOp) -> UOp | None:
    """Return a long sum of products as a sum of shorter ones, which are stored.

    before: REDUCE_AXIS(ADD, MUL(a (M, 1, K), b (1, N, K))) over K
    after:  the sum of (pieces, M, N), each over K / pieces
    """
    op, axes = reduced.arg
    model = ctx.cost.get(reduced.device or ctx.default)
    if op is not Ops.ADD or model is None or not all(isinstance(size, int) for size in product.shape):
        return None
    sizes: Any = product.shape
    pieces = model.pieces_of_product(math.prod(sizes[a] for a in axes), product.dtype.itemsize)
    if pieces < 2:
        return None
    results = [a for a, size in enumerate(sizes) if size > 1 and a not in axes]
    factors = [{a for a in (*results, *axes) if moves(view, a)} for view in views_of(product)]
    # what one result reads, another one reads again
    if len(factors) < 2 or any(moved.issuperset(results) for moved in factors):
        return None
    numel = sum(math.prod(sizes[a] for a in moved) for moved in factors)
    most = min(2 * pieces, int(_SHARE * numel) // math.prod(sizes[a] for a in results))
    # a kernel moves an outer axis outside of its results by itself, where each piece has several of its steps
    long = [a for a in axes if sizes[a] > 1]
    cuts = [(a, n) for a in long for n in range(pieces, most + 1) if sizes[a] % n == 0]
    axis, pieces = next(((a, n) for a, n in cuts if n == sizes[a] or len(long) == 1), (0, 1))
    if pieces == 1:
        return None
    cut = product.reshape((*sizes[:axis], pieces, sizes[axis] // pieces, *sizes[axis + 1 :]))
    sums = cut.reduce_axis(op, tuple(a + (a >= axis) for a in axes))
    order = (axis, *(a for a in range(len(cut.shape)) if a != axis))
    return sums.permute(order).contiguous().reduce_axis(op, (0,)).reshape(reduced.shape)
