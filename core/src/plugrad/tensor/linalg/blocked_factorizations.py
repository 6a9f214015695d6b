"""Factorize large matrices by panels: a few columns step by step, the rest by products.

A step changes one panel only, which is kept with its columns as rows, so that each column is contiguous.
After its steps, one product applies all of them to the columns behind the panel.

Source: Golub and Van Loan 2013, "Matrix Computations", sections 3.2.11 and 4.2.5.
"""

from collections.abc import Callable
from typing import Any

from plugrad.dtype import dtypes
from plugrad.tensor.linalg.field import divided, magnitude, quotient
from plugrad.tensor.linalg.matmul import matrix_product
from plugrad.tensor.linalg.matrix_steps import (
    State,
    append_rows,
    at,
    columns_of,
    counter,
    repeat_parts,
    repeat_step,
    rows_of,
    slice_rows,
    transposed,
)
from plugrad.tensor.linalg.triangles import inverse_of_lower
from plugrad.tensor.lookup import counted, pick_last
from plugrad.tensor.shapes import Shape, expanded
from plugrad.uop import Ops, UOp

# Measured: narrower ones take more products, wider ones more in each step.
_WIDTH = 32


def has_panels(size: int, few: int) -> bool:
    """Return True for matrices of more than `few` panels."""
    return size > few * _WIDTH


def blocked_lu(x: UOp, device: str) -> tuple[UOp, UOp]:
    """Return the LU factors by panels, as `lu_factors` does.

    Shapes: (*B, n, n) -> (*B, n, n) and the row order, (*B, n) of int32.

    Panels that are done stay as they are, each with the order of rows that it has: later swaps of rows are
    made in all of them at the end.
    """
    *batch, size, _ = x.shape
    count, width = _panel_sizes(x)
    order = columns_of((*batch, 1, size)).cast(x.dtype)
    done = UOp.const(x.dtype, 0.0).reshape((1,) * len(x.shape)).expand((*batch, count * (width + 1), size))

    def next_panel(before: State) -> State:
        matrix, done, order, begin = before
        columns = _take_rows(transposed(matrix), _row_numbers(begin, matrix.shape, width))
        places = columns_of(order.shape).cast(x.dtype)
        panel = append_rows(columns, order, places).contiguous()
        panel, behind = repeat_step(elimination_step(begin, width), (panel, begin), width, device, few=1)
        factors, order = slice_rows(panel, 0, width), slice_rows(panel, width, 1).contiguous()
        places = slice_rows(panel, width + 1, 1).reshape((*batch, size)).cast(dtypes.int32).contiguous()
        done = _replace_rows(done, slice_rows(panel, 0, width + 1), begin + begin // width).contiguous()
        return _update_trailing(matrix, factors, places, begin, device), done, order, behind

    state = (x.contiguous(), done.contiguous(), order.contiguous(), counter(device))
    matrix, done, order, _ = repeat_parts(next_panel, state, count, device)
    order = order.reshape((*batch, size)).cast(dtypes.int32)
    swapped = _permute_panels(done.reshape((*batch, count, width + 1, size)), order)
    row, column = rows_of(x.shape), columns_of(x.shape)
    return (row // width < column // width).where(matrix, transposed(swapped)).contiguous(), order


def blocked_cholesky(x: UOp, device: str) -> UOp:
    """Return the Cholesky factor by panels, as `cholesky_factor` does: (*B, n, n) -> (*B, n, n)."""
    *batch, size, _ = x.shape
    count, width = _panel_sizes(x)
    done = UOp.const(x.dtype, 0.0).reshape((1,) * len(x.shape)).expand((*batch, count * width, size))

    def next_panel(before: State) -> State:
        matrix, done, begin = before
        panel = _take_rows(transposed(matrix), _row_numbers(begin, matrix.shape, width)).contiguous()
        panel, behind = repeat_step(_cholesky_step(begin), (panel, begin), width, device, few=1)
        # of what is changed, only what is below the diagonal and behind the panel is read again
        left = matrix - matrix_product(transposed(panel), panel.conj())
        return left.contiguous(), _replace_rows(done, panel, begin).contiguous(), behind

    _, done, _ = repeat_parts(next_panel, (x.contiguous(), done.contiguous(), counter(device)), count, device)
    factor = transposed(slice_rows(done, 0, size))
    return (rows_of(x.shape) >= columns_of(x.shape)).where(factor, factor.const_like(0.0))


def _permute_panels(done: UOp, order: UOp) -> UOp:
    """Return the factors of all panels with their rows in the final order.

    Each of the panels in `done` ends with the row order of its time; `order` is the final one.

    (*B, count, width + 1, n) and (*B, n) -> (*B, n, n)
    """
    *batch, count, width, size = done.shape
    heads: list[tuple[Any, Any]] = [*((0, dim) for dim in batch), (0, count)]
    orders = done.shrink([*heads, (width - 1, width), (0, size)]).reshape((*batch, count, 1, size))
    last = order.reshape((*batch, 1, size, 1)).expand((*batch, count, size, size))
    # each element's place in the order of the panel
    is_there = orders.cast(dtypes.int32).expand(last.shape).eq(last)
    number = columns_of(last.shape)
    places = is_there.where(number, number.const_like(0)).reduce_axis(Ops.ADD, (len(last.shape) - 1,))
    places = places.reshape((*batch, count, 1, size)).contiguous()
    columns = done.shrink([*heads, (0, width - 1), (0, size)])
    out = pick_last(columns, places.expand(columns.shape)).reshape((*batch, count * (width - 1), size))
    return out.shrink([*heads[:-1], (0, size), (0, size)]).contiguous()


def _panel_sizes(x: UOp) -> tuple[int, int]:
    """Return the number of panels and their width; the last panel may be narrower."""
    size: Any = x.shape[-1]
    count = -(-size // _WIDTH)
    return count, -(-size // count)


def _replace_rows(x: UOp, rows: UOp, first: UOp) -> UOp:
    """Replace the rows from number `first` on: (*B, n, m) and (*B, k, m) -> (*B, n, m)."""
    count: Any = rows.shape[-2]
    place = rows_of(x.shape) - expanded(first, x.shape)
    numbers = _row_numbers(-first, x.shape, x.shape[-2])
    return ((place >= 0) & (place < count)).where(_take_rows(rows, numbers), x)


def _row_numbers(begin: UOp, shape: Shape, width: Any) -> UOp:
    places = (*shape[:-2], width)
    return expanded(begin, places) + counted(width, dtypes.int32, places, len(places) - 1)


def _take_rows(x: UOp, places: UOp) -> UOp:
    """Return rows by number, zeros for numbers out of range: (*B, n, m) and (*B, k) -> (*B, k, m)."""
    *batch, size, columns = x.shape
    count = places.shape[-1]
    shape = (*batch, count, size, columns)
    axis = len(batch) + 1
    wanted = places.reshape((*batch, count, 1, 1)).expand(shape)
    here = counted(size, dtypes.int32, shape, axis).eq(wanted)
    rows = x.reshape((*batch, 1, size, columns)).expand(shape)
    return (
        here.where(rows, rows.const_like(0)).reduce_axis(Ops.ADD, (axis,)).reshape((*batch, count, columns))
    )


def elimination_step(begin: UOp, width: int) -> Callable[[State], State]:
    """Return the step that eliminates the next column of the panel that starts at `begin`."""

    def eliminated(before: State) -> State:
        panel, k = before
        shape = panel.shape
        column, row = rows_of(shape), columns_of(shape)
        mine = k - begin
        head = at(panel, -2, mine).contiguous()
        pivot_row = _pivot_row(head, k)
        pivot, first = expanded(at(head, -1, pivot_row), head.shape), expanded(at(head, -1, k), head.shape)
        below = columns_of(head.shape).eq(expanded(pivot_row, head.shape)).where(first, head)
        factor = pivot.eq(0.0).where(pivot.const_like(0.0), quotient(below, pivot)).contiguous()
        chosen, replaced = (expanded(at(panel, -1, place), shape) for place in (pivot_row, k))
        step = expanded(k, shape)
        swapped = row.eq(expanded(pivot_row, shape)).where(replaced, panel)
        swapped = row.eq(step).where(chosen, swapped)
        here = expanded(mine, shape)
        inside = (column > here) & (column < width)
        left = inside.where(swapped - expanded(factor, shape) * chosen, swapped)
        updated = column.eq(here).where(expanded(factor, shape), left)
        return (row > step).where(updated, swapped).contiguous(), (k + 1).contiguous()

    return eliminated


def _cholesky_step(begin: UOp) -> Callable[[State], State]:
    """Return the step that computes the next factor column of the panel at `begin`."""

    def reduced(before: State) -> State:
        panel, k = before
        shape = panel.shape
        mine = k - begin
        head = at(panel, -2, mine).contiguous()
        pivot = at(head, -1, k).real()
        root = (pivot > 0.0).where(pivot.sqrt(), pivot.const_like(float("nan"))).contiguous()
        scaled = divided(head, expanded(root, head.shape)).contiguous()
        numbers = _row_numbers(begin, shape, shape[-2])
        others = transposed(pick_last(scaled, _repeat_per_row(numbers, scaled.shape)).conj())
        column, here, made = rows_of(shape), expanded(mine, shape), expanded(scaled, shape)
        left = (column > here).where(panel - expanded(others, shape) * made, panel)
        return column.eq(here).where(made, left).contiguous(), (k + 1).contiguous()

    return reduced


def _pivot_row(head: UOp, k: UOp) -> UOp:
    """Return the row of greatest magnitude from row `k` on, n if there is none.

    (*B, 1, n) -> (*B, 1, 1)
    """
    count: Any = head.shape[-1]
    place = columns_of(head.shape)
    is_left = place >= expanded(k, head.shape)
    axis = len(head.shape) - 1
    size = magnitude(head)
    size_of = is_left.where(size, size.const_like(-1.0))
    best = size_of.reduce_axis(Ops.MAX, (axis,)).contiguous()
    found = is_left & (size_of.eq(expanded(best, head.shape)) | head.ne(head))
    from_end = found.where(place.const_like(count) - place, place.const_like(0))
    return (count - from_end.reduce_axis(Ops.MAX, (axis,))).contiguous()


def _update_trailing(matrix: UOp, factors: UOp, places: UOp, begin: UOp, device: str) -> UOp:
    """Swap the rows and eliminate behind a panel; the columns up to there are arbitrary."""
    width: Any = factors.shape[-2]
    shape = matrix.shape
    numbers = _row_numbers(begin, shape, width)
    corner = transposed(pick_last(factors, _repeat_per_row(numbers, factors.shape))).contiguous()
    rows = _take_rows(matrix, pick_last(places, numbers).contiguous()).contiguous()
    upper = matrix_product(inverse_of_lower(corner, device, unit=True), rows).contiguous()
    product = matrix_product(transposed(factors), upper).contiguous()
    swapped = _take_rows(matrix, places)
    is_behind = rows_of(shape) >= expanded(begin + width, shape)
    return _replace_rows(is_behind.where(swapped - product, swapped), upper, begin).contiguous()


def _repeat_per_row(places: UOp, shape: Shape) -> UOp:
    """Repeat the places for each row: (*B, k) -> (*B, rows, k)."""
    *batch, count = places.shape
    return places.reshape((*batch, 1, count)).expand((*batch, shape[-2], count))
