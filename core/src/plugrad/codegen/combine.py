"""Combine values of a reduction in a balanced tree, or products in MULACC chains."""

import math
from functools import reduce

from plugrad.codegen.decompositions import decompose
from plugrad.dtype import DType, is_float
from plugrad.target import Capabilities
from plugrad.uop import Ops, UOp

# Products that wait for each other; chains of this length hide each other's latency.
_CHAIN = 8
# Up to so many floats are added to one sum, one after the other. Of equal floats, 976 leave an error of 9e-6;
# of 10 million, pieces of 64 leave 1e-7, of 400 4e-6, one after the other 1e-3. All take the same time.
LONG_SUM = 256


def combine(op: Ops, values: list[UOp]) -> UOp:
    """Return `op` over `values` as a balanced tree: short chains, and pairwise rounding for sums."""
    while len(values) > 1:
        half = math.ceil(len(values) / 2)
        values = [
            values[i].alu(op, values[i + half]) if i + half < len(values) else values[i] for i in range(half)
        ]
    return values[0]


def sum_products(products: list[UOp]) -> UOp:
    """Return the sum of products in chains of MULACC, which are combined in a tree."""
    chains = [products[i : i + _CHAIN] for i in range(0, len(products), _CHAIN)]
    return combine(Ops.ADD, [reduce(lambda total, p: p.src[0].mulacc(p.src[1], total), c) for c in chains])


def fuses_products(op: Ops, dtype: DType, capabilities: Capabilities) -> bool:
    """Say whether the target multiplies and adds `dtype` in one operation of its own."""
    if op is not Ops.ADD or not is_float(dtype) or "MULACC" not in capabilities.native_ops:
        return False
    left, right = (UOp(Ops.DEFINE_ACC, dtype, (), name) for name in ("left", "right"))
    return decompose(left.alu(op, right), capabilities).op is Ops.ADD
