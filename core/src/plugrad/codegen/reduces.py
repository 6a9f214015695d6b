"""Share a reduction among the work-items of a group, through local memory.

Each work-item reduces its part and writes the result to local memory. After a barrier some of them combine a
few parts each, so that after another barrier every one combines what is left; and the first one stores.
"""

import math
from collections.abc import Callable
from typing import Any

from plugrad.codegen.rebuild import UNROLLED, all_ranges, gated, ranges_of_reduce, rebuild
from plugrad.dtype import dtypes
from plugrad.uop import AxisType, Ops, UOp, simplify
from plugrad.uop.strides import constant_size, flat_position

# Parts up to which every work-item combines all of them: a barrier takes longer.
_AT_ONCE = 32
_OF_A_GROUP = frozenset({AxisType.LOCAL, AxisType.GROUP_REDUCE})


def share_reduces(sink: UOp, _: Any = None) -> UOp:
    """Replace GROUP_REDUCE ranges by local memory, a barrier and a short reduction over the parts.

    before: REDUCE(x, group, k) with a group of 16
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
        return sink.replace(src=tuple(map(self._by_the_first, sink.src)))

    def _by_the_first(self, store: UOp) -> UOp:
        """Return a STORE of the first work-item along axes that have no steps."""
        place = store.src[0]
        for group in dict.fromkeys(self.groups):
            if group not in store.src[2:]:
                place = gated(place, group.eq(0))
        return store.replace(src=(place, *store.src[1:]))

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
        parts = math.prod(constant_size(r) or 1 for r in groups)
        here, slots = flat_position(groups), slots_of(parts)
        combined = self._exchange(u, part, here, parts, (shared, copies))
        if slots == parts:
            return self._combined(u, combined, here * 0, parts)
        # those that share a slot read the same parts, and the first of them stores
        few = self._combined(u, combined, here % slots, parts // slots, slots)
        left = self._exchange(u, few, here, slots, (shared, copies), gate=here < slots)
        return self._combined(u, left, here * 0, slots)

    def _exchange(
        self,
        u: UOp,
        value: UOp,
        here: UOp,
        parts: int,
        around: tuple[list[UOp], list[UOp]],
        gate: UOp | None = None,
    ) -> Callable[[UOp], UOp]:
        """Return where any work-item of the group finds the `value` of each, by its number."""
        shared, copies = around
        beside = math.prod(constant_size(r) or 1 for r in copies)
        whole = math.prod(constant_size(r) or 1 for r in shared) * parts * beside
        memory = UOp(Ops.DEFINE_LOCAL, u.dtype, (), (self.memories, whole))
        self.memories += 1

        def position(part: UOp) -> UOp:
            # unrolled copies have places of their own, behind one barrier
            return (flat_position(tuple(shared)) * parts + part) * beside + flat_position(tuple(copies))

        place = memory.index(position(here))
        written = (place if gate is None else gated(place, gate)).store(value, *copies)
        barrier = UOp(Ops.BARRIER, dtypes.void, (written,))
        return lambda part: memory.after(barrier).index(position(part)).load()

    def _combined(self, u: UOp, load: Callable[[UOp], UOp], first: UOp, count: int, step: int = 1) -> UOp:
        """Return the parts at `first` and every `step` behind it as one, loaded all together."""
        part = UOp.range(count, (self.next_axis,), AxisType.PARTIAL)
        self.next_axis += 1
        return load(part * step + first).reduce(u.arg[0], part)


def slots_of(parts: int) -> int:
    """Return the number of sums that a group makes of its parts first.

    Example:
        >>> slots_of(256), slots_of(96), slots_of(32)
        (16, 8, 32)
    """
    if parts <= _AT_ONCE:
        return parts
    return max(n for n in range(1, math.isqrt(parts) + 1) if parts % n == 0)
