"""Write the graph as a list: loops around blocks, accumulators, and gated stores in conditionals.

Within a block the order is that of a depth-first walk, so that values are made near their use. What no loop
of the block waits for comes after its loops: in registers, it would take the place of accumulators. Unrolled
reductions of one loop go step by step, all of them at each: what a step loads is used by all, then forgotten.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence

from plugrad._frozen import frozen
from plugrad.codegen.combine import fuses_products
from plugrad.codegen.control_flow import LoopNest, find_loops, ordered_accesses
from plugrad.codegen.decompositions import decompose
from plugrad.codegen.interleave import interleaved
from plugrad.dtype import DType, dtypes
from plugrad.errors import VerifyError
from plugrad.target import Capabilities
from plugrad.uop import ELEMENTWISE, Ops, UOp, identity_of

# what stands in a block: a node, or for a RANGE its loop; a REDUCE whose register is defined, with -1, or the
# number of one step of its accumulation
_Item = UOp | tuple[UOp, int]
_DEFINE = -1
# the phase and the place in the walk; of what comes later than these say, after those of another item
_Key = tuple[int, ...]
# what comes first of equal rank
(_NODE, _LOOP, _REGISTER, _ACCUMULATE), _KINDS = range(4), 4


def linearize(sink: UOp, capabilities: Capabilities) -> list[UOp]:
    """Return the linear program of `sink`: sources before users, loops as RANGE ... END."""
    return _Linearizer(sink, capabilities).run()


@frozen
class _Step:
    """The operations by which a register takes in one more value."""

    left: UOp
    right: UOp
    combined: UOp
    order: tuple[UOp, ...]
    """What `combined` is made of besides: sources first."""
    constants: tuple[UOp, ...]
    fuses: bool


def _step_of(op: Ops, dtype: DType, capabilities: Capabilities) -> _Step:
    left, right = (UOp(Ops.DEFINE_ACC, dtype, (), name) for name in ("left", "right"))
    combined = decompose(left.alu(op, right), capabilities)
    order = tuple(u for u in combined.toposort() if u is not left and u is not right)
    constants = tuple(u for u in order if u.op is Ops.CONST)
    return _Step(left, right, combined, order, constants, fuses_products(op, dtype, capabilities))


def _ranks(order: Sequence[UOp]) -> dict[UOp, int]:
    """Return the place of each node in the walk; reductions in one loop go together."""
    sharing: dict[tuple[UOp, ...], list[UOp]] = {}
    for u in order:
        if u.op is Ops.REDUCE:
            sharing.setdefault(u.src[u.arg[1] :], []).append(u)
    rank: dict[UOp, int] = {}
    entered: set[UOp] = set()
    for together in sharing.values():
        for step in itertools.zip_longest(*(u.src[: u.arg[1]] for u in together)):
            for value in step:
                if value is not None:
                    _walk(value, rank, entered)
    for u in order:
        rank.setdefault(u, len(rank))
    return rank


def _walk(root: UOp, rank: dict[UOp, int], entered: set[UOp]) -> None:
    """Give `root` and what is below it their places, sources first, where they have none."""
    stack = [root]
    while stack:
        u = stack.pop()
        if u in rank:
            continue
        if u in entered or not u.src:
            rank[u] = len(rank)
        else:
            entered.add(u)
            stack.append(u)
            stack.extend(u.src[::-1])


class _Linearizer:
    def __init__(self, sink: UOp, capabilities: Capabilities) -> None:
        self.sink = sink
        self.capabilities = capabilities
        self.nest: LoopNest = find_loops(sink)
        self.rank: dict[UOp, int] = {}
        # constants that registers start with are not in the graph: they stand outside of all loops
        self.home: dict[UOp, UOp | None] = {}
        self.items: dict[UOp | None, dict[_Item, set[_Item]]] = {None: {}}
        self.out: list[UOp] = []
        self.done: dict[UOp, UOp] = {}
        self.registers = itertools.count()
        self.opened: dict[UOp, int] = {}
        self.written: set[UOp] = set()
        self.steps: dict[tuple[Ops, DType], _Step] = {}

    def run(self) -> list[UOp]:
        order = list(self.sink.toposort())
        turns = interleaved(self.sink.src, order, self.capabilities.vector_registers)
        self.rank = _ranks(turns or order)
        self.home = self.nest.blocks_of(order)
        for r in self.nest.around:
            self.items[r] = {}
        for r in self.nest.around:
            self._loop_item(r)
        reduce, loop, home = Ops.REDUCE, Ops.RANGE, self.home
        for u in order[:-1]:
            if u.op is reduce:
                self._place_reduce(u)
            elif u.op is not loop:
                self._add_item(u, home.get(u), u.src[:2] if u.op is Ops.STORE else u.src)
        for before, after in ordered_accesses(self.sink.src, order):
            self._finish_first(before, after)
        self._emit_block(None)
        return self.out

    # --- who stands where, and after what ---

    def _loop_item(self, r: UOp) -> _Item:
        block = self.nest.path(r)[-2]
        if r not in self.items[block]:
            self.items[block][r] = set()
            for s in r.src:
                self._depend(r, block, s)
        return r

    def _add_item(self, item: _Item, block: UOp | None, src: tuple[UOp, ...]) -> None:
        after, home = self.items[block].setdefault(item, set()), self.home
        for s in src:
            if s.op in _HAVE_LOOPS or home.get(s) is not block:
                self._depend(item, block, s)
            else:
                after.add(s)

    def _depend(self, item: _Item, block: UOp | None, s: UOp) -> None:
        """Order `item`, or the loop of `block` around it, after `s`, in one block."""
        if s.op is Ops.RANGE:
            return
        if s.op is Ops.STORE and len(s.src) > 2:
            self._come_after(item, block, s)
            return
        home = self.home.get(s)
        if home is block:
            self.items[block][item].add(s)
            return
        path = self.nest.path(block)
        if home not in path:
            raise VerifyError(
                f"{s.op.name} is computed in a loop that its user {_node(item).op.name} does not stand in."
            )
        loop = path[path.index(home) + 1]
        assert loop is not None, "only the first block of a path is None"
        self.items[home][self._loop_item(loop)].add(s)

    def _come_after(self, item: _Item, block: UOp | None, store: UOp) -> None:
        """Order `item` of `block` after the loops that `store` ends."""
        outer = min(store.src[2:], key=lambda r: len(self.nest.around[r]))
        if self.nest.path(outer)[-2] is not block:
            raise VerifyError(
                f"the loops of a copy stand elsewhere than {_node(item).op.name}, which waits for it."
            )
        self.items[block][item].add(self._loop_item(outer))

    def _finish_first(self, before: UOp, store: UOp) -> None:
        """Order `store`, or the loop around it, after `before` or its loop."""
        one, other = (self.nest.path(self.home[u]) for u in (before, store))
        shared = sum(1 for a, b in zip(one, other, strict=False) if a is b)
        first, then = self._outermost(before, one[shared:]), self._outermost(store, other[shared:])
        self.items[one[shared - 1]][then].add(first)

    def _outermost(self, u: UOp, loops: "Sequence[UOp | None]") -> _Item:
        return self._loop_item(loops[0]) if loops and loops[0] is not None else u

    def _place_reduce(self, u: UOp) -> None:
        values, ended = u.src[: u.arg[1]], u.src[u.arg[1] :]
        outer = min(ended, key=lambda r: len(self.nest.around[r]))
        inner = self.nest.innermost(ended)
        home = self.nest.path(outer)[-2]
        loop = self._loop_item(outer)
        identity = UOp.const(u.dtype, identity_of(u.arg[0], u.dtype))
        self._add_item(identity, None, ())
        self._add_item((u, _DEFINE), home, (identity,))
        self.items[home][loop].add((u, _DEFINE))
        constants = self._step(u).constants
        for c in constants:
            self._add_item(c, None, ())
        for i, value in enumerate(values):
            self._add_item((u, i), inner, (value, *constants))
            if i:
                self.items[inner][u, i].add((u, i - 1))
        if self.home[u] is home:
            self.items[home].setdefault(u, set()).add(loop)
        else:
            raise VerifyError(
                f"a reduction over {[r.arg.ident for r in ended]} stands in loops that it does not use."
            )

    # --- writing ---

    def _emit_block(self, block: UOp | None) -> None:
        # an explicit stack of (block, items left to write), one entry a loop that is open
        stack = [(block, iter(self._sorted(block)))]
        while stack:
            current, left = stack[-1]
            item = next(left, None)
            if item is None:
                stack.pop()
                if current is not None:
                    self.out.append(UOp(Ops.END, dtypes.void, (self.done[current],)))
            elif isinstance(item, tuple):
                self._emit_register(*item)
            elif item.op is Ops.RANGE:
                self.done[item] = self._emit(self._rebuilt(item))
                stack.append((item, iter(self._sorted(item))))
            elif item.op is Ops.STORE:
                self._emit_store(item)
            elif item.op is not Ops.REDUCE:
                self.done[item] = self._emit(self._rebuilt(item))

    def _sorted(self, block: UOp | None) -> list[_Item]:
        items = self.items[block]
        priorities = {item: self._priority(item) for item in items}
        has_loops = not self.nest.around.keys().isdisjoint(items)
        if not has_loops and all(
            [priorities.get(d, n) <= n for item, n in priorities.items() for d in items[item]]
        ):
            # one phase, in which each item waits for those before it: what follows would find the same
            return sorted(items, key=priorities.__getitem__)
        phases = self._phases(items, priorities)
        return _in_order(items, {item: (phases[item], n) for item, n in priorities.items()})

    def _phases(self, items: dict[_Item, set[_Item]], priorities: dict[_Item, int]) -> dict[_Item, int]:
        """Number the phases of a block, before, in and after loops: loops are even.

        A loop takes along what it waits for. What nothing waits for, such as a STORE, comes right after the
        last loop that it needs, and takes along what no loop has taken.
        """
        phases: dict[_Item, int] = {}
        loops = sorted(filter(self.nest.around.__contains__, items), key=priorities.__getitem__)
        for n, loop in enumerate(loops):
            phases.update(dict.fromkeys(_waited_for(loop, items, phases), 2 * n))
        used = set[_Item]().union(*items.values())
        last = 0
        for end in sorted(
            (item for item in items if item not in used and item not in phases), key=priorities.__getitem__
        ):
            taken = _waited_for(end, items, phases)
            needed = {d for item in taken for d in items[item] if d in phases}
            # never before the end before it, which may read what it overwrites
            last = max(last, *(phases[d] + (d in self.nest.around) for d in needed)) if needed else last
            phases.update(dict.fromkeys(taken, last))
        return phases

    def _priority(self, item: _Item) -> int:
        # what has no rank of its own is a constant that a register starts with
        if isinstance(item, UOp):
            return _KINDS * self.rank.get(item, -1) + (_LOOP if item.op is Ops.RANGE else _NODE)
        u, step = item
        rank, kind = (self.rank[u], _REGISTER) if step == _DEFINE else (self.rank[u.src[step]], _ACCUMULATE)
        return _KINDS * rank + kind

    def _emit_register(self, u: UOp, step: int) -> None:
        if step != _DEFINE:
            self._emit_accumulate(u, step)
            return
        initial = self.done[UOp.const(u.dtype, identity_of(u.arg[0], u.dtype))]
        self.done[u] = self._emit(UOp(Ops.DEFINE_ACC, u.dtype, (initial,), next(self.registers)))

    def _emit_accumulate(self, u: UOp, number: int) -> None:
        step, register, new = self._step(u), self.done[u], self.done[u.src[number]]
        # the tag tells these nodes from those of other steps, and of what is done to the result
        tag = register.arg, number
        if step.fuses and new.op is Ops.MUL:
            total = self._emit(UOp(Ops.MULACC, u.dtype, (*new.src, register), None, tag))
        elif new.op is Ops.WMMA:
            total = self._emit(UOp(Ops.WMMA, u.dtype, (*new.src[:2], register), new.arg, tag))
        else:
            total = self._emit_step(step, register, new, tag)
        self._emit(UOp(Ops.ACCUMULATE, dtypes.void, (register, total)))

    def _emit_step(self, step: "_Step", total: UOp, value: UOp, tag: tuple[int, int]) -> UOp:
        done = {step.left: total, step.right: value}
        for node in step.order:
            if node.op is Ops.CONST:
                done[node] = self.done[node]
                continue
            src = tuple([done[s] for s in node.src])
            done[node] = self._emit(UOp(node.op, node.dtype, src, node.arg, tag))
        return done[step.combined]

    def _step(self, u: UOp) -> "_Step":
        key = u.arg[0], u.dtype
        if key not in self.steps:
            self.steps[key] = _step_of(*key, self.capabilities)
        return self.steps[key]

    def _emit_store(self, u: UOp) -> None:
        place, value = self.done[u.src[0]], self.done[u.src[1]]
        store = place.store(value, op=u.arg)
        gate = u.src[0].src[2:]
        if not gate:
            self.done[u] = self._emit(store)
            return
        condition = self._open_condition(self.done[gate[0]])
        self.done[u] = self._emit(store)
        self._emit(UOp(Ops.ENDIF, dtypes.void, (condition,)))

    def _open_condition(self, gate: UOp) -> UOp:
        """Open an IF, or continue an equal last one if no load has come since."""
        last = len(self.out) - 1
        while last > 0 and self.out[last].op in _MOVES_FREELY:
            last -= 1
        condition = self.out[last].src[0] if self.out and self.out[last].op is Ops.ENDIF else None
        if condition is not None and condition.src[0] is gate:
            since = self.out[last + 1 :]
            opened = self.opened[condition]
            self.written.remove(self.out[last])
            self.out[opened:] = [*since, *self.out[opened:last]]
            self.opened[condition] = opened + len(since)
            return condition
        # each IF is a node of its own: the number tells those with the same condition apart
        condition = UOp(Ops.IF, dtypes.void, (gate,), len(self.opened))
        self.opened[condition] = len(self.out)
        return self._emit(condition)

    def _rebuilt(self, u: UOp) -> UOp:
        # a gate becomes the condition around the STORE, its place is an address like any other
        src = tuple([self.done[s] for s in (u.src[:2] if u.op is Ops.INDEX else u.src)])
        return u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)

    def _emit(self, u: UOp) -> UOp:
        if u not in self.written:
            self.written.add(u)
            self.out.append(u)
        return u


def _node(item: _Item) -> UOp:
    return item if isinstance(item, UOp) else item[0]


def _in_order(items: Mapping[_Item, Iterable[_Item]], own: Mapping[_Item, _Key]) -> list[_Item]:
    """Return items in order of their keys, each behind those that it waits for.

    An item that waits for one of a greater key comes right behind it: its key begins with the other's.
    """
    keys = dict(own)
    for _ in range(len(items) + 1):
        late: list[tuple[_Item, _Key]] = []
        for item, after in items.items():
            last = key = keys[item]
            for d in after:
                if (before := keys.get(d, key)) > last:
                    last = before
            if last is not key:
                while last and last[-2:] < own[item]:
                    last = last[:-2]
                late.append((item, (*last, *own[item])))
        if not late:
            return sorted(items, key=keys.__getitem__)
        keys.update(late)
    raise VerifyError("values of this kernel wait for each other's loops.")


def _waited_for(item: _Item, items: dict[_Item, set[_Item]], phases: dict[_Item, int]) -> set[_Item]:
    """Return `item` and what it waits for, of its block, without what has a phase."""
    found: set[_Item] = set()
    stack = [item]
    while stack:
        current = stack.pop()
        if current in items and current not in phases and current not in found:
            found.add(current)
            stack.extend(items[current])
    return found


def remove_unused(program: list[UOp]) -> list[UOp]:
    """Drop unused nodes, such as products that became part of a MULACC."""
    kept: set[UOp] = set()
    out: list[UOp] = []
    for u in reversed(program):
        if u in kept or u.op in _EFFECTS:
            kept.update(u.src)
            out.append(u)
    return out[::-1]


_HAVE_LOOPS = frozenset({Ops.RANGE, Ops.STORE})
_MOVES_FREELY = ELEMENTWISE | {Ops.CONST, Ops.INDEX, Ops.PARAM, Ops.GEP, Ops.VECTORIZE}
_CONTROL = frozenset({Ops.RANGE, Ops.END, Ops.IF, Ops.ENDIF, Ops.BARRIER, Ops.COMMIT})
_EFFECTS = _CONTROL | {Ops.STORE, Ops.ACCUMULATE, Ops.COPY_ASYNC, Ops.DEFINE_ACC}
