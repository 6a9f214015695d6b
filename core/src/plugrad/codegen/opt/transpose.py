"""Choose lanes and loops of a transposing copy, which reads rows where it writes columns.

Its lanes are one line of results, each from a row of its own, and the innermost loop runs along the rows:
each line is written once, whole, and rows are read in order. A transpose of 2048 x 384 floats takes 0.27 ms,
where tiles of 8 x 8 whose elements are stored one by one take 0.64; 1000 x 1001 takes 1.0 instead of 3.0
(gcc 12, Zen 3). It is a third of the code.
"""

from collections.abc import Sequence

from plugrad.codegen.opt.analysis import FAR_BYTES, MemoryAccess
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import AxisId, Opt, OptOps
from plugrad.codegen.rebuild import stores_of
from plugrad.target import LINE_BYTES
from plugrad.uop import AxisType, UOp
from plugrad.uop.strides import constant_size

# Rows to read side by side: with more, lines of a power-of-two pitch push each other out of the first cache.
_MOST_ROWS = 16
# Steps along a row at the least: what they share of its lines is read from the first cache.
_SHORTEST_ROW = 8


def write_lines(kernel: KernelOpt) -> bool:
    """Give a line of results to registers where a kernel transposes; say whether it does."""
    axes = _axes(kernel)
    if axes is None:
        return False
    line, row, count = axes
    innermost = _loops(kernel)[-1]
    if innermost is not row:
        kernel.apply(Opt(OptOps.SWAP, row.arg.ident, innermost.arg.ident))
    ident = line.arg.ident
    if (constant_size(line) or 0) % count:
        kernel.apply(Opt(OptOps.SHIFTIN, ident, count))
        ident = (*ident, 1)
    kernel.apply(Opt(OptOps.UPCAST, ident, count))
    return True


def rows_side_by_side(
    kernel: KernelOpt, places: Sequence[MemoryAccess], lane: UOp
) -> tuple[AxisId, int] | None:
    """Return the outer axis to write out beside `lane` where an inner one leaves pages.

    A copy that exchanges the axes around rows of a line or less, such as those of filters, goes through its
    memory in steps of a page, and steps of the outer axis read the lines beside.
    """
    loops = _loops(kernel)
    for p in (p for p in places if not p.is_store and p.reduce is None):
        far = [i for i, r in enumerate(loops) if p.step_bytes(r) >= FAR_BYTES]
        for r in loops[: max(far, default=0)]:
            is_near = 0 < p.step_bytes(r) <= LINE_BYTES and (constant_size(r) or 0) % _SHORTEST_ROW == 0
            if r is not lane and is_near and kernel.can_write_out(r):
                return r.arg.ident, _SHORTEST_ROW
    return None


def _axes(kernel: KernelOpt) -> tuple[UOp, UOp, int] | None:
    """Return the axes of written lines and of read rows, and the lanes."""
    bodies, loops = kernel.bodies, _loops(kernel)
    if len(stores_of(kernel.ast)) != 1 or any(body.reduce is not None for body in bodies):
        return None
    places = bodies[0].places
    store = next(p for p in places if p.is_store)
    line = next((r for r in loops if store.is_contiguous(r) and kernel.can_write_out(r)), None)
    if line is None:
        return None
    apart = [p for p in places if p.moves(line) and not p.is_contiguous(line) and not p.is_shuffled(line)]
    row = next((r for r in loops if len(apart) == 1 and apart[0].is_contiguous(r)), None)
    # what else moves along both would be read line by line, each on another page
    if row is None or any(p.moves(row) and p.moves(line) for p in places if p not in (store, *apart)):
        return None
    size, count = constant_size(line) or 0, min(_MOST_ROWS, LINE_BYTES // store.index.dtype.itemsize)
    if (constant_size(row) or 0) < _SHORTEST_ROW or size < count:
        return None
    return (line, row, count) if size % count == 0 or kernel.can_repeat() else None


def _loops(kernel: KernelOpt) -> list[UOp]:
    return [r for r in stores_of(kernel.ast)[0].src[2:] if r.arg.kind is AxisType.LOOP]
