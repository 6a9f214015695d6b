"""Factorizations of matrices: one kernel where devices run loops, elsewhere graphs whose steps are alike.

If the column number were a constant, each column would need a kernel of its own. So the number is an element
in memory that each step increments: a factorization compiles two to four kernels, whatever the size of the
matrix, and launches them once a step. Everything is batched over leading axes. Large matrices are halved,
until their steps are few.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from plugrad.dtype import DType, dtypes, part_dtype
from plugrad.errors import DtypeError
from plugrad.tensor.linalg.field import direction, divided, magnitude, quotient, scaled, square
from plugrad.tensor.linalg.matmul import matrix_product
from plugrad.tensor.linalg.matrix_steps import (
    FEW,
    State,
    at,
    columns_of,
    computed,
    counter,
    cut,
    factorized,
    padded,
    repeat_step,
    rows_of,
    sum_along,
    take_rows,
    transposed,
)
from plugrad.tensor.linalg.triangles import inverse_of_lower, pad_with_identity, solve_lower
from plugrad.tensor.lookup import counted, pick_last
from plugrad.tensor.shapes import expanded
from plugrad.uop import UOp

# Measured: larger matrices are halved.
_CHOLESKY_STEPS = 32

_EPSILONS = {dtypes.float32: 2.0**-23, dtypes.float64: 2.0**-52}


def epsilon(dtype: DType) -> float:
    """Return the distance from 1 to the next float, for the dtypes of factorizations.

    Example:
        >>> epsilon(dtypes.float32)
        1.1920928955078125e-07
    """
    part = part_dtype(dtype)
    if part not in _EPSILONS:
        raise DtypeError(f"factorizations compute in float32 or float64, not in {dtype.name}. Cast first.")
    return _EPSILONS[part]


def cholesky_factor(x: UOp, device: str) -> UOp:
    """Return the lower L with `x == L @ L.H`, reading the lower triangle of `x`.

    Shapes: (*B, n, n) -> (*B, n, n).

    From the first pivot on that is not positive, everything is NaN. Diagonals are real.

    Source: Golub and Van Loan 2013, algorithm 4.2.2.
    """
    size: Any = x.shape[-1]
    if size <= _CHOLESKY_STEPS:
        return _small_cholesky(x, device, FEW)
    doublings = (-(-size // _CHOLESKY_STEPS) - 1).bit_length()
    width = -(-size >> doublings)
    (x,) = computed((pad_with_identity(x, width << doublings).contiguous(),), device)
    factor = _cholesky_by_halves(x, width, device)
    return cut(factor, (0, size), (0, size))


def _cholesky_by_halves(x: UOp, width: int, device: str) -> UOp:
    """Factorize the upper half, solve for the block below, and factorize the rest."""
    size: Any = x.shape[-1]
    if size == width:
        return _small_cholesky(x, device, 1)
    half = size // 2
    first, second = (0, half), (half, size)
    upper = _cholesky_by_halves(cut(x, first, first).contiguous(), width, device)
    below = cut(x, second, first)
    below = solve_lower(upper, transposed(below.conj()).contiguous(), device)
    below = transposed(below.conj()).contiguous()
    left = cut(x, second, second) - matrix_product(below, transposed(below.conj()))
    # steps compute what they read: that should not be done for each result again
    below, left = computed((below, left.contiguous()), device)
    lower = _cholesky_by_halves(left, width, device)
    left_half = padded(upper, (0, half), (0, half)) + padded(below, (half, 0), (0, half))
    return (left_half + padded(lower, (half, 0), (half, 0))).contiguous()


def _small_cholesky(x: UOp, device: str, few: int) -> UOp:
    shape: Any = x.shape
    is_small, state = bool(shape[-1] <= few), transposed(x)
    steps = _cholesky_by_steps if is_small else partial(_cholesky_by_steps, few=few)
    upper = factorized("cholesky", steps, state, counter(device), device=device, is_small=is_small)
    return (rows_of(shape) >= columns_of(shape)).where(transposed(upper), x.const_like(0.0)).contiguous()


def _cholesky_by_steps(upper: UOp, number: UOp, device: str, few: int = FEW) -> UOp:
    x, shape = transposed(upper), upper.shape
    size: Any = shape[-1]
    column = columns_of(shape)

    def reduced(before: State) -> State:
        state, k = before
        step = expanded(k, shape)
        head = at(state, -1, k)
        pivot = at(head, -2, k).real()
        root = (pivot > 0.0).where(pivot.sqrt(), pivot.const_like(float("nan")))
        made = divided(head, expanded(root, head.shape))
        mine = expanded(made, shape)
        others = expanded(transposed(made).conj(), shape)
        left = (column > step).where(state - mine * others, state)
        return column.eq(step).where(mine, left).contiguous(), (k + 1).contiguous()

    return transposed(repeat_step(reduced, (x.contiguous(), number), size, device, few)[0])


def householder(x: UOp, device: str) -> UOp:
    """Return R and, below its diagonal, the Householder vectors that made it: (*B, m, n) -> the same.

    Each vector has a 1 on the diagonal, which is not stored. A column that is 0 below the diagonal is
    reflected all the same, by a vector of zeros behind its 1: row k of R then has the other sign. Reflections
    are Hermitian, `I - 2 v v^H / v^H v`, so that of complex matrices the diagonal of R is complex.

    Source: Golub and Van Loan 2013, algorithms 5.1.1 and 5.2.1, and section 5.1.13.
    """
    state, steps, is_small = transposed(x), _householder_by_steps, _reflections(x) <= FEW
    made = factorized("householder", steps, state, counter(device), device=device, is_small=is_small)
    return transposed(made).contiguous()


def _householder_by_steps(columns: UOp, number: UOp, device: str) -> UOp:
    x = transposed(columns)
    shape = x.shape
    row, column = rows_of(shape), columns_of(shape)

    def reflected_once(before: State) -> State:
        state, k = before
        step = expanded(k, shape)
        head = at(state, -1, k)
        head_row, head_step = rows_of(head.shape), expanded(k, head.shape)
        below = (head_row > head_step).where(head, head.const_like(0.0))
        tail = sum_along(square(below), -2).contiguous()
        way, size = direction(at(head, -2, k))
        norm = (size * size + tail).sqrt()
        one, is_zero = norm.const_like(1.0), norm.eq(0.0)
        tau = is_zero.where(norm.const_like(2.0), (norm + size) / is_zero.where(one, norm))
        divisor = expanded(is_zero.where(one, norm + size), head.shape)
        made_below = divided(below * expanded(way.conj(), head.shape), divisor)
        vector = head_row.eq(head_step).where(head.const_like(1.0), made_below)
        mine = expanded(vector, shape)
        shadow = sum_along(mine.conj() * state, -2).contiguous()
        left = state - scaled(mine, expanded(tau, shape)) * expanded(shadow, shape)
        made = row.eq(step).where(expanded(-scaled(way, norm), shape), mine)
        new = column.eq(step).where(made, (column > step).where(left, state))
        return (row >= step).where(new, state).contiguous(), (k + 1).contiguous()

    return transposed(repeat_step(reflected_once, (x.contiguous(), number), _reflections(x), device)[0])


def _reflections(x: UOp) -> int:
    shape: Any = x.shape
    return min(shape[-2:])


def inverse(factors: UOp, order: UOp, device: str) -> UOp:
    """Return the inverse of matrices from their LU factors: (*B, n, n) -> (*B, n, n)."""
    shape = factors.shape
    lower, upper = inverse_factors(factors, device)
    # where each row went, from where each one came
    row, column = rows_of(shape), columns_of(shape)
    came = row.eq(order.reshape((*shape[:-2], 1, shape[-1])).expand(shape))
    went = sum_along(came.where(column, column.const_like(0)), -1).contiguous()
    places = expanded(transposed(went), shape)
    return matrix_product(upper, pick_last(lower, places).contiguous())


def substitute(factors: UOp, right: UOp, device: str, others: Callable[[], UOp] | None = None) -> UOp:
    """Return the solution of `L @ U @ x == right`.

    Shapes: (*B, n, n), (*B, n, k) -> (*B, n, k).

    Args:
        factors: L and U.
        right: the right sides.
        device: where they are.
        others: gives the solution of large systems where nothing runs in order.

    Source: Golub and Van Loan 2013, algorithms 3.1.3 and 3.1.4.
    """
    size: Any = factors.shape[-1]
    count: Any = right.shape[-1]
    before, behind = (size, 0), (0, count)
    state = padded(factors, (0, 0), behind) + padded(right, (0, 0), before)

    def by_others(state: UOp, number: UOp, device: str) -> UOp:
        assert others is not None, "small systems take steps"
        return padded(others(), (0, 0), before)

    steps, is_small = (_substitute_by_steps, True) if others is None else (by_others, False)
    found = factorized("substitution", steps, state, counter(device), device=device, is_small=is_small)
    return cut(found, (0, size), (size, size + count)).contiguous()


def _substitute_by_steps(state: UOp, number: UOp, device: str) -> UOp:
    size: Any = state.shape[-2]
    columns: Any = state.shape[-1]
    factors, right = cut(state, (0, size), (0, size)), cut(state, (0, size), (size, columns))
    shape = right.shape
    row = rows_of(shape)

    def forwards(before: State) -> State:
        right, k = before
        product = expanded(at(factors, -1, k), shape) * expanded(at(right, -2, k), shape)
        below = row > expanded(k, shape)
        return below.where(right - product, right).contiguous(), (k + 1).contiguous()

    def backwards(before: State) -> State:
        right, k = before
        column, step = at(factors, -1, k), expanded(k, shape)
        pivot, mine = at(column, -2, k), at(right, -2, k)
        found = expanded(quotient(mine, expanded(pivot, mine.shape)), shape)
        left = (row < step).where(right - expanded(column, shape) * found, right)
        return row.eq(step).where(found, left).contiguous(), (k - 1).contiguous()

    reduced = repeat_step(forwards, (right.contiguous(), number), size - 1, device)
    return padded(repeat_step(backwards, reduced, size, device)[0], (0, 0), (size, 0))


def inverse_factors(factors: UOp, device: str) -> tuple[UOp, UOp]:
    """Return the inverses of L and U."""
    lower = inverse_of_lower(factors, device, unit=True)
    return lower, transposed(inverse_of_lower(transposed(factors), device))


def orthogonalize_rows(x: UOp, device: str, width: int, sweeps: int) -> UOp:
    """Rotate the rows of `x` among each other until they are orthogonal: (*B, n, m) -> the same.

    One-sided Jacobi: each rotation makes one pair of rows orthogonal, and all pairs of a round are rotated by
    one kernel. Row i meets row n - 1 - i; then all rows but the first move on by n / 2 places. After a sweep,
    n - 1 rounds, each pair has met, and each row is where it was. Of the rows as they are given, p and
    q meet in round (p + q) % (n - 1), and the last one meets who would meet itself. Other orders need more
    sweeps for repeated singular values.

    Args:
        x: the rows; their number is even.
        width: how many of the columns count as the vectors; the others are rotated along.
        sweeps: how often each pair meets.

    Source: Lucas 1883, "Récréations mathématiques", volume 2, the sixth recreation, for the order; Brent and
    Luk 1985, "The solution of singular-value and symmetric eigenvalue problems on multiprocessor
    arrays"; the angle is that of Golub and Van Loan 2013, section 8.6.3.
    """
    count: Any = x.shape[-2]

    def rotated(state: State) -> State:
        return (_jacobi_round(state[0], width).contiguous(),)

    # the last row is the one that stays
    row, last = counted(count, dtypes.int32, (count,), 0), count - 1
    swapped = row.eq(0).where(row.const_like(last), row.eq(last).where(row.const_like(0), row))
    (out,) = repeat_step(rotated, (take_rows(x, swapped).contiguous(),), sweeps * last, device)
    return take_rows(out, swapped).contiguous()


def _jacobi_round(state: UOp, width: int) -> UOp:
    """Rotate each row with its partner and move it on: (*B, n, m) -> the same."""
    shape = state.shape
    count: Any = shape[-2]
    batch = shape[:-2]
    vectors = cut(state, (0, count), (0, width))
    # the products of each row with itself, and with its partner, in one reduction
    both: Any = (*batch, 2, count, width)
    one: Any = (*batch, 1, count, width)
    is_own = counted(2, dtypes.int32, both, len(batch)).eq(0)
    own, partner = (u.reshape(one).expand(both) for u in (vectors, _partners(vectors)))
    dots = sum_along(own * is_own.where(own, partner).conj(), -1).contiguous()
    heads: list[tuple[Any, Any]] = [(0, dim) for dim in batch]
    lengths = dots.shrink([*heads, (0, 1), (0, count), (0, 1)]).reshape((*batch, count, 1)).real()
    mixed = dots.shrink([*heads, (1, 2), (0, count), (0, 1)]).reshape((*batch, count, 1))
    # turned by the direction of their product, the partner has a real product with the row
    way, size = direction(mixed)
    tangent = scaled(way, _tangent(lengths, _partners(lengths), size)).contiguous()
    row = counted(count, dtypes.int32, (count,), 0)
    # modulo, as its bounds show that each place exists
    came = row.eq(0).where(row, (row + (count // 2 - 1)) % (count - 1) + 1)
    tangent = take_rows(tangent, came)
    cosine = (square(tangent) + 1.0).sqrt().reciprocal()
    turn = expanded(scaled(tangent, cosine), shape)
    return scaled(take_rows(state, came), expanded(cosine, shape)) + take_rows(state, count - 1 - came) * turn


def _partners(x: UOp) -> UOp:
    """Return the row that each row meets, in its place: (*B, n, m) -> (*B, n, m)."""
    return x.flip((len(x.shape) - 2,))


def _tangent(mine: UOp, other: UOp, mixed: UOp) -> UOp:
    """Return the tangent of the angle between each row and its partner: (*B, n, 1).

    Args:
        mine: the product of the row with itself.
        other: that of its partner.
        mixed: the length of the product of both.

    Source: Golub and Van Loan 2013, section 8.6.3.
    """
    one, zero = mine.const_like(1.0), mine.const_like(0.0)
    is_small = mixed <= (mine.sqrt() * other.sqrt()) * epsilon(mine.dtype)
    zeta = (other - mine) / (is_small.where(one, mixed) * 2.0)
    tangent = one / (magnitude(zeta) + (zeta * zeta + 1.0).sqrt())
    # seen from the partner, the angle is the opposite one; equal lengths turn by a quarter of pi
    is_first = rows_of(mine.shape) < mine.shape[-2] // 2
    is_positive = zeta.eq(0.0).where(is_first, zeta > 0.0)
    return is_small.where(zero, is_positive.where(-tangent, tangent))
