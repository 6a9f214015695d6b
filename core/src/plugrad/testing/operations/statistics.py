"""Extremes, what leaves NaN out, elements by rank, and statistics of samples."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrad.testing.operations.operation import Array, Meaning, Operation, reals, whole

_X = reals(2, 3, 4)
_HOLES = np.array(
    [[1.0, np.nan, 2.5, -3.0], [np.nan, np.nan, np.nan, np.nan], [0.5, -0.25, np.inf, 4.0]], np.float32
)


def _extremes() -> Iterator[Operation]:
    yield Operation("amax", "axis 1", lambda x: x.amax(1), lambda x: np.amax(x, 1), (_X,), order=1)
    yield Operation("amax", "no axes", lambda x: x.amax(()), lambda x: np.amax(x), (_X,))
    yield Operation("amin", "axes", lambda x: x.amin((0, 2), True), _least, (_X,), order=1)
    pair: Meaning = lambda x: (x.min(-1), x.max(-1))
    yield Operation("aminmax", "axis -1", lambda x: x.aminmax(axis=-1), pair, (_X,), order=1)
    both: Meaning = lambda x: (x.min(), x.max())
    yield Operation("aminmax", "uint8", lambda x: x.aminmax(), both, (whole(3, 4, low=0, dtype="uint8"),))
    yield Operation("ptp", "axis 0", lambda x: x.ptp(0), lambda x: np.ptp(x, 0), (_X,), order=1)
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
    yield Operation("nansum", "int8", lambda x: x.nansum(0), lambda x: x.sum(0), (small,), dtype="int32")
    yield Operation("nanmedian", "NaN", lambda x: x.nanmedian(1), _middle, (_HOLES,))
    yield Operation("nanmedian", "all", lambda x: x.nanmedian(), lambda x: np.sort(x.ravel())[3], (_HOLES,))
    values: Meaning = lambda x: np.sort(x, 0)[2]
    yield Operation("nanmedian", "reals", lambda x: x.nanmedian(0)[0], values, (reals(6, 3),), order=1)


def _mean(x: Any) -> Any:
    return np.mean(x, 0).astype(np.float32)


def _middle(x: Any) -> tuple[Array, Array]:
    places = np.array(
        [row[max(int((r == r).sum()) - 1, 0) // 2] for row, r in zip(x.argsort(1), x, strict=True)]
    )
    return np.take_along_axis(x, places[:, None], 1)[:, 0], places


def _selected() -> Iterator[Operation]:
    distinct, equal = reals(3, 7), whole(3, 7, low=0, high=3)
    yield Operation("msort", "reals", lambda x: x.msort(), lambda x: np.sort(x, 0), (distinct,), order=1)
    for axis in (0, -1):
        second: Meaning = lambda x, a=axis: (
            np.sort(x, a).take(1, a),
            np.argsort(x, a, kind="stable").take(1, a),
        )
        name = f"second, axis {axis}"
        yield Operation("kthvalue", name, lambda x, a=axis: x.kthvalue(2, a), second, (distinct,), order=1)
        yield Operation("kthvalue", f"{name}, equals", lambda x, a=axis: x.kthvalue(2, a), second, (equal,))
    yield Operation("mode", "equals", lambda x: x.mode(), _modes, (equal,))
    alone: Meaning = lambda x: x.min(0)
    yield Operation("mode", "reals", lambda x: x.mode(0, keepdim=False)[0], alone, (distinct,), order=1)


def _modes(x: Any) -> tuple[Array, Array]:
    """Return the least of the most frequent integers of each row, and its last place."""
    values = np.array([np.bincount(row).argmax() for row in x], x.dtype)
    return values, np.array([np.flatnonzero(row == value)[-1] for row, value in zip(x, values, strict=True)])


CASES: tuple[Operation, ...] = (*_extremes(), *_nans(), *_selected())
