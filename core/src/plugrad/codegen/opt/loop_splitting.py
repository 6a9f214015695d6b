"""Cut output axes where gates open or addresses jump. Vectors then need no gates.

A copy with zeros around it, or one of several tensors side by side, reads under gates that depend on where an
element stands; a rolled copy reads at a remainder, which starts again somewhere. Between two borders nothing
changes: each piece gets a loop of its own, and its gates and remainders fold.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from plugrad.codegen.opt.analysis import are_worth_threads, work_of
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.rebuild import stores_of
from plugrad.dtype import is_float
from plugrad.uop import ALU, AxisType, Ops, UOp, simplify
from plugrad.uop.op_cost import op_cost
from plugrad.uop.strides import coefficient, constant_size

# Each piece repeats the code of the kernel.
_MOST_PIECES = 4
# The same of tensors that are stacked, if all pieces together are not much longer than the loop's code.
_MOST_STACKED = 16
_LONGER = 3
# Vectors of a row that a border leaves few of.
_SHORT_ROW = 3
# Pieces are worth loops of their own where the longest of them is long.
_LONG = 7


def cuts(kernel: KernelOpt) -> Iterator[Opt]:
    """Yield the cuts of the stored axis, at gates and remainders that break its loads.

    Of another axis of few steps, such as that of tensors that are stacked, each step is written out.
    """
    stores = stores_of(kernel.ast)
    order = kernel.ast.toposort()
    if not kernel.capabilities.vector_bits or len(stores) != 1:
        return
    if not kernel.can_repeat() or any(u.op is Ops.REDUCE for u in order):
        return
    place, value, *loops = stores[0].src
    along = [r for r in loops if r.op is Ops.RANGE and r.arg.kind is AxisType.LOOP and constant_size(r)]
    if not along:
        return
    asked = {s for u in order if u.op is Ops.INDEX for s in u.src[1:]}
    sizes = {r: constant_size(r) or 0 for r in along[:-1]}
    parts = (u for u in order if u.op is Ops.FLOORMOD and u.src[0] in sizes and u.src[1].op is Ops.CONST)
    short = [(r, r, size) for r, size in sizes.items()]
    short += [(u, u.src[0], n) for u in parts if sizes[u.src[0]] % (n := u.src[1].arg) == 0]
    for step, r, count in short:
        among = {b for s in asked for b in _borders(s, step, count)} if 1 < count <= _MOST_STACKED else ()
        if len(among) == count - 1 and (count <= _MOST_PIECES or _are_short(value, step, count)):
            yield Opt(OptOps.UPCAST, r.arg.ident, count)
            break
    # without another axis, threads would have nothing to share
    if len(along) == 1 and are_worth_threads(work_of(kernel.bodies), kernel.capabilities.threads):
        return
    # the parts of an element, such as those of a complex number, move with it
    parts = constant_size(along[-1]) or 1
    r, step = (along[-2], parts) if parts < _LONG and len(along) > 2 else (along[-1], 1)
    if coefficient(place.src[1], r) != step:
        return
    columns = _pieces(asked, r)
    rows = along[along.index(r) - 1] if len(along) > 2 else r
    # short rows of what is computed ask for their gate again and again; copies write line after line
    computed = (u for u in value.toposort() if u.op in ALU and u.op is not Ops.WHERE)
    is_short = (constant_size(r) or 0) < _SHORT_ROW * kernel.capabilities.lanes(value.dtype)
    if columns and is_short and rows is not r and any(is_float(u.dtype) for u in computed):
        yield from _pieces(asked, rows)
    yield from columns


def rests_of_rows(kernel: KernelOpt) -> Iterator[Opt]:
    """Yield the cut behind the whole vectors of rows that are updated in order.

    Vectors of fewer lanes, which divide such a row, are so many more updates.
    """
    for store in stores_of(kernel.ast):
        place, value, *loops = store.src
        loops = [r for r in loops if r.op is Ops.RANGE]
        if not any(r.arg.kind is AxisType.ORDERED for r in loops) or loops[-1].arg.kind is not AxisType.LOOP:
            continue
        row = loops[-1]
        size, lanes = constant_size(row), kernel.capabilities.lanes(value.dtype)
        if not size or size < lanes or coefficient(place.src[1], row) != 1:
            continue
        # threads share the steps of an axis that all stores have
        if (size // lanes + size % lanes) * kernel.capabilities.threads < size // (size & -size):
            yield Opt(OptOps.SPLIT, row.arg.ident, size // lanes * lanes)


def _are_short(value: UOp, r: UOp, count: int) -> bool:
    """Say whether all steps of `r` together take few operations."""
    pieces = [simplify(value.substitute({r: r.const_like(i)})) for i in (0, count // 2)]
    return count * max(map(_operations, pieces)) <= _LONGER * _operations(value)


def _operations(value: UOp) -> int:
    return sum(op_cost(u.op) for u in value.toposort() if u.op in ALU)


def _pieces(asked: Iterable[UOp], r: UOp) -> list[Opt]:
    """Return the cuts of `r` into few pieces, one of them long; else none."""
    size = constant_size(r) or 0
    borders = sorted({b for s in asked if r in s.ranges for b in _borders(s, r, size)})
    pieces = [b - a for a, b in pairwise([0, *borders, size])]
    if len(pieces) > _MOST_PIECES or max(pieces) < _LONG:
        return []
    first = r.arg.ident
    return [Opt(OptOps.SPLIT, (*first, *[0] * i), border) for i, border in enumerate(reversed(borders))]


def _borders(value: UOp, r: UOp, size: int) -> Iterator[int]:
    """Yield steps of `r` at which a comparison, quotient or remainder changes."""
    for u in value.toposort():
        if u.op is Ops.CMPLT:
            left, right = u.src
            for moving, fixed, beyond in ((left, right, 0), (right, left, 1)):
                start = _start(moving, r)
                if fixed.op is Ops.CONST and start is not None:
                    yield from _inside(fixed.arg - start + beyond, size)
        elif u.op in (Ops.FLOORDIV, Ops.FLOORMOD) and u.src[1].op is Ops.CONST and u.src[1].arg > 0:
            start = _start(u.src[0], r)
            if start is not None:
                # more of them than there may be need not be counted
                first = -start % u.src[1].arg
                for border in range(first, size, u.src[1].arg)[: _MOST_PIECES + 1]:
                    yield from _inside(border, size)


def _start(moving: UOp, r: UOp) -> int | None:
    """Return the first value of `moving`, which counts up with `r`; otherwise None."""
    if moving is r:
        return 0
    if coefficient(moving, r) != 1:
        return None
    lowest, highest = moving.substitute({r: r.const_like(0)}).bounds
    return int(lowest) if lowest == highest else None


def _inside(border: int, size: int) -> Iterator[int]:
    if 0 < border < size:
        yield border
