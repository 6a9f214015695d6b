"""Make the loop nest of a fresh kernel as small as it can be.

Runs first: neighbouring ranges that memory cannot tell apart become one, and reductions that are a lookup in
disguise become one.
"""

from itertools import pairwise
from typing import Any

from plugrad.codegen.rebuild import at, ranges_of_reduce, rebuild
from plugrad.codegen.strides import coefficient, constant_size
from plugrad.dtype import DType, dtypes, is_float, is_int, truncate
from plugrad.uop.ops import Ops, identity_of
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp


def simplify_ranges(sink: UOp, _: Any = None) -> UOp:
    """Merge ranges, and fold reductions that need no loop.

    before: STORE(INDEX(p, i*8 + j), x, i, j) with j of 8
    after:  STORE(INDEX(p, m), x, m) with m of 8 times as many steps as i
    """
    sink = simplify(rebuild(sink, fold_reduce))
    while (merged := _merge_one(sink)) is not None:
        sink = simplify(merged)
    return sink


def fold_reduce(u: UOp) -> UOp | None:
    """Replace a reduction over nothing, over a range that its value does not need, or needs in one step."""
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
        return _lookup(value, r) if op is Ops.ADD else None
    if op is Ops.MAX:
        # of no steps, the greatest is the lowest number there is
        return value if r.src[0].vmin > 0 else None
    size = constant_size(r)
    if op is not Ops.ADD or size is None or not _counts(value.dtype, size):
        return None
    return value * value.const_like(size)


def _counts(dtype: DType, size: int) -> bool:
    """Say whether `size` times a value is what adding it `size` times gives; integers wrap both ways."""
    return not is_float(dtype) or truncate(size, dtype) == size


def _lookup(value: UOp, r: UOp) -> UOp | None:
    """Recognise the sum over r of (x if r == wanted else 0): it is x at r = wanted.

    The condition makes `wanted` an address, so an address outside of the range gives 0 and touches nothing.
    """
    if value.op is Ops.WHERE and value.src[2].op is Ops.CONST and value.src[2].arg == 0:
        condition, x = value.src[0], value.src[1]
        equal = Ops.CMPEQ
    elif value.op is Ops.WHERE and value.src[1].op is Ops.CONST and value.src[1].arg == 0:
        condition, x = value.src[0], value.src[2]
        equal = Ops.CMPNE
    else:
        return None
    if condition.op is not equal:
        return None
    for counter, wanted in (condition.src, condition.src[::-1]):
        counts = counter.src[0] if counter.op is Ops.CAST else counter
        if counts is not r or r in wanted.ranges or not _counts_exactly(counter, r):
            continue
        position = wanted.cast(dtypes.index)
        inside = simplify(~(position < 0) & _is_below(wanted, r.src[0]))
        found = _gate_loads(at(x, r, position), x, r, position, inside)
        return inside.where(found, found.const_like(0))
    return None


def _is_below(wanted: UOp, size: UOp) -> UOp:
    if size.op is Ops.CONST or wanted.dtype.itemsize < 8:
        return wanted.cast(dtypes.index) < size
    # a comparison of addresses may become one with `wanted + 1`, and the greatest integer has no next one
    return wanted < size.cast(wanted.dtype)


def _counts_exactly(counter: UOp, r: UOp) -> bool:
    """Say whether `counter`, `r` in some dtype, is an integer that has not wrapped."""
    return is_int(counter.dtype) and counter.bounds == r.bounds


def _gate_loads(found: UOp, before: UOp, r: UOp, position: UOp, inside: UOp) -> UOp:
    """Gate every load of `found` whose address came from `r`."""
    moved = {at(u, r, position) for u in before.toposort() if u.op is Ops.INDEX and r in u.ranges}
    done: dict[UOp, UOp] = {}
    for u in found.toposort():
        src = tuple([done[s] for s in u.src])
        if u in moved:
            src = (*src[:2], src[2] & inside if len(src) > 2 else inside)
        done[u] = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
    return done[found]


def _merge_one(sink: UOp) -> UOp | None:
    for u in sink.toposort():
        ended = u.src[2:] if u.op is Ops.STORE else ranges_of_reduce(u) if u.op is Ops.REDUCE else ()
        for outer, inner in pairwise(ended):
            if _memory_sees_one(sink, outer, inner):
                return _merged(sink, outer, inner)
    return None


def _memory_sees_one(sink: UOp, outer: UOp, inner: UOp) -> bool:
    """Say whether both ranges appear in addresses only, everywhere as `outer * size(inner) + inner`."""
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
            step = coefficient(u.src[1], inner)
            if step is None or coefficient(u.src[1], outer) != step * size:
                return False
            stack.extend(u.src[2:])
            continue
        if u.op is Ops.STORE or u.op is Ops.REDUCE:
            values = 2 if u.op is Ops.STORE else u.arg[1]
            ended = u.src[values:]
            if (outer in ended) is not (inner in ended):
                return False
            stack.extend(u.src[:values])
            continue
        stack.extend(u.src)
    return True


def _merged(sink: UOp, outer: UOp, inner: UOp) -> UOp:
    steps = (constant_size(outer) or 1) * (constant_size(inner) or 1)
    both = UOp.range(steps, outer.arg.ident, outer.arg.kind)
    # addresses are linear in both: the outer one at 0 and the inner one over all steps gives the same places
    nothing = outer.const_like(0)
    replaced = sink.substitute({outer: nothing, inner: both})

    def change(u: UOp) -> UOp | None:
        if u.op in (Ops.STORE, Ops.REDUCE) and both in u.src and nothing in u.src:
            first = 2 if u.op is Ops.STORE else u.arg[1]
            return u.replace(src=(*u.src[:first], *(s for s in u.src[first:] if s is not nothing)))
        return None

    return rebuild(replaced, change)
