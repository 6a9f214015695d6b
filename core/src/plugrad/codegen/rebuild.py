"""Walks that passes share: rebuild a graph, and exchange a range."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from plugrad.dtype import dtypes
from plugrad.uop import AxisType, Ops, UOp, simplify
from plugrad.uop.index_math.sums import add_terms, const_node, sum_of
from plugrad.uop.node.terms import terms_of

UNROLLED = frozenset({AxisType.UPCAST, AxisType.UNROLL, AxisType.PARTIAL})
#: What ends loops.
ENDING = frozenset({Ops.STORE, Ops.REDUCE})


def rebuild(
    root: UOp,
    change: Callable[[UOp], UOp | None],
    replacements: Mapping[UOp, UOp] | None = None,
    *,
    ops: Container[Ops] | None = None,
) -> UOp:
    """Return `root` with every node, sources first, exchanged by `change` (None: kept).

    Nodes with `replacements` are exchanged for these, which stay as they are. Of nodes that are not one of
    `ops`, only sources change.
    """
    done = dict(replacements or {})
    known = done.keys()
    for u in root.toposort():
        new = u
        if done:
            if u in done:
                continue
            if not known.isdisjoint(u.src):
                new = UOp(u.op, u.dtype, tuple([done.get(s, s) for s in u.src]), u.arg, u.tag)
        if (ops is None or u.op in ops) and (changed := change(new)) is not None:
            new = changed
        if new is not u:
            done[u] = new
    return done.get(root, root)


def at(u: UOp, r: UOp, value: "UOp | int") -> UOp:
    """Return `u` with the range `r` at `value`."""
    if r not in u.ranges:
        return u
    done = {r: r.const_like(value) if isinstance(value, int) else value}
    for node in u.toposort(lambda n: n is not r and r in n.ranges):
        src = tuple([done.get(s, s) for s in node.src])
        done[node] = UOp(node.op, node.dtype, src, node.arg, node.tag)
    return done[u]


def at_each(values: Sequence[UOp], r: UOp, steps: int) -> list[UOp]:
    """Return each value at each step of the range `r`.

    before: x[i*4 + k*8] with k of 2 steps
    after:  x[i*4], x[i*4 + 8]
    """
    moving = Moving(values, r)
    done = [moving.at(step, {}) for step in range(steps)]
    return [known.get(value, value) for value in values for known in done]


# of a sum: what does not move with a range, and at each step, and a constant
_Parts = tuple[UOp | None, int, int]


class Moving:
    """Nodes that move with a range, written at any of its steps.

    Sums of index arithmetic are taken apart: at a step, they are the rest and a number, as `simplify` would
    write it.

    Args:
        roots: graphs.
        r: the range.
        done: what stands for nodes that do not move; others stand for themselves.
        parts: sums that were taken apart before, for the same `r` and `done`.
    """

    def __init__(
        self,
        roots: Iterable[UOp],
        r: UOp,
        done: Mapping[UOp, UOp] | None = None,
        parts: "dict[UOp, _Parts | None] | None" = None,
    ) -> None:
        self.r = r
        self.done: Mapping[UOp, UOp] = {} if done is None else done
        self.parts: dict[UOp, _Parts | None] = {} if parts is None else parts
        self.sums: dict[UOp, _Parts] = {}
        self.nodes: dict[UOp, None] = {}
        entered: set[UOp] = set()
        stack = [u for u in roots if r in u.ranges]
        while stack:
            node = stack.pop()
            if node in entered:
                # its sources are done, see `toposort`
                self.nodes[node] = None
            elif node is not r and node not in self.sums and not self._is_sum(node):
                entered.add(node)
                stack.append(node)
                stack.extend([s for s in node.src[::-1] if r in s.ranges])

    def at(self, step: int, known: dict[UOp, UOp]) -> dict[UOp, UOp]:
        """Return the nodes that stand for all others at a step; some may be `known`."""
        known[self.r] = self.r.const_like(step)
        for u, (rest, each, constant) in self.sums.items():
            if u not in known:
                number = const_node(u.dtype, constant + each * step)
                known[u] = number if rest is None else rest + number if number.arg else rest
        done = self.done
        for u in self.nodes:
            if u not in known:
                src = tuple([known[s] if s in known else done.get(s, s) for s in u.src])
                known[u] = UOp(u.op, u.dtype, src, u.arg, u.tag)
        return known

    def _is_sum(self, u: UOp) -> bool:
        """Take a sum apart that moves by one number."""
        if u.dtype is not dtypes.index or (u.op is not Ops.ADD and u.op is not Ops.MUL):
            return False
        # the addresses of neighbours differ by a constant
        has_constant = u.op is Ops.ADD and u.src[1].op is Ops.CONST
        base, more = (u.src[0], u.src[1].arg) if has_constant else (u, 0)
        if base not in self.parts:
            self.parts[base] = self._apart(base)
        if (parts := self.parts[base]) is None:
            return False
        rest, each, constant = parts
        self.sums[u] = rest, each, constant + more
        return True

    def _apart(self, u: UOp) -> "_Parts | None":
        terms, constant = terms_of(u)
        each = terms.pop(self.r, 0)
        if not each or any([self.r in t.ranges or self.done.get(t, t) is not t for t in terms]):
            return None
        return sum_of(terms, 0) if terms else None, each, constant


def gated(place: UOp, gate: UOp) -> UOp:
    """Return an INDEX that is also gated by `gate`."""
    return place.replace(src=(*place.src[:2], place.src[2] & gate if len(place.src) > 2 else gate))


def stores_of(sink: UOp) -> list[UOp]:
    """Return the STOREs at the end of a kernel."""
    return [s for s in sink.src if s.op is Ops.STORE]


def ended_by(u: UOp) -> tuple[UOp, ...]:
    """Return the ranges that a STORE or REDUCE ends; other nodes end none."""
    if u.op not in ENDING:
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

    return simplify(rebuild(sink, change, with_sums(sink, {r: value}), ops=ENDING))


def with_sums(sink: UOp, values: Mapping[UOp, UOp]) -> dict[UOp, UOp]:
    """Return values for ranges, and for sums of index arithmetic that move with them.

    What `simplify` would do to each of the sums, and to all that uses it, need not be done then.

    before: {i: o*4 + j}
    after:  {i: o*4 + j, i*8 + k + 1: o*32 + j*8 + k + 1}
    """
    out = dict(values)
    sums: list[UOp] = []
    inner: set[UOp] = set()
    add, mul, index = Ops.ADD, Ops.MUL, dtypes.index
    for u in sink.toposort():
        if u.dtype is index and ((op := u.op) is add or op is mul):
            sums.append(u)
            inner.update(u.src)
    for u in sums:
        if u in inner:
            continue
        terms, constant = terms_of(u)
        moved = [(r, terms.pop(r)) for r in values if r in terms]
        if not moved or any([not values.keys().isdisjoint(t.ranges) for t in terms]):
            continue
        for r, factor in moved:
            more, number = terms_of(values[r])
            add_terms(terms, more.items(), factor)
            constant += number * factor
        out[u] = sum_of(terms, constant)
    return out


def ranges_of_reduce(u: UOp) -> tuple[UOp, ...]:
    """Return the ranges that a REDUCE ends."""
    return u.src[u.arg[1] :]


def reads_versions(nodes: Iterable[UOp]) -> bool:
    """Say whether stores of a kernel read what those before them have written."""
    return any([u.op is Ops.AFTER and u.arg is not None for u in nodes])


def all_ranges(sink: UOp) -> list[UOp]:
    """Return every RANGE of a kernel, by identity."""
    op = Ops.RANGE
    return sorted([u for u in sink.toposort() if u.op is op], key=lambda r: r.arg.ident)
