"""LU factors of matrices, whose columns are rows of memory while steps change them."""

from typing import Any

from plugrad.dtype import dtypes
from plugrad.tensor.linalg.field import magnitude, quotient
from plugrad.tensor.linalg.matrix_steps import (
    State,
    append_rows,
    at,
    columns_of,
    counter,
    repeat_step,
    rows_of,
    slice_rows,
    transposed,
)
from plugrad.tensor.shapes import expanded
from plugrad.uop import Ops, UOp


def lu_factors(x: UOp, device: str) -> tuple[UOp, UOp]:
    """Return LU factors with partial pivoting.

    Shapes: (*B, n, n) -> (*B, n, n) and the row order, (*B, n) of int32.

    The strict lower triangle holds L, whose diagonal is 1, the rest U: `x[order] == L @ U`. A column without
    any pivot leaves a 0 on the diagonal of U.

    Source: Golub and Van Loan 2013, "Matrix Computations", algorithm 3.4.1.
    """
    batch = x.shape[:-2]
    size: Any = x.shape[-1]
    # where each row came from moves along in a row of its own: exact below 2**24
    origin = columns_of((*batch, 1, size)).cast(x.dtype)
    panel = append_rows(transposed(x), origin).contiguous()
    panel, _ = repeat_step(_eliminated, (panel, counter(device)), size - 1, device)
    order = slice_rows(panel, size, 1).reshape((*batch, size))
    return transposed(slice_rows(panel, 0, size)).contiguous(), order.cast(dtypes.int32)


def _eliminated(before: State) -> State:
    """Eliminate the next column of a matrix, whose row order is its last row."""
    panel, k = before
    shape = panel.shape
    column, row = rows_of(shape), columns_of(shape)
    head = at(panel, -2, k).contiguous()
    pivot_row = _pivot_row(head, k)
    pivot, first = expanded(at(head, -1, pivot_row), head.shape), expanded(at(head, -1, k), head.shape)
    below = columns_of(head.shape).eq(expanded(pivot_row, head.shape)).where(first, head)
    factor = pivot.eq(0.0).where(pivot.const_like(0.0), quotient(below, pivot)).contiguous()
    chosen, replaced = (expanded(at(panel, -1, place), shape) for place in (pivot_row, k))
    step = expanded(k, shape)
    swapped = row.eq(expanded(pivot_row, shape)).where(replaced, panel)
    swapped = row.eq(step).where(chosen, swapped)
    inside = (column > step) & (column < shape[-1])
    left = inside.where(swapped - expanded(factor, shape) * chosen, swapped)
    updated = column.eq(step).where(expanded(factor, shape), left)
    return (row > step).where(updated, swapped).contiguous(), (k + 1).contiguous()


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
