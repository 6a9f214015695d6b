"""The canonical form of index arithmetic: terms with constant factors, and a constant.

Index arithmetic does not wrap, so a sum is a polynomial over its atoms (loop variables, quotients, loaded
indices). Sums are multiplied out and their terms sorted: two sums that are equal as polynomials are the
same node.
"""

from collections.abc import Iterable
from typing import Any

from plugrad.dtype import DType, dtypes
from plugrad.uop.node.structure import constant
from plugrad.uop.node.terms import Terms, operands_of, terms_of
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

# Multiplying sums out further than this costs more than it finds.
_MOST_TERMS = 32


def const_node(dtype: DType, value: int) -> UOp:
    """Return an index constant."""
    return constant(UOp, dtype, value)


def sum_of(terms: Terms, constant: int, dtype: DType = dtypes.index) -> UOp:
    """Return the sum with these terms: sorted, the constant last."""
    out = None
    for term in sorted(terms, key=_order) if len(terms) > 1 else terms:
        factor = terms[term]
        if factor == 0:
            continue
        if factor != 1:
            term = UOp(Ops.MUL, dtype, (term, const_node(dtype, factor)))
        out = term if out is None else UOp(Ops.ADD, dtype, (out, term))
    if out is None:
        return const_node(dtype, constant)
    return UOp(Ops.ADD, dtype, (out, const_node(dtype, constant))) if constant else out


def add_terms(into: Terms, terms: Iterable[tuple[UOp, int]], factor: int = 1) -> None:
    """Add terms times `factor` to a dict of terms; what cancels leaves it."""
    for term, c in terms:
        c = into.get(term, 0) + c * factor
        if c:
            into[term] = c
        else:
            into.pop(term, None)


def scaled(terms: Terms, divisor: int) -> Terms:
    """Return the terms with their factors divided by `divisor`, which divides them all."""
    return {t: c // divisor for t, c in terms.items()}


def bounds_of_sum(terms: Terms, constant: int) -> tuple[int, int]:
    """Return an interval that holds every value of the sum."""
    lowest = highest = constant
    for term, c in terms.items():
        a, b = term.bounds
        if c > 0:
            lowest += a * c
            highest += b * c
        else:
            lowest += b * c
            highest += a * c
    return lowest, highest


def factors_of(term: UOp) -> list[UOp]:
    """Return the atoms that a term without a constant factor multiplies, sorted."""
    return operands_of(term, Ops.MUL) if term.op is Ops.MUL else [term]


def product_of(factors: Iterable[UOp]) -> UOp:
    """Return the product of atoms, sorted."""
    first, *rest = sorted(factors, key=_order)
    for factor in rest:
        first = UOp(Ops.MUL, first.dtype, (first, factor))
    return first


def multiply(a: UOp, b: UOp) -> UOp:
    """Return the canonical form of the product of two canonical index nodes."""
    a_terms, a_const = terms_of(a)
    b_terms, b_const = terms_of(b)
    many_a, many_b = len(a_terms) + bool(a_const), len(b_terms) + bool(b_const)
    if many_a > 1 and many_b > 1 and many_a * many_b > _MOST_TERMS:
        return product_of((*factors_of(a), *factors_of(b)))
    out: Terms = {}
    if b_const:
        add_terms(out, a_terms.items(), b_const)
    if a_const:
        add_terms(out, b_terms.items(), a_const)
    for t, c in a_terms.items():
        for v, d in b_terms.items():
            add_terms(out, ((product_of((*factors_of(t), *factors_of(v))), c * d),))
    return sum_of(out, a_const * b_const, a.dtype)


def _order(u: UOp) -> Any:
    return u.order


def is_sorted_sum(u: UOp) -> bool:
    """Say whether an index ADD of canonical sources is canonical.

    The test is cheap: it may say no too often.
    """
    a, b = u.src
    last = a.src[1] if a.op is Ops.ADD else a
    if b.op is Ops.CONST:
        return b.arg != 0 and last.op is not Ops.CONST
    if last.op is Ops.CONST or b.op is Ops.ADD:
        return False
    last, b = _atom(last), _atom(b)
    return b.op not in _RECOMBINE and last is not b and last.order < b.order


def _atom(term: UOp) -> UOp:
    return term.src[0] if term.op is Ops.MUL and term.src[1].op is Ops.CONST else term


_RECOMBINE = frozenset({Ops.FLOORDIV, Ops.FLOORMOD})


def is_sorted_product(u: UOp) -> bool:
    """Say whether an index MUL of canonical sources is canonical.

    The test is cheap: it may say no too often.
    """
    a, b = u.src
    if a.op is Ops.ADD or a.op is Ops.CONST:
        return False
    if b.op is Ops.CONST:
        return b.arg not in (0, 1) and not (a.op is Ops.MUL and a.src[1].op is Ops.CONST)
    if b.op is Ops.ADD or b.op is Ops.MUL:
        return False
    last = a.src[1] if a.op is Ops.MUL else a
    return last.op is not Ops.CONST and not b.order < last.order
