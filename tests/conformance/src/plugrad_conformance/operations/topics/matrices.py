"""Products of matrices of one kind of shapes, and products added to something."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator

import numpy as np

from plugrad_conformance.operations.operation import Meaning, Operation, reals, whole

_A, _B = reals(3, 4), reals(4, 2, seed=1)
_STACKED = reals(5, 3, 4), reals(5, 4, 2, seed=1)
_REGULAR = np.stack([2 * np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)]) + reals(2, 3, 3) / 4


def _products() -> Iterator[Operation]:
    yield Operation("mm", "reals", lambda x, y: x.mm(y), np.matmul, (_A, _B), order=2)
    integers = whole(3, 4, dtype="int8"), whole(4, 2, dtype="int8")
    yield Operation("mm", "int8", lambda x, y: x.mm(y), np.matmul, integers)
    yield Operation("bmm", "reals", lambda x, y: x.bmm(y), np.matmul, _STACKED, order=2)
    yield Operation("mv", "reals", lambda x, y: x.mv(y), np.matmul, (_A, reals(4, seed=1)), order=2)
    yield Operation("ger", "reals", lambda x, y: x.ger(y), np.outer, (reals(3), reals(4, seed=1)), order=2)


def _added() -> Iterator[Operation]:
    weights = {"beta": 0.5, "alpha": -2.0}
    plus: Meaning = lambda z, x, y: 0.5 * z - 2.0 * (x @ y)
    outer: Meaning = lambda z, x, y: 0.5 * z - 2.0 * np.outer(x, y)
    total: Meaning = lambda z, x, y: 0.5 * z - 2.0 * (x @ y).sum(0)
    vectors = reals(4, seed=3), reals(3, seed=2)
    batches = (reals(3, 1, seed=2), *_STACKED)
    yield Operation(
        "addmm", "weights", lambda z, x, y: z.addmm(x, y, **weights), plus, (reals(2), _A, _B), order=2
    )
    yield Operation(
        "addmv",
        "weights",
        lambda z, x, y: z.addmv(x, y, **weights),
        plus,
        (vectors[1], _A, vectors[0]),
        order=2,
    )
    yield Operation(
        "addr",
        "weights",
        lambda z, x, y: z.addr(x, y, **weights),
        outer,
        (reals(1, 4), *vectors[::-1]),
        order=2,
    )
    yield Operation("baddbmm", "weights", lambda z, x, y: z.baddbmm(x, y, **weights), plus, batches, order=2)
    yield Operation("addbmm", "weights", lambda z, x, y: z.addbmm(x, y, **weights), total, batches, order=2)
    ignored = np.full(2, np.nan, np.float32), _A, _B
    product: Meaning = lambda z, x, y: x @ y
    yield Operation("addmm", "beta of 0", lambda z, x, y: z.addmm(x, y, beta=0), product, ignored)
    integers = whole(2), whole(3, 4), whole(4, 2, seed=1)
    weighted: Meaning = lambda z, x, y: 2 * z + 3 * (x @ y)
    yield Operation(
        "addmm", "int32", lambda z, x, y: z.addmm(x, y, beta=2.0, alpha=3), weighted, integers, dtype="int32"
    )


def _transpose_cases() -> Iterator[Operation]:
    yield Operation("t", "a matrix", lambda x: x.t(), np.transpose, (_A,), order=2)
    yield Operation("t", "a vector", lambda x: x.t(), np.transpose, (reals(3),))
    turned: Meaning = lambda x: x.swapaxes(1, 2)
    yield Operation("adjoint", "stacked", lambda x: x.adjoint(), turned, (reals(2, 3, 4),), order=2)
    inverted: Meaning = lambda x: np.linalg.inv(x)
    yield Operation("inverse", "stacked", lambda x: x.inverse(), inverted, (_REGULAR,), order=2, accuracy=4.0)
    logarithm: Meaning = lambda x: np.log(np.linalg.det(x))
    yield Operation("logdet", "stacked", lambda x: x.logdet(), logarithm, (_REGULAR,), order=2, accuracy=4.0)
    signs = np.array([[[0, 1], [1, 0]], [[0, 0], [0, 1]]], np.float32)
    yield Operation("logdet", "negative and 0", lambda x: x.logdet(), logarithm, (signs,))


CASES: tuple[Operation, ...] = (*_products(), *_added(), *_transpose_cases())
