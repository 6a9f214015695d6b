"""Order the loops of a register tile, and of its reduction, by what their steps load anew."""

from collections.abc import Iterable

from plugrad.codegen.opt.analysis import FAR_BYTES, LoopBody, MemoryAccess, bodies_of, steps_of
from plugrad.codegen.opt.hoisting import hoist_of
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.opt.tile import moving
from plugrad.codegen.rebuild import UNROLLED, ranges_of_reduce, stores_of
from plugrad.uop import AxisType, Ops, UOp

# Bytes from beyond the second cache in the time of a multiplication of vectors, in order and from row to row.
_IN_ORDER = 4
_JUMPING = 2
# What the last cache holds, in caches of a core: it has no pages to open, so there jumps are no slower.
_OF_LAST_CACHE = 16
# Time of a vector of sums that is loaded and stored.
_SUMS = 2
# Sums in memory make three nests of loops of one: they have to save a tenth.
_WORTH_HOISTING = 0.9


def order_loops(kernel: KernelOpt) -> None:
    """Move loops outside whose steps load most anew. What the innermost one repeats stays cached.

    What fits the first cache stays there in any order: for its sake no other memory is read in jumps.
    """
    stores = stores_of(kernel.ast)
    if len(stores) != 1:
        return
    main = max(bodies_of(kernel.ast)[1:], key=lambda b: b.steps)
    near = kernel.capabilities.cache_bytes[0]
    places = [p for p in moving(main) if nbytes_between(p.index) > near]
    loops = [r for r in stores[0].src[2:] if r.op is Ops.RANGE and r.arg.kind is AxisType.LOOP]

    def loaded_anew(r: UOp) -> int:
        moved = (p for p in places if p.moves(r))
        return sum(steps_of(set(p.index.ranges) - set(loops)) * p.index.dtype.itemsize for p in moved)

    for n, r in enumerate(sorted(loops, key=loaded_anew, reverse=True)):
        if loops[n] is not r:
            kernel.apply(Opt(OptOps.SWAP, loops[n].arg.ident, r.arg.ident))
            other = loops.index(r)
            loops[n], loops[other] = r, loops[n]


def nbytes_between(place: UOp) -> int:
    """Return the bytes from the lowest address of an INDEX to the highest."""
    address = place.src[1]
    return (int(address.vmax) - int(address.vmin) + 1) * place.dtype.itemsize


def hoist_reduction(kernel: KernelOpt) -> None:
    """Move the outer axis of the main reduction outside of loops that read anew what no cache holds."""
    stores, main = stores_of(kernel.ast), max(bodies_of(kernel.ast), key=lambda b: b.steps)
    taken = {opt.op for opt in kernel.applied}
    if main.reduce is None or len(stores) != 1 or OptOps.STAGE in taken or not kernel.can_repeat():
        return
    reduced = [r for r in ranges_of_reduce(main.reduce) if r.arg.kind is AxisType.REDUCE]
    loops = [r for r in stores[0].src[2:] if r in main.loops and r.arg.kind is AxisType.LOOP]
    if not reduced or not loops:
        return
    axis, *inside = reduced
    cached, lanes = kernel.capabilities.cache_bytes[-1], kernel.capabilities.lanes(main.reduce.dtype)
    most = min(cached, kernel.capabilities.local_memory_bytes)
    products = main.steps / lanes
    best, least = None, _WORTH_HOISTING * (products + _far_time([*loops, *reduced], main, cached))
    for n, loop in enumerate(loops if least > products else ()):
        hoist = hoist_of(kernel.ast, axis, loop)
        if hoist is None or hoist.nbytes > most:
            continue
        sums = _SUMS * hoist.numel / lanes * steps_of((*loops[:n], axis))
        time = products + sums + _far_time([*loops[:n], axis, *loops[n:], *inside], main, cached)
        if time < least:
            best, least = loop, time
    if best is not None:
        kernel.apply(Opt(OptOps.HOIST, axis.arg.ident, best.arg.ident))


def _far_time(nest: list[UOp], body: LoopBody, cached: int) -> float:
    """Return the time of all reads from beyond the caches, in multiplications of vectors.

    What the inner loops of the nest read fits the caches. Loops around these that do not move a place find it
    there.
    """
    unrolled = [r for r in body.loops if r.arg.kind in UNROLLED]
    outer = next(
        n
        for n in range(len(nest) + 1)
        if _nbytes(body.places, [*nest[n:], *unrolled]) <= cached or n == len(nest)
    )
    is_far = _nbytes(body.places, [*nest, *unrolled]) > _OF_LAST_CACHE * cached
    total = 0.0
    for place in body.places:
        moved = [n for n, r in enumerate(nest) if place.moves(r)]
        steps = steps_of(nest[: max((n + 1 for n in moved if n < outer), default=0)])
        step = place.step_bytes(nest[moved[-1]]) if moved else 0
        jumps = is_far and step >= FAR_BYTES and step > _nbytes([place], unrolled)
        nbytes = steps * _nbytes([place], [*nest[outer:], *unrolled])
        total += nbytes / (_JUMPING if jumps else _IN_ORDER)
    return total


def _nbytes(places: Iterable[MemoryAccess], axes: Iterable[UOp]) -> int:
    """Return the bytes of all lines that steps of `axes` visit."""
    return sum(place.nbytes([r for r in axes if place.moves(r)]) for place in places)
