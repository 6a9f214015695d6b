"""Find pending values that read memory before it is overwritten.

They mean what was there when they were written down, so they have to be computed first. Values that were
realized into the memory itself are copied.
"""

from collections.abc import Iterable, Mapping

from plugrad.device import Device
from plugrad.engine import storage
from plugrad.engine.resolve_graph import resolve_graph
from plugrad.uop import Ops, UOp

#: From each value that waits to the graph whose memory it will lie in.
Pending = dict[UOp, UOp]

_NONE: Mapping[UOp, UOp] = {}


def pending_readers(
    roots: Iterable[UOp], graph: Iterable[UOp] | None = None, resolved: Mapping[UOp, UOp] = _NONE
) -> Pending:
    """Return live values outside of `roots` that read the memory they overwrite.

    Args:
        roots: graphs with realized values as memory.
        graph: `roots` and all nodes below them, where these are known.
        resolved: what stands for nodes now, as far as that is known.
    """
    roots = set(roots)
    assigns = [u for u in graph or UOp.sink(*roots).toposort() if u.op is Ops.ASSIGN]
    return _readers_of(overwritten_by(assigns), assigns, _held(roots, resolved)) if assigns else {}


def readers_of(buffers: Iterable[UOp]) -> Pending:
    """Return live values that read the memory of the BUFFERs `buffers`."""
    return _readers_of(set(buffers), (), _held(frozenset(), _NONE))


def _readers_of(overwritten: set[UOp], assigns: Iterable[UOp], waiting: dict[UOp, UOp]) -> Pending:
    ours = set(assigns)
    out: Pending = {}
    while True:
        # what was copied to a file is the file, whatever is written there
        for memory in [u for u in overwritten if u.op is Ops.BUFFER and Device[u.arg.device].can_compute]:
            lying, device = storage.values_in(memory), memory.device
            waiting.update({value: storage.resolve(value, device) for value in lying if value not in out})
        found = _reading(waiting, overwritten, ours) if waiting else []
        if not found:
            return out
        resolved = [waiting.pop(value) for value in found]
        for value, now in zip(found, resolved, strict=True):
            out[value] = now.contiguous() if storage.is_view(now) else value
        # a reader may bring assignments of its own, and with them more readers: those wait resolved
        graph = UOp.sink(*out.values(), *resolved).toposort()
        more = [u for u in graph if u.op is Ops.ASSIGN and u not in ours]
        ours.update(more)
        overwritten |= overwritten_by(more)


def _held(roots: "set[UOp] | frozenset[UOp]", resolved: Mapping[UOp, UOp]) -> dict[UOp, UOp]:
    """Return the live values that `roots` do not compute, each resolved."""
    held = dict.fromkeys(u for u in storage.pending_values() if u.src and not storage.is_view(u))
    if not held:
        return {}
    now = resolve_graph(UOp.sink(*held), resolved)
    return {
        h: now[h]
        for h in held
        if not storage.is_view(now[h]) and now[h] not in roots and now[h].base not in roots
    }


def overwritten_by(assigns: Iterable[UOp]) -> set[UOp]:
    """Return the versions of memory that are gone once `assigns` have run."""
    out: set[UOp] = set()
    for assign in assigns:
        version = assign.src[0].base
        out.add(version)
        if version.op is Ops.AFTER:
            # the assignments to parts that led to this version show the same memory
            out.update(s.base for s in version.src)
    return out


def _reading(waiting: dict[UOp, UOp], overwritten: set[UOp], ours: set[UOp]) -> list[UOp]:
    """Return the keys of `waiting` whose graphs read one of the versions in `overwritten`."""
    # a version that is waited for, or assigned to, is not read by that; but it has to come about
    comes_about_by_reading: dict[UOp, bool] = {}
    reads: dict[UOp, bool] = {}
    for u in UOp.sink(*waiting.values()).toposort():
        if u in ours:
            by_reading = False
        elif u.op is Ops.ASSIGN:
            by_reading = comes_about_by_reading[u.src[0].base] or reads[u.src[1]]
        elif u.op is Ops.AFTER:
            by_reading = any([comes_about_by_reading[s.base] for s in u.src])
        else:
            by_reading = any([reads[s] for s in u.src])
        comes_about_by_reading[u] = by_reading
        reads[u] = by_reading or u in overwritten
    return [h for h, value in waiting.items() if reads[value]]
