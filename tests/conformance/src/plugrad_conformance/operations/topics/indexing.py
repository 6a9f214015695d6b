"""Operations that choose elements by tensors: reading, writing, searching."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrad_conformance.operations.operation import Meaning, Operation, bools, positive, reals, whole

_X = reals(4, 5)
_AT = np.array([[0, 3, -1], [2, 2, 1]], np.int64)
_ROWS = np.array([2, 0, 2], np.int32)


def _gathered(x: Any, axis: int, index: Any) -> Any:
    """Return `x` along `axis`, 0 where `index` lies outside."""
    size = x.shape[axis]
    inside = (index >= -size) & (index < size)
    x = x[tuple(slice(n) if a != axis else slice(None) for a, n in enumerate(index.shape))]
    return np.where(inside, np.take_along_axis(x, np.where(inside, index, 0), axis), 0)


def _reads() -> Iterator[Operation]:
    rows = np.array([3, 0, 3, -1], np.int32)
    yield Operation("__getitem__", "a tensor", lambda x, i: x[i], lambda x, i: x[i], (_X, _AT), order=2)
    yield Operation(
        "__getitem__",
        "a tensor and a slice",
        lambda x, i: x[i, 1::2],
        lambda x, i: x[i, 1::2],
        (_X, _AT),
        order=2,
    )
    yield Operation(
        "__getitem__", "two tensors", lambda x, i: x[i, i], lambda x, i: x[i, i], (_X, _AT), order=2
    )
    yield Operation("__getitem__", "a mask", lambda x, m: x[m], lambda x, m: x[m], (_X, bools(4, 5)), order=2)
    yield Operation("__getitem__", "a list", lambda x: x[:, [0, -1]], lambda x: x[:, [0, -1]], (_X,), order=2)
    yield Operation(
        "gather", "axis 1", lambda x, i: x.gather(1, i), lambda x, i: _gathered(x, 1, i), (_X, _AT), order=2
    )
    yield Operation("take", "flat", lambda x, i: x.take(i), np.take, (_X, _AT), order=2)
    yield Operation(
        "take", "axis 1", lambda x, i: x.take(i, 1), lambda x, i: np.take(x, i, 1), (_X, _AT), order=2
    )
    outside = np.array([[7, 1], [-9, -4]], np.int32)
    yield Operation(
        "gather",
        "outside gives 0",
        lambda x, i: x.gather(0, i),
        lambda x, i: _gathered(x, 0, i),
        (_X, outside),
        order=2,
    )
    yield Operation(
        "index_select", "axis 1", lambda x, i: x.index_select(1, i), lambda x, i: x[:, i], (_X, rows), order=2
    )
    last: Meaning = lambda x, i: np.take_along_axis(x, i, -1)
    yield Operation(
        "take_along_axis", "last axis", lambda x, i: x.take_along_axis(i), last, (_X[:2], _AT), order=2
    )
    yield Operation(
        "masked_select",
        "broadcast",
        lambda x, m: x.masked_select(m),
        lambda x, m: x[np.broadcast_to(m, x.shape)],
        (_X, bools(5)),
        order=2,
    )
    yield Operation(
        "masked_select",
        "of a size",
        lambda x, m: x.masked_select(m, size=23, fill_value=0.25),
        lambda x, m: _first_or(x[m], 23, 0.25),
        (_X, bools(4, 5)),
        order=2,
    )


def _first_or(x: Any, size: int, fill: Any) -> Any:
    """Return the first `size` rows, filled up behind the last one."""
    out = np.full((size, *x.shape[1:]), fill, x.dtype)
    out[: len(x)] = x[:size]
    return out


def _combined(x: Any, axis: int, index: Any, source: Any, ufunc: Any) -> Any:
    """Return a copy of `x` with `source` combined into the places of `index`."""
    out = x.copy()
    at = list(np.indices(index.shape))
    at[axis] = index
    ufunc.at(out, tuple(at), source[tuple(map(slice, index.shape))])
    return out


def _replaced(x: Any, places: Any, values: Any) -> Any:
    out = x.copy()
    out[places] = values
    return out


def _scattered() -> Iterator[Operation]:
    source = reals(2, 3, seed=1)
    apart = np.array([[0, 3, 1], [2, 0, 4]], np.int64)

    def scattered(x: Any, i: Any, y: Any) -> Any:
        out = x.copy()
        np.put_along_axis(out[:2], i, y, 1)
        return out

    yield Operation(
        "scatter", "axis 1", lambda x, i, y: x.scatter(1, i, y), scattered, (_X, apart, source), order=2
    )
    number: Meaning = lambda x, i: scattered(x, i, np.full(i.shape, 2.5))
    yield Operation("scatter", "a number", lambda x, i: x.scatter(1, i, 2.5), number, (_X, apart), order=2)
    summed: Meaning = lambda x, i, y: _combined(x, 0, i, y, np.add)
    yield Operation(
        "scatter", "add", lambda x, i, y: x.scatter(0, i, y, reduce="add"), summed, (_X, _AT, source), order=2
    )
    yield Operation(
        "scatter_add", "axis 0", lambda x, i, y: x.scatter_add(0, i, y), summed, (_X, _AT, source), order=2
    )
    for how, ufunc in (("sum", np.add), ("prod", np.multiply), ("amax", np.maximum), ("amin", np.minimum)):
        yield Operation(
            "scatter_reduce",
            how,
            lambda x, i, y, how=how: x.scatter_reduce(0, i, y, how),
            lambda x, i, y, ufunc=ufunc: _combined(x, 0, i, y, ufunc),
            (_X, _AT, source),
            order=2,
        )


def _rows_written() -> Iterator[Operation]:
    new = reals(3, 5, seed=1)

    def added(x: Any, i: Any, y: Any) -> Any:
        out = x.copy()
        np.add.at(out, i, 2 * y)
        return out

    yield Operation(
        "index_add", "alpha", lambda x, i, y: x.index_add(0, i, y, 2), added, (_X, _ROWS, new), order=2
    )
    yield Operation(
        "index_copy",
        "axis 0",
        lambda x, i, y: x.index_copy(0, i, y),
        _replaced,
        (_X, _ROWS[:2], new[:2]),
        order=2,
    )
    filled: Meaning = lambda x, i: _replaced(x, i, 1.5)
    yield Operation(
        "index_fill", "axis 0", lambda x, i: x.index_fill(0, i, 1.5), filled, (_X, _ROWS), order=2
    )
    put: Meaning = lambda x, i, y: _replaced(x, (i, i), y)
    yield Operation(
        "index_put",
        "two tensors",
        lambda x, i, y: x.index_put((i, i), y),
        put,
        (_X, _ROWS[:2], new[0, :2]),
        order=2,
    )


def _assigned() -> Iterator[Operation]:
    def set_rows(x: Any, y: Any) -> Any:
        x = x.contiguous()
        x[1::2] = y
        return x

    def set_places(x: Any, i: Any) -> Any:
        x = x.detach().contiguous()
        x[i, 0] = -1
        return x

    odd: Meaning = lambda x, y: _replaced(x, slice(1, None, 2), y)
    yield Operation("__setitem__", "a slice", set_rows, odd, (_X, reals(5, seed=1)), order=2)
    first: Meaning = lambda x, i: _replaced(x, (i, 0), -1)
    yield Operation("__setitem__", "a tensor", set_places, first, (whole(4, 5), _ROWS))
    yield Operation(
        "assign",
        "broadcast",
        lambda x, y: x.contiguous().assign(y),
        lambda x, y: x * 0 + y,
        (_X, reals(5)),
        order=2,
    )


def _searches() -> Iterator[Operation]:
    edges = np.array([1, 3, 3, 5, 9], np.float32)
    values = np.array([[0, 3], [4, np.inf], [9, np.nan]], np.float32)
    for right in (False, True):
        side: Any = "right" if right else "left"
        yield Operation(
            "searchsorted",
            side,
            lambda x, v, right=right: x.searchsorted(v, right=right),
            lambda x, v, side=side: np.searchsorted(x, v, side),
            (edges, values),
            dtype="int32",
        )
    few = whole(3, 4, low=0, high=3)
    yield Operation("nonzero", "int32", lambda x: x.nonzero(), np.argwhere, (few,), dtype="int32")
    first: Meaning = lambda x: _first_or(np.argwhere(x), 3, -1)
    yield Operation("nonzero", "of a size", lambda x: x.nonzero(3, -1), first, (few,), dtype="int32")
    counted: Meaning = lambda x: np.unique(x, return_inverse=True, return_counts=True)
    yield Operation(
        "unique",
        "inverse and counts",
        lambda x: x.unique(return_inverse=True, return_counts=True),
        counted,
        (few,),
    )
    yield Operation(
        "unique",
        "floats",
        lambda x: x.unique(),
        np.unique,
        (np.array([2, np.nan, 1, 2, np.nan], np.float32),),
    )
    slices = whole(3, 2, 4, low=0, high=2)[:, :, [0, 1, 0, 1]]
    for axis in (0, 2):
        different: Meaning = lambda x, axis=axis: np.unique(
            x, return_inverse=True, return_counts=True, axis=axis
        )
        yield Operation(
            "unique",
            f"slices of axis {axis}",
            lambda x, axis=axis: x.unique(return_inverse=True, return_counts=True, axis=axis),
            different,
            (slices,),
        )
    yield Operation(
        "bincount",
        "least size",
        lambda x: x.bincount(minlength=7),
        lambda x: np.bincount(x, minlength=7),
        (few[0],),
        dtype="int32",
    )
    yield Operation(
        "bincount",
        "weights",
        lambda x, w: x.bincount(w),
        np.bincount,
        (few[0], positive(4)),
        dtype="float32",
        order=2,
    )
    parts: Meaning = lambda x: np.histogram(x, 5, (-1, 1.5))[0] * 1.0
    yield Operation("histc", "five parts", lambda x: x.histc(5, -1, 1.5), parts, (_X,))
    yield Operation(
        "one_hot",
        "outside gives zeros",
        lambda x: x.one_hot(2),
        lambda x: (x[..., None] == np.arange(2)) * 1,
        (few,),
    )


CASES = (*_reads(), *_scattered(), *_rows_written(), *_assigned(), *_searches())
