"""Tensors joined and split by the place of an axis, and parts of them replaced."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrad_conformance.operations.operation import Array, Meaning, Operation, bools, reals, whole

_X, _M, _V = reals(2, 3, 4), reals(3, 4), reals(4)


def _join_cases() -> Iterator[Operation]:
    pair = reals(3, 2), reals(3, 4, seed=1)
    side: Meaning = lambda x, y: np.hstack([x, y])
    yield Operation("hstack", "matrices", lambda x, y: x.hstack(y), side, pair, order=2)
    vectors = reals(3), reals(3, seed=1)
    yield Operation("hstack", "vectors", lambda x, y: x.hstack(y), side, vectors, order=2)
    top: Meaning = lambda x, y: np.vstack([x, y])
    yield Operation("vstack", "a vector", lambda x, y: x.vstack(y), top, (_V, _M), order=2)
    deep: Meaning = lambda x, y: np.dstack([x, y])
    yield Operation("dstack", "vectors", lambda x, y: x.dstack(y), deep, vectors, order=2)
    columns: Meaning = lambda x, y: np.column_stack([x, y])
    mixed = reals(3), reals(3, 2, seed=1)
    yield Operation("column_stack", "a vector", lambda x, y: x.column_stack(y), columns, mixed, order=2)
    blocks: Meaning = lambda x, y: np.block(
        [[x, np.zeros((2, 4), np.float32)], [np.zeros((1, 3), np.float32), y[None]]]
    )
    given = reals(2, 3), reals(4, seed=1)
    yield Operation("block_diag", "a vector", lambda x, y: x.block_diag(y), blocks, given, order=2)
    for name, reference in (
        ("atleast_1d", np.atleast_1d),
        ("atleast_2d", np.atleast_2d),
        ("atleast_3d", np.atleast_3d),
    ):
        for x in (reals(), _V, _M):
            here: Meaning = lambda x, name=name: getattr(x, name)()
            yield Operation(name, f"shape {x.shape}", here, reference, (x,), order=2)


_MOVES: tuple[tuple[str, str, Meaning, Meaning], ...] = (
    ("tensor_split", "a number", lambda x: x.tensor_split(3, 2), lambda x: np.array_split(x, 3, 2)),
    ("tensor_split", "places", lambda x: x.tensor_split((1, -1), 2), lambda x: np.split(x, (1, -1), 2)),
    ("hsplit", "in three", lambda x: x.hsplit(3), lambda x: np.hsplit(x, 3)),
    ("vsplit", "in two", lambda x: x.vsplit(2), lambda x: np.vsplit(x, 2)),
    ("dsplit", "a place", lambda x: x.dsplit((3,)), lambda x: np.dsplit(x, (3,))),
    ("swapdims", "reals", lambda x: x.swapdims(0, -1), lambda x: x.swapaxes(0, -1)),
    ("fliplr", "reals", lambda x: x.fliplr(), np.fliplr),
    ("flipud", "reals", lambda x: x.flipud(), np.flipud),
    ("diagflat", "above", lambda x: x[0].diagflat(1), lambda x: np.diagflat(x[0], 1)),
)


def _movement_cases() -> Iterator[Operation]:
    for name, variation, call, reference in _MOVES:
        yield Operation(name, variation, call, reference, (_X,), order=2)


def _with_item_set(x: Any, index: Any, values: Any) -> Array:
    out = x.copy()
    out[index] = values
    return out


def _written() -> Iterator[Operation]:
    row = reals(2, 4, seed=1)
    middle: Meaning = lambda x, y: _with_item_set(x, np.s_[:, 1], y)
    yield Operation(
        "select_scatter", "axis 1", lambda x, y: x.select_scatter(y, 1, -2), middle, (_X, row), order=2
    )
    every: Meaning = lambda x, y: _with_item_set(x, np.s_[:, :, 1::2], y)
    yield Operation(
        "slice_scatter",
        "every second",
        lambda x, y: x.slice_scatter(y, 2, 1, None, 2),
        every,
        (_X, reals(2, 3, 2, seed=1)),
        order=2,
    )
    first: Meaning = lambda x, y: _with_item_set(x, np.s_[:1], y)
    rows = whole(3, 4, dtype="int8"), whole(1, 4, seed=1)
    yield Operation(
        "slice_scatter", "int8", lambda x, y: x.slice_scatter(y, 0, None, -2), first, rows, "int8"
    )
    diagonal: Meaning = lambda x, y: _with_item_set(x, (slice(None), np.arange(3), np.arange(3) + 1), y)
    yield Operation(
        "diagonal_scatter",
        "above",
        lambda x, y: x.diagonal_scatter(y, 1, 1, 2),
        diagonal,
        (_X, reals(2, 3, seed=1)),
        order=2,
    )
    chosen: Meaning = lambda x, m, y: _with_item_set(x, m, y[: m.sum()])
    yield Operation(
        "masked_scatter",
        "reals",
        lambda x, m, y: x.masked_scatter(m, y),
        chosen,
        (_M, bools(3, 4), reals(12, seed=1)),
        order=2,
    )
    places = whole(3, 2, low=0, high=4)
    along: Meaning = lambda x, i: np.take_along_axis(x, i, 1)
    yield Operation(
        "take_along_dim", "axis 1", lambda x, i: x.take_along_dim(i, 1), along, (_M, places), order=2
    )
    few = whole(3, 4, low=0, high=3)
    yield Operation("argwhere", "int32", lambda x: x.argwhere(), np.argwhere, (few,), dtype="int32")


CASES: tuple[Operation, ...] = (*_join_cases(), *_movement_cases(), *_written())
