"""How the values of a reduction combine: what it starts with, and a balanced tree of several."""

import math

from plugrad.dtype import DType, dtype_min
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def identity_of(op: Ops, dtype: DType) -> UOp:
    """Return the value that changes no other under `op`: what a reduction of nothing gives.

    Example:
        >>> identity_of(Ops.MUL, dtypes.uint8).arg
        1
    """
    return UOp.const(dtype, 0 if op is Ops.ADD else 1 if op is Ops.MUL else dtype_min(dtype))


def combine(op: Ops, values: list[UOp]) -> UOp:
    """Return `op` over `values` as a balanced tree: short chains, and pairwise rounding for sums."""
    while len(values) > 1:
        half = math.ceil(len(values) / 2)
        values = [
            values[i].alu(op, values[i + half]) if i + half < len(values) else values[i] for i in range(half)
        ]
    return values[0]
