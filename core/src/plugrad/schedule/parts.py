"""Cut a graph into parts that are scheduled apart, and equal parts once.

CONTIGUOUS and COPY make memory, whatever the cost model says, and so does an assignment: who reads it sees
memory, and nothing of how it was made. Without these edges a graph falls into parts: the layers of a network
whose results are contiguous, each with its gradients and the updates of its parameters, or values that have
nothing to do with each other. With its memory numbered in the order of use, a part is its own key.
"""

import math
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import dtypes
from plugrad.schedule.memory_planner import ALIGNMENT
from plugrad.schedule.versions import IN_PLACE, Descent, memory_of, owner_of, owners, part_of, slice_of
from plugrad.uop import ELEMENTWISE, MOVEMENT, Ops, UOp
from plugrad.uop.ops import BufferArg
from plugrad.uop.shape import pairs_of

_LEAVES = frozenset({Ops.BUFFER, Ops.CONST, Ops.IOTA, Ops.DEFINE_VAR, Ops.BIND})
_MAKES_MEMORY = frozenset({Ops.CONTIGUOUS, Ops.COPY, Ops.FOURIER, Ops.FACTOR})
# Each slice may be an argument of one kernel: a memory that is read in more of them is one argument.
_MOST_SLICES = 16

#: The graph of a part, and its values that get memory whatever the cost model says.
PartKey = tuple[UOp, frozenset[UOp]]


@frozen
class Input:
    """Memory that a part reads or writes.

    Attributes:
        version: the node that is read: a BUFFER, a later version of one, or a value with memory.
        owner: the node that owns the memory.
        begin: the first element there.
    """

    version: UOp
    owner: UOp
    begin: int = 0


@frozen
class GraphPart:
    """A part of a graph with its memory numbered.

    Attributes:
        sink: SINK of its values that others read, or that were asked for.
        stored: its values that get memory though their operations do not ask for it.
        nodes: from each node of the part to that of the graph.
        inputs: from each numbered BUFFER to what it stands for.
    """

    sink: UOp
    stored: frozenset[UOp]
    nodes: Mapping[UOp, UOp]
    inputs: Mapping[UOp, Input]

    @property
    def key(self) -> PartKey:
        """Return the key that equal parts have in common."""
        return self.sink, self.stored

    def version(self, u: UOp) -> UOp:
        """Return the node of the graph for a version of memory."""
        found = self.inputs.get(u)
        return self.nodes[u] if found is None else found.version

    def memory(self, u: UOp, made: Container[UOp]) -> UOp:
        """Return the owner of memory in the graph, or a part of it.

        `made` are the values that the part's kernels make.
        """
        if u in made:
            return self.nodes[u]
        numbered = owner_of(u)
        given = self.inputs.get(numbered)
        owner, first = (self.nodes[numbered], 0) if given is None else (given.owner, given.begin)
        span: Any = (0, math.prod(u.shape)) if u is numbered else pairs_of(u)[0]
        begin, end = span
        return part_of(owner, first + begin, end - begin)


def split(graph: UOp, stored: frozenset[UOp], takes_parts: Callable[[str], bool]) -> list[GraphPart]:
    """Return the parts of `graph`.

    before: SINK(((b0 + b1).contiguous() * b1).contiguous() * b2)
    after:  SINK((m1 + m2).contiguous()), SINK((m1 * m2).contiguous()), SINK(m1 * m2)

    Args:
        graph: SINK of the values that get memory.
        stored: values that get memory whatever the cost model says.
        takes_parts: whether kernels of a device are launched with parts of memory.
    """
    order = graph.toposort(lambda u: u.dtype is not dtypes.index or u.op is Ops.SINK)
    groups = _Groups(order, stored)
    members: dict[UOp, list[UOp]] = {}
    asked = frozenset(graph.src)
    for u in order:
        if u in groups.parents and (groups.is_memory(u) or u in asked):
            members.setdefault(groups.of(u), []).append(u)
    if len(members) < 2:
        buffers = [u for u in order if u.op is Ops.BUFFER]
        return [GraphPart(graph, stored, {u: u for u in order}, {b: Input(b, b) for b in buffers})]
    return [
        _Numbering(groups, group, takes_parts).number(values, stored) for group, values in members.items()
    ]


class _Groups:
    """A forest of nodes, each of whose trees is a part."""

    def __init__(self, order: Iterable[UOp], stored: frozenset[UOp]) -> None:
        self.parents: dict[UOp, UOp] = {}
        self._writers: dict[UOp, UOp] = {}
        self._owner = owners()
        self._whole = Descent(lambda u: u.op in IN_PLACE)
        self._free: set[UOp] = set()
        self._stored = stored
        for u in order:
            if self._is_free(u):
                self._free.add(u)
            elif u.op is not Ops.SINK:
                self._add(u)

    def of(self, u: UOp) -> UOp:
        """Return the node that stands for all of a group."""
        parents = self.parents
        while (above := parents[u]) is not u:
            parents[u] = parents[above]
            u = parents[u]
        return u

    def writes(self, group: UOp, memory: UOp) -> bool:
        """Say whether a group writes to the memory that `memory` owns."""
        writer = self._writers.get(memory)
        return writer is not None and self.of(writer) is group

    def is_memory(self, u: UOp) -> bool:
        """Say whether a value has memory that other parts may read."""
        if u.op in IN_PLACE:
            return self._whole(u) is self._owner(u)
        if u.op not in _MAKES_MEMORY and u not in self._stored:
            return False
        is_static = all(isinstance(size, int) for size in u.shape)
        return is_static and u.device is not None and 0 not in u.shape

    def _is_free(self, u: UOp) -> bool:
        """Say whether parts may have `u` of their own: views of memory, formulas of numbers."""
        if u.op in _LEAVES:
            return True
        if u in self._stored:
            return False
        if u.op in MOVEMENT:
            return u.src[0] in self._free or self.is_memory(u.src[0])
        return u.op in ELEMENTWISE and u.device is None and self._free.issuperset(u.src)

    def _add(self, u: UOp) -> None:
        self.parents[u] = u
        written = u.src if u.op is Ops.KERNEL else (u,) if u.op in IN_PLACE else ()
        for s in written:
            # all that happens to one memory is seen by one part
            owner = self._owner(s)
            self._join(u, self._writers.setdefault(owner, u))
            if owner in self.parents:
                self._join(u, owner)
        for number, s in enumerate(u.src):
            if s in self.parents and (not self.is_memory(s) or (u.op is Ops.AFTER and number)):
                self._join(u, s)

    def _join(self, u: UOp, other: UOp) -> None:
        self.parents[self.of(u)] = self.of(other)


class _Numbering:
    """One part in the making."""

    def __init__(self, groups: _Groups, group: UOp, takes_parts: Callable[[str], bool]) -> None:
        self._groups = groups
        self._group = group
        self._takes_parts = takes_parts
        self._new: dict[UOp, UOp] = {}
        self._inputs: dict[UOp, Input] = {}
        self._slices: dict[UOp, int] = {}

    def number(self, values: list[UOp], stored: frozenset[UOp]) -> GraphPart:
        """Return the part that makes `values`."""
        new = self._new
        for u in UOp.sink(*values).toposort(self._enters):
            if u.op is not Ops.SINK:
                src = tuple([new[s] for s in u.src])
                new[u] = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
        nodes = {made: u for u, made in new.items() if made not in self._inputs}
        sink = UOp.sink(*[new[u] for u in values])
        chosen = frozenset([new[u] for u in values if u in stored and u.op not in _MAKES_MEMORY])
        return GraphPart(sink, chosen, nodes, self._inputs)

    def _enters(self, u: UOp) -> bool:
        """Say whether the sources of `u` belong to the part; number it where not."""
        if u.op is Ops.SINK:
            return True
        if u.dtype is dtypes.index:
            self._new[u] = u
            return False
        groups = self._groups
        if u.op is Ops.BUFFER or (u in groups.parents and groups.of(u) is not self._group):
            self._add(u, Input(u, memory_of(u) if u.op in IN_PLACE else u))
            return False
        is_free = u not in groups.parents
        if is_free and u.op is Ops.SHRINK and (part := self._slice(u)) is not None:
            self._add(u, part)
            return False
        return True

    def _add(self, u: UOp, given: Input) -> None:
        shape: Any = u.shape
        arg = BufferArg(-1 - len(self._inputs), str(u.device), shape)
        numbered = UOp(Ops.BUFFER, u.dtype, (), arg)
        self._new[u] = numbered
        self._inputs[numbered] = given

    def _is_given(self, memory: UOp) -> bool:
        """Say whether `memory` is there, or made by another part."""
        if memory.op is Ops.BUFFER:
            return True
        groups = self._groups
        return groups.is_memory(memory) and groups.of(memory) is not self._group

    def _slice(self, u: UOp) -> Input | None:
        """Return consecutive elements of memory as a separate input, if possible."""
        found = slice_of(u) if self._takes_parts(str(u.device)) else None
        if found is None:
            return None
        owner, begin = found
        if not self._is_given(owner):
            return None
        is_aligned = begin * u.dtype.itemsize % ALIGNMENT == 0
        if not is_aligned or self._groups.writes(self._group, owner):
            return None
        count = self._slices[owner] = self._slices.get(owner, 0) + 1
        return Input(u.base, owner, begin) if count <= _MOST_SLICES else None
