"""Put kernels in an order in which each reads the intended versions of memory.

All writes to one memory run in the order of the graph. A kernel that reads a version runs after the write
that made the version (RAW) and before the next one (WAR).
"""

import heapq
import itertools
import math
from collections.abc import Container, Iterable, Sequence

from plugrad.schedule.calls.kernelize import KernelCall
from plugrad.schedule.movement import max_shape
from plugrad.schedule.versions import IN_PLACE, owners
from plugrad.uop import Ops, UOp


class VersionConflict(Exception):
    """Kernels read memory after it must be overwritten; these versions need a copy."""

    def __init__(self, versions: Iterable[UOp]) -> None:
        super().__init__("kernels need an old and a new version of one memory at a time")
        self.versions = frozenset(versions)


class _Writes:
    """The calls that write to existing memory, and the order of their versions."""

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
        """Return the number of writes to its memory before `version`."""
        return self._position.get(version.base, 0)

    def before(self, version: UOp) -> Iterable[int]:
        """Return the calls after which `version` is there."""
        version = version.base
        for effect in version.src if version.op is Ops.AFTER else (version,):
            memory = self.memory_of(effect.src[0] if effect.op is Ops.KERNEL else effect)
            if (position := self.position(effect)) > 0:
                yield self.of[memory][position - 1]

    def next(self, version: UOp) -> int | None:
        """Return the call that overwrites `version`."""
        writes, position = self.of.get(self.memory_of(version), []), self.position(version)
        return writes[position] if position < len(writes) else None


def order(calls: Sequence[KernelCall], graph: Iterable[UOp], kept: Container[UOp] = ()) -> list[KernelCall]:
    """Return `calls` in nearly their order, with respect to RAW, WAR and WAW.

    A call that is the last to read more than it writes comes as soon as it can: what it has read can go. So
    do calls that are the last ones together: the gradients of a weight and of its bias both read what flows
    into their layer.

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
    """Return calls, each after its dependencies.

    Of several that could run, one that leaves less in memory comes first; where there is none, the first.
    """
    waiting = [len(a) for a in after]
    then: list[list[int]] = [[] for _ in after]
    for i, earlier in enumerate(after):
        for j in earlier:
            then[j].append(i)
    ready = [i for i, n in enumerate(waiting) if n == 0]
    for i in ready:
        memory.arrive(i)
    saving = [i for i in ready if memory.saves(i)]
    done: dict[int, None] = {}
    while ready or saving:
        i = heapq.heappop(saving) if saving else heapq.heappop(ready)
        if i in done:
            continue
        done[i] = None
        changed = memory.run(i)
        for j in then[i]:
            waiting[j] -= 1
            if waiting[j] == 0:
                heapq.heappush(ready, j)
                changed += [j, *memory.arrive(j)]
        for j in changed:
            if waiting[j] == 0 and j not in done and memory.saves(j):
                heapq.heappush(saving, j)
    return list(done)


class _Memory:
    """The temporaries that are still to be read, and their readers."""

    def __init__(self, calls: Sequence[KernelCall], kept: Container[UOp]) -> None:
        own = {call.root for call in calls if call.target is None and call.root not in kept}
        self._reads = [[u for u in call.memory[1:] if u in own] for call in calls]
        self._makes = [_nbytes(call.root) if call.target is None else 0 for call in calls]
        self._readers: dict[UOp, set[int]] = {}
        # of the readers left: how many cannot run yet, and what the results of all take
        self._waiting: dict[UOp, int] = {}
        self._results: dict[UOp, int] = {}
        for i, reads in enumerate(self._reads):
            for u in reads:
                self._readers.setdefault(u, set()).add(i)
                self._waiting[u] = self._waiting.get(u, 0) + 1
                self._results[u] = self._results.get(u, 0) + self._makes[i]

    def saves(self, i: int) -> bool:
        """Say whether call `i` frees more memory than its result takes.

        Or one of the last, which all could run.
        """
        reads = self._reads[i]
        freed = sum(_nbytes(u) for u in reads if len(self._readers[u]) == 1)
        return freed > self._makes[i] or any([self._can_go(u) for u in reads])

    def arrive(self, i: int) -> list[int]:
        """Note that call `i` is ready, and return calls worth running next."""
        changed: list[int] = []
        for u in self._reads[i]:
            self._waiting[u] -= 1
            if self._can_go(u):
                changed += self._readers[u]
        return changed

    def run(self, i: int) -> list[int]:
        """Note that call `i` runs, and return calls worth running next."""
        changed: list[int] = []
        for u in self._reads[i]:
            could_go = self._can_go(u)
            self._readers[u].discard(i)
            self._results[u] -= self._makes[i]
            if len(self._readers[u]) == 1 or (not could_go and self._can_go(u)):
                changed += self._readers[u]
        return changed

    def _can_go(self, u: UOp) -> bool:
        """Say whether all remaining readers of `u` could run with smaller results."""
        return self._waiting[u] == 0 and self._results[u] < _nbytes(u)


def _nbytes(u: UOp) -> int:
    return math.prod(max_shape(u.shape)) * u.dtype.itemsize
