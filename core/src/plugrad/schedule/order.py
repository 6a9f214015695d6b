"""Put kernels in an order in which each reads what it means to read.

All writes to one memory run in the order of the graph. A kernel that reads a version runs after the write
that made the version (RAW) and before the next one (WAR).
"""

import heapq
import itertools
import math
from collections.abc import Container, Iterable, Iterator, Sequence

from plugrad.schedule.kernelize import KernelCall
from plugrad.schedule.rangeify import max_shape
from plugrad.schedule.versions import IN_PLACE, base_of, owners
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


class VersionConflict(Exception):
    """Kernels read a version of memory after it must have been overwritten; those versions need a copy."""

    def __init__(self, versions: Iterable[UOp]) -> None:
        super().__init__("kernels need an old and a new version of one memory at a time")
        self.versions = frozenset(versions)


class _Writes:
    """The calls that write to memory that exists, and which of them each version comes after."""

    def __init__(self, calls: Sequence[KernelCall], graph: Iterable[UOp]) -> None:
        self.of: dict[UOp, list[int]] = {}
        self.place: dict[int, tuple[UOp, int]] = {}
        self.memory_of = owners()
        maker = {call.root: i for i, call in enumerate(calls)}
        self._position: dict[UOp, int] = {}
        for u in graph:
            if u.op in (Ops.ASSIGN, Ops.KERNEL) and u in maker:
                memory = self.memory_of(u.src[0])
                writes = self.of.setdefault(memory, [])
                self.place[maker[u]] = memory, len(writes)
                writes.append(maker[u])
                self._position[u] = len(writes)
            elif u.op is Ops.ASSIGN or u.op is Ops.KERNEL:
                self._position[u] = self.position(u.src[0])
            elif u.op is Ops.AFTER:
                memory = self.memory_of(u)
                ours = [s for s in u.src if self.memory_of(s.src[0] if s.op is Ops.KERNEL else s) is memory]
                self._position[u] = max(map(self.position, ours))

    def position(self, version: UOp) -> int:
        """Return how many writes to its memory `version` comes after."""
        return self._position.get(base_of(version), 0)

    def before(self, version: UOp) -> Iterable[int]:
        """Return the calls after which `version` is there."""
        version = base_of(version)
        for effect in version.src if version.op is Ops.AFTER else (version,):
            memory = self.memory_of(effect.src[0] if effect.op is Ops.KERNEL else effect)
            if (position := self.position(effect)) > 0:
                yield self.of[memory][position - 1]

    def next(self, version: UOp) -> int | None:
        """Return the call that overwrites `version`."""
        writes, position = self.of.get(self.memory_of(version), []), self.position(version)
        return writes[position] if position < len(writes) else None


def order(calls: Sequence[KernelCall], graph: Iterable[UOp], kept: Container[UOp] = ()) -> list[KernelCall]:
    """Return `calls` in an order that respects RAW, WAR and WAW, close to the given one.

    A call that is the last to read more than it writes comes as soon as it can: what it has read can go.

    Args:
        calls: what to run.
        graph: the nodes they were made of, sources first.
        kept: values whose memory stays afterwards.

    Raises:
        VersionConflict: there is none; the exception names the versions to copy first.
    """
    writes = _Writes(calls, graph)
    maker = {call.root: i for i, call in enumerate(calls)}
    after: list[set[int]] = [set() for _ in calls]
    late: list[UOp] = []
    for made in writes.of.values():
        for earlier, later in itertools.pairwise(made):
            after[later].add(earlier)
    for i, call in enumerate(calls):
        after[i].update(maker[u] for u in call.after if u in maker)
        for version in call.reads:
            if version in maker and version.op not in IN_PLACE:
                after[i].add(maker[version])
                continue
            after[i].update(j for j in writes.before(version) if j != i)
            overwriter = writes.next(version)
            if i in writes.place and writes.place[i][0] is writes.memory_of(version):
                # it runs when only the newest version is left
                late += [version] if overwriter != i else []
            elif overwriter is not None:
                after[overwriter].add(i)
        if call.target is not None:
            after[i].update(j for j in writes.before(call.target) if j != i)
    done = _topological(after, _Memory(calls, kept))
    left = set(range(len(calls))).difference(done)
    late += [v for i in left for v in calls[i].reads if writes.next(v) in left and writes.next(v) != i]
    if late:
        raise VersionConflict(late)
    if left:
        raise AssertionError(f"kernels wait for each other: {[calls[i].root.op for i in left]}")
    return [calls[i] for i in done]


def _topological(after: Sequence[set[int]], memory: "_Memory") -> list[int]:
    """Return calls after those that they wait for.

    Of several that could run, one that leaves less in memory comes first; where there is none, the first.
    """
    waiting = [len(a) for a in after]
    then: list[list[int]] = [[] for _ in after]
    for i, earlier in enumerate(after):
        for j in earlier:
            then[j].append(i)
    ready = [i for i, n in enumerate(waiting) if n == 0]
    saving = [i for i in ready if memory.saves(i)]
    done: dict[int, None] = {}
    while ready or saving:
        i = heapq.heappop(saving) if saving else heapq.heappop(ready)
        if i in done:
            continue
        done[i] = None
        for j in then[i]:
            waiting[j] -= 1
            if waiting[j] == 0:
                heapq.heappush(ready, j)
        for j in (*then[i], *memory.run(i)):
            if waiting[j] == 0 and j not in done and memory.saves(j):
                heapq.heappush(saving, j)
    return list(done)


class _Memory:
    """Which temporaries are still to be read, and by whom."""

    def __init__(self, calls: Sequence[KernelCall], kept: Container[UOp]) -> None:
        own = {call.root for call in calls if call.target is None and call.root not in kept}
        self._reads = [[u for u in call.memory[1:] if u in own] for call in calls]
        self._makes = [_nbytes(call.root) if call.target is None else 0 for call in calls]
        self._readers: dict[UOp, set[int]] = {}
        for i, reads in enumerate(self._reads):
            for u in reads:
                self._readers.setdefault(u, set()).add(i)

    def saves(self, i: int) -> bool:
        """Say whether call `i` is the last reader of more memory than it takes for its result."""
        freed = sum(_nbytes(u) for u in self._reads[i] if len(self._readers[u]) == 1)
        return freed > self._makes[i]

    def run(self, i: int) -> Iterator[int]:
        """Note that call `i` runs, and yield the calls that are last readers now."""
        for u in self._reads[i]:
            readers = self._readers[u]
            readers.discard(i)
            if len(readers) == 1:
                yield from readers


def _nbytes(u: UOp) -> int:
    return math.prod(max_shape(u.shape)) * u.dtype.itemsize
