"""Choose tiles of a kernel that reads rows where it writes columns.

A step reads a vector of each row that a line of results needs, exchanges rows and columns in registers (each
pair of vectors is interleaved, as often as the number of lanes has bits) and writes whole lines. Beside lines
that are gathered element by element, 384 x 2048 floats take 115 us instead of 468, and 16 images of
16 x 64 x 64 to channels last 132 instead of 618 (gcc 12, Zen 4).
"""

from plugrad._frozen import frozen
from plugrad.codegen.lanes import LANES_TO_SHUFFLE
from plugrad.codegen.opt.analysis import MemoryAccess
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.codegen.opt.unrolling import CODE_LIMIT
from plugrad.codegen.rebuild import stores_of
from plugrad.target import LINE_BYTES
from plugrad.uop import AxisType, UOp
from plugrad.uop.strides import constant_size

# More rows side by side take more registers than there are.
_MOST_ROWS = 16
# Lines so far apart share a set of the first cache: 64 sets of lines, as most processors have.
_WAY_BYTES = 64 * LINE_BYTES


def exchange_in_registers(kernel: KernelOpt) -> bool:
    """Give tiles to registers where a kernel transposes; say whether it does."""
    loops = [r for r in stores_of(kernel.ast)[0].src[2:] if r.arg.kind is AxisType.LOOP]
    tile = _tile(kernel, loops)
    if tile is None:
        return False
    inner = tile.innermost()
    if inner is not loops[-1]:
        kernel.apply(Opt(OptOps.SWAP, inner.arg.ident, loops[-1].arg.ident))
    for r, count in tile.sides:
        ident = r.arg.ident
        if (constant_size(r) or 0) % count:
            kernel.apply(Opt(OptOps.SHIFTIN, ident, count))
            ident = (*ident, 1)
        if count > 1:
            kernel.apply(Opt(OptOps.UPCAST, ident, count))
    return True


@frozen
class _Tile:
    """The axes along written lines and along read rows, with a tile's elements of each."""

    store: MemoryAccess
    read: MemoryAccess
    line: tuple[UOp, int]
    row: tuple[UOp, int]

    @property
    def sides(self) -> tuple[tuple[UOp, int], tuple[UOp, int]]:
        return self.line, self.row

    def innermost(self) -> UOp:
        """Return the axis along which the innermost loop goes.

        Lines that a step touches in part should still be in the cache in the next. Of what is read, a step
        touches parts: the loop goes along rows, unless written lines push each other out.
        """
        line, row = self.line[0], self.row[0]
        is_whole = self.line[1] * self.store.index.dtype.itemsize == LINE_BYTES
        is_row = not _shares_sets(self.store, row) or (is_whole and _shares_sets(self.read, line))
        return row if is_row else line


def _shares_sets(place: MemoryAccess, r: UOp) -> bool:
    """Say whether lines at all steps of `r` share a set of the first cache."""
    return place.step_bytes(r) % _WAY_BYTES == 0


def _tile(kernel: KernelOpt, loops: list[UOp]) -> _Tile | None:
    bodies = kernel.bodies
    if len(stores_of(kernel.ast)) != 1 or any(body.reduce is not None for body in bodies):
        return None
    places = bodies[0].places
    store = next(p for p in places if p.is_store)
    line = next((r for r in loops if store.is_contiguous(r) and kernel.can_write_out(r)), None)
    if line is None:
        return None
    apart = [p for p in places if p.moves(line) and not p.is_contiguous(line) and not p.is_shuffled(line)]
    row = next((r for r in loops if apart and all(p.is_contiguous(r) for p in apart)), None)
    dtype = store.index.dtype
    count = min(_MOST_ROWS, LINE_BYTES // dtype.itemsize)
    lanes = min(count, kernel.capabilities.lanes(dtype))
    # pairs are gathered, and stored by lines
    lanes = lanes if lanes >= LANES_TO_SHUFFLE else 1
    if row is None or not kernel.can_write_out(row) or lanes * bodies[0].written_out > CODE_LIMIT:
        return None
    sizes = [(constant_size(line) or 0, count), (constant_size(row) or 0, lanes)]
    fits = all(size >= n and (size % n == 0 or kernel.can_repeat()) for size, n in sizes)
    return _Tile(store, apart[0], (line, count), (row, lanes)) if fits else None
