"""Errors of products of matrices."""

from plugrad import Tensor
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from refusals.case import Case

CASES: list[Case] = [
    ("mm", DtypeError, lambda t: t.floats.mm(2), "mm: right=2 (int) is no tensor"),
    (
        "mm",
        ShapeError,
        lambda t: t.floats.mm(t.vector),
        "mm of shapes (2, 3) and (3,): it takes 2 and 2 axes",
    ),
    ("bmm", DtypeError, lambda t: t.floats.bmm(2), "bmm: right=2 (int) is no tensor"),
    (
        "bmm",
        ShapeError,
        lambda t: Tensor.ones(1, 2, 3).bmm(Tensor.ones(4, 3, 2)),
        "bmm of shapes (1, 2, 3) and (4, 3, 2): axis 0 counts the products",
    ),
    ("mv", DtypeError, lambda t: t.floats.mv(2), "mv: right=2 (int) is no tensor"),
    (
        "mv",
        ShapeError,
        lambda t: t.floats.mv(Tensor.ones(2)),
        "mv of shapes (2, 3) and (2,): the left has another number of columns than the right has rows",
    ),
    (
        "addmm",
        ArgumentError,
        lambda t: t.ints.addmm(t.ints, Tensor.ones(3, 3, dtype="int32"), alpha=0.5),
        "addmm: alpha=0.5 for elements of int32",
    ),
    ("addmm", DtypeError, lambda t: t.floats.addmm(t.floats, 2), "addmm: right=2 (int) is no tensor"),
    (
        "addmm",
        ShapeError,
        lambda t: Tensor.ones(5, 1, 1).addmm(t.floats, t.square),
        "addmm: (5, 1, 1) does not broadcast to the product, of shape (2, 3)",
    ),
    (
        "addmv",
        ArgumentError,
        lambda t: t.ints.addmv(t.ints, Tensor.ones(3, dtype="int32"), beta=0.5),
        "addmv: beta=0.5 for elements of int32",
    ),
    ("addmv", DtypeError, lambda t: t.floats.addmv(t.floats, 2), "addmv: right=2 (int) is no tensor"),
    (
        "addmv",
        ShapeError,
        lambda t: t.floats.addmv(t.floats, t.square),
        "addmv of shapes (2, 3) and (3, 3): it takes 2 and 1 axes",
    ),
    (
        "addr",
        ArgumentError,
        lambda t: t.row.addr(t.row, t.row, beta=0.5),
        "addr: beta=0.5 for elements of int32",
    ),
    ("addr", DtypeError, lambda t: t.floats.addr(t.vector, 2), "addr: vec2=2 (int) is no tensor"),
    (
        "addr",
        ShapeError,
        lambda t: t.floats.addr(t.floats, t.vector),
        "addr of shapes (2, 3) and (3,): it takes vectors",
    ),
    (
        "baddbmm",
        ArgumentError,
        lambda t: t.row.baddbmm(t.row.reshape(2, 1, 1), t.row.reshape(2, 1, 1), alpha=float("nan")),
        "baddbmm: alpha=nan for elements of int32",
    ),
    ("baddbmm", DtypeError, lambda t: t.floats.baddbmm(t.grid[0], 2), "baddbmm: right=2 (int) is no tensor"),
    (
        "baddbmm",
        ShapeError,
        lambda t: t.floats.baddbmm(t.floats, t.grid[0]),
        "baddbmm of shapes (2, 3) and (2, 2, 2): it takes 3 and 3 axes",
    ),
    (
        "addbmm",
        ArgumentError,
        lambda t: t.row.addbmm(t.row.reshape(2, 1, 1), t.row.reshape(2, 1, 1), alpha=0.1),
        "addbmm: alpha=0.1 for elements of int32",
    ),
    ("addbmm", DtypeError, lambda t: t.floats.addbmm(t.grid[0], 2), "addbmm: right=2 (int) is no tensor"),
    (
        "addbmm",
        ShapeError,
        lambda t: t.floats.addbmm(t.floats, t.grid[0]),
        "addbmm of shapes (2, 3) and (2, 2, 2): it takes 3 and 3 axes",
    ),
    ("t", ShapeError, lambda t: t.grid.t(), "t of shape (1, 2, 2, 2): it takes up to two axes"),
    ("adjoint", ShapeError, lambda t: t.vector.adjoint(), "adjoint of shape (3,): a matrix has two axes"),
    (
        "logdet",
        ShapeError,
        lambda t: t.floats.logdet(),
        "logdet of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
]
