"""Share a reduction among the work-items of a group.

What is read together lies side by side: along the reduced axis, and the items of a group take the elements of
a row in turn; or along an axis of the results, and a group has neighbours in one direction, steps of the
reduction in the other.
"""

from collections.abc import Iterable, Iterator

from plugrad.codegen.opt.analysis import LoopBody, MemoryAccess, steps_of
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import AxisId, Opt, OptOps
from plugrad.codegen.rebuild import at, ranges_of_reduce
from plugrad.uop import AxisType, Ops, UOp
from plugrad.uop.strides import coefficient, constant_size, is_multiple

#: Groups for each compute unit: while one waits for memory, another computes.
GROUPS_OF_A_UNIT = 2
#: Work-items for each compute unit that hide what each waits for.
ITEMS_OF_A_UNIT = 512
# Work-items of a group; of one that has a unit to itself; of those that read neighbours of a row of results;
# and of those that share each.
_IN_GROUP = 256
_ALONE_ON_A_UNIT = 1024
# Steps of each of more than 256 work-items: these wait for more of one another.
_STEPS_OF_MANY = 8
_SIDE_BY_SIDE = 32
_SHARING = 8
# Steps of an axis from which a group shares them.
_LEAST_SHARED = 32
# Results for each compute unit below which any reduction of that many steps is shared.
_FEW_RESULTS = 32
_LONG = 256
# Steps beyond the end of a row, for each of it, that leave items idle for little.
_UNUSED = 0.25


def shared_reduction(kernel: KernelOpt) -> list[Opt]:
    """Return the options that share the longest reduction, none where items work alone."""
    bodies = [b for b in kernel.bodies if b.reduce is not None]
    main = max(bodies, key=lambda b: b.steps, default=None)
    if main is None or main.reduce is None:
        return []
    reduced = [r for r in ranges_of_reduce(main.reduce) if constant_size(r) and _may_be_shared(kernel, r)]
    axes = [r for r in kernel.axes(AxisType.GLOBAL) if (constant_size(r) or 1) > 1]
    if not reduced:
        return []
    longest = max(reduced, key=steps_along)
    read = [p for p in main.moving if all(p.moves(r) for r in axes)]
    few = steps_of(axes) < _FEW_RESULTS * kernel.capabilities.compute_units
    if not read:
        # operands are reused: tiles in registers read less, where there are enough of them
        is_worth_it = few and steps_along(longest) >= _LONG
        return _by_row(kernel, main, [longest], axes) if is_worth_it else []
    row = max(reduced, key=lambda r: (along(read, r), steps_along(r)))
    column = max(axes, key=lambda r: along(read, r), default=None)
    in_rows, in_columns = along(read, row), along(read, column) if column is not None else 0
    if column is not None and in_columns > in_rows:
        return _by_column(kernel, longest, column, axes)
    if not in_rows:
        row = min(reduced, key=lambda r: sum(_apart(p, r) for p in read))
    is_long = (in_rows and steps_along(row) >= _LEAST_SHARED) or (few and steps_of(reduced) >= _LONG)
    others = sorted((r for r in reduced if r is not row), key=steps_along, reverse=True)
    return _by_row(kernel, main, [row, *others], axes) if is_long else []


def _apart(place: MemoryAccess, r: UOp) -> float:
    """Return the elements between neighbours along `r`, on average."""
    last, idx = steps_along(r) - 1, place.index.src[1]
    for other in idx.ranges - {r}:
        idx = at(idx, other, 0)
    return (int(at(idx, r, last).vmax) - int(at(idx, r, 0).vmin)) / max(last, 1)


def along(places: Iterable[MemoryAccess], r: UOp) -> int:
    """Return the bytes at `places` that lie side by side along `r`."""
    beside = (p.index for p in places if coefficient(p.index.src[1], r) == 1)
    return sum(place.dtype.itemsize * steps_of(place.ranges) for place in beside)


def steps_along(r: UOp) -> int:
    """Return the steps of an axis of constant size."""
    return constant_size(r) or 1


def is_wide_along(place: MemoryAccess, r: UOp, count: int) -> bool:
    """Say whether `count` neighbours along `r` are one access: they begin at multiples of it."""
    idx = place.index.src[1]
    if steps_along(r) % count or not place.is_contiguous(r):
        return False
    return is_multiple(at(idx, r, 0), count)


def split(ident: AxisId, size: int, count: int, op: OptOps) -> Iterator[Opt]:
    """Yield what splits `count` steps off an output axis, whether or not they divide it."""
    if size % count:
        yield Opt(OptOps.SHIFTIN, ident, count)
        ident = (*ident, 1)
    yield Opt(op, ident, count)


def _may_be_shared(kernel: KernelOpt, r: UOp) -> bool:
    """Say whether no loop surrounds a reduction over `r`: groups cannot wait in loops."""
    ended = [u for u in kernel.ast.toposort() if u.op is Ops.REDUCE and r in ranges_of_reduce(u)]
    return not any(s.arg.kind in (AxisType.LOOP, AxisType.REDUCE) for u in ended for s in u.ranges)


def _by_row(kernel: KernelOpt, body: LoopBody, reduced: list[UOp], axes: list[UOp]) -> list[Opt]:
    """Return the options that give each result to a group or part of one.

    Its items take neighbours along the first of the `reduced` axes, and steps of the second if these are few.
    """
    can, r = kernel.capabilities, reduced[0]
    read = [p for p in body.places if p.moves(r)]
    fitting = can.max_load_bits // 8 // max((p.index.dtype.itemsize for p in read), default=1)
    counts = (c for c in (4, 2) if c <= fitting and all(is_wide_along(p, r, c) for p in read))
    is_short = steps_along(r) < _LEAST_SHARED
    lanes = next(counts, 1) if read and not is_short else 1
    steps = steps_along(r) // lanes
    is_alone = steps_of(axes) < GROUPS_OF_A_UNIT * can.compute_units
    wanted = _ALONE_ON_A_UNIT if is_alone else _IN_GROUP
    most = min(wanted, can.max_workgroup, can.local_memory_bytes // bytes_of_parts(kernel))
    items = steps if is_short else _items(steps, most)
    if items < 2:
        return []
    ident = r.arg.ident
    out = [Opt(OptOps.UPCAST, ident, lanes)] if lanes > 1 else []
    ident = (*ident, 0) if lanes > 1 else ident
    if steps % items:
        out.append(Opt(OptOps.PADTO, ident, items))
    out.append(Opt(OptOps.GROUP, ident, items))
    last, beside = axes[-1] if axes else r, most // items
    if beside > 1 and steps_of(axes) >= beside * GROUPS_OF_A_UNIT * can.compute_units:
        size, can_repeat = steps_along(last), kernel.can_repeat()
        counts = (c for c in (32, 16, 8, 4, 2) if c <= min(beside, size) and (size % c == 0 or can_repeat))
        count = next(counts, 1)
        return [*out, *(split(last.arg.ident, size, count, OptOps.LOCAL) if count > 1 else ())]
    fewest = (c for c in (32, 16, 8, 4, 2) if c <= beside)
    more = ((o, c) for c in fewest for o in reduced[1:2] if steps_along(o) % c == 0)
    return [*out, *(Opt(OptOps.GROUP, o.arg.ident, c) for o, c in list(more)[:1])]


def _items(steps: int, most: int) -> int:
    """Return the items that share a row, with several steps each and few unused."""
    large = [c for c in (1024, 512) if c <= most and _STEPS_OF_MANY * c <= steps]
    counts = large + [c for c in (256, 128, 64, 32, 16, 8) if c <= most and 2 * c <= max(steps, 16)]
    unused = {c: -steps % c / steps for c in counts}
    return next((c for c in counts if unused[c] <= _UNUSED), min(counts, key=lambda c: unused[c], default=1))


def _by_column(kernel: KernelOpt, r: UOp, column: UOp, axes: list[UOp]) -> list[Opt]:
    """Return the options that give neighbouring results to a group, and steps to its items."""
    can = kernel.capabilities
    size, results = steps_along(column), steps_of(axes)
    wanted = can.compute_units * ITEMS_OF_A_UNIT
    counts = (c for c in (_SIDE_BY_SIDE, 16, 8) if c <= size and (size % c == 0 or kernel.can_repeat()))
    beside = next(counts, 0)
    sharing = next((c for c in (2, 4) if results * c >= wanted), _SHARING)
    most = min(can.max_workgroup, can.local_memory_bytes // bytes_of_parts(kernel))
    if not beside or beside * sharing > most or steps_along(r) < 2 * sharing or results >= wanted:
        return []
    padded = [] if steps_along(r) % sharing == 0 else [Opt(OptOps.PADTO, r.arg.ident, sharing)]
    return [
        *padded,
        Opt(OptOps.GROUP, r.arg.ident, sharing),
        *split(column.arg.ident, size, beside, OptOps.LOCAL),
    ]


def bytes_of_parts(kernel: KernelOpt) -> int:
    """Return the local memory that one item may need for its parts of all reductions."""
    return sum(2 * u.dtype.itemsize for u in kernel.ast.toposort() if u.op is Ops.REDUCE)
