"""Factorizations of complex matrices, made of steps that are all the same kernels.

A complex matrix is one real tensor, (..., 2, m, n): the real part, then the imaginary one. So sorting rows,
scaling and masks are those of real matrices; only products differ. How steps follow each other is said in
`plugrad.tensor.linalg.factorizations`, whose algorithms these are.

All take float32 or float64, and have no gradient: `plugrad.array_api.complex_factors` adds that.
"""

from collections.abc import Callable
from typing import Any

from plugrad.tensor import Tensor
from plugrad.tensor.linalg.factorizations import rotation
from plugrad.tensor.linalg.matrix_steps import counter, repeated
from plugrad.uop.uop import UOp

__all__ = [
    "adjoint",
    "conjugate",
    "divided",
    "eliminated",
    "multiplied",
    "orthogonal_rows",
    "product",
    "reflected",
    "times_i",
    "units",
]


# --- arithmetic of (..., 2, m, n) ---


def times_i(x: Any) -> Any:
    """Return complex numbers multiplied by the imaginary unit.

    Example:
        >>> times_i(Tensor([[[1.0]], [[2.0]]])).tolist()
        [[[-2.0]], [[1.0]]]
    """
    return x.flip(-3) * -_signs(x)


def conjugate(x: Any) -> Any:
    """Return complex numbers with the other sign of the imaginary parts.

    Example:
        >>> conjugate(Tensor([[[1.0]], [[2.0]]])).tolist()
        [[[1.0]], [[-2.0]]]
    """
    return x * _signs(x)


def adjoint(x: Any) -> Any:
    """Return conjugated transposes: (..., 2, m, n) -> (..., 2, n, m).

    Example:
        >>> adjoint(Tensor([[[1.0, 0.0]], [[2.0, 3.0]]])).tolist()
        [[[1.0], [0.0]], [[-2.0], [-3.0]]]
    """
    return conjugate(x.transpose(-2, -1))


def multiplied(x: Any, y: Any) -> Any:
    """Return the products of complex numbers, which broadcast.

    Example:
        >>> multiplied(Tensor([[[1.0]], [[2.0]]]), Tensor([[[3.0]], [[4.0]]])).tolist()
        [[[-5.0]], [[10.0]]]
    """
    return part(x, 0) * y + part(x, 1) * times_i(y)


def divided(x: Any, y: Any) -> Any:
    """Return quotients of complex numbers, 0 for those by 0; scaled, so that squares are in range.

    Example:
        >>> divided(Tensor([[[-5.0]], [[10.0]]]), Tensor([[[3.0]], [[4.0]]])).tolist()
        [[[1.0]], [[2.0]]]
    """
    largest = y.abs().max(-3, keepdim=True)
    is_zero = largest == 0
    scaled = y / is_zero.where(1.0, largest)
    square = scaled.square().sum(-3, keepdim=True)
    out = multiplied(x, conjugate(scaled)) / is_zero.where(1.0, square * largest)
    return is_zero.where(0.0, out)


def units(x: Any) -> tuple[Any, Any]:
    """Return numbers of magnitude 1 in the directions of complex numbers (1 for 0), and the magnitudes.

    Example:
        >>> [y.flatten().tolist() for y in units(Tensor([[[0.0]], [[2.0]]]))]
        [[0.0, 1.0], [2.0]]
    """
    largest = x.abs().max(-3, keepdim=True)
    is_zero = largest == 0
    one = _signs(x) > 0
    scaled = is_zero.where(one.cast(x.dtype), x / is_zero.where(1.0, largest))
    length = scaled.square().sum(-3, keepdim=True).sqrt()
    return scaled / length, length * largest


def product(x: Any, y: Any) -> Any:
    """Return products of complex matrices, (..., 2, m, k) and (..., 2, k, n), by one product of real ones.

    Example:
        >>> product(Tensor([[[0.0]], [[1.0]]]), Tensor([[[2.0]], [[0.0]]])).tolist()
        [[[0.0]], [[2.0]]]
    """
    rows, inner, columns = x.shape[-2], x.shape[-1], y.shape[-1]
    left = x.cat(times_i(x), axis=-1).reshape(*x.shape[:-3], 2 * rows, 2 * inner)
    out = left @ y.reshape(*y.shape[:-3], 2 * inner, columns)
    return out.reshape(*out.shape[:-2], 2, rows, columns)


def part(x: Any, which: int) -> Any:
    """Return the real parts (0) or the imaginary ones (1): (..., 2, m, n) -> (..., 1, m, n).

    Example:
        >>> part(Tensor([[[1.0]], [[2.0]]]), 1).tolist()
        [[[2.0]]]
    """
    return x._interval(x.ndim - 3, which, which + 1)


def _signs(x: Any) -> Any:
    """Return (1, -1) along the axis of parts: what conjugates."""
    return (1 - 2 * x._counted(2)).cast(x.dtype).reshape(2, 1, 1)


# --- steps ---


def _rows(x: Any) -> Any:
    return x._counted(x.shape[-2]).unsqueeze(-1)


def _columns(x: Any) -> Any:
    return x._counted(x.shape[-1])


def _at(x: Any, axis: int, place: Any) -> Any:
    """Return the element of an axis in a computed place; the axis stays with size 1."""
    here = (_columns(x) if axis == -1 else _rows(x)) == place
    return here.where(x, 0.0).sum(axis, keepdim=True)


def _after(step: Callable[..., tuple[Any, ...]], state: tuple[Any, ...], count: int) -> Any:
    """Return the first part of the state after `count` steps."""
    device = state[0].device

    def graphs(before: tuple[Any, ...]) -> tuple[Any, ...]:
        after = step(*[_tensor(u, device) for u in before])
        return tuple([x._kept()._graph for x in after])

    made = repeated(graphs, tuple([x._kept()._graph for x in state]), count, device)
    return _tensor(made[0], device)


def _tensor(graph: UOp, device: str) -> Any:
    make: Any = Tensor
    return make._make(graph, device)


def _start(x: Any) -> Any:
    return _tensor(counter(x.device), x.device)


def eliminated(x: Any) -> tuple[Any, Any]:
    """Return LU with partial pivoting: (..., 2, n, n) -> (..., 2, n, n) and the rows' order, (..., n).

    As `lu_factors` of real matrices; pivots are the greatest by the sum of the magnitudes of both parts.
    """
    size = x.shape[-1]
    # where each row came from moves along in a column of its own
    origin = _rows(x).cast(x.dtype).expand(*x.shape[:-1], 1)

    def step(state: Any, k: Any) -> tuple[Any, Any]:
        row, column = _rows(state), _columns(state)
        head = _at(state, -1, k)._kept()
        weight = (row < k).where(-1.0, head.abs().sum(-3, keepdim=True))
        is_best = (weight == weight.max(-2, keepdim=True)._kept()) | weight.isnan()
        place = (size - is_best.where(size - row, 0).max(-2, keepdim=True))._kept()
        chosen, replaced = _at(state, -2, place)._kept(), _at(state, -2, k)._kept()
        here, there = row == k, row == place
        swapped = here.where(chosen, there.where(replaced, state))
        below = there.where(_at(replaced, -1, k), head)
        factor = divided(below, _at(chosen, -1, k))._kept()
        left = swapped - multiplied(factor, chosen)
        inside = (column > k) & (column < size)
        updated = (column == k).where(factor, inside.where(left, swapped))
        return (row > k).where(updated, swapped), k + 1

    out = _after(step, (x.cat(origin, axis=-1), _start(x)), size - 1) if size > 1 else x.cat(origin, axis=-1)
    order = part(out._interval(x.ndim - 1, size, size + 1), 0)
    return out._interval(x.ndim - 1, 0, size), order.squeeze(-1).squeeze(-2).cast("int32")


def reflected(x: Any) -> Any:
    """Return R and, below its diagonal, the vectors of the reflections that made it, as of real matrices.

    Reflections are Hermitian, `I - 2 v v^H / v^H v`, so that the diagonal of R is complex. Each vector has a
    1 on the diagonal, which is not stored.

    Source: Golub and Van Loan 2013, "Matrix Computations", section 5.1.13.
    """

    def step(state: Any, k: Any) -> tuple[Any, Any]:
        row, column = _rows(state), _columns(state)
        one = (_signs(state) > 0).cast(state.dtype)
        head = _at(state, -1, k)._kept()
        below = (row > k).where(head, 0.0)
        tail = below.square().sum((-3, -2), keepdim=True)._kept()
        direction, size = units(_at(head, -2, k))
        norm = (size.square() + tail).sqrt()
        is_zero = norm == 0
        twice = is_zero.where(2.0, (norm + size) / is_zero.where(1.0, norm))
        scaled = multiplied(below, conjugate(direction)) / is_zero.where(1.0, norm + size)
        vector = (row == k).where(one, scaled)._kept()
        shadow = multiplied(conjugate(vector), state).sum(-2, keepdim=True)._kept()
        left = state - multiplied(vector, shadow) * twice
        made = (row == k).where(-direction * norm, vector)
        new = (column == k).where(made, (column > k).where(left, state))
        return (row >= k).where(new, state), k + 1

    count = min(x.shape[-2:])
    return _after(step, (x, _start(x)), count) if count else x


def orthogonal_rows(x: Any, width: int, sweeps: int) -> Any:
    """Return an even number of rows, rotated among each other until they are orthogonal: (..., 2, n, m).

    As `orthogonal_rows` of real matrices: turned by the direction of their product, the partner's row has a
    real product with the own.
    """
    count = x.shape[-2]

    def step(state: Any) -> tuple[Any]:
        return (_round(state, width),)

    return _after(step, (x,), sweeps * (count - 1))


def _round(state: Any, width: int) -> Any:
    """Rotate row p and row n-1-p, for each p, and move row p to place p+1."""
    axis, count = state.ndim - 2, state.shape[-2]
    vectors = state._interval(state.ndim - 1, 0, width)
    # the products of each row with itself, and with its partner, in one reduction
    squares = vectors.square().sum(-3, keepdim=True)
    dots = squares.cat(multiplied(vectors, conjugate(vectors.flip(axis))), axis=-3).sum(-1, keepdim=True)
    lengths, mixed = dots._kept().split((1, 2), -3)
    direction, size = units(mixed)
    graphs = rotation(lengths._graph, lengths.flip(axis)._graph, size._graph)
    cosine, sine = (_tensor(u, state.device) for u in graphs)
    cosine, sine = cosine.cat(direction * sine, axis=-3)._kept().split((1, 2), -3)
    turned = state * cosine + multiplied(sine, state.flip(axis))
    first, rest, last = (
        turned._interval(axis, *bounds) for bounds in ((0, 1), (1, count - 1), (count - 1, count))
    )
    return first.cat(last, rest, axis=axis)
