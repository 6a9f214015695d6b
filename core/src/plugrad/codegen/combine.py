"""Combine several values of a reduction in a balanced tree."""

import math

from plugrad.uop import Ops, UOp


def combine(op: Ops, values: list[UOp]) -> UOp:
    """Return `op` over `values` as a balanced tree: short chains, and pairwise rounding for sums."""
    while len(values) > 1:
        half = math.ceil(len(values) / 2)
        values = [
            values[i].alu(op, values[i + half]) if i + half < len(values) else values[i] for i in range(half)
        ]
    return values[0]
