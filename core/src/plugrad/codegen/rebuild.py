"""Walks that passes share: rebuild a graph, and exchange a range."""

from collections.abc import Callable, Mapping

from plugrad.uop import AxisType, Ops, UOp, simplify

UNROLLED = frozenset({AxisType.UPCAST, AxisType.UNROLL, AxisType.PARTIAL})
_ENDING = frozenset({Ops.STORE, Ops.REDUCE})


def rebuild(
    root: UOp, change: Callable[[UOp], UOp | None], replacements: Mapping[UOp, UOp] | None = None
) -> UOp:
    """Return `root` with every node, sources first, exchanged by `change` (None: kept).

    Nodes with `replacements` are exchanged for these, which stay as they are.
    """
    done = dict(replacements or {})
    for u in root.toposort():
        if u in done:
            continue
        src = tuple([done[s] for s in u.src])
        new = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
        changed = change(new)
        done[u] = new if changed is None else changed
    return done[root]


def at(u: UOp, r: UOp, value: "UOp | int", known: dict[UOp, UOp] | None = None) -> UOp:
    """Return `u` with the range `r` at `value`; `known` keeps results of shared parts."""
    if r not in u.ranges:
        return u
    value = r.const_like(value) if isinstance(value, int) else value
    done = {} if known is None else known
    done[r] = value
    for node in u.toposort(lambda n: r in n.ranges and n not in done):
        src = tuple([done.get(s, s) for s in node.src])
        done[node] = node if src == node.src else UOp(node.op, node.dtype, src, node.arg, node.tag)
    return done[u]


def gated(place: UOp, gate: UOp) -> UOp:
    """Return an INDEX that is also gated by `gate`."""
    return place.replace(src=(*place.src[:2], place.src[2] & gate if len(place.src) > 2 else gate))


def stores_of(sink: UOp) -> list[UOp]:
    """Return the STOREs at the end of a kernel."""
    return [s for s in sink.src if s.op is Ops.STORE]


def ended_by(u: UOp) -> tuple[UOp, ...]:
    """Return the ranges that a STORE or REDUCE ends; other nodes end none."""
    if u.op not in _ENDING:
        return ()
    return u.src[2:] if u.op is Ops.STORE else ranges_of_reduce(u)


def exchange_range(sink: UOp, r: UOp, value: UOp, parts: tuple[UOp, ...]) -> UOp:
    """Return `sink` with `value` for the range `r`, and loops over `parts` instead.

    before: STORE(INDEX(p, r), x, r)
    after:  STORE(INDEX(p, i*4 + j), x, i, j), with i*4 + j as the value
    """

    def change(u: UOp) -> UOp | None:
        ended = ended_by(u)
        if value not in ended:
            return None
        rest = [part for s in ended for part in (parts if s is value else (s,))]
        return u.replace(src=(*u.src[: -len(ended)], *rest))

    return simplify(rebuild(sink, change, {r: value}))


def ranges_of_reduce(u: UOp) -> tuple[UOp, ...]:
    """Return the ranges that a REDUCE ends."""
    return u.src[u.arg[1] :]


def all_ranges(sink: UOp) -> list[UOp]:
    """Return every RANGE of a kernel, by identity."""
    op = Ops.RANGE
    return sorted([u for u in sink.toposort() if u.op is op], key=lambda r: r.arg.ident)
