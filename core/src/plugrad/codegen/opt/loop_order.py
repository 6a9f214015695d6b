"""Order the loops of a register tile and its reduction by their loads."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from plugrad.codegen.opt.analysis import (
    LoopBody,
    MemoryAccess,
    divisors,
    element_time,
    nbytes_between,
    steps_of,
)
from plugrad.codegen.opt.hoisting import hoist_of, in_pieces
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.rebuild import UNROLLED, ranges_of_reduce, stores_of
from plugrad.target import Capabilities
from plugrad.uop import AxisType, Ops, UOp
from plugrad.uop.strides import constant_size

# Bytes from beyond the second cache in the time of a multiplication of vectors, in order, and the time until
# the first of them comes.
_IN_ORDER = 4
_LATENCY = 100
# Runs of lines that prefetchers follow side by side, each of pages of its own.
_STREAMS = 8
# Bytes from the second cache in this time.
_NEAR = 12
# The most steps of a block of a long axis.
_BLOCKS = (8, 16, 32, 64, 128, 256)
# Time of a vector of sums that is loaded and stored, in the first cache and beyond it.
_SUMS = 4
_FAR_SUMS = 8
# The vectors of sums that take the time of one whose lanes are added up.
_ACROSS = 4
# Sums in memory make three nests of loops of one: they have to save a tenth.
_WORTH_HOISTING = 0.9
# Of plans that take about as long the first one is the simplest.
_CLEARLY = 0.98


def order_loops(kernel: KernelOpt) -> None:
    """Move loops outside whose steps load most anew. What the innermost one repeats stays cached.

    What is beyond the second cache comes first: it is read once. What fits the first cache stays there in
    any order: for its sake no other memory is read in jumps.
    """
    stores = stores_of(kernel.ast)
    if len(stores) != 1:
        return
    main = max(kernel.bodies[1:], key=lambda b: b.steps)
    caches = kernel.capabilities.cache_bytes
    beyond = [[p for p in main.moving if nbytes_between(p.index) > most] for most in (caches[-1], caches[0])]
    loops = [r for r in stores[0].src[2:] if r.op is Ops.RANGE and r.arg.kind is AxisType.LOOP]

    def loaded_anew(r: UOp) -> list[int]:
        return [sum(p.nbytes(p.index.ranges - set(loops)) for p in places if p.moves(r)) for places in beyond]

    for n, r in enumerate(sorted(loops, key=loaded_anew, reverse=True)):
        if loops[n] is not r:
            kernel.apply(Opt(OptOps.SWAP, loops[n].arg.ident, r.arg.ident))
            other = loops.index(r)
            loops[n], loops[other] = r, loops[n]


def hoist_reduction(kernel: KernelOpt) -> None:
    """Move a reduction's outer axis, or blocks of it, outside of loops that reread factors."""
    stores, main = stores_of(kernel.ast), max(kernel.bodies, key=lambda b: b.steps)
    if main.reduce is None or len(stores) != 1 or not kernel.can_repeat():
        return
    reduced = [r for r in ranges_of_reduce(main.reduce) if r.arg.kind is AxisType.REDUCE]
    loops = [r for r in stores[0].src[2:] if r in main.loops and r.arg.kind is AxisType.LOOP]
    shares = [r for r in stores[0].src[2:] if r.arg.kind is AxisType.THREAD]
    # what is copied before a loop stays copied
    staged = [opt.axis for opt in kernel.applied if opt.op is OptOps.STAGE]
    first = next((n for n, r in enumerate(loops) if [r.arg.ident] == staged or not staged), len(loops))
    if not reduced or first == len(loops):
        return
    axis, *inside = reduced
    can, lanes = kernel.capabilities, kernel.capabilities.lanes(main.reduce.dtype)
    products, size = main.steps / lanes, constant_size(axis) or 1
    least = _WORTH_HOISTING * _time([*shares, *loops, *reduced], main, products, can)
    hoists = (
        (n, hoist_of(kernel.ast, axis, loops[n])) for n in range(first, len(loops) if least > products else 0)
    )
    # lanes of partial sums are added up before they are one sum in memory
    partial = any(r.arg.kind is AxisType.PARTIAL for r in main.loops)
    each_sum = _ACROSS * element_time(can) if partial else 1 / lanes
    most = min(can.cache_bytes[-1], can.local_memory_bytes)
    fitting = [(n, hoist) for n, hoist in hoists if hoist is not None and hoist.nbytes <= most]
    opts: list[Opt] = []
    for block in (0, *_whole_blocks(size)) if fitting else ():
        steps, step, body = _blocked(main, axis, block) if 0 < block < size else (axis, (), main)
        for n, hoist in fitting if in_pieces(steps) else ():
            sums = hoist.numel * each_sum * steps_of((*shares, *loops[:n], steps))
            sums *= _SUMS if hoist.nbytes < can.cache_bytes[0] // 2 else _FAR_SUMS
            if sums + products >= least:
                continue
            nest = [*shares, *loops[:n], steps, *loops[n:], *step, *inside]
            time = sums + _time(nest, body, products, can)
            if time < least:
                opts = [Opt(OptOps.BLOCK, axis.arg.ident, block)] if step else []
                opts.append(Opt(OptOps.HOIST, steps.arg.ident, loops[n].arg.ident))
                least = _CLEARLY * time
    kernel.apply_all(opts)


def _whole_blocks(size: int) -> list[int]:
    """Return the steps of blocks that divide an axis, the longest of each magnitude."""
    return sorted({max(divisors(size, range(most // 2 + 1, most + 1)), default=0) for most in _BLOCKS} - {0})


def _blocked(body: LoopBody, axis: UOp, block: int) -> tuple[UOp, tuple[UOp, ...], LoopBody]:
    """Return the axes of blocks and of their steps.

    The third value is the body with both axes.
    """
    sizes = ((constant_size(axis) or 1) // block, block)
    outer, inner = (UOp.range(n, (*axis.arg.ident, i), axis.arg.kind) for i, n in enumerate(sizes))
    index = {axis: outer * block + inner}
    loops = body.loops - {axis} | {outer, inner}
    own = {p: MemoryAccess(p.index.substitute(index), loops, p.reduce, p.is_store) for p in body.places}
    moving = tuple(own[p] for p in body.moving)
    return outer, (inner,), replace(body, places=tuple(own.values()), moving=moving, loops=loops)


def _time(nest: list[UOp], body: LoopBody, products: float, can: Capabilities) -> float:
    """Return the time of a nest, in multiplications of vectors.

    These hide reads from the second cache.
    """
    caches, element = can.cache_bytes, element_time(can)
    unrolled = [r for r in body.loops if r.arg.kind in UNROLLED]

    @cache
    def inner(n: int) -> list[int]:
        return [p.nbytes([*nest[n:], *unrolled]) for p in body.places]

    # the sums take some of the first cache, and steps that cross lines twice as much
    near = sum(_reads(nest, inner, caches[0] // 2)) / _NEAR * element
    far = zip(body.places, _reads(nest, inner, caches[-1]), strict=True)
    return max(products, near) + element * sum(
        n / _IN_ORDER + n / _run(place, nest, unrolled) * _LATENCY for place, n in far
    )


def _run(place: MemoryAccess, nest: list[UOp], unrolled: list[UOp]) -> int:
    """Return the bytes that prefetchers bring in order.

    They follow few runs side by side, where neighbouring rows that are near count once.
    """
    run, _ = place.runs(unrolled)
    for n in reversed(range(len(nest))):
        axes = [*unrolled, *nest[n:]]
        if place.runs(axes, axes)[1] > _STREAMS:
            break
        run, _ = place.runs(axes, nest)
    return run


def _reads(nest: list[UOp], inner: Callable[[int], list[int]], cached: int) -> list[int]:
    """Return the bytes that come from beyond a cache, for each place.

    `inner` returns the bytes that the nest reads without a number of its first loops.

    What the inner loops of the nest read fits the cache. The loop around them streams what it moves; at its
    end the cache has lost all.
    """
    fits = next((n for n in range(len(nest)) if sum(inner(n)) <= cached), len(nest))
    streams = max(0, fits - 1)
    return [steps_of(nest[:streams]) * nbytes for nbytes in inner(streams)]
