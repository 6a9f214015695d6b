"""Take an axis apart where addresses do, so that they need neither quotient nor remainder.

A repeated row is read at `j % n`. As two loops, over the copies and over the row, both addresses count up,
and vectors can follow. A sum over elements that were repeated, as the gradient of pooling repeats them, reads
at `j // 2`. The inner one of its two loops is written out: its steps share what does not move with them.
"""

from collections.abc import Iterator

from plugrad.codegen.rebuild import all_ranges, exchange_range
from plugrad.target import Capabilities
from plugrad.uop import AxisType, Ops, UOp
from plugrad.uop.strides import constant_size

# Shorter rows are not worth loops of their own; in a reduction they are written out.
_LONG = 8
_DIVIDING = (Ops.FLOORDIV, Ops.FLOORMOD)


def split_at_divisors(sink: UOp, capabilities: Capabilities) -> UOp:
    """Split loops, or those of reductions, at the divisors of addresses.

    before: STORE(INDEX(p, j), LOAD(INDEX(q, j % 250)), j) with j of 1000
    after:  STORE(INDEX(p, i*250 + k), LOAD(INDEX(q, k)), i, k) with i of 4 and k of 250
    """
    used = {u.op for u in sink.toposort()}
    # work-items of a grid divide while they wait for memory
    if capabilities.grid_dims or used.isdisjoint(_DIVIDING):
        return sink
    # the loops around reductions have tiles of their own
    kind = AxisType.REDUCE if Ops.REDUCE in used else AxisType.LOOP
    while (split := _split_one(sink, kind)) is not None:
        sink = split
    return sink


def _split_one(sink: UOp, kind: AxisType) -> UOp | None:
    for r in all_ranges(sink):
        if r.arg.kind is not kind or constant_size(r) is None:
            continue
        divided = len(_divided(sink, r))
        for count in sorted(set(_divisors(sink, r)), reverse=True):
            sizes = (constant_size(r) or 1) // count, count
            outer, inner = (UOp.range(size, (*r.arg.ident, i), kind) for i, size in enumerate(sizes))
            split = exchange_range(sink, r, outer * count + inner, (outer, inner))
            if len(_divided(split, outer) | _divided(split, inner)) < divided:
                return split
    return None


def _divided(sink: UOp, r: UOp) -> set[UOp]:
    """Return the quotients and remainders within addresses that depend on `r`."""
    addresses = UOp.sink(*(s for u in sink.toposort() if u.op is Ops.INDEX for s in u.src[1:]))
    return {u for u in addresses.toposort() if u.op in _DIVIDING and r in u.ranges}


def _divisors(sink: UOp, r: UOp) -> Iterator[int]:
    """Yield the divisors of `r` in addresses that leave two loops of suitable length."""
    size = constant_size(r) or 1
    for u in _divided(sink, r):
        if u.src[0] is r and u.src[1].op is Ops.CONST:
            count = u.src[1].arg
            suits = count <= _LONG if r.arg.kind is AxisType.REDUCE else _LONG <= count
            if suits and 1 < count < size and size % count == 0:
                yield count
