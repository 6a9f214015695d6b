"""Add up long sums of floats in pieces, so that what rounding loses hardly grows with their length.

A register that takes in a million values one after the other is soon so much greater than each of them that
most digits of these are lost. Sums of short pieces, sums of those, and so on lose little more than each of
these short sums does. The order of loads stays, and each piece costs one more addition.

Source: Higham 1993, "The accuracy of floating point summation", section 3 (pairwise sums; leaves are longer).
"""

import math
from collections import Counter
from typing import Any

from plugrad.codegen.rebuild import at, ranges_of_reduce, rebuild
from plugrad.dtype import is_float
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp

# Up to so many additions to one register nothing is done. Of 10 million equal floats, pieces of 64 leave a
# relative error of 1e-7, of 400 one of 4e-6, and one after the other 1e-3; all take the same time.
_LONG = 1024
_PIECE = 64
# A piece of fewer would cost more than it saves.
_SHORT = 16
# Each register gets a second one. The tile of a product fills all that a machine has: with twice as many, gcc
# writes them to memory at every step, and a product of 512x4096 and 4096x512 takes 58 ms instead of 26.
_MOST_REGISTERS = 8


def split_long_sums(sink: UOp, _: Any = None) -> UOp:
    """Let no register of a sum of floats take in more than some hundreds of values.

    before: REDUCE(x(k), k) with k of 4096 steps
    after:  REDUCE(REDUCE(x(o*64 + i), i), o) with o and i of 64 steps
    """
    together = Counter(ranges_of_reduce(u) for u in sink.toposort() if u.op is Ops.REDUCE)
    crowded = {ranges for ranges, count in together.items() if count > _MOST_REGISTERS}
    changed = rebuild(sink, lambda u: _split(u, crowded))
    return sink if changed is sink else simplify(changed)


def _split(u: UOp, crowded: set[tuple[UOp, ...]]) -> UOp | None:
    if u.op is not Ops.REDUCE or u.arg[0] is not Ops.ADD or not is_float(u.dtype):
        return None
    values, ranges = u.src[: u.arg[1]], ranges_of_reduce(u)
    loops = tuple(r for r in ranges if r.arg.kind is AxisType.REDUCE)
    is_short = _steps(loops) * len(values) <= _LONG
    # a matrix instruction adds to its register itself
    if is_short or ranges in crowded or any(v.op is Ops.WMMA for v in values):
        return None
    lanes = tuple(r for r in ranges if r not in loops)
    return _in_pieces(values, loops).reduce(Ops.ADD, *lanes) if lanes else _in_pieces(values, loops)


def _steps(ranges: tuple[UOp, ...]) -> int:
    return math.prod(int(r.src[0].vmax) for r in ranges)


def _sum(values: tuple[UOp, ...], ranges: tuple[UOp, ...]) -> UOp:
    if not ranges:
        return values[0]
    return UOp(Ops.REDUCE, values[0].dtype, (*values, *ranges), (Ops.ADD, len(values)))


def _in_pieces(values: tuple[UOp, ...], ranges: tuple[UOp, ...]) -> UOp:
    """Return the sum of `values` over `ranges`, outermost first, by sums of the inner ones."""
    length = len(values)
    if _steps(ranges) * length <= 2 * _PIECE:
        return _sum(values, ranges)
    outer: tuple[UOp, ...] = ranges
    inner: tuple[UOp, ...] = ()
    while outer and length * _steps(outer[-1:]) <= 2 * _PIECE:
        length *= _steps(outer[-1:])
        outer, inner = outer[:-1], (outer[-1], *inner)
    if inner and length >= _SHORT:
        return _in_pieces((_sum(values, inner),), outer)
    return _cut(values, outer[:-1], outer[-1], inner, length)


def _cut(
    values: tuple[UOp, ...], around: tuple[UOp, ...], r: UOp, inner: tuple[UOp, ...], length: int
) -> UOp:
    """Return the sum with the range `r` cut into pieces, and into what is left behind the last whole one."""
    size = r.src[0]
    piece = _piece(size, max(2, _PIECE // length))
    whole, rest = simplify(size // piece), simplify(size % piece)
    number, step, behind = (
        UOp.range(n, (*r.arg.ident, i), r.arg.kind) for i, n in enumerate((whole, piece, rest))
    )
    main = tuple(at(v, r, number * piece + step) for v in values)
    out = _in_pieces((_sum(main, (step, *inner)),), (*around, number))
    if rest.vmax == 0:
        return out
    left = tuple(at(v, r, whole * piece + behind) for v in values)
    return out + _in_pieces((_sum(left, (behind, *inner)),), around)


def _piece(size: UOp, wanted: int) -> int:
    """Return how many steps of a range a piece has: near what is wanted, a divisor where there is one."""
    steps = int(size.vmax)
    if size.op is not Ops.CONST:
        return min(wanted, steps)
    near = sorted(range(max(2, wanted // 2), min(2 * wanted, steps - 1) + 1), key=lambda n: abs(n - wanted))
    return next((n for n in near if steps % n == 0), min(wanted, steps))
