"""Sum long axes of floats in pieces, which keeps the rounding error small.

A register that takes in a million values one after the other is soon so much greater than each of them that
most digits of these are lost. Sums of short pieces, sums of those, and so on lose little more than each of
these short sums does. The order of loads stays, and each piece costs one more addition.

Source: Higham 1993, "The accuracy of floating point summation", section 3 (pairwise sums; leaves are longer).
"""

from plugrad.codegen.combine import LONG_SUM
from plugrad.codegen.opt.analysis import steps_of
from plugrad.codegen.rebuild import UNROLLED, at, ranges_of_reduce, rebuild
from plugrad.dtype import is_float
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
    """Limit each register of a sum of floats to some hundreds of values.

    before: REDUCE(x(k), k) with k of 4096 steps
    after:  REDUCE(REDUCE(x(o*64 + i), i), o) with o and i of 64 steps
    """
    changed = rebuild(sink, lambda u: _split(u, has_stack=not capabilities.grid_dims))
    return sink if changed is sink else simplify(changed)


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
    if length >= _SHORT:
        return _in_pieces(value.reduce(Ops.ADD, *inner), loops, wanted)
    return _sum_pieces_and_rest(value, loops, wanted, inner, max(2, wanted // length))


def _sum_pieces_and_rest(
    value: UOp, loops: tuple[UOp, ...], wanted: int, inner: tuple[UOp, ...], steps: int
) -> UOp:
    """Return the sum with the last loop cut into pieces and a rest."""
    *around, r = loops
    size = r.src[0]
    piece = _piece_steps(size, steps)
    whole, rest = simplify(size // piece), simplify(size % piece)
    number, step, behind = (
        UOp.range(n, (*r.arg.ident, i), r.arg.kind) for i, n in enumerate((whole, piece, rest))
    )
    out = _in_pieces(
        at(value, r, number * piece + step).reduce(Ops.ADD, step, *inner), (*around, number), wanted
    )
    if rest.vmax == 0:
        return out
    left = at(value, r, whole * piece + behind).reduce(Ops.ADD, behind, *inner)
    return out + _in_pieces(left, tuple(around), wanted)


def _piece_steps(size: UOp, wanted: int) -> int:
    """Return the length of a piece of a range: a divisor near the target."""
    steps = int(size.vmax)
    if size.op is not Ops.CONST:
        return min(wanted, steps)
    near = sorted(range(max(2, wanted // 2), min(2 * wanted, steps - 1) + 1), key=lambda n: abs(n - wanted))
    return next((n for n in near if steps % n == 0), min(wanted, steps))
