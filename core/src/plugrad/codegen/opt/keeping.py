"""Compute common values of a reduction and later loops once, in fast memory.

The sum of a softmax adds up exponentials that its quotients take again, at the same places. Loops of their
own compute these into memory of the size of a row, and both read them there.
"""

from collections import defaultdict
from collections.abc import Iterable

from plugrad._frozen import frozen
from plugrad.codegen.opt.analysis import steps_of
from plugrad.codegen.rebuild import all_ranges, ranges_of_reduce, stores_of
from plugrad.dtype import dtypes
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities
from plugrad.uop import AxisType, Ops, UOp, simplify
from plugrad.uop.index_math.sums import sum_of
from plugrad.uop.node.terms import terms_of
from plugrad.uop.op_cost import op_cost
from plugrad.uop.strides import constant_size

# Plain operations from which a store and loads from the first cache cost less than to compute again.
_DEAR = 20
# Times that a value has to be computed now for each that is kept.
_LEAST_USES = 1.5
# Stands for the place of a value in the memory that keeps it.
_PLACE = UOp.range(1 << 30, (-1,))


@frozen
class Kept:
    """A value along one axis, which several loops compute.

    Attributes:
        value: what is computed, with `_PLACE` for the place on the axis.
        uses: the nodes that compute it, each with its place.
        around: the loops that all of it is inside of, where it is kept.
    """

    value: UOp
    uses: tuple[tuple[UOp, UOp], ...]
    around: frozenset[UOp]

    @property
    def first(self) -> int:
        """The least place."""
        return min(int(place.vmin) for _, place in self.uses)

    @property
    def numel(self) -> int:
        """Elements from the least to the greatest place."""
        return 1 + max(int(place.vmax) for _, place in self.uses) - self.first

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.numel * self.value.dtype.itemsize

    @property
    def stays_in_memory(self) -> bool:
        """Say whether every element may be loaded: bounds of places can be too wide."""
        last = self.first + self.numel - 1
        read = [u for u in self.value.toposort() if u.op is Ops.INDEX and _PLACE in u.ranges]
        return all(
            u.src[1].substitute({_PLACE: _PLACE.const_like(self.first)}).vmin >= 0
            and u.src[1].substitute({_PLACE: _PLACE.const_like(last)}).vmax < u.src[0].arg[1]
            for u in read
        )

    @property
    def is_worth_it(self) -> bool:
        """Say whether most elements are computed more than once now."""
        computed = sum(steps_of(place.ranges - self.around) for _, place in self.uses)
        return computed >= _LEAST_USES * self.numel


def kept_values(ast: UOp) -> list[Kept]:
    """Return the values that reductions of a kernel and other loops compute alike."""
    order = ast.toposort()
    dear = [u for u in order if op_cost(u.op) >= _DEAR and u.dtype is not dtypes.index]
    inside: dict[frozenset[UOp], None] = {}
    for reduce in (u for u in order if u.op is Ops.REDUCE):
        ended = frozenset(ranges_of_reduce(reduce))
        inside.update((u.ranges - ended, None) for u in dear if not ended.isdisjoint(u.ranges))
    return [kept for around in inside if _may_stand_in(ast, around) for kept in _kept_in(around, dear)]


def _may_stand_in(ast: UOp, around: frozenset[UOp]) -> bool:
    """Say whether `around` are the outermost loops: no other loop repeats their inside."""
    loops = [r for r in stores_of(ast)[0].src[2:] if r.op is Ops.RANGE]
    outermost = [r for r in loops if r.arg.kind in (AxisType.THREAD, AxisType.LOOP)][: len(around)]
    return around == frozenset(outermost)


def _kept_in(around: frozenset[UOp], dear: Iterable[UOp]) -> list[Kept]:
    found: defaultdict[UOp, list[tuple[UOp, UOp]]] = defaultdict(list)
    for u in dear:
        if u.ranges > around and (matched := _along_one_axis(u, around)) is not None:
            value, place = matched
            found[value].append((u, place))
    shared = [Kept(value, tuple(uses), around) for value, uses in found.items()]
    return [kept for kept in shared if kept.is_worth_it and kept.stays_in_memory]


def _along_one_axis(u: UOp, around: frozenset[UOp]) -> tuple[UOp, UOp] | None:
    """Return `u` with `_PLACE` for what moves in its addresses inside of `around`, and that.

    None where not all addresses move alike, or anything else moves.
    """
    done: dict[UOp, UOp] = {}
    places: dict[UOp, None] = {}
    for node in u.toposort(lambda n: not n.ranges <= around and n.dtype is not dtypes.index):
        if node.op is Ops.INDEX and len(node.src) == 2:
            fixed, place = _parted(node.src[1], around)
            places[place] = None
            done[node] = node.replace(src=(node.src[0], fixed + _PLACE))
        elif node.op is not Ops.REDUCE and all(s in done or s.ranges <= around for s in node.src):
            done[node] = node.replace(src=tuple(done.get(s, s) for s in node.src))
    if u not in done or len(places) != 1:
        return None
    (place,) = places
    return (done[u], place) if all(map(constant_size, place.ranges)) else None


def _parted(idx: UOp, around: frozenset[UOp]) -> tuple[UOp, UOp]:
    """Return the terms of an address that only move with `around`, and all others."""
    terms, constant = terms_of(idx)
    fixed = {u: factor for u, factor in terms.items() if u.ranges <= around}
    moving = {u: factor for u, factor in terms.items() if u not in fixed}
    return sum_of(fixed, 0), sum_of(moving, constant)


def kept(ast: UOp, capabilities: Capabilities) -> UOp:
    """Return the kernel with such values in local memory.

    before: STORE(place(i, j), f(x(i, j)) / REDUCE(f(x(i, k)), k), i, j)
    after:  the same with LOAD(local[j]) and LOAD(local[k]), after a BARRIER on local[m] = f(x(i, m)) over m

    Raises:
        KernelOptError: there is no such value, or they do not fit.
    """
    found = kept_values(ast)
    if not found:
        raise KernelOptError("no reduction computes anything dear that another loop computes again.")
    nbytes = sum(k.nbytes for k in found)
    if nbytes > (most := capabilities.local_memory_bytes):
        raise KernelOptError(f"its values have {nbytes} bytes, and fast memory has {most}.")
    axis = max(r.arg.ident[0] for r in all_ranges(ast)) + 1
    ident = sum(u.op is Ops.DEFINE_LOCAL for u in ast.toposort())
    loads: dict[UOp, UOp] = {}
    for number, k in enumerate(found):
        memory = _computed(k, ident + number, axis + 2 * number, capabilities)
        loads.update((u, memory.index(place - k.first).load()) for u, place in k.uses)
    return ast.substitute(loads)


def _computed(k: Kept, ident: int, axis: int, capabilities: Capabilities) -> UOp:
    """Return the memory of kept values, after loops that compute them in lanes."""
    fitting = capabilities.vector_bits // (8 * k.value.dtype.itemsize)
    lanes = max(1, min(fitting, 1 << (k.numel.bit_length() - 1)))
    steps = UOp.range(-(-k.numel // lanes), (axis,))
    lane = UOp.range(lanes, (axis + 1,), AxisType.UPCAST)
    # the last lanes are moved in from beyond the end
    place = simplify((steps * lanes).minimum(k.numel - lanes) + lane)
    memory = UOp(Ops.DEFINE_LOCAL, k.value.dtype, (), (ident, k.numel))
    value = simplify(k.value.substitute({_PLACE: place + k.first}))
    return memory.after(UOp(Ops.BARRIER, dtypes.void, (memory.index(place).store(value, steps, lane),)))
