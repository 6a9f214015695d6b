"""Factorizations of matrices as graphs, made of steps that are all the same kernels.

Eliminating column 37 is another kernel than eliminating column 38 if the number is part of it. So the number
is an element in memory, which each step counts on: a factorization compiles two to four kernels, whatever the
size of the matrix, and launches them once a step. Everything is batched over leading axes.

The graph of all steps of a large matrix would take longer to schedule than its kernels to run. So many steps
are computed while the graph is made: one of them is planned, and its launches repeated.

All functions take floats of the width to compute in, and have no useful gradient: the callers add that.
"""

import struct
from collections.abc import Callable
from typing import Any

from plugrad.dtype import DType, dtypes
from plugrad.engine import storage
from plugrad.engine.realize import realize
from plugrad.engine.repeat import repeat
from plugrad.errors import DtypeError
from plugrad.tensor.host import HOST, host_buffer
from plugrad.tensor.lookup import counted, pick_last
from plugrad.tensor.matmul import matrix_product
from plugrad.tensor.shapes import Shape, expanded
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

_EPSILONS = {dtypes.float32: 2.0**-23, dtypes.float64: 2.0**-52}


def epsilon(dtype: DType) -> float:
    """Return the distance from 1 to the next float, for dtypes that matrices are factorized in.

    Raises:
        DtypeError: matrices are not factorized in `dtype`.

    Example:
        >>> epsilon(dtypes.float32)
        1.1920928955078125e-07
    """
    if dtype not in _EPSILONS:
        raise DtypeError(f"factorizations compute in float32 or float64, not in {dtype.name}. Cast first.")
    return _EPSILONS[dtype]


# --- how steps follow each other ---

# So many steps are a graph like any other.
_FEW = 32

State = tuple[UOp, ...]


def repeated(step: Callable[[State], State], state: State, count: int, device: str) -> State:
    """Return the state after `count` steps.

    Many steps are computed now. Few are a graph like any other, as are steps of values that nobody knows yet:
    those of one example inside of `vmap`.

    Example:
        >>> x = Tensor([1.0])
        >>> (state,) = repeated(lambda state: ((state[0] + 1).contiguous(),), (x.uop,), 3, x.device)
        >>> Tensor(state).tolist()
        [4.0]
    """
    if count > _FEW and _is_known(state):
        return repeat(step, state, count, device)
    for _ in range(count):
        state = step(state)
    return state


def computed(values: State, device: str) -> State:
    """Return values in memory, computed by one schedule; as they are where what they read is not known yet.

    Example:
        >>> x = Tensor([1.0, 2.0])
        >>> [u.op for u in computed(((x + 1).uop,), x.device)]
        [Ops.BUFFER]
    """
    if not _is_known(values):
        return values
    realize(values, device)
    return tuple([storage.resolve(u, device) for u in values])


def _is_known(state: State) -> bool:
    graph = storage.resolve_graph(UOp.sink(*state)).values()
    return all(storage.find_buffer(u) is not None for u in graph if u.op is Ops.BUFFER)


# --- what steps are made of ---


def counter(device: str) -> UOp:
    """Return the number of the first step, 0, in memory: (1,) of int32.

    Example:
        >>> counter("PYTHON").shape
        (1,)
    """
    number = host_buffer(struct.pack("=i", 0), (1,), dtypes.int32)
    return number if device == HOST else number.copy_to_device(device)


def _rows(shape: Shape) -> UOp:
    return counted(shape[-2], dtypes.int32, shape, len(shape) - 2)


def _columns(shape: Shape) -> UOp:
    return counted(shape[-1], dtypes.int32, shape, len(shape) - 1)


def _full(u: UOp, shape: Shape) -> UOp:
    return expanded(u, shape)


def _at(x: UOp, axis: int, place: UOp) -> UOp:
    """Return the element of an axis in a computed place; the axis stays with size 1."""
    axis += len(x.shape)
    here = counted(x.shape[axis], dtypes.int32, x.shape, axis).eq(_full(place, x.shape))
    return here.where(x, x.const_like(0)).reduce_axis(Ops.ADD, (axis,))


def _sum(x: UOp, axis: int) -> UOp:
    return x.reduce_axis(Ops.ADD, (axis + len(x.shape),))


def _transposed(x: UOp) -> UOp:
    last = len(x.shape)
    return x.permute((*range(last - 2), last - 1, last - 2))


def _magnitude(x: UOp) -> UOp:
    return (x < 0.0).where(-x, x)


# --- factorizations ---


def lu_factors(x: UOp, device: str) -> tuple[UOp, UOp]:
    """Return LU with partial pivoting: (*B, n, n) -> (*B, n, n) and the rows' order, (*B, n) of int32.

    The strict lower triangle holds L, whose diagonal is 1, the rest U: `x[order] == L @ U`. A column without
    any pivot leaves a 0 on the diagonal of U.

    Source: Golub and Van Loan 2013, "Matrix Computations", algorithm 3.4.1.
    """
    size: Any = x.shape[-1]
    shape = (*x.shape[:-1], size + 1)
    # where each row came from moves along in a column of its own: exact below 2**24
    origin = _columns((*x.shape[:-1], 1)) + _rows((*x.shape[:-1], 1))
    pads: list[tuple[Any, Any]] = [(0, 0)] * (len(shape) - 1)
    state = x.pad([*pads, (0, 1)]) + origin.cast(x.dtype).pad([*pads, (size, 0)])
    row, column = _rows(shape), _columns(shape)

    def eliminated(before: State) -> State:
        state, k = before
        step = _full(k, shape)
        head = _at(state, -1, k)
        pivot_row = _pivot_row(head, k)
        here, there = row.eq(step), row.eq(_full(pivot_row, shape))
        chosen, replaced = _full(_at(state, -2, pivot_row), shape), _full(_at(state, -2, k), shape)
        swapped = here.where(chosen, there.where(replaced, state))
        pivot = _full(_at(chosen.shrink(_one_row(shape)), -1, k), shape)
        heads = _full(_at(replaced.shrink(_one_row(shape)), -1, k), shape)
        below = there.where(heads, _full(head, shape))
        factor = pivot.eq(0.0).where(pivot.const_like(0.0), below / pivot)
        left = swapped - factor * chosen
        inside = (column > step) & (column < size)
        updated = column.eq(step).where(factor, inside.where(left, swapped))
        return (row > step).where(updated, swapped).contiguous(), (k + 1).contiguous()

    state, _ = repeated(eliminated, (state.contiguous(), counter(device)), size - 1, device)
    bounds: list[tuple[Any, Any]] = [(0, dim) for dim in shape[:-1]]
    order = state.shrink([*bounds, (size, size + 1)]).reshape(x.shape[:-1])
    return state.shrink([*bounds, (0, size)]), order.cast(dtypes.int32)


def _one_row(shape: Shape) -> list[tuple[Any, Any]]:
    return [*((0, dim) for dim in shape[:-2]), (0, 1), (0, shape[-1])]


def _pivot_row(head: UOp, k: UOp) -> UOp:
    """Return the row of the greatest magnitude from row `k` on: (*B, n, 1) -> (*B, 1, 1)."""
    size: Any = head.shape[-2]
    row = _rows(head.shape)
    magnitude = (row < _full(k, head.shape)).where(head.const_like(-1.0), _magnitude(head))
    axis = len(head.shape) - 2
    best = magnitude.reduce_axis(Ops.MAX, (axis,)).contiguous()
    found = magnitude.eq(_full(best, head.shape)) | magnitude.ne(magnitude)
    from_end = found.where(row.const_like(size) - row, row.const_like(0))
    return (size - from_end.reduce_axis(Ops.MAX, (axis,))).contiguous()


def cholesky_factor(x: UOp, device: str) -> UOp:
    """Return the lower L with `x == L @ L.T`, of the lower triangle of `x`: (*B, n, n) -> (*B, n, n).

    From the first pivot on that is not positive, everything is NaN.

    Source: Golub and Van Loan 2013, algorithm 4.2.2.
    """
    size: Any = x.shape[-1]
    shape = x.shape
    row, column = _rows(shape), _columns(shape)

    def reduced(before: State) -> State:
        state, k = before
        step = _full(k, shape)
        head = _at(state, -1, k)
        pivot = _at(head, -2, k)
        root = (pivot > 0.0).where(pivot.sqrt(), pivot.const_like(float("nan")))
        scaled = head / _full(root, head.shape)
        mine = _full(scaled, shape)
        others = _full(_transposed(scaled), shape)
        left = (column > step).where(state - mine * others, state)
        return column.eq(step).where(mine, left).contiguous(), (k + 1).contiguous()

    state, _ = repeated(reduced, (x.contiguous(), counter(device)), size, device)
    return (row >= column).where(state, state.const_like(0.0))


def reflected(x: UOp, device: str) -> UOp:
    """Return R and, below its diagonal, the vectors of the reflections that made it: (*B, m, n) -> the same.

    Each vector has a 1 on the diagonal, which is not stored. A column that is 0 below the diagonal is
    reflected all the same, by a vector of zeros behind its 1: row k of R then has the other sign.

    Source: Golub and Van Loan 2013, algorithms 5.1.1 and 5.2.1.
    """
    shape = x.shape
    row, column = _rows(shape), _columns(shape)
    rows: Any = shape[-2]
    columns: Any = shape[-1]

    def reflected_once(before: State) -> State:
        state, k = before
        step = _full(k, shape)
        head = _at(state, -1, k)
        head_row, head_step = _rows(head.shape), _full(k, head.shape)
        below = (head_row > head_step).where(head, head.const_like(0.0))
        tail = _sum(below * below, -2).contiguous()
        first = _at(head, -2, k)
        norm = (first * first + tail).sqrt()
        is_done = tail.eq(0.0)
        beta = is_done.where(-first, (first < 0.0).where(norm, -norm))
        tau = is_done.where(tail.const_like(2.0), (beta - first) / beta)
        divisor = is_done.where(tail.const_like(1.0), first - beta)
        vector = head_row.eq(head_step).where(head.const_like(1.0), below / _full(divisor, head.shape))
        mine = _full(vector, shape)
        shadow = _sum(mine * state, -2).contiguous()
        left = state - mine * _full(tau, shape) * _full(shadow, shape)
        made = row.eq(step).where(_full(beta, shape), mine)
        new = column.eq(step).where(made, (column > step).where(left, state))
        return (row >= step).where(new, state).contiguous(), (k + 1).contiguous()

    state, _ = repeated(reflected_once, (x.contiguous(), counter(device)), min(rows, columns), device)
    return state


def inverse_of_lower(x: UOp, device: str, unit: bool = False) -> UOp:
    """Return the inverse of a lower triangle: (*B, n, n) -> (*B, n, n).

    Blocks of 1, 2, 4, ... on the diagonal are inverted from those of half the size, all of one size at once:
    the block below two inverted ones becomes `-B @ C @ A`. Two products for each doubling.

    Args:
        x: the matrices; what is above the diagonal is not read.
        device: where they are.
        unit: take the diagonal as 1.

    Source: Higham 2002, "Accuracy and Stability of Numerical Algorithms", section 14.2.2.
    """
    shape = x.shape
    size: Any = shape[-1]
    row, column = _rows(shape), _columns(shape)
    diagonal = x.const_like(1.0) if unit else x.const_like(1.0) / row.eq(column).where(x, x.const_like(1.0))
    out = row.eq(column).where(diagonal, x.const_like(0.0)).contiguous()
    bit = counter(device)
    for _ in range((size - 1).bit_length()):
        shift = _full(bit, shape)
        block, other = row >> shift, column >> shift
        is_below = (block ^ 1).eq(other) & (block > other)
        between = is_below.where(x, x.const_like(0.0))
        out = (out - matrix_product(out, matrix_product(between, out).contiguous())).contiguous()
        bit = (bit + 1).contiguous()
    return out


def inverse(factors: UOp, order: UOp, device: str) -> UOp:
    """Return the inverse of the matrices that `lu_factors` gave these of: (*B, n, n) -> (*B, n, n)."""
    shape = factors.shape
    lower = inverse_of_lower(factors, device, unit=True)
    upper = _transposed(inverse_of_lower(_transposed(factors), device))
    # where each row went, from where each one came
    row, column = _rows(shape), _columns(shape)
    came = row.eq(order.reshape((*shape[:-2], 1, shape[-1])).expand(shape))
    went = _sum(came.where(column, column.const_like(0)), -1).contiguous()
    places = _full(_transposed(went), shape)
    return matrix_product(upper, pick_last(lower, places).contiguous())


def orthogonal_rows(x: UOp, device: str, width: int, sweeps: int) -> UOp:
    """Return the rows of `x` rotated among each other until they are orthogonal: (*B, n, m) -> the same.

    One-sided Jacobi: each rotation makes one pair of rows orthogonal; in a round each row is in one pair, all
    pairs are rotated by one kernel, and rows then move on as in a tournament: the first stays, the others go
    around. After a sweep, n - 1 rounds, each pair has met and each row is back in its place.

    Args:
        x: the rows; their number is even.
        device: where they are.
        width: how many of the columns count as the vectors; the others are rotated along.
        sweeps: how often each pair meets.

    Source: Brent and Luk 1985, "The solution of singular-value and symmetric eigenvalue problems on
    multiprocessor arrays"; the angle is that of Golub and Van Loan 2013, section 8.6.3.
    """
    shape = x.shape
    count: Any = shape[-2]
    rounds = sweeps * (count - 1)
    return repeated(lambda state: (_round(state[0], width).contiguous(),), (x.contiguous(),), rounds, device)[
        0
    ]


def _round(state: UOp, width: int) -> UOp:
    """Rotate row p and row n-1-p, for each p, and move row p to place p+1."""
    shape = state.shape
    count: Any = shape[-2]
    batch = shape[:-2]
    bounds: list[tuple[Any, Any]] = [(0, dim) for dim in shape[:-1]]
    vectors = state.shrink([*bounds, (0, width)])
    # the products of each row with itself, and with its partner, in one reduction
    both: Any = (*batch, 2, count, width)
    single = vectors.reshape((*batch, 1, count, width)).expand(both)
    partners = vectors.flip((len(shape) - 2,)).reshape((*batch, 1, count, width)).expand(both)
    which = counted(2, dtypes.int32, both, len(both) - 3)
    dots = _sum(single * which.eq(0).where(single, partners), -1).contiguous()
    axis = len(batch)
    heads: list[tuple[Any, Any]] = [(0, dim) for dim in batch]
    lengths = dots.shrink([*heads, (0, 1), (0, count), (0, 1)]).reshape((*batch, count, 1))
    mixed = dots.shrink([*heads, (1, 2), (0, count), (0, 1)]).reshape((*batch, count, 1))
    cosine, sine = rotation(lengths, lengths.flip((axis,)), mixed)
    turned = state * _full(cosine, shape) + state.flip((axis,)) * _full(sine, shape)
    cuts = [
        turned.shrink([*heads, pair, (0, shape[-1])]) for pair in ((0, 1), (count - 1, count), (1, count - 1))
    ]
    places = _rows(shape)
    first, last, rest = cuts
    moved = rest.pad([*[(0, 0)] * axis, (2, 0), (0, 0)])
    jumped = last.pad([*[(0, 0)] * axis, (1, count - 2), (0, 0)])
    stayed = first.pad([*[(0, 0)] * axis, (0, count - 1), (0, 0)])
    return places.eq(0).where(stayed, places.eq(1).where(jumped, moved))


def rotation(mine: UOp, other: UOp, mixed: UOp) -> tuple[UOp, UOp]:
    """Return, for each row, what it and its partner are multiplied by: (*B, n, 1) each.

    Args:
        mine: the product of the row with itself.
        other: that of its partner, which is the row n-1-p for row p.
        mixed: the product of both.

    Source: Golub and Van Loan 2013, section 8.6.3.
    """
    one, zero = mine.const_like(1.0), mine.const_like(0.0)
    row = _rows(mine.shape)
    count: Any = mine.shape[-2]
    is_small = _magnitude(mixed) <= (mine.sqrt() * other.sqrt()) * epsilon(mine.dtype)
    zeta = (other - mine) / (is_small.where(one, mixed) * 2.0)
    tangent = one / (_magnitude(zeta) + (zeta * zeta + 1.0).sqrt())
    # seen from the partner, the angle is the opposite one; equal lengths turn by a quarter of pi
    is_first = row < count // 2
    is_positive = zeta.eq(0.0).where(is_first.eq(mixed >= 0.0), zeta > 0.0)
    tangent = is_small.where(zero, is_positive.where(-tangent, tangent))
    cosine = one / (tangent * tangent + 1.0).sqrt()
    return cosine, cosine * tangent
