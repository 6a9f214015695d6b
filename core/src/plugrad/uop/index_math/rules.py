"""Rules that bring sums, products and comparisons of indices to their canonical form."""

import math

from plugrad.dtype import dtypes
from plugrad.uop.index_math.divmod import floordiv, floormod, highest_of
from plugrad.uop.index_math.sums import (
    Terms,
    add_terms,
    bounds_of_sum,
    const_node,
    is_sorted_product,
    is_sorted_sum,
    multiply,
    scaled,
    sum_of,
    terms_of,
)
from plugrad.uop.ops import Ops
from plugrad.uop.rewrite import PatternMatcher
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat

_SPLIT = frozenset({Ops.FLOORDIV, Ops.FLOORMOD, Ops.MUL})


def _sum(u: UOp) -> UOp | None:
    if is_sorted_sum(u):
        return None
    terms, constant = terms_of(u)
    if sum(t.op in _SPLIT for t in terms) > 1:
        constant += _recombine(terms)
    return sum_of(terms, constant, u.dtype)


def _recombine(terms: Terms) -> int:
    """Replace `x // c * c + x % c` by `x`, through `x // c % d * c + x % c`.

    Returns what x adds to the constant.
    """
    constant = 0
    for t in [t for t in terms if t.op is Ops.FLOORMOD]:
        k = terms.get(t)
        if k is None:
            continue
        x, c = t.src
        quotient = _quotient_node(x, c)
        wanted, extra = terms_of(multiply(quotient, c))
        if not extra and wanted and all(terms.get(v) == j * k for v, j in wanted.items()):
            inner, extra = terms_of(x)
            add_terms(terms, ((t, 1), *wanted.items()), -k)
            add_terms(terms, inner.items(), k)
            constant += extra * k
            continue
        if c.op is not Ops.CONST:
            continue
        for v in terms:
            if (
                v.op is Ops.FLOORMOD
                and v.src[0] is quotient
                and v.src[1].op is Ops.CONST
                and terms[v] == k * c.arg
            ):
                whole = UOp(Ops.FLOORMOD, t.dtype, (x, const_node(t.dtype, c.arg * v.src[1].arg)))
                add_terms(terms, ((t, -k), (v, -k * c.arg), (whole, k)))
                break
    return constant


def _quotient_node(x: UOp, c: UOp) -> UOp:
    """Return the form that `x // c` takes next to a canonical `x % c`."""
    u = UOp(Ops.FLOORDIV, x.dtype, (x, c))
    while u.op is Ops.FLOORDIV and (simpler := floordiv(u)) is not None:
        u = simpler
    return u


def _difference(a: UOp, b: UOp) -> tuple[Terms, int]:
    terms, constant = terms_of(a)
    others, other = terms_of(b)
    add_terms(terms, others.items(), -1)
    return terms, constant - other


def _truth(u: UOp, value: bool) -> UOp:
    return UOp(Ops.CONST, u.dtype, (), value)


def _less(u: UOp) -> UOp | None:
    a, b = u.src
    if a.vmax < b.vmin:
        return _truth(u, True)
    if a.vmin >= b.vmax:
        return _truth(u, False)
    terms, constant = _difference(a, b)
    if not terms:
        return _truth(u, constant < 0)
    lowest, highest = bounds_of_sum(terms, constant)
    if highest < 0 or lowest >= 0:
        return _truth(u, highest < 0)
    if b.op is not Ops.CONST:
        difference = sum_of(terms, constant, a.dtype)
        if highest_of(difference) < 0 or highest_of(-difference) <= 0:
            return _truth(u, highest_of(difference) < 0)
    # terms < limit
    terms, limit = _without_small_rest(terms, -constant)
    if len(terms) == 1:
        term, k = next(iter(terms.items()))
        if k == 1 and term.op is Ops.FLOORDIV and term.src[1].op is Ops.CONST and term.src[1].arg > 0:
            return term.src[0] < const_node(a.dtype, limit * term.src[1].arg)
    first = min(terms, key=lambda t: t.order)
    if terms[first] > 0:
        return _less_node(u, terms, limit)
    # for integers, -x < c says the opposite of x < 1 - c
    return ~_less_node(u, {t: -k for t, k in terms.items()}, 1 - limit)


def _without_small_rest(terms: Terms, limit: int) -> tuple[Terms, int]:
    """Divide `terms < limit` by a factor of all terms but the negligible."""
    for g in sorted({abs(k) for k in terms.values()} | {math.gcd(*terms.values())}, reverse=True):
        if g == 1:
            break
        rest = {t: k for t, k in terms.items() if k % g}
        lowest, highest = bounds_of_sum(rest, 0)
        # s has to stay below the rounded up quotient of (limit - rest) and g, the same for every rest
        if len(rest) < len(terms) and -((highest - limit) // g) == -((lowest - limit) // g):
            return {t: k // g for t, k in terms.items() if k % g == 0}, -((highest - limit) // g)
    return terms, limit


def _sides(terms: Terms, constant: int, like: UOp) -> tuple[UOp, UOp]:
    """Return both sides of `terms = constant` with positive factors only."""
    left = {t: k for t, k in terms.items() if k > 0}
    right = {t: -k for t, k in terms.items() if k < 0}
    return sum_of(left, 0, like.dtype), sum_of(right, constant, like.dtype)


def _less_node(u: UOp, terms: Terms, limit: int) -> UOp:
    return UOp(Ops.CMPLT, u.dtype, _sides(terms, limit, u.src[0]))


def _equal(u: UOp) -> UOp | None:
    """Bring `a == b` and `a != b` to `terms == rest + c`, first term positive."""
    a, b = u.src
    same = u.op is Ops.CMPEQ
    if a.vmax < b.vmin or b.vmax < a.vmin:
        return _truth(u, not same)
    terms, constant = _difference(a, b)
    if not terms:
        return _truth(u, (constant == 0) is same)
    lowest, highest = bounds_of_sum(terms, constant)
    g = math.gcd(*terms.values())
    if highest < 0 or lowest > 0 or constant % g:
        return _truth(u, not same)
    if terms[min(terms, key=lambda t: t.order)] < 0:
        g = -g
    return UOp(u.op, u.dtype, _sides(scaled(terms, g), -constant // g, a))


x, y = UPat.var("x", dtypes.index), UPat.var("y", dtypes.index)

pm_index = PatternMatcher(
    (UPat(Ops.ADD, dtypes.index, name="u"), _sum),
    (UPat(Ops.MUL, dtypes.index, name="u"), lambda u: None if is_sorted_product(u) else multiply(*u.src)),
    (UPat(Ops.SUB, dtypes.index, (x, y)), lambda x, y: x + y * -1),
    (UPat(Ops.NEG, dtypes.index, (x,)), lambda x: x * -1),
    (UPat(Ops.FLOORDIV, dtypes.index, name="u"), floordiv),
    (UPat(Ops.FLOORMOD, dtypes.index, name="u"), floormod),
    (UPat(Ops.CMPLT, src=(x, y), name="u"), lambda u, x, y: _less(u)),
    (UPat((Ops.CMPEQ, Ops.CMPNE), src=(x, y), name="u"), lambda u, x, y: _equal(u)),
)
