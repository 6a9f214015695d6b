"""Take copies of values before the memory that they read is overwritten."""

from collections.abc import Set

from plugrad.uop import MOVEMENT, Ops, UOp

_NONE: Set[UOp] = frozenset()
_SHOW_MEMORY = frozenset({Ops.SINK, Ops.KERNEL, Ops.AFTER})


def with_copies(
    graph: UOp, stored: Set[UOp], *, versions: Set[UOp] = _NONE, values_of: Set[UOp] = _NONE
) -> tuple[UOp, frozenset[UOp]]:
    """Return the graph with copies, and its nodes that must have memory.

    before: ASSIGN(b, b.flip(0))
    after:  ASSIGN(b, b.flip(0).contiguous())

    Args:
        graph: the graph.
        stored: its nodes that must have memory.
        versions: versions of memory; whoever reads one reads its copy, whoever assigns to one does not.
        values_of: assignments whose value is computed into memory of its own first.
    """
    new: dict[UOp, UOp] = {}
    for u in graph.toposort():
        sources: list[UOp] = []
        for position, source in enumerate(u.src):
            base = source.base
            if u.op in _SHOW_MEMORY or (u.op is Ops.ASSIGN and position == 0):
                sources.append(source.substitute({base: new[base]}) if base in versions else new[source])
            elif base in versions and u.op not in MOVEMENT:
                # below a movement op, a version is exchanged where the movement ops are read
                sources.append(source.substitute({base: new[base].contiguous()}))
            else:
                sources.append(new[source])
        if u in values_of:
            sources[1] = sources[1].contiguous()
        src = tuple(sources)
        new[u] = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
    return new[graph], frozenset([new[u] for u in stored])
