"""Copy what a loop reads again and again into fast memory, once before the loop.

A factor of a product that does not change along an axis is read anew at each of the axis's steps, from
addresses that may be far apart. Its values are computed once instead, into memory that is laid out in the
order in which the loop wants them: the packed panel of a matrix product on a CPU.
"""

import math

from plugrad._frozen import frozen
from plugrad.codegen.opt.analysis import span_of
from plugrad.codegen.rebuild import UNROLLED, all_ranges, at, stores_of
from plugrad.dtype import dtypes
from plugrad.errors import KernelOptError
from plugrad.target import LINE_BYTES
from plugrad.uop import AxisType, Ops, UOp
from plugrad.uop.strides import coefficient, constant_size, flat_position

_OF_REDUCED = frozenset({AxisType.REDUCE, AxisType.UNROLL, AxisType.PARTIAL})
# axes whose steps become lanes are that in the copy too; the others are loops there
_KINDS = {AxisType.UPCAST: AxisType.UPCAST, AxisType.PARTIAL: AxisType.UPCAST}

# Bytes of one vector and of two, where a vector is a line.
_SHORT_RUNS = (LINE_BYTES, 2 * LINE_BYTES)
# Rows that a copy reads side by side: with more, lines of a power-of-two pitch push each other out of the
# first cache, which has eight ways.
_MOST_ROWS = 8


@frozen
class Panel:
    """A value that a loop repeats, over axes inside of the loop.

    Attributes:
        value: what is computed; it does not move with the loop.
        axes: the axes inside of the loop that it moves with, in the order of the copy: the last one is
            contiguous.
    """

    value: UOp
    axes: tuple[UOp, ...]

    @property
    def numel(self) -> int:
        """Elements of the copy."""
        return math.prod(constant_size(r) or 1 for r in self.axes) * self.value.dtype.count

    @property
    def nbytes(self) -> int:
        """Bytes of the copy."""
        return self.numel * self.value.dtype.scalar().itemsize

    @property
    def places(self) -> list[UOp]:
        """Return the places where the elements of the copy are read."""
        return [u for u in self.value.toposort() if u.op is Ops.INDEX]

    @property
    def span_bytes(self) -> int:
        """Return the bytes from the first to the last copied element; 0 where unknown."""
        return max(span_of(place.src[1], self.axes) * place.dtype.itemsize for place in self.places)

    @property
    def is_gathered(self) -> bool:
        """Say whether neighbours in the copy are apart in their source.

        Neighbours are the elements of one vector.
        """
        last = self.axes[-1]
        return last.arg.kind in UNROLLED and any(
            coefficient(p.src[1], last) not in (0, 1) for p in self.places
        )

    @property
    def reads_rows(self) -> bool:
        """Say whether neighbours in the copy are a line or more apart."""
        last = self.axes[-1]
        steps = [(coefficient(p.src[1], last) or 0) * p.dtype.itemsize for p in self.places]
        return self.is_gathered and max(map(abs, steps)) >= LINE_BYTES

    @property
    def is_loaded(self) -> bool:
        """Say whether it is nothing but what memory has."""
        return self.value.op is Ops.LOAD

    @property
    def crosses_lines(self) -> bool:
        """Say whether vectors as long as a line lie across two in memory.

        Longer runs have few lines more than they fill; of windows that overlap a copy has parts twice.
        """
        *others, last = self.axes
        lanes, size = constant_size(last) or 1, self.value.dtype.itemsize
        if last.arg.kind not in UNROLLED or lanes * size not in _SHORT_RUNS or not self.is_loaded:
            return False
        steps = [coefficient(self.places[0].src[1], r) or 0 for r in others]
        return any(step * size % LINE_BYTES for step in steps) and all(step >= lanes for step in steps)


def panels_of(ast: UOp, loop: UOp) -> list[Panel]:
    """Return the values that `loop` reads anew at each step without change."""
    ended = next((s.src[2:] for s in stores_of(ast) if loop in s.src[2:]), (loop,))
    around = frozenset(ended[: ended.index(loop)])
    users = [u for u in ast.toposort() if loop in u.ranges and u.op is not Ops.INDEX]
    repeated = dict.fromkeys(s for u in users for s in u.src if loop not in s.ranges and _may_be_copied(s))
    panels = (Panel(value, _in_order(value.ranges - around)) for value in repeated)
    return [p for p in panels if all(map(constant_size, p.axes)) and any(_is_reduced(r) for r in p.axes)]


def _in_order(axes: frozenset[UOp]) -> tuple[UOp, ...]:
    """Return the axes of a copy. Possible lanes come last."""
    return tuple(sorted(axes, key=lambda r: (r.arg.kind in _KINDS, r.arg.ident)))


def _is_reduced(r: UOp) -> bool:
    return r.arg.kind in _OF_REDUCED


def _may_be_copied(value: UOp) -> bool:
    """Say whether it is a loaded value, of a memory dtype, made without a loop."""
    # of vectors only what a matrix instruction takes together, which loads do not give
    is_value = value.dtype.count == 1 or value.op is Ops.VECTORIZE
    if not is_value or not value.src or value.dtype.scalar() is dtypes.index:
        return False
    ops = {u.op for u in value.toposort()}
    return Ops.LOAD in ops and ops.isdisjoint((Ops.REDUCE, Ops.AFTER))


def staged(ast: UOp, loop: UOp, most_bytes: int) -> UOp:
    """Return the kernel with the panels of `loop` in local memory.

    before: STORE(place, REDUCE(a(i, k) * b(k, j), k), i, j) with i the loop
    after:  the same with LOAD(local[k, j]) for b(k, j), after a BARRIER on local[m, n] = b(m, n) over m and n

    Raises:
        KernelOptError: nothing is repeated along the loop, or copies of it do not fit.
    """
    panels = panels_of(ast, loop)
    if not panels:
        raise KernelOptError(f"no reduction reads anything that axis {loop.arg.ident} only repeats.")
    nbytes = sum(panel.nbytes for panel in panels)
    if nbytes > most_bytes:
        raise KernelOptError(f"its copies have {nbytes} bytes, and fast memory has {most_bytes}.")
    axis = max(r.arg.ident[0] for r in all_ranges(ast)) + 1
    ident = sum(u.op is Ops.DEFINE_LOCAL for u in ast.toposort())
    copies: dict[UOp, UOp] = {}
    for panel in panels:
        copies[panel.value] = _copied(panel, ident, axis)
        axis += len(panel.axes) + 1
        ident += 1
    return ast.substitute(copies)


def _copied(panel: Panel, ident: int, axis: int) -> UOp:
    fresh = [
        UOp.range(constant_size(r) or 1, (axis + i,), _KINDS.get(r.arg.kind, AxisType.LOOP))
        for i, r in enumerate(panel.axes)
    ]
    loops, own = fresh, fresh
    rows = constant_size(fresh[-1]) or 1
    if panel.reads_rows and rows > _MOST_ROWS and rows % _MOST_ROWS == 0:
        block = UOp.range(rows // _MOST_ROWS, (axis + len(fresh),))
        row = UOp.range(_MOST_ROWS, fresh[-1].arg.ident, fresh[-1].arg.kind)
        loops, own = [block, *fresh[:-1], row], [*fresh[:-1], block * _MOST_ROWS + row]
    value, place = panel.value, flat_position(panel.axes)
    for r, replacement in zip(panel.axes, own, strict=True):
        value, place = at(value, r, replacement), at(place, r, replacement)
    lanes = value.dtype.count
    memory = UOp(Ops.DEFINE_LOCAL, value.dtype.scalar(), (), (ident, panel.numel))
    written = memory.index(place * lanes).store(value, *loops)
    barrier = UOp(Ops.BARRIER, dtypes.void, (written,))
    return memory.after(barrier).index(flat_position(panel.axes) * lanes).load(dtype=value.dtype)
