"""Copy tiles of a product's factors into memory that a group's work-items share.

The reduced axis is split in steps and parts of a step. At each step the group copies its tile of each factor,
a barrier follows, and all products of the step read the copies. Two halves of the memory take turns: whoever
writes a half has passed the barrier that all readers of it reach after reading, so one barrier is enough.

Where copies are begun ahead, there is one part more than those. A step waits for its own copies, and begins
later ones into the part that the step before has read: its one barrier stands behind those reads, too.
"""

import math
from collections.abc import Mapping, Sequence

from plugrad._frozen import frozen
from plugrad.codegen.opt.opt_ops import GroupTile, MatrixTile, Opt, OptOps
from plugrad.codegen.rebuild import all_ranges, at, gated, ranges_of_reduce, rebuild
from plugrad.dtype import dtypes
from plugrad.errors import KernelOptError
from plugrad.uop import AxisType, Ops, UOp
from plugrad.uop.strides import coefficient, constant_size, flat_position

# Bytes between rows of a copy beyond its elements: rows begin in different banks, and at wide accesses.
_PADDING = 16
# Loops around a barrier that each work-item of a group runs alike.
_OF_THE_LAUNCH = frozenset({AxisType.GLOBAL, AxisType.LOCAL, AxisType.WARP, AxisType.UPCAST})
# What the axes of a copy, and of the product, may be when a group is to share it.
_AROUND_COPY = frozenset({AxisType.GLOBAL, AxisType.REDUCE})


def shared(ast: UOp, inner: UOp, tile: GroupTile, most_bytes: int) -> UOp:
    """Return the kernel with copies of the factors of its reduction over `inner`.

    before: REDUCE(a(m, k) * b(k, n), k), with a tile of steps of k, m and n
    after:  REDUCE(LOAD(local0[k1, m]) * LOAD(local1[k1, n]), k0, k1), after a BARRIER on STOREs of a and b

    Raises:
        KernelOptError: no factor is used by several steps of the tile, or the copies do not fit.
    """
    reduce, axes = _reduction(ast, inner), _axes(ast, tile)
    size = constant_size(inner)
    if not size or tile.steps < 1 or size % tile.steps:
        steps = size or f"symbolic {inner.src[0].vmax} at most"
        raise KernelOptError(f"{tile.steps} steps do not divide the {steps} of the axis. Use PADTO first.")
    outer = UOp.range(size // tile.steps, (*inner.arg.ident, 0), AxisType.REDUCE)
    within = UOp.range(tile.steps, (*inner.arg.ident, 1), AxisType.REDUCE)
    value = at(_with_gates_inside(reduce.src[0]), inner, outer * tile.steps + within)
    loops = (outer, *(r for r in ranges_of_reduce(reduce) if r is not inner))
    copies = _copied(ast, value, (within, *axes), loops, tile, most_bytes)
    copied = reduce.replace(src=(value.substitute(copies), *loops, within))
    return rebuild(ast, lambda u: copied if u is reduce else None)


def bytes_of_copies(steps: int, sizes: Sequence[int], itemsize: int) -> int:
    """Return the memory of both halves of copies of factors of `sizes`, `steps` rows each.

    Example:
        >>> bytes_of_copies(16, (128, 128), itemsize=4)
        33792
    """
    return 2 * steps * sum(size * itemsize + _PADDING for size in sizes)


def has_copies(ast: UOp) -> bool:
    """Say whether a kernel waits for what it has written to fast memory."""
    return any(u.op is Ops.BARRIER for u in ast.toposort())


def refuse_in_copies(ast: UOp, opt: Opt) -> None:
    """Refuse what would part the copies of a group, or the group itself.

    Raises:
        KernelOptError: copies move with an axis that is named.
    """
    barriers = [u for u in ast.toposort() if u.op is Ops.BARRIER]
    # each thread has memory of its own
    if not barriers or opt.op is OptOps.THREAD:
        return
    arg = opt.arg
    named = {opt.axis, *((arg.rows, arg.inner) if isinstance(arg, MatrixTile) else (arg,))}
    moving = [r.arg.ident for u in barriers for r in u.ranges if r.arg.ident in named]
    if moving or opt.op is OptOps.GROUP:
        what = f"copies that a group shares move with {moving}" if moving else "the group shares copies"
        raise KernelOptError(f"{opt.op.name} after SHARE: {what}.")


def _reduction(ast: UOp, inner: UOp) -> UOp:
    if inner.arg.kind is not AxisType.REDUCE:
        raise KernelOptError(f"axis {inner.arg.ident} is {inner.arg.kind.name}; SHARE takes a reduced axis.")
    if any(u.op is Ops.BARRIER for u in ast.toposort()):
        raise KernelOptError("the group shares copies already.")
    found = [u for u in ast.toposort() if u.op is Ops.REDUCE and inner in ranges_of_reduce(u)]
    if len(found) != 1 or found[0].arg[1] != 1:
        raise KernelOptError(f"{len(found)} reductions run over the axis; SHARE takes one of one value.")
    around = sorted(r.arg.ident for r in found[0].ranges if r.arg.kind not in _OF_THE_LAUNCH)
    if around:
        raise KernelOptError(f"a loop over {around} stands around the reduction: a group cannot wait inside.")
    return found[0]


def _axes(ast: UOp, tile: GroupTile) -> tuple[UOp, ...]:
    known = {r.arg.ident: r for r in all_ranges(ast)}
    axes = tuple(known[ident] for ident in sorted(set(tile.axes)) if ident in known)
    if len(axes) != len(tile.axes) or any(r.arg.kind is not AxisType.GLOBAL for r in axes):
        raise KernelOptError("a tile is of GLOBAL axes, each named once.")
    return axes


def _with_gates_inside(value: UOp) -> UOp:
    """Return a gated product with the gate in its factors, which are copied."""
    if value.op is not Ops.WHERE or value.src[2].op is not Ops.CONST or value.src[2].arg != 0:
        return value
    gate, product, _ = value.src
    if product.op is not Ops.MUL:
        return value
    x, y = (_gated(gate, factor) for factor in product.src)
    return x * y


def _gated(gate: UOp, x: UOp) -> UOp:
    return _gated(gate, x.src[0]).cast(x.dtype) if _is_widened(x) else gate.where(x, x.const_like(0))


@frozen
class _Copy:
    """A panel and its copy in the group's memory, with a pitch of `row`."""

    panel: UOp
    memory: UOp
    axes: tuple[UOp, ...]
    own: tuple[UOp, ...]
    row: int
    numel: int

    def stored(self, memory: UOp, part: UOp, steps: Mapping[UOp, UOp], gate: UOp | None) -> UOp:
        """Return the STORE of the panel at some steps, to a part of the memory."""
        value = self.panel.substitute({**dict(zip(self.axes, self.own, strict=True)), **steps})
        if gate is not None:
            value = _read_under(gate, value)
        return memory.index(self._place(part, self.own), gate).store(value, *self.own)

    def loaded(self, memory: UOp, part: UOp) -> UOp:
        """Return the element of the copy in a part of the memory."""
        return memory.index(self._place(part, self.axes)).load()

    def _place(self, part: UOp, axes: tuple[UOp, ...]) -> UOp:
        return part * self.numel + axes[0] * self.row + flat_position(axes[1:])


def _copied(
    ast: UOp, value: UOp, inside: tuple[UOp, ...], loops: tuple[UOp, ...], tile: GroupTile, most: int
) -> dict[UOp, UOp]:
    panels = _panels(value, inside)
    if not panels:
        raise KernelOptError("no factor of the reduction is used by several steps of the tile.")
    total = math.prod(constant_size(r) or 0 for r in loops)
    if tile.ahead and not total:
        raise KernelOptError("copies ahead take loops of a constant number of steps.")
    ahead = min(tile.ahead, total - 1) if total else 0
    parts = max(ahead + 1, min(2, total or 2))
    free = max(r.arg.ident[0] for r in all_ranges(ast)) + 1
    copies = [
        _copy(panel, inside, parts, (number, free + number), tile) for number, panel in enumerate(panels)
    ]
    nbytes = sum(parts * copy.numel * copy.memory.dtype.itemsize for copy in copies)
    if nbytes > most:
        raise KernelOptError(f"its copies have {nbytes} bytes, and a group shares {most} at most.")
    step = flat_position(loops)
    done = _copied_ahead(copies, loops, step, ahead, total) if ahead else _copied_at_once(copies, step, parts)
    return {copy.panel: copy.loaded(copy.memory.after(done), step % parts) for copy in copies}


def _copy(panel: UOp, inside: tuple[UOp, ...], parts: int, idents: tuple[int, int], tile: GroupTile) -> _Copy:
    axes = tuple(r for r in inside if r in panel.ranges)
    around = sorted(r.arg.ident for r in panel.ranges if r not in axes and r.arg.kind not in _AROUND_COPY)
    if around or not all(map(constant_size, axes)):
        raise KernelOptError(f"what the group copies moves with {around}, which are part of the group.")
    if tile.in_memory_order:
        axes = tuple(sorted(axes, key=lambda r: _apart(panel, r), reverse=True))
    number, free = idents
    row = math.prod(constant_size(r) or 1 for r in axes[1:]) + _PADDING // panel.dtype.itemsize
    numel = (constant_size(axes[0]) or 1) * row
    memory = UOp(Ops.DEFINE_LOCAL, panel.dtype, (), (number, parts * numel))
    own = tuple(UOp.range(constant_size(r) or 1, (free, i), AxisType.COPY) for i, r in enumerate(axes))
    return _Copy(panel, memory, axes, own, row, numel)


def _copied_at_once(copies: Sequence[_Copy], step: UOp, parts: int) -> UOp:
    """Return the BARRIER between the copies of a step and the products of that step."""
    stores = (copy.stored(copy.memory, step % parts, {}, None) for copy in copies)
    return UOp(Ops.BARRIER, dtypes.void, tuple(stores))


def _copied_ahead(copies: Sequence[_Copy], loops: tuple[UOp, ...], step: UOp, ahead: int, total: int) -> UOp:
    """Return the COMMIT of a step's copies, for the products of a later step.

    The first steps' copies begin before the loop. Each step waits for its own, and begins those of the step
    `ahead` of it, in the part that the step before has read.
    """
    parts, begun = ahead + 1, ()
    for early in range(ahead):
        number = step.const_like(early)
        stores = (copy.stored(copy.memory, number, _digits(loops, number), None) for copy in copies)
        begun = (UOp(Ops.COMMIT, dtypes.void, (*begun, *stores)),)
    waited = UOp(Ops.BARRIER, dtypes.void, (*begun, *loops), ahead - 1)
    later, is_there = step + ahead, step < total - ahead
    next_stores = (
        copy.stored(copy.memory.after(waited), later % parts, _digits(loops, later), is_there)
        for copy in copies
    )
    return UOp(Ops.COMMIT, dtypes.void, tuple(next_stores))


def _read_under(gate: UOp, value: UOp) -> UOp:
    """Return a value that reads memory only where the gate holds."""
    return rebuild(value, lambda u: gated(u, gate) if u.op is Ops.INDEX else None)


def _digits(loops: tuple[UOp, ...], number: UOp) -> dict[UOp, UOp]:
    """Return each loop's step when the steps of all are counted by `number`."""
    out = dict[UOp, UOp]()
    for r in reversed(loops):
        size = constant_size(r) or 1
        out[r] = number if r is loops[0] else number % size
        number = number // size
    return out


def _panels(value: UOp, inside: tuple[UOp, ...]) -> list[UOp]:
    """Return the loaded values that several steps of the tile use, in the narrowest dtype."""
    moving = {r for r in inside if r in value.ranges}
    found: dict[UOp, None] = {}
    stack = [value]
    while stack:
        u = stack.pop()
        if u.op in (Ops.REDUCE, Ops.INDEX) or not any(n.op is Ops.LOAD for n in u.toposort()):
            continue
        used = moving & u.ranges
        is_copied = inside[0] in used and used != moving and u.dtype is not dtypes.index
        if not is_copied or any(n.op is Ops.REDUCE for n in u.toposort()) or _is_widened(u):
            stack.extend(reversed(u.src))
        else:
            found[u] = None
    return list(found)


def _is_widened(u: UOp) -> bool:
    return u.op is Ops.CAST and u.src[0].dtype.itemsize <= u.dtype.itemsize


def _apart(panel: UOp, r: UOp) -> tuple[int, tuple[int, ...]]:
    """Return the distance of an axis's steps in the memory that is copied."""
    steps = [coefficient(u.src[1], r) for u in panel.toposort() if u.op is Ops.INDEX and r in u.ranges]
    return max((1 << 30 if step is None else abs(step) for step in steps), default=1 << 30), r.arg.ident
