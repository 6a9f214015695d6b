"""Simplify `//` and `%` of index arithmetic, as reshapes leave them.

The rounding is Python's: `x == (x // c) * c + x % c` with `0 <= x % c < c` for `c > 0`. Quotient and
remainder are always split in the same way, so that a sum which takes a number apart and puts it together
again finds both halves.
"""

import math
from collections.abc import Iterator

from plugrad.uop.index_math.sums import (
    Terms,
    add_terms,
    bounds_of_sum,
    const_node,
    factors_of,
    multiply,
    product_of,
    scaled,
    sum_of,
)
from plugrad.uop.node.terms import terms_of
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def floordiv(u: UOp) -> UOp | None:
    """Return a simpler form of the index quotient `u`, or None.

    before: (i*4 + j) // 8 where 0 <= j < 4
    after:  i // 2
    """
    x, d = u.src
    lowest, highest = u.bounds
    if lowest == highest:
        return const_node(u.dtype, int(lowest))
    if x is d and _never_zero(d):
        return const_node(u.dtype, 1)
    if d.op is Ops.CONST and d.arg in (0, 1):
        return x if d.arg else None
    if d.vmax < 0:
        return (-x) // (-d)
    if d.vmin <= 0:
        return None
    if x.op is Ops.FLOORDIV and _never_zero(x.src[1]):
        return x.src[0] // multiply(x.src[1], d)
    if d.op is not Ops.CONST:
        return _symbolic_quotient(x, d)
    return _quotient(x, d.arg)


def floormod(u: UOp) -> UOp | None:
    """Return a simpler form of the index remainder `u`, or None.

    before: (i*4 + j) % 8 where 0 <= j < 4
    after:  i % 2 * 4 + j
    """
    x, d = u.src
    if d.op is Ops.CONST and d.arg in (0, 1, -1):
        return const_node(u.dtype, 0) if d.arg else None
    if x is d and _never_zero(d):
        return const_node(u.dtype, 0)
    if d.vmax < 0:
        return -((-x) % (-d))
    if d.vmin <= 0:
        return None
    if d.op is not Ops.CONST:
        return _symbolic_remainder(x, d)
    return _remainder(x, d.arg)


def _never_zero(d: UOp) -> bool:
    return d.vmin > 0 or d.vmax < 0


# --- constant divisors ---


def _reduce(terms: Terms, c: int) -> tuple[Terms, Terms]:
    """Split terms into `c` times a quotient, and terms of smaller factors with their sign."""
    quotient: Terms = {}
    rest: Terms = {}
    for t, k in terms.items():
        q = k // c if k >= 0 else -(-k // c)
        if q:
            quotient[t] = q
        if k != q * c:
            rest[t] = k - q * c
    return quotient, rest


def _small_rests(terms: Terms, constant: int, c: int) -> Iterator[tuple[int, Terms, Terms, int]]:
    """Split `terms + constant` into `g*(s + m) + rest`, where `g` divides c and `0 <= rest < g`.

    Yields (g, s, rest, m); `rest` is without its constant, which is `constant - g*m`.
    """
    for g in sorted({math.gcd(k, c) for k in terms.values()} - {1, c}, reverse=True):
        rest = {t: k for t, k in terms.items() if k % g}
        lowest, highest = bounds_of_sum(rest, constant)
        if lowest // g == highest // g:
            yield g, {t: k // g for t, k in terms.items() if k % g == 0}, rest, lowest // g


def _nearest(terms: Terms, constant: int, c: int) -> tuple[Terms, Terms, int] | None:
    """Split `terms + constant` into `c*(q + m) + rest`. Factors of rest are nearest to zero."""
    rest = {t: k if 2 * abs(k) <= c else k - c if k > 0 else k + c for t, k in terms.items()}
    lowest, highest = bounds_of_sum(rest, constant)
    if lowest // c != highest // c:
        return None
    quotient = {t: (k - rest[t]) // c for t, k in terms.items() if k != rest[t]}
    return quotient, rest, lowest // c


def _quotient(x: UOp, c: int) -> UOp | None:
    dtype = x.dtype
    if x.op is Ops.FLOORMOD and x.src[1].op is Ops.CONST and x.src[1].arg > 0 and x.src[1].arg % c == 0:
        return x.src[0] // c % (x.src[1].arg // c)
    terms, constant = terms_of(x)
    quotient, rest = _reduce(terms, c)
    whole, constant = divmod(constant, c)
    if quotient or whole:
        return sum_of(quotient, whole, dtype) + sum_of(rest, constant, dtype) // c
    g = math.gcd(c, *terms.values())
    if g > 1:
        return sum_of(scaled(terms, g), constant // g, dtype) // (c // g)
    if len(terms) == 1 and constant:
        term, k = next(iter(terms.items()))
        if k == 1 and term.op is Ops.FLOORDIV and term.src[1].op is Ops.CONST and term.src[1].arg > 0:
            a = term.src[1].arg
            inner, extra = terms_of(term.src[0])
            return sum_of(inner, extra + constant * a, dtype) // (a * c)
    for g, s, _, m in _small_rests(terms, constant, c):
        return sum_of(s, m, dtype) // (c // g)
    if (found := _nearest(terms, constant, c)) is not None:
        return sum_of(found[0], found[2], dtype)
    return None


def _remainder(x: UOp, c: int) -> UOp | None:
    dtype = x.dtype
    lowest, highest = x.bounds
    if lowest // c == highest // c:
        return x - lowest // c * c
    if x.op is Ops.FLOORMOD and x.src[1].op is Ops.CONST and x.src[1].arg % c == 0:
        return x.src[0] % c
    terms, constant = terms_of(x)
    quotient, rest = _reduce(terms, c)
    whole, constant = divmod(constant, c)
    if quotient or whole:
        return sum_of(rest, constant, dtype) % c
    g = math.gcd(c, *terms.values())
    if g > 1:
        return sum_of(scaled(terms, g), constant // g, dtype) % (c // g) * g + constant % g
    for t, k in terms.items():
        if t.op is Ops.FLOORMOD and t.src[1].op is Ops.CONST and t.src[1].arg * k % c == 0:
            rest = {v: j for v, j in terms.items() if v is not t}
            return (sum_of(rest, constant, dtype) + t.src[0] * k) % c
    for g, s, rest, m in _small_rests(terms, constant, c):
        return sum_of(s, m, dtype) % (c // g) * g + sum_of(rest, constant - m * g, dtype)
    if (found := _nearest(terms, constant, c)) is not None:
        return sum_of(found[1], constant - found[2] * c, dtype)
    return None


# --- symbolic divisors, known to be positive ---


def _symbolic_quotient(x: UOp, d: UOp) -> UOp | None:
    if _lies_below(x, d):
        return const_node(x.dtype, 0)
    quotient, rest = divide_exactly(x, d)
    if quotient is not None:
        return quotient if _lies_below(rest, d) else quotient + rest // d
    for factor, others in _splits(d):
        quotient, rest = divide_exactly(x, factor)
        if quotient is not None and _lies_below(rest, factor):
            return quotient // others
    return None


def _symbolic_remainder(x: UOp, d: UOp) -> UOp | None:
    if _lies_below(x, d):
        return x
    quotient, rest = divide_exactly(x, d)
    if quotient is not None:
        return rest % d
    for factor, others in _splits(d):
        quotient, rest = divide_exactly(x, factor)
        if quotient is not None and _lies_below(rest, factor):
            return quotient % others * factor + rest
    return None


def _splits(d: UOp) -> Iterator[tuple[UOp, UOp]]:
    """Yield the ways to write a positive divisor as a product of two positive factors."""
    terms, constant = terms_of(d)
    content = math.gcd(constant, *terms.values())
    if content > 1:
        reduced = sum_of(scaled(terms, content), constant // content, d.dtype)
        yield reduced, const_node(d.dtype, content)
        yield const_node(d.dtype, content), reduced
    if len(terms) == 1 and not constant:
        term, k = next(iter(terms.items()))
        atoms = factors_of(term)
        if len(atoms) > 1 and all(a.vmin > 0 for a in atoms):
            for i, atom in enumerate(atoms):
                others = product_of(atoms[:i] + atoms[i + 1 :])
                yield atom, others * k
                yield others * k, atom


def divide_exactly(x: UOp, d: UOp) -> tuple[UOp | None, UOp]:
    """Return `(q, rest)` with `x == q*d + rest`, by polynomial division. q is None for nothing."""
    terms, constant = terms_of(x)
    d_terms, d_constant = terms_of(d)
    if not d_terms:
        quotient, rest = _reduce(terms, d_constant)
        whole, constant = divmod(constant, d_constant)
        found = quotient or whole
        return (sum_of(quotient, whole, x.dtype) if found else None), sum_of(rest, constant, x.dtype)
    lead = max(d_terms, key=_degree)
    lead_factor, lead_atoms = d_terms[lead], factors_of(lead)
    quotient: Terms = {}
    whole = 0
    # each step removes a term at least as high as the divisor's highest, and adds lower ones only
    for _ in range(64):
        step = _step(terms, lead_atoms, lead_factor)
        if step is None:
            break
        q, k = step
        if q is None:
            whole += k
            add_terms(terms, d_terms.items(), -k)
            constant -= d_constant * k
        else:
            add_terms(quotient, ((q, k),))
            product, extra = terms_of(multiply(q, d))
            add_terms(terms, product.items(), -k)
            constant -= extra * k
    if not quotient and not whole:
        return None, x
    return sum_of(quotient, whole, x.dtype), sum_of(terms, constant, x.dtype)


def _step(terms: Terms, lead_atoms: list[UOp], lead_factor: int) -> tuple[UOp | None, int] | None:
    """Return the next term of the quotient (None for a constant) with its factor."""
    for t in sorted(terms, key=_degree, reverse=True):
        if terms[t] % lead_factor:
            continue
        left = factors_of(t)
        for atom in lead_atoms:
            if atom not in left:
                break
            left.remove(atom)
        else:
            return (product_of(left) if left else None), terms[t] // lead_factor
    return None


def _degree(term: UOp) -> tuple[int, list[tuple[int, tuple[int, ...], int]]]:
    """Return a key that orders terms by degree, then by atoms."""
    atoms = factors_of(term)
    return len(atoms), [a.order for a in atoms]


def _lies_below(x: UOp, d: UOp) -> bool:
    if x.vmin >= 0 and x.vmax < d.vmin:
        return True
    return (x.vmin >= 0 or highest_of(-x) <= 0) and highest_of(x - d) < 0


def highest_of(x: UOp) -> int:
    """Return an upper bound of an index sum, with loop variables below symbolic sizes."""
    terms, constant = terms_of(x)
    best = bounds_of_sum(terms, constant)[1]
    for _ in range(16):
        replaced = _raise_one(terms)
        if replaced is None:
            break
        terms, extra = replaced
        constant += extra
        best = min(best, bounds_of_sum(terms, constant)[1])
    return best


def _raise_one(terms: Terms) -> tuple[Terms, int] | None:
    """Replace a range or remainder of symbolic size by its maximum, in a positive term."""
    for t, k in terms.items():
        atoms = factors_of(t)
        for i, atom in enumerate(atoms):
            size = _symbolic_size(atom)
            others = atoms[:i] + atoms[i + 1 :]
            if size is None or any(a.vmin < 0 for a in others):
                continue
            out = {v: j for v, j in terms.items() if v is not t}
            if k < 0:
                return out, 0
            most = size - 1
            raised, extra = terms_of(multiply(product_of(others), most) if others else most)
            add_terms(out, raised.items(), k)
            return out, extra * k
    return None


def _symbolic_size(atom: UOp) -> UOp | None:
    """Return n where `0 <= atom < n` holds and n is no constant."""
    if atom.op is Ops.RANGE or atom.op is Ops.SPECIAL:
        size = atom.src[0]
        return None if size.op is Ops.CONST else size
    if atom.op is Ops.FLOORMOD and atom.src[1].op is not Ops.CONST and atom.src[1].vmin > 0:
        return atom.src[1]
    return None
