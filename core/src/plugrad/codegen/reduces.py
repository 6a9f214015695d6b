"""Share a reduction among the work-items of a group, through local memory.

Each work-item reduces its part and writes the result to local memory; after a barrier every one of them
combines all parts, and the first one stores.
"""

import math
from typing import Any

from plugrad.codegen.rebuild import UNROLLED, all_ranges, ranges_of_reduce, rebuild
from plugrad.codegen.strides import constant_size, flat_position
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp

_OF_A_GROUP = frozenset({AxisType.LOCAL, AxisType.GROUP_REDUCE})


def share_reduces(sink: UOp, _: Any = None) -> UOp:
    """Replace GROUP_REDUCE ranges by local memory, a barrier and a short reduction over the parts.

    before: REDUCE(x, group, k)
    after:  REDUCE(LOAD(local[part]), part), after a BARRIER on local[group] = REDUCE(x, k)
    """
    if not any(r.arg.kind is AxisType.GROUP_REDUCE for r in all_ranges(sink)):
        return sink
    return simplify(_Sharing(sink).run())


class _Sharing:
    def __init__(self, sink: UOp) -> None:
        self.sink = sink
        self.next_axis = max(r.arg.ident[0] for r in all_ranges(sink)) + 1
        self.memories = 0
        self.groups: list[UOp] = []

    def run(self) -> UOp:
        sink = rebuild(self.sink, self._share)
        first = UOp.const(dtypes.bool, True)
        for group in dict.fromkeys(self.groups):
            first = first & group.eq(0)
        stores = tuple(s.replace(src=(_gated(s.src[0], first), *s.src[1:])) for s in sink.src)
        return sink.replace(src=stores)

    def _share(self, u: UOp) -> UOp | None:
        if u.op is not Ops.REDUCE:
            return None
        groups = tuple(r for r in ranges_of_reduce(u) if r.arg.kind is AxisType.GROUP_REDUCE)
        if not groups:
            return None
        self.groups.extend(groups)
        values = u.src[: u.arg[1]]
        left = tuple(r for r in ranges_of_reduce(u) if r not in groups)
        part = UOp(Ops.REDUCE, u.dtype, (*values, *left), u.arg) if left else values[0]
        around = sorted(u.ranges, key=lambda r: r.arg.ident)
        shared = [r for r in around if r.arg.kind in _OF_A_GROUP]
        copies = [r for r in around if r.arg.kind in UNROLLED]
        numel = math.prod(constant_size(r) or 1 for r in (*shared, *groups, *copies))
        memory = UOp(Ops.DEFINE_LOCAL, u.dtype, (), (self.memories, numel))
        self.memories += 1
        # unrolled copies have places of their own, behind one barrier
        written = memory.index(flat_position((*shared, *groups, *copies))).store(part, *copies)
        barrier = UOp(Ops.BARRIER, dtypes.void, (written,))
        parts = tuple(
            UOp.range(constant_size(r) or 1, (self.next_axis + i,), AxisType.REDUCE)
            for i, r in enumerate(groups)
        )
        self.next_axis += len(parts)
        place = memory.after(barrier).index(flat_position((*shared, *parts, *copies)))
        return place.load().reduce(u.arg[0], *parts)


def _gated(place: UOp, gate: UOp) -> UOp:
    return place.replace(src=(*place.src[:2], place.src[2] & gate if len(place.src) > 2 else gate))
