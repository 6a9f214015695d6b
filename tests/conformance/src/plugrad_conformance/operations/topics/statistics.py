"""Extremes, what leaves NaN out, elements by rank, and statistics of samples."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrad_conformance.operations.operation import Array, Meaning, Operation, bools, positive, reals, whole

_X = reals(2, 3, 4)
_HOLES = np.array(
    [[1.0, np.nan, 2.5, -3.0], [np.nan, np.nan, np.nan, np.nan], [0.5, -0.25, np.inf, 4.0]], np.float32
)


def _extremes() -> Iterator[Operation]:
    yield Operation("amax", "axis 1", lambda x: x.amax(1), lambda x: np.amax(x, 1), (_X,), order=2)
    yield Operation("amax", "no axes", lambda x: x.amax(()), lambda x: np.amax(x), (_X,))
    yield Operation("amin", "axes", lambda x: x.amin((0, 2), True), _least, (_X,), order=2)
    pair: Meaning = lambda x: (x.min(-1), x.max(-1))
    yield Operation("aminmax", "axis -1", lambda x: x.aminmax(axis=-1), pair, (_X,), order=2)
    both: Meaning = lambda x: (x.min(), x.max())
    yield Operation("aminmax", "uint8", lambda x: x.aminmax(), both, (whole(3, 4, low=0, dtype="uint8"),))
    yield Operation("ptp", "axis 0", lambda x: x.ptp(0), lambda x: np.ptp(x, 0), (_X,), order=2)
    yield Operation("ptp", "int64", lambda x: x.ptp(), lambda x: np.ptp(x), (whole(5, dtype="int64"),))


def _least(x: Any) -> Any:
    return np.amin(x, (0, 2), keepdims=True)


def _nans() -> Iterator[Operation]:
    for axis in (None, 1):
        total: Meaning = lambda x, axis=axis: np.nansum(x, axis)
        mean: Meaning = lambda x, axis=axis: np.nansum(x, axis) / np.sum(x == x, axis)
        here = f"axis {axis}"
        yield Operation("nansum", here, lambda x, axis=axis: x.nansum(axis), total, (_HOLES,))
        yield Operation("nanmean", here, lambda x, axis=axis: x.nanmean(axis), mean, (_HOLES,))
    yield Operation("nansum", "reals", lambda x: x.nansum(1), lambda x: np.sum(x, 1), (_X,), order=2)
    yield Operation("nanmean", "reals", lambda x: x.nanmean(1), lambda x: np.mean(x, 1), (_X,), order=2)
    yield Operation("nanmean", "int32", lambda x: x.nanmean(0), _mean, (whole(3, 4),), dtype="float32")
    small = whole(3, 4, dtype="int8")
    yield Operation("nansum", "int8", lambda x: x.nansum(0), lambda x: x.sum(0), (small,), dtype="int64")
    yield Operation("nanmedian", "NaN", lambda x: x.nanmedian(1), _middle, (_HOLES,))
    yield Operation("nanmedian", "all", lambda x: x.nanmedian(), lambda x: np.sort(x.ravel())[3], (_HOLES,))
    values: Meaning = lambda x: np.sort(x, 0)[2]
    yield Operation("nanmedian", "reals", lambda x: x.nanmedian(0)[0], values, (reals(6, 3),), order=2)


def _mean(x: Any) -> Any:
    return np.mean(x, 0).astype(np.float32)


def _middle(x: Any) -> tuple[Array, Array]:
    places = np.array(
        [row[max(int((r == r).sum()) - 1, 0) // 2] for row, r in zip(x.argsort(1), x, strict=True)]
    )
    return np.take_along_axis(x, places[:, None], 1)[:, 0], places


def _selected() -> Iterator[Operation]:
    distinct, equal = reals(3, 7), whole(3, 7, low=0, high=3)
    yield Operation("msort", "reals", lambda x: x.msort(), lambda x: np.sort(x, 0), (distinct,), order=2)
    for axis in (0, -1):
        second: Meaning = lambda x, a=axis: (
            np.sort(x, a).take(1, a),
            np.argsort(x, a, kind="stable").take(1, a),
        )
        name = f"second, axis {axis}"
        yield Operation("kthvalue", name, lambda x, a=axis: x.kthvalue(2, a), second, (distinct,), order=2)
        yield Operation("kthvalue", f"{name}, equals", lambda x, a=axis: x.kthvalue(2, a), second, (equal,))
    yield Operation("mode", "equals", lambda x: x.mode(), _modes, (equal,))
    alone: Meaning = lambda x: x.min(0)
    yield Operation("mode", "reals", lambda x: x.mode(0, keepdim=False)[0], alone, (distinct,), order=2)


def _modes(x: Any) -> tuple[Array, Array]:
    """Return the least of the most frequent integers of each row, and its last place."""
    values = np.array([np.bincount(row).argmax() for row in x], x.dtype)
    return values, np.array([np.flatnonzero(row == value)[-1] for row, value in zip(x, values, strict=True)])


def _statistics() -> Iterator[Operation]:
    twice: Meaning = lambda x: np.diff(x, 2, 1)
    yield Operation("diff", "twice", lambda x: x.diff(2, 1), twice, (_X,), order=2)
    between: Meaning = lambda x, y: np.diff(x, 1, 0, y, y)
    pair = reals(2, 3), reals(1, 3, seed=1)
    yield Operation("diff", "ends", lambda x, y: x.diff(axis=0, prepend=y, append=y), between, pair, order=2)
    yield Operation("diff", "bool", lambda x: x.diff(), lambda x: np.diff(x), (bools(2, 5),))
    samples = reals(3, 6)
    yield Operation("cov", "reals", lambda x: x.cov(), lambda x: np.cov(x), (samples,), order=2)
    yield Operation("cov", "one variable", lambda x: x.cov(correction=0), np.var, (reals(6),), order=2)
    weighted: Meaning = lambda x, f, a: np.cov(x, ddof=2, fweights=f, aweights=a)
    yield Operation(
        "cov",
        "weights",
        lambda x, f, a: x.cov(correction=2, fweights=f, aweights=a),
        weighted,
        (samples, np.array([1, 0, 2, 3, 1, 1], np.int32), positive(6)),
        order=2,
    )
    yield Operation(
        "corrcoef", "reals", lambda x: x.corrcoef(), lambda x: np.corrcoef(x), (samples,), order=2
    )
    far: Meaning = lambda x, y: np.linalg.norm((x - y).ravel(), 3)
    yield Operation("dist", "p of 3", lambda x, y: x.dist(y, 3), far, (samples, reals(6, seed=1)), order=2)
    yield Operation("vander", "reals", lambda x: x.vander(), np.vander, (reals(4),), order=2)
    rising: Meaning = lambda x: np.vander(x, 3, True)
    yield Operation(
        "vander", "rising", lambda x: x.vander(3, increasing=True), rising, (whole(4),), dtype="int64"
    )
    every: Meaning = lambda x, y: np.stack(np.meshgrid(x, y, indexing="ij"), -1).reshape(-1, 2)
    vectors = reals(3), reals(2, seed=1)
    yield Operation("cartesian_prod", "two", lambda x, y: x.cartesian_prod(y), every, vectors, order=2)
    chosen: Meaning = lambda x: x[np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])]
    yield Operation("combinations", "two", lambda x: x.combinations(), chosen, (reals(4),), order=2)


def _runs() -> Iterator[Operation]:
    few = np.array([[1, 1, 2], [2, 2, 1], [2, 2, 1]], np.int32)
    runs: Meaning = lambda x: (np.array([1, 2, 1, 2, 1]), np.array([2, 3, 1, 2, 1]))
    yield Operation("unique_consecutive", "counts", lambda x: x.unique_consecutive(False, True), runs, (few,))
    rows: Meaning = lambda x: (x[:2], np.array([0, 1, 1]))
    yield Operation("unique_consecutive", "rows", lambda x: x.unique_consecutive(True, axis=0), rows, (few,))


CASES: tuple[Operation, ...] = (*_extremes(), *_nans(), *_selected(), *_statistics(), *_runs())
