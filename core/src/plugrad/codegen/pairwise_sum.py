"""Sum long axes of floats in pieces, which keeps the rounding error small.

A register that takes in a million values one after the other is soon so much greater than each of them that
most digits of these are lost. Sums of short pieces, sums of those, and so on lose little more than each of
these short sums does. The order of loads stays, and each piece costs one more addition.

Sums of narrow integers are pieces, too: as many as a narrow register holds, so that a vector takes in as many
lanes as it loads.

Source: Higham 1993, "The accuracy of floating point summation", section 3 (pairwise sums; leaves are longer).
"""

from plugrad.codegen.combine import LONG_SUM
from plugrad.codegen.opt.analysis import steps_of
from plugrad.codegen.rebuild import UNROLLED, at, ranges_of_reduce, rebuild
from plugrad.dtype import DType, dtypes, is_bool, is_float, is_int
from plugrad.target import Capabilities
from plugrad.uop import AxisType, Ops, UOp, simplify

# The values of a piece.
_PIECE = 64
# A piece of fewer values would cost more than it saves.
_SHORT = 16
# Each result gets a register for each level. A tile of more results than these fills all that a machine has,
# so its sums of pieces wait in memory, which pieces of 256 leave unseen: 512x4096 by 4096x512 runs as fast as
# in one chain, with an error of 4e-7 instead of 4e-6. Threads of a grid have registers only, each lane its
# own: one chain.
_MOST_RESULTS = 8
_PIECE_OF_TILE = 256

_LOOPS = frozenset({AxisType.REDUCE})
_LANES = frozenset({AxisType.LANE})
_RESULTS = frozenset({AxisType.UPCAST})


def split_long_sums(sink: UOp, capabilities: Capabilities) -> UOp:
    """Limit registers of sums: floats to some hundreds of values, integers to few bits.

    before: REDUCE(x(k), k) with k of 4096 steps
    after:  REDUCE(REDUCE(x(o*64 + i), i), o) with o and i of 64 steps

    before: REDUCE(CAST(b(k*32 + lane), int32), k, lane) with b of truths, k of 4064 steps
    after:  REDUCE(CAST(REDUCE(CAST(b(o*127*32 + i*32 + lane), int8), i), int32), o, lane), i of 127 steps
    """
    has_stack = not capabilities.grid_dims
    changed = rebuild(
        sink, lambda u: _split(u, has_stack) or (_narrowed(u) if has_stack else None), ops=(Ops.REDUCE,)
    )
    return sink if changed is sink else simplify(changed)


def _narrowed(u: UOp) -> UOp | None:
    """Return a sum of integers over vectors as sums of pieces in narrow registers."""
    if u.op is not Ops.REDUCE or u.arg != (Ops.ADD, 1) or not is_int(u.dtype):
        return None
    value, ranges = u.src[0], ranges_of_reduce(u)
    loops, lanes, copies = (
        tuple(r for r in ranges if r.arg.kind in kinds) for kinds in (_LOOPS, _LANES, UNROLLED)
    )
    loaded = [node.dtype.itemsize for node in value.toposort() if node.op is Ops.LOAD]
    has_lanes = any(r.arg.kind is AxisType.LANE for r in value.ranges)
    if not (loops and has_lanes and loaded) or len(loops) + len(lanes) + len(copies) < len(ranges):
        return None
    greatest = max(abs(int(value.vmin)), abs(int(value.vmax)), 1) * steps_of(copies)
    for dtype in (dtypes.int8, dtypes.int16, dtypes.int32):
        steps = ((1 << 8 * dtype.itemsize - 1) - 1) // greatest
        narrow = _in_dtype(value, dtype)
        if max(loaded) <= dtype.itemsize < u.dtype.itemsize and steps >= _SHORT and narrow is not None:
            wide = _sum_narrow(narrow, loops, copies, steps, u.dtype)
            return wide.reduce(Ops.ADD, *lanes) if lanes else wide
    return None


def _in_dtype(value: UOp, dtype: DType) -> UOp | None:
    """Return an integer in a narrower dtype, if it comes from no wider one."""
    source = value.src[0].dtype if value.op is Ops.CAST else None
    if source is None or not (is_bool(source) or (is_int(source) and source.itemsize <= dtype.itemsize)):
        return None
    return value.src[0].cast(dtype)


def _sum_narrow(value: UOp, loops: tuple[UOp, ...], copies: tuple[UOp, ...], steps: int, wide: DType) -> UOp:
    """Return the sum of pieces of at most `steps` steps of the last loop."""
    *around, r = loops
    if r.src[0].vmax <= steps:
        total = value.reduce(Ops.ADD, r, *copies).cast(wide)
    else:
        number, pieces, left = _pieces_and_rest(value, r, steps, copies)
        total = pieces.cast(wide).reduce(Ops.ADD, number)
        total = total if left is None else total + left.cast(wide)
    return total.reduce(Ops.ADD, *around) if around else total


def _pieces_and_rest(value: UOp, r: UOp, steps: int, inner: tuple[UOp, ...]) -> tuple[UOp, UOp, UOp | None]:
    """Return the loop over pieces of `r`, and sums of one and of the rest."""
    size = r.src[0]
    whole, rest = simplify(size // steps), simplify(size % steps)
    number, step, behind = (
        UOp.range(n, (*r.arg.ident, i), r.arg.kind) for i, n in enumerate((whole, steps, rest))
    )
    pieces = at(value, r, number * steps + step).reduce(Ops.ADD, step, *inner)
    left = at(value, r, whole * steps + behind).reduce(Ops.ADD, behind, *inner)
    return number, pieces, left if rest.vmax else None


def _split(u: UOp, has_stack: bool) -> UOp | None:
    if u.op is not Ops.REDUCE or u.arg != (Ops.ADD, 1) or not is_float(u.dtype):
        return None
    value, ranges = u.src[0], ranges_of_reduce(u)
    loops, lanes, copies = (
        tuple(r for r in ranges if r.arg.kind in kinds) for kinds in (_LOOPS, _LANES, UNROLLED)
    )
    # steps of an UNROLL axis go to one register, those of a PARTIAL one are added up by pairs
    unrolled = steps_of(r for r in copies if r.arg.kind is AxisType.UNROLL)
    kinds = _RESULTS if has_stack else _RESULTS | _LANES
    results = steps_of(r for r in u.ranges if r.arg.kind in kinds)
    is_short = steps_of(loops) * unrolled <= LONG_SUM
    is_tile = results > _MOST_RESULTS
    # a matrix instruction adds to its register itself
    if is_short or (is_tile and not has_stack) or value.op is Ops.WMMA:
        return None
    piece = _PIECE_OF_TILE if is_tile else _PIECE
    return _in_pieces(value, loops, piece, copies, unrolled).reduce(Ops.ADD, *lanes)


def _in_pieces(
    value: UOp, loops: tuple[UOp, ...], wanted: int, inner: tuple[UOp, ...] = (), length: int = 1
) -> UOp:
    """Return the sum of `value` over `loops`, and over `inner` ranges, in pieces.

    `loops` are outermost first.

    Args:
        value: what is added up.
        loops: those that are not in a piece yet.
        wanted: values of a piece, more or less.
        inner: those of a piece.
        length: how many values a register takes in along `inner`.
    """
    while loops and length * steps_of(loops[-1:]) <= 2 * wanted:
        length *= steps_of(loops[-1:])
        loops, inner = loops[:-1], (loops[-1], *inner)
    if not loops:
        return value.reduce(Ops.ADD, *inner)
    if length >= _SHORT and not _LOOPS.isdisjoint(r.arg.kind for r in inner):
        return _in_pieces(value.reduce(Ops.ADD, *inner), loops, wanted)
    *around, r = loops
    piece = _piece_steps(r.src[0], max(2, wanted // length))
    number, pieces, left = _pieces_and_rest(value, r, piece, inner)
    out = _in_pieces(pieces, (*around, number), wanted)
    return out if left is None else out + _in_pieces(left, tuple(around), wanted)


def _piece_steps(size: UOp, wanted: int) -> int:
    """Return the length of a piece of a range: a divisor near the target."""
    steps = int(size.vmax)
    if size.op is not Ops.CONST:
        return min(wanted, steps)
    near = sorted(range(max(2, wanted // 2), min(2 * wanted, steps - 1) + 1), key=lambda n: abs(n - wanted))
    return next((n for n in near if steps % n == 0), min(wanted, steps))
