"""Graphs with realized values as memory."""

from collections.abc import Mapping, Sequence

from plugrad.engine.storage import is_outdated, is_view, place_of, resolve, viewed
from plugrad.schedule.versions import IN_PLACE
from plugrad.uop import Ops, UOp

# what gradients alone see, and memory that is about to change
_CHANGED = frozenset({Ops.OUTPUT, *IN_PLACE})
_NONE: Mapping[UOp, UOp] = {}


def resolve_graph(root: UOp, known: Mapping[UOp, UOp] = _NONE) -> dict[UOp, UOp]:
    """Return graphs for `root` and nodes below it, with realized values as memory.

    Nodes below a realized value are not visited. DETACH and FUNCTION, which only gradients see, are left
    out. Numbers stay as they are: they cost a kernel nothing, on whatever device it runs.

    Args:
        root: a graph.
        known: results for nodes that are not visited either; they are among those returned.
    """
    done = dict(known)
    stack: list[tuple[UOp, bool]] = [(root, False)]
    while stack:
        u, ready = stack.pop()
        if u in done:
            continue
        if ready:
            src = tuple([done[s] for s in u.src])
            if u.op is Ops.DETACH:
                done[u] = src[0]
                continue
            if u.op is Ops.OUTPUT:
                done[u] = src[0].src[u.arg]
                continue
            done[u] = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
            continue
        if not u.src:
            done[u] = resolve(u) if u.op is Ops.BUFFER else u
            continue
        if (place := place_of(u)) is not None:
            done[u] = resolve(place)
            continue
        stack.append((u, True))
        stack.extend((s, False) for s in u.src if s not in done)
    return done


def resolved_nodes(roots: Sequence[UOp]) -> dict[UOp, UOp] | None:
    """Return `roots` and the nodes below if `resolve_graph` would leave all but DETACH, else None.

    Sources come first, in the order of `toposort`. That is the usual case: values that were realized are
    memory by the time that others are computed from them.
    """
    out: dict[UOp, UOp] = {}
    entered: set[UOp] = set()
    stack = [*roots[::-1]]
    pop, push, extend, enter = stack.pop, stack.append, stack.extend, entered.add
    buffer, detach = Ops.BUFFER, Ops.DETACH
    while stack:
        u = pop()
        src = u.src
        if not src:
            if u.op is buffer and resolve(u) is not u:
                return None
            out[u] = u
        elif u in entered:
            out[u] = u
        elif u.place is not None or u.op in _CHANGED or (u.op is detach and is_view(src[0])):
            # without the DETACH, slices of memory would be more of them
            return None
        else:
            enter(u)
            push(u)
            extend(src[::-1])
    return out


def overwritten_below(root: UOp) -> UOp | None:
    """Return the overwritten memory that `root` reads, or its version at that time.

    None where everything is as it was. Graphs that a tensor holds are computed before what they read is
    overwritten; this is for graphs that are written down on an old one later, as gradients are.
    """
    seen: set[UOp] = set()
    stack = [root]
    while stack:
        u = stack.pop()
        if u in seen:
            continue
        seen.add(u)
        place = place_of(u) if u.src else None
        memory = u if place is None else viewed(place)
        if memory.op is Ops.BUFFER and is_outdated(memory):
            return u
        if place is None:
            # what is assigned to is not read
            stack.extend(u.src[1:] if u.op is Ops.ASSIGN else u.src)
    return None
