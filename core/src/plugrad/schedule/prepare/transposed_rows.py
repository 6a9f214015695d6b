"""Transpose the left factor of a matrix product where memory holds it by columns.

A tile of narrow vectors has few rows. It uses a few elements of each cache line, and goes on to another line
at each step of the reduction; by the time the next tile wants the rest of a line, the cache has lost it.
"""

import math
from typing import Any

from plugrad.schedule.fusion import Devices
from plugrad.schedule.movement import is_contiguous, moves
from plugrad.schedule.prepare.factors import sizes_of, stored_in_order, with_factor
from plugrad.uop import Ops, UOp


def copy_rows(ctx: Devices, reduced: UOp, product: UOp) -> UOp | None:
    """Return a matrix product that reads its left factor along the reduced axis.

    None where the cost model gains nothing.

    before: REDUCE_AXIS(ADD, MUL(a.T, b)) over K, with `a` (K, M) and `b` (K, N)
    after:  the same of CONTIGUOUS(a.T)
    """
    op, axes = reduced.arg
    shape: Any = product.shape
    inner = [a for a in axes if shape[a] != 1]
    if op is not Ops.ADD or not all(isinstance(size, int) and size for size in shape) or len(inner) != 1:
        return None
    columns = next((a for a in reversed(range(len(shape))) if shape[a] != 1 and a not in axes), None)
    if columns is None:
        return None
    return with_factor(reduced, product, lambda view, other: _copied(ctx, view, other, inner[0], columns))


def _copied(ctx: Devices, view: UOp, other: UOp, inner: int, columns: int) -> UOp | None:
    if view.op is not Ops.EXPAND or other.shape != view.shape:
        return None
    if moves(view, columns) or not is_contiguous(other, columns):
        return None
    model = ctx.cost.get(view.device or ctx.default)
    if view.base.device is None or model is None:
        return None
    own, full = view.src[0], sizes_of(view)
    if math.prod(sizes_of(own)) != math.prod(sizes_of(view.base)) or is_contiguous(view, inner):
        return None
    rows = next((a for a, size in enumerate(full) if size > 1 and is_contiguous(view, a)), None)
    if rows is None or moves(other, rows):
        return None
    read = math.prod(full) // math.prod(sizes_of(own))
    if not model.copy_rows(full[inner], full[rows], read, view.dtype.itemsize):
        return None
    order = (*(a for a in range(len(full)) if a != inner), inner)
    return stored_in_order(own, order, full)
