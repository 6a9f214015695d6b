"""Write out short axes of reductions, and steps of floats whose loop has few products.

A step of a register tile has some ten products of vectors. Around them, a loop counts, computes addresses,
and moves sums between registers, or to memory and back: gcc 12 does so where a tile fills all registers.
Eight steps at a time share that. A convolution of three taps takes 5.4 ms instead of 8.6, a 1 x 1 convolution
of 14 x 14 maps 0.23 instead of 0.33, sums for batch normalisation 0.6 instead of 0.9 (Zen 3). Products of
integers need more registers: written out they took 1.6 times as long.
"""

from plugrad.codegen.opt.analysis import (
    LONGEST_AXIS_OF_WINDOW,
    SHORT,
    LoopBody,
    MemoryAccess,
    divisors,
    element_time,
    steps_of,
)
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.opt.tile import BODY_LIMIT, LONGEST_WINDOW, Tile
from plugrad.codegen.rebuild import ranges_of_reduce, stores_of
from plugrad.dtype import is_float
from plugrad.uop import AxisType, UOp
from plugrad.uop.strides import constant_size

#: Operations in all copies together: more of them take longer to compile than thousands of calls gain.
CODE_LIMIT = 512
# Steps to write out: more of them share a loop that is short beside them already.
_STEPS = (8, 4, 2)
# Operations on vectors of a step up to which its loop costs much, and of all steps that are written out.
_SHORT = 64
_LONGEST = 208
# The same where a unit takes vectors in two halves: a loop's own instructions are issued meanwhile.
_LONGEST_OF_HALVES = 64
# Sums side by side from which a processor is busy with the products, and does not wait for one sum.
_SIDE_BY_SIDE = 4
# Vectors of a row that are written out, and rows beside it.
_VECTORS_OF_ROW = 2
_ROWS = (4, 3, 2)


def write_out_rows(kernel: KernelOpt, bodies: list[LoopBody], lane: UOp, lanes: int) -> None:
    """Write out the vectors of a short row, and rows beside it.

    Reductions are written out by now, or there are none. Of vectors that share their last elements, addresses
    are constants then. Rows of copies stay a loop: these write line after line.

    Args:
        kernel: with its lanes, before threads.
        bodies: as they were before these.
        lane: the axis that the lanes were taken from.
        lanes: of a vector.
    """
    nests = [s.src[2:] for s in stores_of(kernel.ast) if any(_is_part(r, lane) for r in s.src[2:])]
    if kernel.axes(AxisType.REDUCE, AxisType.PARTIAL):
        return
    nest = max(nests, key=steps_of)
    loops = [r for r in nest if r.arg.kind is AxisType.LOOP]
    left, others = [r for r in loops if _is_part(r, lane)], [r for r in loops if not _is_part(r, lane)]
    upcast = [r for r in nest if r.arg.kind is AxisType.UPCAST]
    vectors = steps_of(left) * (steps_of(upcast) // lanes)
    is_copy = max(body.written_out for body in bodies) <= SHORT
    row = next(reversed(others), None)
    if row is None or vectors > _VECTORS_OF_ROW or left != loops[len(loops) - len(left) :]:
        return
    if not all(_is_part(r, lane) for r in upcast):
        return
    counts = divisors(constant_size(row) or 1, _ROWS if not is_copy and kernel.can_write_out(row) else ())
    shifted = [(*opt.axis, 0) for opt in kernel.applied if opt.op is OptOps.SHIFTIN]
    for r in left:
        if counts or r.arg.ident in shifted:
            kernel.apply(Opt(OptOps.UPCAST, r.arg.ident, steps_of([r])))
    for count in counts[:1]:
        kernel.apply(Opt(OptOps.UPCAST, row.arg.ident, count))


def write_out_windows(kernel: KernelOpt, bodies: list[LoopBody], tile: Tile | None, most_copies: int) -> None:
    """Write out the axes of reductions that are short, the inner ones first.

    Args:
        kernel: with its lanes and tile.
        bodies: as they were before these.
        tile: of the largest body.
        most_copies: that keep the code short.
    """
    can = kernel.capabilities
    # where nothing is loaded, lanes of a loop written out are constants: each is computed alone
    lanes = max(1, can.vector_bits // 32) if any(body.moving for body in bodies) else 1
    copies = -(-steps_of(kernel.axes(AxisType.UPCAST, AxisType.PARTIAL)) // lanes)
    main = max(bodies, key=lambda b: b.steps)
    shared = tile.shared_axes(main) if tile is not None else []
    axes = [r for r in kernel.axes(AxisType.REDUCE) if not shared or r in shared]
    limit = min(BODY_LIMIT, most_copies) // copies
    is_short = steps_of(axes) <= min(LONGEST_WINDOW, limit) and not _outgrow_registers(
        kernel, axes, bodies, tile
    )
    most = limit if is_short else min(LONGEST_AXIS_OF_WINDOW, limit)
    streaming = (body for body in kernel.bodies if streams(body, can.cache_bytes[-1]))
    streamed = [p for body in streaming for p in body.moving]
    for r in reversed(axes):
        size = constant_size(r)
        if size and 1 < size <= most and not any(p.is_followed(r) for p in streamed):
            kernel.apply(Opt(OptOps.UNROLL, r.arg.ident, size))
            most //= size
            if not is_short and element_time(can) < 1:
                # the loop that a window's outer axis would save is issued meanwhile, see `_LONGEST_OF_HALVES`
                most = min(most, limit // (2 * size))


def _outgrow_registers(kernel: KernelOpt, axes: list[UOp], bodies: list[LoopBody], tile: Tile | None) -> bool:
    """Say whether all steps of `axes` together need more values than registers hold.

    These are vectors of a row, or what a loop along the columns of a tile repeats for all lanes: compilers
    load it before that loop.
    """
    if kernel.axes(AxisType.PARTIAL):
        return steps_of(axes) > LONGEST_AXIS_OF_WINDOW
    if tile is None or tile.columns * tile.unit >= (constant_size(tile.column) or 0):
        return False
    main = max(bodies, key=lambda b: b.steps)
    repeated = tile.loads(main, lambda p: not p.moves(tile.column))
    return repeated * steps_of(axes) > kernel.capabilities.vector_registers


def streams(body: LoopBody, cached_bytes: int) -> bool:
    """Say whether a reduction reads memory beyond the caches, each element once, row by row.

    The longer the part of a row that a step takes, the fewer pages are visited.
    """
    large = [p for p in body.moving if p.reads_beyond(cached_bytes)]
    outer = body.loops.difference(ranges_of_reduce(body.reduce)) if body.reduce is not None else body.loops
    again = any(p.overlaps(r) for p in large for r in outer)
    return bool(large) and not again and all(p.loops <= p.index.ranges for p in large)


def write_out_steps(kernel: KernelOpt, lane: UOp | None) -> None:
    """Write out steps of the largest reduction. Some loop always stays.

    Inner axes come first.

    Args:
        kernel: with its lanes, tile and copies.
        lane: the axis that the lanes were taken from.
    """
    main = max(kernel.bodies, key=lambda b: b.steps)
    if main.reduce is None or not is_float(main.reduce.dtype) or not main.moving:
        return
    upcast = [r for r in main.loops if r.arg.kind is AxisType.UPCAST]
    rows = [r for r in upcast if not _is_part(r, lane)]
    wide = [r for r in main.loops if r.arg.kind is AxisType.PARTIAL or (r in upcast and r not in rows)]
    lanes = min(kernel.capabilities.lanes(main.reduce.dtype), max([steps_of([r]) for r in wide], default=1))
    sums = _steps_along(main, AxisType.UPCAST, AxisType.PARTIAL) // lanes
    work = sums * _steps_along(main, AxisType.UNROLL) * max(1, main.written_out)
    is_long = work > _SHORT or any(p.written_out(r) for p in main.moving for r in wide)
    if sums < _SIDE_BY_SIDE or is_long:
        return
    cached_bytes = kernel.capabilities.cache_bytes[-1]
    longest = _LONGEST if element_time(kernel.capabilities) == 1 else _LONGEST_OF_HALVES
    axes = [r for r in ranges_of_reduce(main.reduce) if r.arg.kind is AxisType.REDUCE]
    for r in reversed(axes):
        size = constant_size(r) or 1
        fitting = [n for n in divisors(size, _STEPS) if n < size and n * work <= longest]
        if fitting and not any(_stays_loop(p, r, rows, cached_bytes) for p in main.moving):
            kernel.apply(Opt(OptOps.UNROLL, r.arg.ident, fitting[0]))
            return


def _steps_along(body: LoopBody, *kinds: AxisType) -> int:
    return steps_of(r for r in body.loops if r.arg.kind in kinds)


def _is_part(r: UOp, axis: UOp | None) -> bool:
    return axis is not None and r.arg.ident[: len(axis.arg.ident)] == axis.arg.ident


def _stays_loop(place: MemoryAccess, r: UOp, rows: list[UOp], cached_bytes: int) -> bool:
    """Say whether steps of `r` are better not written out.

    Prefetchers may follow a loop through memory that is read once. Or rows read at one step what others read
    at a later one: registers that hold it until then are missing elsewhere.
    """
    step, size = place.step(r) or 0, constant_size(r) or 1
    overlaps = any(0 < step <= (place.step(row) or 0) < step * size for row in rows)
    streams = place.loops <= place.index.ranges and place.reads_beyond(cached_bytes)
    return overlaps or (streams and place.is_followed(r))
