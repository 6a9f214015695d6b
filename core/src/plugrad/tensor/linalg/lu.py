"""LU factors: one kernel where devices run loops, elsewhere steps, and panels of large matrices.

A step changes one panel only, which is kept with its columns as rows, so that each column is contiguous.
After its steps, one product applies all of them to the columns behind the panel. All panels of one half share
their kernels, whose work does not shrink with what is left; the other half is a smaller matrix.

Source: Golub and Van Loan 2013, "Matrix Computations", section 3.2.11.
"""

from collections.abc import Callable
from typing import Any

from plugrad.dtype import dtypes
from plugrad.tensor.linalg.field import magnitude, quotient
from plugrad.tensor.linalg.matmul import matrix_product
from plugrad.tensor.linalg.matrix_steps import (
    FEW,
    State,
    append_rows,
    at,
    columns_of,
    counter,
    cut,
    factorized,
    padded,
    repeat_parts,
    repeat_step,
    rows_of,
    slice_rows,
    take_rows,
    transposed,
)
from plugrad.tensor.linalg.triangles import inverse_of_lower, pad_with_identity
from plugrad.tensor.lookup import counted, pick_last
from plugrad.tensor.shapes import Shape, expanded
from plugrad.uop import Ops, UOp

# Measured: narrower ones take more products, wider ones more in each step.
_WIDTH = 32
# Up to this size, all columns are one block.
_ONE_BLOCK = 64
# Of fewer panels, planning their products takes longer than their steps save.
_FEW = 2


def lu_factors(x: UOp, device: str) -> tuple[UOp, UOp]:
    """Return LU factors with partial pivoting.

    Shapes: (*B, n, n) -> (*B, n, n) and the row order, (*B, n) of int32.

    The strict lower triangle holds L, whose diagonal is 1, the rest U: `x[order] == L @ U`. A column without
    any pivot leaves a 0 on the diagonal of U.

    Source: Golub and Van Loan 2013, "Matrix Computations", algorithm 3.4.1.
    """
    batch = x.shape[:-2]
    size: Any = x.shape[-1]
    is_small = size <= min(FEW, _FEW * _WIDTH)
    # loops take whole blocks
    width = size if size <= _ONE_BLOCK else -(-size // _WIDTH) * _WIDTH
    state = pad_with_identity(x, width)
    # where each row came from moves along in a column of its own: exact below 2**24
    origin = rows_of((*batch, width, 1)).cast(x.dtype)
    state = padded(state, (0, 0), (0, 1)) + padded(origin, (0, 0), (width, 0))
    steps = _by_steps if size <= _FEW * _WIDTH else _by_panels
    found = factorized("lu", steps, state, counter(device), device=device, is_small=is_small)
    found = cut(found, (0, size), (0, width + 1))
    order = cut(found, (0, size), (width, width + 1)).reshape((*batch, size))
    return cut(found, (0, size), (0, size)).contiguous(), order.cast(dtypes.int32)


def _by_steps(state: UOp, begin: UOp, device: str) -> UOp:
    size: Any = state.shape[-2]
    step = _elimination_step(begin.const_like(0), size)
    panel = repeat_step(step, (transposed(state).contiguous(), begin), size - 1, device)[0]
    return transposed(panel)


def _by_panels(state: UOp, begin: UOp, device: str) -> UOp:
    """Factorize half of the columns by panels, then what they leave.

    Panels that are done stay as they are, each with the order of rows that it has: later swaps of rows are
    made in all of them at the end.
    """
    batch = state.shape[:-2]
    size: Any = state.shape[-2]
    x = cut(state, (0, size), (0, size))
    width = -(-size // -(-size // _WIDTH))
    count = size // width // 2
    first = count * width
    order = columns_of((*batch, 1, size)).cast(x.dtype)
    done = UOp.const(x.dtype, 0.0).reshape((1,) * len(x.shape)).expand((*batch, count * (width + 1), size))

    def next_panel(before: State) -> State:
        matrix, done, order, begin = before
        columns = take_rows(transposed(matrix), _row_numbers(begin, matrix.shape, width))
        places = columns_of(order.shape).cast(x.dtype)
        panel = append_rows(columns, order, places).contiguous()
        panel, behind = repeat_step(_elimination_step(begin, width), (panel, begin), width, device, few=1)
        factors, order = slice_rows(panel, 0, width), slice_rows(panel, width, 1).contiguous()
        places = slice_rows(panel, width + 1, 1).reshape((*batch, size)).cast(dtypes.int32).contiguous()
        done = _replace_rows(done, slice_rows(panel, 0, width + 1), begin + begin // width).contiguous()
        return _update_trailing(matrix, factors, places, begin, device), done, order, behind

    before = (x.contiguous(), done.contiguous(), order.contiguous(), begin)
    matrix, done, order, _ = repeat_parts(next_panel, before, count, device)
    factors, swaps = lu_factors(cut(matrix, (first, size), (first, size)), device)
    row, column = rows_of(x.shape), columns_of(x.shape)
    place = columns_of((*batch, size))
    swaps = (place < first).where(place, swaps.pad([*[(0, 0)] * len(batch), (first, 0)]) + first)
    order = pick_last(order.reshape((*batch, size)).cast(dtypes.int32), swaps.contiguous()).contiguous()
    panels = _permute_panels(done.reshape((*batch, count, width + 1, size)), order)
    factors = padded(factors, (first, 0), (first, 0))
    lower = (column < first).where(transposed(padded(panels, (0, size - first), (0, 0))), factors)
    found = ((row < first) & (row // width < column // width)).where(matrix, lower)
    order = order.cast(x.dtype).reshape((*batch, size, 1))
    return (padded(found, (0, 0), (0, 1)) + padded(order, (0, 0), (size, 0))).contiguous()


def _permute_panels(done: UOp, order: UOp) -> UOp:
    """Return the factors of all panels with their rows in the final order.

    Each of the panels in `done` ends with the row order of its time; `order` is the final one.

    (*B, count, width + 1, n) and (*B, n) -> (*B, count * width, n)
    """
    shape: Any = done.shape
    *batch, count, width, size = shape
    orders = slice_rows(done, width - 1, 1)
    last = order.reshape((*batch, 1, size, 1)).expand((*batch, count, size, size))
    # each element's place in the order of the panel
    is_there = orders.cast(dtypes.int32).expand(last.shape).eq(last)
    number = columns_of(last.shape)
    places = is_there.where(number, number.const_like(0)).reduce_axis(Ops.ADD, (len(last.shape) - 1,))
    places = places.reshape((*batch, count, 1, size)).contiguous()
    columns = slice_rows(done, 0, width - 1)
    out = pick_last(columns, places.expand(columns.shape))
    return out.reshape((*batch, count * (width - 1), size)).contiguous()


def _replace_rows(x: UOp, rows: UOp, first: UOp) -> UOp:
    """Replace the rows from number `first` on: (*B, n, m) and (*B, k, m) -> (*B, n, m)."""
    count: Any = rows.shape[-2]
    place = rows_of(x.shape) - expanded(first, x.shape)
    numbers = _row_numbers(-first, x.shape, x.shape[-2])
    return ((place >= 0) & (place < count)).where(take_rows(rows, numbers), x)


def _row_numbers(begin: UOp, shape: Shape, width: Any) -> UOp:
    places = (*shape[:-2], width)
    return expanded(begin, places) + counted(width, dtypes.int32, places, len(places) - 1)


def _elimination_step(begin: UOp, width: int) -> Callable[[State], State]:
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
    places_of_rows = numbers.reshape((*shape[:-2], 1, width)).expand((*shape[:-2], width, width))
    corner = transposed(pick_last(factors, places_of_rows)).contiguous()
    rows = take_rows(matrix, pick_last(places, numbers).contiguous()).contiguous()
    upper = matrix_product(inverse_of_lower(corner, device, unit=True), rows).contiguous()
    product = matrix_product(transposed(factors), upper)
    swapped = take_rows(matrix, places)
    is_behind = rows_of(shape) >= expanded(begin + width, shape)
    return _replace_rows(is_behind.where(swapped - product, swapped), upper, begin).contiguous()
