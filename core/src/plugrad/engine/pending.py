"""Find the values that wait to read memory that is about to be overwritten.

They mean what was there when they were written down, so they have to be computed first.
"""

from collections.abc import Iterable

from plugrad.engine import storage
from plugrad.schedule.versions import base_of
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def pending_readers(roots: Iterable[UOp]) -> list[UOp]:
    """Return the values that somebody holds, not among `roots`, that read what these overwrite."""
    roots = set(roots)
    graph = UOp.sink(*roots).toposort()
    if not any(u.op is Ops.ASSIGN for u in graph):
        return []
    held = dict.fromkeys(u for u in storage.held_values() if u.src and not storage.is_view(u))
    top = UOp.sink(*held)
    now = storage.resolve_graph(top)
    waiting = {
        h: now[h]
        for h in held
        if not storage.is_view(now[h]) and now[h] not in roots and base_of(now[h]) not in roots
    }
    out: list[UOp] = []
    # a reader may bring assignments of its own, and with them more readers
    while found := _readers(waiting, graph):
        out += found
        graph = UOp.sink(*graph, *(waiting.pop(h) for h in found)).toposort()
    return out


def _readers(waiting: dict[UOp, UOp], graph: Iterable[UOp]) -> list[UOp]:
    """Return the keys of `waiting` whose graphs read what an ASSIGN in `graph` overwrites."""
    ours = {u for u in graph if u.op is Ops.ASSIGN}
    overwritten: set[UOp] = set()
    for assign in ours:
        version = base_of(assign.src[0])
        overwritten.add(version)
        if version.op is Ops.AFTER:
            # the assignments to parts that led to this version show the same memory
            overwritten.update(base_of(s) for s in version.src)
    reads: dict[UOp, bool] = {}
    for u in UOp.sink(*waiting.values()).toposort():
        if u in overwritten:
            reads[u] = True
        elif u in ours:
            reads[u] = False
        else:
            # what is assigned to, or waited for, is not read by that
            src = u.src[1:] if u.op in (Ops.ASSIGN, Ops.AFTER) else u.src
            reads[u] = any(reads.get(s, False) for s in src)
    return [h for h, value in waiting.items() if reads[value]]
