"""Make the loop nest of a fresh kernel as small as it can be.

Neighbouring ranges that memory cannot tell apart become one, and reductions that take
one value again and again become a product.
"""

from itertools import pairwise
from typing import Any

from plugrad.codegen.rebuild import ended_by, ranges_of_reduce, rebuild
from plugrad.dtype import DType, dtypes, is_float, truncate
from plugrad.uop import Ops, UOp, identity_of, simplify
from plugrad.uop.strides import coefficient, constant_size


def simplify_ranges(sink: UOp, _: Any = None) -> UOp:
    """Merge ranges, and fold reductions that need no loop.

    before: STORE(INDEX(p, i*8 + j), x, i, j) with j of 8
    after:  STORE(INDEX(p, m), x, m) with m of 8 times as many steps as i
    """
    sink = simplify(rebuild(sink, fold_reduce, ops=(Ops.REDUCE,)))
    while (merged := _merge_one(sink)) is not None:
        sink = simplify(merged)
    return sink


def fold_reduce(u: UOp) -> UOp | None:
    """Replace a reduction over nothing, or over a range that its value does not need."""
    if u.op is not Ops.REDUCE or u.arg[1] != 1:
        return None
    value, ranges = u.src[0], ranges_of_reduce(u)
    if any(constant_size(r) == 0 for r in ranges):
        return UOp.const(u.dtype, identity_of(u.arg[0], u.dtype))
    for r in ranges:
        folded = _fold_range(u.arg[0], value, r)
        if folded is not None:
            left = tuple(q for q in ranges if q is not r)
            out = folded.reduce(u.arg[0], *left)
            return fold_reduce(out) or out if out.op is Ops.REDUCE else out
    return None


def _fold_range(op: Ops, value: UOp, r: UOp) -> UOp | None:
    if r in value.ranges:
        return None
    if op is Ops.MAX:
        # of no steps, the greatest is the lowest number there is
        return value if r.src[0].vmin > 0 else None
    if op is Ops.MUL and value.op is Ops.CONST and _is_own_power(value):
        return value if r.src[0].vmin > 0 else None
    size = constant_size(r)
    if op is not Ops.ADD or size is None or not _counts(value.dtype, size):
        return None
    return value * value.const_like(size)


def _is_own_power(value: UOp) -> bool:
    """Say whether all powers of a constant are itself. Those of -0.0 are not."""
    return value.arg == 1 or (value.arg == 0 and not is_float(value.dtype))


def _counts(dtype: DType, size: int) -> bool:
    """Say whether adding a value `size` times multiplies it by `size`. Integers wrap both ways."""
    return not is_float(dtype) or truncate(size, dtype) == size


def _merge_one(sink: UOp) -> UOp | None:
    for u in sink.toposort():
        for outer, inner in pairwise(ended_by(u)):
            if _appear_as_one(sink, outer, inner):
                return _merged(sink, outer, inner)
    return None


def _appear_as_one(sink: UOp, outer: UOp, inner: UOp) -> bool:
    """Say whether both ranges appear only in integers, everywhere as `outer * size(inner) + inner`.

    These are addresses, and the positions that an iota or a counter of random numbers computes with.
    """
    size = constant_size(inner)
    if size is None or constant_size(outer) is None or outer.arg.kind is not inner.arg.kind:
        return False
    seen: set[UOp] = set()
    stack = [sink]
    while stack:
        u = stack.pop()
        if u in seen:
            continue
        seen.add(u)
        if u is outer or u is inner:
            return False
        if u.op is Ops.INDEX:
            if not _is_linear_in_one(u.src[1], outer, inner, size):
                return False
            stack.extend((u.src[0], *u.src[2:]))
            continue
        if u.dtype is dtypes.index and _is_linear_in_one(u, outer, inner, size):
            continue
        ended = ended_by(u)
        if (outer in ended) is not (inner in ended):
            return False
        stack.extend(u.src[: len(u.src) - len(ended)])
    return True


def _is_linear_in_one(value: UOp, outer: UOp, inner: UOp, size: int) -> bool:
    """Say whether an integer depends on the two ranges by `outer * size + inner` alone."""
    step = coefficient(value, inner)
    return step is not None and coefficient(value, outer) == step * size


def _merged(sink: UOp, outer: UOp, inner: UOp) -> UOp:
    steps = (constant_size(outer) or 1) * (constant_size(inner) or 1)
    both = UOp.range(steps, outer.arg.ident, outer.arg.kind)
    # addresses are linear in both: the outer one at 0 and the inner one over all steps gives the same places
    return sink.substitute({outer: outer.const_like(0), inner: both})
