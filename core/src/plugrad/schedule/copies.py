"""Take copies of values before the memory that they read is overwritten."""

from collections.abc import Set

from plugrad._frozen import frozen
from plugrad.uop import MOVEMENT, Ops, UOp


@frozen
class Copies:
    """The nodes to copy.

    Attributes:
        versions: versions of memory; whoever reads one reads its copy, whoever assigns to one does not.
        values_of: assignments whose value is computed into memory of its own first.
    """

    versions: Set[UOp] = frozenset()
    values_of: Set[UOp] = frozenset()

    def apply(self, graph: UOp, stored: Set[UOp]) -> tuple[UOp, set[UOp]]:
        """Return the graph with the copies, and its nodes that must have memory.

        before: ASSIGN(b, b.flip(0))
        after:  ASSIGN(b, b.flip(0).contiguous())
        """
        new: dict[UOp, UOp] = {}
        for u in graph.toposort():
            new[u] = self._rebuilt(u, tuple([self._source(u, s, i, new) for i, s in enumerate(u.src)]))
        return new[graph], {new[u] for u in stored}

    def _rebuilt(self, u: UOp, src: tuple[UOp, ...]) -> UOp:
        if u in self.values_of:
            src = (src[0], src[1].contiguous())
        return u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)

    def _source(self, u: UOp, source: UOp, position: int, new: dict[UOp, UOp]) -> UOp:
        """Return source number `position` of `u` after copying: a version as such, or its reader."""
        shows_memory = u.op in (Ops.SINK, Ops.KERNEL, Ops.AFTER) or (u.op is Ops.ASSIGN and position == 0)
        base = source.base
        if base not in self.versions:
            return new[source]
        if not shows_memory:
            # below a movement op, a version is exchanged where the movement ops are read
            return new[source] if u.op in MOVEMENT else source.substitute({base: new[base].contiguous()})
        return source.substitute({base: new[base]})
