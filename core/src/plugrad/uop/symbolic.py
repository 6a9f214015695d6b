"""Symbolic simplification: constants folded, identities removed, index arithmetic in canonical form.

What floats would notice stays: `x * 0` (NaN, infinity, -0.0), `x + 0.0` (-0.0), `x - x`, `x / x`. Rules that
change the bits of floats all the same are listed in `docs/floats.md`, each with what it breaks.
"""

import math
from collections.abc import Callable
from typing import Any

from plugrad.dtype import STORABLE, ConstType, DType, dtype_max, dtypes, is_float, is_int, is_unsigned
from plugrad.uop.fold import SMALLEST_NORMAL, convert, evaluate, holds_exactly, reinterpret
from plugrad.uop.index_math.rules import pm_index
from plugrad.uop.node.expression import set_simplifier
from plugrad.uop.node.terms import operands_of
from plugrad.uop.ops import BINARY, COMMUTATIVE, TERNARY, UNARY, Ops
from plugrad.uop.rewrite import PatternMatcher, graph_rewrite
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat, pconsts, pvars

FLOATS = tuple(filter(is_float, STORABLE))
FIXED_INTS = tuple(filter(is_int, STORABLE))
INTS = (*FIXED_INTS, dtypes.index)

x, y, z, cond, cond2 = pvars("x y z cond cond2")
c0, c1 = pconsts("c0 c1")
i, j = pvars("i j", INTS)
f = UPat.var("f", FLOATS)
a, b = pvars("a b", dtypes.bool)


def _ordered(op: Ops) -> "Callable[..., UPat]":
    """Return a builder of patterns of `op` with constants on the right."""

    def pattern(left: UPat, right: "UPat | ConstType", dtype: Any = None) -> UPat:
        return UPat(op, dtype, (left, right if isinstance(right, UPat) else UPat.const(right)))

    return pattern


_add, _sub, _mul, _fdiv, _floordiv = map(_ordered, (Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.FLOORDIV))
_and, _or, _xor, _max = map(_ordered, (Ops.AND, Ops.OR, Ops.XOR, Ops.MAX))
_left, _right = map(_ordered, (Ops.SHL, Ops.SHR))
_less, _equal, _differs = map(_ordered, (Ops.CMPLT, Ops.CMPEQ, Ops.CMPNE))


def _node(dtype: DType, value: Any) -> UOp | None:
    return None if value is None else UOp(Ops.CONST, dtype, (), value)


def _fold(u: UOp) -> UOp | None:
    return _node(u.dtype, evaluate(u.op, u.dtype, tuple([s.arg for s in u.src])))


def _constant_right(u: UOp, c0: UOp, x: UOp) -> UOp:
    return UOp(u.op, u.dtype, (x, c0))


pm_fold = PatternMatcher(
    (UPat(UNARY, src=(UPat.cvar(),), name="u"), _fold),
    (UPat(BINARY, src=(UPat.cvar(), UPat.cvar()), name="u"), _fold),
    (UPat(TERNARY, src=(UPat.cvar(), UPat.cvar(), UPat.cvar()), name="u"), _fold),
    (UPat(Ops.CAST, src=(c0,), name="u"), lambda u, c0: _node(u.dtype, convert(c0.arg, c0.dtype, u.dtype))),
    (
        UPat(Ops.BITCAST, src=(c0,), name="u"),
        lambda u, c0: _node(u.dtype, reinterpret(c0.arg, c0.dtype, u.dtype)),
    ),
    (UPat(COMMUTATIVE, src=(c0, x), name="u"), _constant_right),
)


def _by_bounds(u: UOp) -> UOp | None:
    lowest, highest = u.bounds
    return UOp(Ops.CONST, u.dtype, (), lowest) if lowest == highest else None


def _add_constants(f: UOp, c0: UOp, c1: UOp) -> UOp | None:
    """Add once where that only leaves out the rounding of `f + c0`.

    Both constants have one sign, so no digits are cancelled that `f + c0` had rounded away, and their sum is
    exact, so that it rounds nothing itself: `-1 + 1 + 1e-10` is not 0.
    """
    small, large = sorted((c0.arg, c1.arg), key=abs)
    total = f.const_like(small + large)
    has_one_sign = small == 0 or (small < 0) == (large < 0)
    return f + total if has_one_sign and total.arg - large == small else None


def _mul_constants(f: UOp, c0: UOp, c1: UOp) -> UOp | None:
    """Multiply once where that rounds the constants' product instead of `f * c0`.

    Both constants grow what they multiply, or both shrink it: `f * c0` then overflows, or falls below the
    normal numbers, only where the result does.
    """
    sizes = (abs(c0.arg), abs(c1.arg))
    product = f.const_like(c0.arg * c1.arg)
    is_normal = SMALLEST_NORMAL[f.dtype.scalar()] <= abs(product.arg) < math.inf
    return f * product if is_normal and (min(sizes) >= 1 or max(sizes) <= 1) else None


def _divide_by_power_of_two(f: UOp, c0: UOp) -> UOp | None:
    """Multiply by the reciprocal of a power of two where that is a normal number."""
    if abs(math.frexp(c0.arg)[0]) != 0.5:
        return None
    reciprocal = f.const_like(1 / c0.arg)
    is_normal = SMALLEST_NORMAL[f.dtype.scalar()] <= abs(reciprocal.arg) < math.inf
    return f * reciprocal if is_normal else None


def _fits_below(i: UOp, j: UOp, c0: UOp) -> bool:
    """Say whether `i << c0 | j` has all digits of both, and apart."""
    digits = 8 * i.dtype.itemsize - (not is_unsigned(i.dtype))
    return i.vmin >= 0 and int(i.vmax) << c0.arg < 1 << digits and 0 <= j.vmin and j.vmax < 1 << c0.arg


def _upper_part(i: UOp, j: UOp, c0: UOp, c1: UOp) -> UOp | None:
    return i >> (c1.arg - c0.arg) if c1.arg >= c0.arg and _fits_below(i, j, c0) else None


def _lower_part(i: UOp, j: UOp, c0: UOp, c1: UOp) -> UOp | None:
    return j & c1.arg if 0 <= c1.arg < 1 << c0.arg and _fits_below(i, j, c0) else None


def _before_widening(i: UOp, c0: UOp, u: UOp) -> UOp | None:
    """Shift or mask a number in the dtype that has all its digits."""
    if u.dtype.itemsize <= i.dtype.itemsize or i.vmin < 0:
        return None
    if u.op is Ops.AND:
        return (i & (c0.arg & int(dtype_max(i.dtype)))).cast(u.dtype) if c0.arg >= 0 else None
    return (i >> c0.arg).cast(u.dtype) if c0.arg < 8 * i.dtype.itemsize else None


pm_arithmetic = PatternMatcher(
    # --- ADD, SUB, NEG ---
    (_add(i, 0), lambda i: i),
    (_add(f, c0), lambda f, c0: f if c0.arg == 0 and math.copysign(1, c0.arg) < 0 else None),
    (_add(_add(f, c0), c1), _add_constants),
    (_add(_add(i, c0), c1, FIXED_INTS), lambda i, c0, c1: i + (c0.arg + c1.arg)),
    (_add(i, i, FIXED_INTS), lambda i: i * 2),
    (_add(_mul(i, c0), _mul(i, c1), FIXED_INTS), lambda i, c0, c1: i * (c0.arg + c1.arg)),
    (_add(_mul(i, c0), i, FIXED_INTS), lambda i, c0: i * (c0.arg + 1)),
    (_add(i, _mul(i, c0), FIXED_INTS), lambda i, c0: i * (c0.arg + 1)),
    # x - c is x + -c, also for zeros
    (_sub(x, c0), lambda x, c0: x + x.const_like(-c0.arg)),
    (_sub(i, i), lambda i: i.const_like(0)),
    (UPat(Ops.NEG, src=(UPat(Ops.NEG, src=(x,)),)), lambda x: x),
    # --- MUL, FDIV ---
    (_mul(x, 1), lambda x: x),
    (_mul(i, 0), lambda i: i.const_like(0)),
    (_mul(_mul(f, c0), c1), _mul_constants),
    (_mul(_mul(i, c0), c1, FIXED_INTS), lambda i, c0, c1: i * (c0.arg * c1.arg)),
    (_fdiv(f, c0), _divide_by_power_of_two),
    # --- integer division ---
    (UPat((Ops.FLOORDIV, Ops.CDIV), FIXED_INTS, (i, UPat.const(1))), lambda i: i),
    (UPat((Ops.FLOORMOD, Ops.CMOD), FIXED_INTS, (i, UPat.const(1))), lambda i: i.const_like(0)),
    (
        UPat((Ops.FLOORMOD, Ops.CMOD), INTS, (i, j)),
        lambda i, j: i if i.vmin >= 0 and i.vmax < j.vmin else None,
    ),
    (
        _floordiv(_floordiv(i, c0), c1, FIXED_INTS),
        lambda i, c0, c1: (
            i // (c0.arg * c1.arg) if c1.arg > 0 and 0 < c0.arg * c1.arg < i.bounds[1] else None
        ),
    ),
    # --- MAX ---
    (_max(x, x), lambda x: x),
    (_max(f, -math.inf), lambda f: f),
    (_max(i, j), lambda i, j: i if i.vmin >= j.vmax else j if j.vmin >= i.vmax else None),
    (_max(_max(x, c0), c1), lambda x, c0, c1: x.maximum(c0.maximum(c1))),
    # --- bits of integers ---
    (_and(i, 0), lambda i: i.const_like(0)),
    (_and(i, c0), lambda i, c0: i if _keeps_all_bits(i, c0.arg) else None),
    (_and(_and(i, c0), c1), lambda i, c0, c1: i & (c0.arg & c1.arg)),
    (UPat((Ops.AND, Ops.OR), src=(x, x)), lambda x: x),
    (UPat((Ops.OR, Ops.XOR), src=(i, UPat.const(0))), lambda i: i),
    (_xor(_xor(i, c0), c1), lambda i, c0, c1: i ^ (c0.arg ^ c1.arg)),
    (_xor(i, i), lambda i: i.const_like(0)),
    (UPat((Ops.SHL, Ops.SHR), src=(i, UPat.const(0))), lambda i: i),
    (_right(_left(i, c0, FIXED_INTS) | j, c1), _upper_part),
    (_and(_left(i, c0, FIXED_INTS) | j, c1), _lower_part),
    (UPat((Ops.SHR, Ops.AND), FIXED_INTS, (UPat(Ops.CAST, src=(i,)), c0), name="u"), _before_widening),
)


def _keeps_all_bits(i: UOp, mask: int) -> bool:
    return mask == -1 or (i.vmin >= 0 and mask >= 0 and mask & (mask + 1) == 0 and i.vmax <= mask)


def _drop_repeated(u: UOp, a: UOp, b: UOp) -> UOp | None:
    """Fold a & b & a to a & b, a & ~a to False."""
    known, absorbing = operands_of(a, u.op), u.op is Ops.OR
    known_set = set(known)
    fresh = [t for t in operands_of(b, u.op) if t not in known_set]
    for t in fresh:
        negated = t.src[0] if t.op is Ops.XOR and t.src[1].op is Ops.CONST else ~t
        if negated in known_set:
            return u.const_like(absorbing)
    if len(fresh) == 1 and fresh[0] is b:
        return None
    for t in fresh:
        a = UOp(u.op, u.dtype, (a, t))
    return a


pm_bool = PatternMatcher(
    # bool has one name for each function of two truth values
    (_mul(a, b), lambda a, b: a & b),
    (UPat((Ops.ADD, Ops.MAX), src=(a, b)), lambda a, b: a | b),
    (_differs(a, b), lambda a, b: a ^ b),
    (_equal(a, b), lambda a, b: ~(a ^ b)),
    (_less(a, b), lambda a, b: ~a & b),
    (_and(a, True), lambda a: a),
    (_and(a, False), lambda a: a.const_like(False)),
    (_or(a, False), lambda a: a),
    (_or(a, True), lambda a: a.const_like(True)),
    (_xor(a, False), lambda a: a),
    (_xor(_xor(a, True), True), lambda a: a),
    (_xor(a, a), lambda a: a.const_like(False)),
    (UPat((Ops.AND, Ops.OR), src=(a, b), name="u"), _drop_repeated),
    # absorption
    (UPat(Ops.AND, src=[a, UPat(Ops.OR, src=[a, b])]), lambda a, b: a),
    (UPat(Ops.OR, src=[a, UPat(Ops.AND, src=[a, b])]), lambda a, b: a),
)


def _where_of_numbers(cond: UOp, c0: UOp, c1: UOp, u: UOp) -> UOp | None:
    left, right = (_node(u.dtype, convert(c.arg, c.dtype, u.dtype)) for c in (c0, c1))
    return None if left is None or right is None else cond.where(left, right)


pm_where = PatternMatcher(
    (UPat(Ops.WHERE, src=(cond, x, x)), lambda cond, x: x),
    (UPat(Ops.WHERE, src=(c0, x, y)), lambda c0, x, y: x if c0.arg else y),
    (_xor(cond, True).where(x, y), lambda cond, x, y: cond.where(y, x)),
    (cond.where(UPat.const(True, dtypes.bool), UPat.const(False, dtypes.bool)), lambda cond: cond),
    (cond.where(UPat.const(False, dtypes.bool), UPat.const(True, dtypes.bool)), lambda cond: ~cond),
    (cond.where(cond.where(x, y), z), lambda cond, x, y, z: cond.where(x, z)),
    (cond.where(x, cond.where(y, z)), lambda cond, x, y, z: cond.where(x, z)),
    (cond.where(cond2.where(x, y), y), lambda cond, cond2, x, y: (cond & cond2).where(x, y)),
    (cond.where(x, cond2.where(x, y)), lambda cond, cond2, x, y: (cond | cond2).where(x, y)),
)


def _through(x: UOp, u: UOp, v: UOp) -> UOp | None:
    """cast(cast(x)) is one cast where the middle dtype holds every value of x."""
    if holds_exactly(x.dtype, v.dtype) or _in_range(x, v.dtype):
        return x.cast(u.dtype)
    return None


def _in_range(x: UOp, dtype: DType) -> bool:
    if not is_int(x.dtype) or not is_int(dtype):
        return False
    held = x.replace(op=Ops.CAST, dtype=dtype, src=(x,), arg=None)
    return held.bounds == x.bounds


def _widen(x: UOp, y: UOp, v: UOp, u: UOp) -> UOp | None:
    """Widen a fixed-width sum that cannot wrap, so that it joins index sums."""
    exact = UOp(v.op, dtypes.index.vec(v.dtype.count), (x.cast(dtypes.index), y.cast(dtypes.index)))
    return exact if _in_range(exact, v.dtype) else None


pm_cast = PatternMatcher(
    (UPat(Ops.CAST, src=(x,), name="u"), lambda u, x: x if u.dtype is x.dtype else None),
    (UPat(Ops.BITCAST, src=(x,), name="u"), lambda u, x: x if u.dtype is x.dtype else None),
    (UPat(Ops.CAST, name="u", src=(UPat(Ops.CAST, name="v", src=(x,)),)), _through),
    (UPat(Ops.BITCAST, name="u", src=(UPat(Ops.BITCAST, src=(x,)),)), lambda u, x: x.bitcast(u.dtype)),
    (UPat(Ops.CAST, name="u", src=(cond.where(c0, c1),)), _where_of_numbers),
    (
        UPat(Ops.CAST, dtypes.index, name="u", src=(UPat((Ops.ADD, Ops.MUL), FIXED_INTS, (x, y), name="v"),)),
        _widen,
    ),
    # (bool as a number) != 0 is the bool
    (_differs(a.cast(), 0), lambda a: a),
    (_equal(a.cast(), 0), lambda a: ~a),
    (UPat(Ops.CAST, dtypes.bool, src=(i,)), lambda i: i.ne(0)),
)


pm_compare = PatternMatcher(
    (_less(i, i), lambda i: UOp.const(dtypes.bool.vec(i.dtype.count), False)),
    (_equal(i, i), lambda i: UOp.const(dtypes.bool.vec(i.dtype.count), True)),
    (_differs(i, i), lambda i: UOp.const(dtypes.bool.vec(i.dtype.count), False)),
    # adding is a bijection even where it wraps; for < it has to stay below the type's ends
    (
        UPat((Ops.CMPEQ, Ops.CMPNE), src=(_add(i, c0, FIXED_INTS), c1), name="u"),
        lambda i, c0, c1, u: UOp(u.op, u.dtype, (i, i.const_like(c1.arg - c0.arg))),
    ),
)

pm_vector = PatternMatcher(
    (UPat(Ops.GEP, src=(c0,), name="u"), lambda u, c0: UOp(Ops.CONST, u.dtype, (), c0.arg)),
    (UPat(Ops.GEP, src=(x,), name="u"), lambda u, x: x if u.arg == tuple(range(x.dtype.count)) else None),
    (
        UPat(Ops.GEP, src=(UPat(Ops.VECTORIZE, name="x"),), name="u"),
        lambda u, x: (
            x.src[u.arg[0]]
            if len(u.arg) == 1
            else x.replace(dtype=u.dtype, src=tuple([x.src[k] for k in u.arg]))
        ),
    ),
    (
        UPat(Ops.GEP, src=(UPat(Ops.GEP, name="x"),), name="u"),
        lambda u, x: x.src[0].gep(*[x.arg[k] for k in u.arg]),
    ),
    (
        UPat(Ops.VECTORIZE, src=UPat.cvar(), name="u"),
        lambda u: UOp(Ops.CONST, u.dtype, (), u.src[0].arg) if len(set(u.src)) == 1 else None,
    ),
    (
        UPat(Ops.VECTORIZE, src=UPat(Ops.GEP), name="u"),
        lambda u: (
            u.src[0].src[0].gep(*[s.arg[0] for s in u.src]) if len({s.src[0] for s in u.src}) == 1 else None
        ),
    ),
)


def _drop_single_steps(u: UOp) -> UOp | None:
    """Drop ranges that became constants from those that a STORE or REDUCE ends."""
    values = 2 if u.op is Ops.STORE else u.arg[1]
    src = (*u.src[:values], *(r for r in u.src[values:] if r.op is not Ops.CONST))
    if len(src) == len(u.src):
        return None
    if u.op is Ops.STORE or len(src) > values:
        return u.replace(src=src)
    out = src[0]
    for value in src[1:]:
        out = out.alu(u.arg[0], value)
    return out


pm_ranges = PatternMatcher(
    (UPat(Ops.RANGE, src=(UPat.const(1),), name="u"), lambda u: u.const_like(0)),
    (UPat((Ops.STORE, Ops.REDUCE), name="u"), _drop_single_steps),
)

_BOUNDED = frozenset({*BINARY, Ops.WHERE, Ops.NEG, Ops.CAST}) - {
    Ops.THREEFRY,
    Ops.POW,
    Ops.FDIV,
    Ops.FLOORDIV,
}

pm_bounds = PatternMatcher((UPat(_BOUNDED, (*INTS, dtypes.bool), name="u"), _by_bounds))

# one table, since it is matched against every node
pm_symbolic = PatternMatcher(
    *pm_fold.rules,
    *pm_bool.rules,
    *pm_index.rules,
    *pm_arithmetic.rules,
    *pm_compare.rules,
    *pm_where.rules,
    *pm_cast.rules,
    *pm_vector.rules,
    *pm_ranges.rules,
    *pm_bounds.rules,
)


def simplify(u: UOp) -> UOp:
    """Simplify a graph as far as the rules go.

    before: (i*1 + 0)*2 + i*3
    after:  i*5
    """
    return graph_rewrite(u, pm_symbolic, marks=True, name="simplify")


set_simplifier(simplify)
