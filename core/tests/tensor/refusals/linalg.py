"""Errors of products, factorizations and transforms."""

from plugrad import Tensor
from plugrad.errors import ArgumentError, AxisError, ShapeError
from refusals.case import Case

CASES: list[Case] = [
    (
        "einsum",
        ArgumentError,
        lambda t: Tensor.einsum("ij->k", t.floats),
        "einsum 'ij->k': 'k' of the result is in no operand",
    ),
    (
        "einsum",
        ShapeError,
        lambda t: Tensor.einsum("ij,jk->ik", t.floats, t.floats),
        "einsum 'ij,jk->ik' of shapes (2, 3) and (2, 3): 'j' has sizes 3 and 2",
    ),
    (
        "tensordot",
        ArgumentError,
        lambda t: t.floats.tensordot(t.floats, -1),
        "tensordot: -1 axes of shapes (2, 3) and (2, 3)",
    ),
    (
        "tensordot",
        AxisError,
        lambda t: t.floats.tensordot(t.floats, ((2,), (0,))),
        "tensordot: axis 2 is out of range",
    ),
    (
        "tensordot",
        ShapeError,
        lambda t: t.floats.tensordot(t.floats, 1),
        "tensordot of shapes (2, 3) and (2, 3): axis 1 of the first and 0 of the second",
    ),
    (
        "outer",
        ShapeError,
        lambda t: t.floats.outer(t.vector),
        "outer of shapes (2, 3) and (3,): it takes vectors",
    ),
    (
        "inner",
        ShapeError,
        lambda t: t.floats.inner(Tensor.ones(4)),
        "inner of shapes (2, 3) and (4,): axis 1 of the first and 0 of the second differ",
    ),
    (
        "vdot",
        ShapeError,
        lambda t: t.floats.vdot(t.vector),
        "vdot of shapes (2, 3) and (3,): it takes vectors",
    ),
    ("trace", AxisError, lambda t: t.floats.trace(0, 0, 0), "trace: axes 0 and 0 are the same"),
    ("cross", AxisError, lambda t: t.floats.cross(t.floats, axis=2), "cross: axis 2 is out of range"),
    (
        "cross",
        ShapeError,
        lambda t: Tensor.ones(4).cross(Tensor.ones(4)),
        "cross of shapes (4,) and (4,): axis -1 must have three elements",
    ),
    ("fft", ArgumentError, lambda t: t.pairs.fft(0), "fft: n=0 elements"),
    ("fft", AxisError, lambda t: t.pairs.fft(axis=2), "fft: axis 2 is out of range"),
    (
        "fft",
        ShapeError,
        lambda t: t.floats.fft(),
        "fft of shape (2, 3): complex numbers are a last axis of 2 elements",
    ),
    (
        "rfft",
        ArgumentError,
        lambda t: t.floats.rfft(norm="both"),
        "rfft: norm='both' is none of 'backward', 'ortho' and 'forward'",
    ),
    ("rfft", AxisError, lambda t: t.floats.rfft(axis=2), "rfft: axis 2 is out of range"),
    ("irfft", ArgumentError, lambda t: t.pairs.irfft(0), "irfft: n=0 elements"),
    ("irfft", AxisError, lambda t: t.pairs.irfft(axis=2), "irfft: axis 2 is out of range"),
    (
        "irfft",
        ShapeError,
        lambda t: t.floats.irfft(),
        "irfft of shape (2, 3): complex numbers are a last axis of 2 elements",
    ),
    (
        "inv",
        ShapeError,
        lambda t: t.floats.inv(),
        "inv of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
    (
        "slogdet",
        ShapeError,
        lambda t: t.floats.slogdet(),
        "slogdet of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
    (
        "det",
        ShapeError,
        lambda t: t.floats.det(),
        "det of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
    (
        "solve",
        ShapeError,
        lambda t: t.square.solve(t.floats),
        "solve of shapes (3, 3) and (2, 3): the right sides need 3 rows, one for each row of",
    ),
    (
        "cholesky",
        ShapeError,
        lambda t: t.floats.cholesky(),
        "cholesky of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
    (
        "qr",
        ArgumentError,
        lambda t: t.floats.qr("full"),
        "qr: mode='full' is none of 'reduced', 'complete' and 'r'",
    ),
    ("qr", ShapeError, lambda t: t.vector.qr(), "qr of shape (3,): it takes matrices: (..., m, n)"),
    (
        "matrix_power",
        ArgumentError,
        lambda t: t.square.matrix_power(0.5),
        "matrix_power: n=0.5 is no integer",
    ),
    (
        "matrix_power",
        ShapeError,
        lambda t: t.floats.matrix_power(2),
        "matrix_power of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
    ("svd", ShapeError, lambda t: t.vector.svd(), "svd of shape (3,): it takes matrices: (..., m, n)"),
    (
        "eigh",
        ShapeError,
        lambda t: t.floats.eigh(),
        "eigh of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
    ("pinv", ShapeError, lambda t: t.vector.pinv(), "pinv of shape (3,): it takes matrices: (..., m, n)"),
    (
        "lstsq",
        ShapeError,
        lambda t: t.floats.lstsq(Tensor.ones(3)),
        "lstsq of shapes (2, 3) and (3,): the right sides need 2 rows, one for each row of",
    ),
    (
        "matrix_norm",
        ArgumentError,
        lambda t: t.floats.matrix_norm(3),
        "matrix_norm: p=3 is none of 'fro', 'nuc', 1, -1, 2, -2, inf and -inf",
    ),
    (
        "matrix_norm",
        AxisError,
        lambda t: t.floats.matrix_norm(axis=(0, 2)),
        "matrix_norm: axis 2 is out of range",
    ),
    (
        "matrix_norm",
        ShapeError,
        lambda t: t.symbolic.reshape(1, -1).matrix_norm(2),
        "matrix_norm: the shape (1, size) is symbolic",
    ),
    (
        "matmul",
        ShapeError,
        lambda t: t.floats.matmul(t.floats),
        "matmul of shapes (2, 3) and (2, 3): the left has 3 columns, the right 2 rows",
    ),
]
