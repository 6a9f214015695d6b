"""Errors of joins and splits by the place of an axis, and of parts replaced."""

from plugrad import Tensor
from plugrad.errors import ArgumentError, AxisError, DtypeError, ShapeError
from refusals.case import Case

CASES: list[Case] = [
    (
        "hstack",
        ShapeError,
        lambda t: t.floats.hstack(t.square),
        "hstack: shapes (2, 3) and (3, 3) differ in more than axis 1",
    ),
    (
        "vstack",
        ShapeError,
        lambda t: t.floats.vstack(t.row),
        "vstack: shapes (2, 3) and (1, 2) differ in more than axis 0",
    ),
    (
        "dstack",
        ShapeError,
        lambda t: t.floats.dstack(t.square),
        "dstack: shapes (2, 3, 1) and (3, 3, 1) differ in more than axis 2",
    ),
    (
        "column_stack",
        ShapeError,
        lambda t: t.floats.column_stack(t.vector),
        "column_stack: shapes (2, 3) and (3, 1) differ in more than axis 1",
    ),
    (
        "block_diag",
        ShapeError,
        lambda t: t.floats.block_diag(t.grid),
        "block_diag of shape (1, 2, 2, 2): it takes matrices, of two axes",
    ),
    ("tensor_split", ArgumentError, lambda t: t.floats.tensor_split(0), "tensor_split: 0 parts"),
    ("tensor_split", ArgumentError, lambda t: t.floats.tensor_split(1 << 40), "at most 1048576"),
    (
        "tensor_split",
        AxisError,
        lambda t: t.floats.tensor_split(2, 2),
        "tensor_split: axis 2 is out of range",
    ),
    ("hsplit", ArgumentError, lambda t: t.floats.hsplit((0.5,)), "hsplit: indices_or_sections=0.5 (float)"),
    ("hsplit", ShapeError, lambda t: t.floats.hsplit(2), "hsplit: 2 parts of axis 1 with 3 elements"),
    ("vsplit", ArgumentError, lambda t: t.floats.vsplit(0), "vsplit: 0 parts. Ask for at least 1"),
    ("vsplit", ShapeError, lambda t: t.vector.vsplit(3), "vsplit of shape (3,): it takes 2 axes or more"),
    ("dsplit", ArgumentError, lambda t: t.grid.dsplit(-1), "dsplit: -1 parts. Ask for at least 1"),
    ("dsplit", ShapeError, lambda t: t.floats.dsplit(3), "dsplit of shape (2, 3): it takes 3 axes or more"),
    ("fliplr", ShapeError, lambda t: t.vector.fliplr(), "fliplr of shape (3,): there are no columns"),
    ("flipud", ShapeError, lambda t: Tensor(1).flipud(), "flipud of shape (): there are no rows"),
    (
        "diagflat",
        ArgumentError,
        lambda t: t.vector.diagflat(0.5),
        "diagflat: offset=0.5 (float) is no integer",
    ),
    (
        "select_scatter",
        ArgumentError,
        lambda t: t.floats.select_scatter(t.vector, 0, 0.5),
        "select_scatter: index=0.5 (float) is no integer",
    ),
    (
        "select_scatter",
        AxisError,
        lambda t: t.floats.select_scatter(t.vector, 0, 2),
        "select_scatter: index 2 is out of range for axis 0 of size 2",
    ),
    (
        "select_scatter",
        ShapeError,
        lambda t: t.floats.select_scatter(t.row, 0, 0),
        "select_scatter: src of shape (2,) for a part of shape (3,)",
    ),
    (
        "slice_scatter",
        ArgumentError,
        lambda t: t.vector.slice_scatter(t.vector, step=-1),
        "slice_scatter: step=-1. It is at least 1",
    ),
    (
        "slice_scatter",
        AxisError,
        lambda t: t.vector.slice_scatter(t.vector, 1),
        "slice_scatter: axis 1 is out of range",
    ),
    (
        "slice_scatter",
        ShapeError,
        lambda t: t.vector.slice_scatter(t.vector, start=1),
        "slice_scatter: src of shape (3,) for a part of shape (2,)",
    ),
    (
        "diagonal_scatter",
        ArgumentError,
        lambda t: t.square.diagonal_scatter(t.vector, 0.5),
        "diagonal_scatter: offset=0.5 (float) is no integer",
    ),
    (
        "diagonal_scatter",
        AxisError,
        lambda t: t.square.diagonal_scatter(t.vector, 0, 1, 1),
        "diagonal_scatter: axes 1 and 1 are the same",
    ),
    (
        "diagonal_scatter",
        ShapeError,
        lambda t: t.square.diagonal_scatter(t.vector, 1),
        "diagonal_scatter: src of shape (3,) for a part of shape (2,)",
    ),
    (
        "masked_scatter",
        DtypeError,
        lambda t: t.floats.masked_scatter(t.ints, t.floats),
        "is no mask. Pass a Tensor of bools",
    ),
    (
        "masked_scatter",
        ShapeError,
        lambda t: t.square.masked_scatter(t.bools, t.square),
        "masked_scatter: shapes (3, 3) and (2, 3) do not broadcast",
    ),
]
