"""Move a reduced axis outside of output loops.

The sums of all these loops are in fast memory.

A tile's sums stay in registers while its reduction runs to the end, so each tile reads its factors from first
to last. Where these are more than a cache holds, all tiles do one step of the axis before any does the next:
what a step reads is then cached, and sums are loaded and stored once a step.
"""

from collections.abc import Iterable

from plugrad._frozen import frozen
from plugrad.codegen.combine import LONG_SUM, combine
from plugrad.codegen.opt.analysis import steps_of
from plugrad.codegen.rebuild import UNROLLED, all_ranges, ranges_of_reduce, stores_of
from plugrad.dtype import dtypes
from plugrad.errors import KernelOptError
from plugrad.uop import Axis, AxisType, Ops, UOp, identity_of
from plugrad.uop.strides import coefficient, constant_size, flat_position

_LOOPS = frozenset({AxisType.LOOP, AxisType.UPCAST})


@frozen
class Hoist:
    """A reduced axis that may move outside of a loop.

    Attributes:
        reduce: the reduction, of which it is one axis.
        steps: its steps, in order; of a long axis those of pieces, and those in a piece.
        around: the loops that it stays inside of.
        inner: the axes of the sums in memory, in their order there: the last one is contiguous.
    """

    reduce: UOp
    steps: tuple[UOp, ...]
    around: tuple[UOp, ...]
    inner: tuple[UOp, ...]

    @property
    def numel(self) -> int:
        """Sums in memory."""
        return steps_of(self.inner)

    @property
    def nbytes(self) -> int:
        """Bytes of these sums."""
        return self.numel * self.reduce.dtype.itemsize


def hoist_of(ast: UOp, axis: UOp, loop: UOp) -> Hoist | None:
    """Describe the move of `axis` outside of `loop`.

    None where it is not an axis of one reduction in the loop.
    """
    (store,) = stores_of(ast)
    reduces = [u for u in ast.toposort() if u.op is Ops.REDUCE and axis in ranges_of_reduce(u)]
    if len(reduces) != 1 or axis.arg.kind is not AxisType.REDUCE or reduces[0].dtype.count > 1:
        return None
    (reduce,), loops = reduces, store.src[2:]
    if loop not in loops or loop not in reduce.ranges or not reduce.ranges <= frozenset(loops):
        return None
    moving = [r for r in loops if r in reduce.ranges]
    begin = moving.index(loop)
    inner = moving[begin:]
    if not all(r.arg.kind in _LOOPS and constant_size(r) for r in inner):
        return None
    around = tuple(r for r in moving[:begin] if r.arg.kind is AxisType.LOOP)
    steps = in_pieces(axis)
    return Hoist(reduce, steps, around, _lanes_last(reduce, inner)) if steps else None


def in_pieces(axis: UOp) -> tuple[UOp, ...]:
    """Return the steps of an axis, or of its pieces.

    There are pieces where one sum of all steps would lose too many digits; empty where no piece divides it.
    """
    if axis.src[0].vmax <= LONG_SUM:
        return (axis.replace(arg=Axis(axis.arg.ident, AxisType.ORDERED)),)
    size = constant_size(axis) or 0
    pieces = [n for n in range(2, LONG_SUM + 1) if size and size % n == 0 and size // n <= LONG_SUM]
    if not pieces:
        return ()
    piece = min(pieces, key=lambda n: max(n, size // n))
    sizes = (size // piece, piece)
    return tuple(UOp.range(n, (*axis.arg.ident, i), AxisType.ORDERED) for i, n in enumerate(sizes))


def _lanes_last(reduce: UOp, axes: Iterable[UOp]) -> tuple[UOp, ...]:
    """Return axes in the order of loops, with unrolled ones behind them.

    The axis that lanes lie along comes last.
    """
    places = [u for u in reduce.toposort() if u.op is Ops.INDEX]

    def wide(r: UOp) -> int:
        return sum(coefficient(p.src[1], r) == 1 for p in places) + 1 if r.arg.kind in UNROLLED else 0

    return tuple(sorted(axes, key=wide))


def hoisted(ast: UOp, axis: UOp, loop: UOp, most_bytes: int) -> UOp:
    """Return the kernel with the reduced `axis` r outside of `loop` and its inner loops.

    Sums of a long axis are those of pieces, each added up in memory of its own.

    before: STORE(place(i), f(REDUCE(x(i, r, k), r, k)), i)
    after:  STORE(place(i), f(LOAD(local[i])), i), after a BARRIER on
            STORE(local[m], LOAD(local[m]) + REDUCE(x(m, r, k), k), r, m), r an axis in order, after a BARRIER
            on STORE(local[n], 0, n)

    Raises:
        KernelOptError: it is no axis of one reduction in the loop, or the sums do not fit.
    """
    found = hoist_of(ast, axis, loop)
    if found is None:
        raise KernelOptError("takes an axis of one reduction in a loop, and steps that pieces divide.")
    if found.nbytes > most_bytes:
        raise KernelOptError(f"its sums have {found.nbytes} bytes, and fast memory has {most_bytes}.")
    number = max(r.arg.ident[0] for r in all_ranges(ast)) + 1
    ident = sum(u.op is Ops.DEFINE_LOCAL for u in ast.toposort())
    out = _without(found.reduce, axis).substitute({axis: flat_position(found.steps)})
    for level, steps in enumerate(reversed(found.steps)):
        memory = UOp(Ops.DEFINE_LOCAL, found.reduce.dtype, (), (ident + level, found.numel))
        around = (*found.around, *found.steps[: -1 - level])
        cleared, added = (_fresh(found.inner, number + (2 * level + i) * len(found.inner)) for i in range(2))
        begun = _start(memory.after(*around), found, tuple(cleared.values()))
        place = memory.after(begun, steps).index(flat_position(tuple(added.values())))
        total = place.load().alu(found.reduce.arg[0], out.substitute(added))
        ended = UOp(Ops.BARRIER, dtypes.void, (place.store(total, steps, *added.values()),))
        out = memory.after(ended).index(flat_position(found.inner)).load()
    return ast.substitute({found.reduce: out})


def _start(memory: UOp, found: Hoist, axes: tuple[UOp, ...]) -> UOp:
    """Return a barrier after all sums are set to the reduction's identity."""
    nothing = UOp.const(memory.dtype, identity_of(found.reduce.arg[0], memory.dtype))
    return UOp(Ops.BARRIER, dtypes.void, (memory.index(flat_position(axes)).store(nothing, *axes),))


def _fresh(axes: tuple[UOp, ...], first: int) -> dict[UOp, UOp]:
    return {r: r.replace(arg=Axis((first + i,), r.arg.kind)) for i, r in enumerate(axes)}


def _without(reduce: UOp, axis: UOp) -> UOp:
    """Return one step of a reduction along `axis`."""
    values, left = reduce.src[: reduce.arg[1]], [r for r in ranges_of_reduce(reduce) if r is not axis]
    return reduce.replace(src=(*values, *left)) if left else combine(reduce.arg[0], list(values))
