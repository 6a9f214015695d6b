"""Unroll each step of an UPCAST, UNROLL or PARTIAL axis into its own expression.

Unrolling is substitution. Values that do not depend on the axis stay one node, because equal nodes are the
same object; that sharing is the register reuse of a tile.
"""

from plugrad.codegen.combine import combine, fuses_products, sum_products
from plugrad.codegen.rebuild import UNROLLED, at_each, ranges_of_reduce, rebuild
from plugrad.target import Capabilities
from plugrad.uop import AxisType, Ops, UOp, simplify
from plugrad.uop.strides import constant_size

_WITH_LOOPS = frozenset({Ops.REDUCE, Ops.BARRIER, Ops.COMMIT})


def expand(sink: UOp, capabilities: Capabilities) -> UOp:
    """Replace unrolled ranges by their steps.

    before: STORE(place(i), value(i), i) with an UPCAST range i of 2
    after:  STORE(place(0), value(0)), STORE(place(1), value(1))
    """

    def change(u: UOp) -> UOp | None:
        if u.op is Ops.REDUCE:
            return _expand_reduce(u, capabilities)
        return u.replace(src=tuple(step for s in u.src for step in _expand_store(s)))

    sink = rebuild(sink, change, ops=_WITH_LOOPS)
    stores = [step for store in sink.src for step in _expand_store(store)]
    return simplify(sink.replace(src=tuple(stores)))


def _expand_store(store: UOp) -> list[UOp]:
    if store.op is not Ops.STORE:
        return [store]
    unrolled = [r for r in store.src[2:] if r.op is Ops.RANGE and r.arg.kind in UNROLLED]
    steps = [store.replace(src=tuple(s for s in store.src if s not in unrolled))]
    for r in unrolled:
        steps = at_each(steps, r, _size(r))
    return steps


def _expand_reduce(u: UOp, capabilities: Capabilities) -> UOp | None:
    ended = ranges_of_reduce(u)
    partial = [r for r in ended if r.arg.kind is AxisType.PARTIAL]
    unrolled = [r for r in ended if r.arg.kind is AxisType.UNROLL]
    if not partial and not unrolled:
        return None
    op = u.arg[0]
    left = [r for r in ended if r not in partial and r not in unrolled]
    values = list(u.src[: u.arg[1]])
    for r in unrolled:
        values = at_each(values, r, _size(r))
    copies: list[list[UOp]] = [values]
    for r in partial:
        size = _size(r)
        copies = [steps[i::size] for vs in copies for steps in (at_each(vs, r, size),) for i in range(size)]
    # whole vectors combine before their lanes do
    lanes = [r for r in left if r.arg.kind is AxisType.LANE]
    loops = tuple(r for r in left if r not in lanes)
    return combine(op, [_accumulate(op, vs, loops, u, capabilities) for vs in copies]).reduce(op, *lanes)


def _accumulate(
    op: Ops, values: list[UOp], ranges: tuple[UOp, ...], like: UOp, capabilities: Capabilities
) -> UOp:
    if ranges:
        return UOp(Ops.REDUCE, like.dtype, (*values, *ranges), (op, len(values)))
    fuses = all(v.op is Ops.MUL for v in values) and fuses_products(op, like.dtype, capabilities)
    return sum_products(values) if fuses else combine(op, values)


def _size(r: UOp) -> int:
    size = constant_size(r)
    assert size is not None, "unrolled axes are split off with a constant size"
    return size
