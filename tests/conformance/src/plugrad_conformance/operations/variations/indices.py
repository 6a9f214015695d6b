"""Methods that take positions, class numbers or counts, in every integer dtype.

One case does a method with all eight dtypes of positions. Each dtype names the same elements from the front,
signed ones also from the end, and each names elements that there are not: those nearest to the axis, and the
least and the greatest number of the dtype, which none may take for another by cutting off bits.
"""

# calls and references take whatever inputs there are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from plugrad_conformance.operations.admitted import INTEGERS
from plugrad_conformance.operations.operation import Array, Meaning, Operation, reals

#: What positions may be of. Bools are masks.
KINDS = tuple(dtype for dtype in INTEGERS if dtype != "bool")
_SIZE = 5
_X = reals(_SIZE, 3)
_ROW = _X[:, 0]


def positions(size: int, dtype: str) -> Array:
    """Return positions of `dtype` on an axis: inside, twice, negative, and outside.

    Example:
        >>> positions(5, "int8").tolist()
        [2, 0, 4, 2, -1, -5, 5, -6, -128, 127]
        >>> positions(300, "uint8").tolist()
        [2, 0, 255, 2, 0, 255]
    """
    limits = np.iinfo(dtype)
    last = min(size - 1, limits.max)
    beyond = [size, -size - 1, limits.min, limits.max]
    wanted = [2, 0, last, 2, -1, -min(size, -limits.min), *beyond]
    return np.array([place for place in wanted if limits.min <= place <= limits.max], dtype)


def from_front(index: Array, size: int) -> list[int]:
    """Return positions counted from the front, -1 for invalid ones.

    Example:
        >>> from_front(np.array([-1, 1, 2, -3]), 2)
        [1, 1, -1, -1]
    """
    places = [place + size if place < 0 else place for place in map(int, index.ravel())]
    return [place if 0 <= place < size else -1 for place in places]


def _read(x: Array, index: Array) -> Array:
    """Return the rows at an index, zeros for missing ones."""
    rows = [x[place] if place >= 0 else np.zeros_like(x[0]) for place in from_front(index, len(x))]
    return np.array(rows).reshape(*index.shape, *x.shape[1:])


def _written(
    x: Array, index: Array, values: Array, combine: Callable[[Any, Any], Any] = lambda old, new: new
) -> Array:
    """Return a copy of `x` with rows written at an index, one by one."""
    out = x.copy()
    for place, value in zip(from_front(index, len(x)), values, strict=False):
        if place >= 0:
            out[place] = combine(out[place], value)
    return out


def _case(
    name: str,
    call: Meaning,
    reference: Meaning,
    operands: Sequence[Array],
    index_in: Callable[[str], Array] = lambda dtype: positions(_SIZE, dtype),
    *,
    what: str = "positions",
    dtype: str | None = None,
) -> Operation:
    """Return the case of a method with an index as last operand; results are joined."""
    count = len(operands)
    function: Any = call
    meaning: Any = reference

    def call_each(*tensors: Any) -> Any:
        found = [function(*tensors[:count], index).reshape(-1) for index in tensors[count:]]
        return found[0].cat(*found[1:])

    def refer_each(*arrays: Any) -> Array:
        found = [np.asarray(meaning(*arrays[:count], index)) for index in arrays[count:]]
        return np.concatenate([x.ravel() for x in found])

    inputs = (*operands, *[index_in(kind) for kind in KINDS])
    return Operation(name, f"{what} in integers", call_each, refer_each, inputs, dtype)


def _reads() -> Iterator[Operation]:
    yield _case("gather", lambda x, i: x.gather(0, i), _read, (_ROW,))
    yield _case(
        "gather",
        lambda x, i: x.gather(0, i),
        _read,
        (reals(300),),
        lambda dtype: positions(300, dtype),
        what="positions on a long axis",
    )
    for name in ("take_along_axis", "take_along_dim"):
        yield _case(name, lambda x, i, name=name: getattr(x, name)(i, 0), _read, (_ROW,))
    yield _case("index_select", lambda x, i: x.index_select(0, i), _read, (_X,))
    yield _case("take", lambda x, i: x.take(i), _read, (_ROW,))
    yield _case("__getitem__", lambda x, i: x[i], _read, (_X,))
    ones: Meaning = lambda x, i: _read(x[:, 1], i)
    yield _case("__getitem__", lambda x, i: x[i, i * 0 + 1], ones, (_X,), what="positions on two axes")
    yield _case(
        "__getitem__",
        lambda x, i: x[1:, None, i][0, 0],
        lambda x, i: _read(x[1], i),
        (_X.T,),
        what="positions beside slices",
    )


def _writes() -> Iterator[Operation]:
    values, rows = reals(10, seed=1), reals(10, 3, seed=1)

    def cut(y: Any, i: Any) -> Any:
        return y[: i.shape[0]]

    yield _case(
        "scatter", lambda x, y, i: x.scatter(0, i, y), lambda x, y, i: _written(x, i, y), (_ROW, values)
    )
    combined = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
    for how, combine in combined.items():
        yield _case(
            "scatter_reduce",
            lambda x, y, i, how=how: x.scatter_reduce(0, i, y, how),
            lambda x, y, i, combine=combine: _written(x, i, y, combine),
            (_ROW, values),
            what=f"positions of {how}",
        )
    added: Meaning = lambda x, y, i: _written(x, i, y, np.add)
    yield _case("scatter_add", lambda x, y, i: x.scatter_add(0, i, y), added, (_ROW, values))
    yield _case("index_add", lambda x, y, i: x.index_add(0, i, cut(y, i)), added, (_X, rows))
    replaced: Meaning = lambda x, y, i: _written(x, i, y)
    yield _case("index_copy", lambda x, y, i: x.index_copy(0, i, cut(y, i)), replaced, (_X, rows))
    filled: Meaning = lambda x, i: _written(x, i, np.full((i.size, 3), 1.5))
    yield _case("index_fill", lambda x, i: x.index_fill(0, i, 1.5), filled, (_X,))
    yield _case("index_put", lambda x, y, i: x.index_put((i,), cut(y, i)), replaced, (_X, rows))
    yield _case(
        "index_put",
        lambda x, y, i: x.index_put((i,), cut(y, i), accumulate=True),
        added,
        (_X, rows),
        what="positions to add to",
    )

    def assigned(x: Any, y: Any, i: Any) -> Any:
        x = x + 0
        x[i] = cut(y, i)
        return x

    yield _case("__setitem__", assigned, replaced, (_X, rows))


def _labels(dtype: str) -> Array:
    """Return numbers of three classes, the second one twice, and of none."""
    limits = np.iinfo(dtype)
    return np.array([0, 2, 1, 1, 3, -1 if limits.min else 4, limits.min or 5, limits.max], dtype)


def _losses(scores: Array, labels: Array, ignored: int) -> Array:
    found = [
        -row[label] if 0 <= label < len(row) else np.nan
        for row, label in zip(scores, map(int, labels), strict=True)
    ]
    return np.where(labels == ignored, 0, found)


def _log_softmax(x: Array) -> Array:
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def _classes() -> Iterator[Operation]:
    x = reals(8, 3)
    encoded: Meaning = lambda i: (np.array([*map(int, i)])[:, None] == np.arange(3)) * 1
    yield _case("one_hot", lambda i: i.one_hot(3), encoded, (), _labels, what="labels", dtype="int32")
    yield _case(
        "nll_loss",
        lambda x, i: x.nll_loss(i, ignore_index=2, reduction="none"),
        lambda x, i: _losses(x, i, 2),
        (x,),
        _labels,
        what="labels",
    )
    for name in ("cross_entropy", "sparse_categorical_crossentropy"):
        yield _case(
            name,
            lambda x, i, name=name: getattr(x, name)(i, ignore_index=2, reduction="none"),
            lambda x, i: _losses(_log_softmax(x), i, 2),
            (x,),
            _labels,
            what="labels",
        )

    def sequences(x: Array, labels: Array) -> Array:
        # in two steps a label comes twice, or before or after the blank
        p = np.exp(_log_softmax(x))
        blank, label = p[:, :, 0], p[:, [0, 1], labels.astype(np.int64)]
        return -np.log(label[0] * label[1] + blank[0] * label[1] + label[0] * blank[1])

    def lost(x: Any, labels: Any) -> Any:
        scores = x.log_softmax(2)
        return scores.ctc_loss(labels.unsqueeze(1), labels * 0 + 2, labels * 0 + 1, reduction="none")

    pair: Any = lambda dtype: np.array([1, 2], dtype)
    yield _case("ctc_loss", lost, sequences, (reals(2, 2, 3),), pair, what="labels and lengths")


def _numbers() -> Iterator[Operation]:
    times: Any = lambda dtype: np.array([2, 0, 1, 3, 1], dtype)
    repeated: Meaning = lambda x, i: np.repeat(x, i.astype(np.int64), 0)
    yield _case(
        "repeat_interleave",
        lambda x, i: x.repeat_interleave(i, 0),
        repeated,
        (_X,),
        times,
        what="numbers of times",
    )
    yield _case(
        "repeat_interleave",
        lambda x, i: x.repeat_interleave(i, 0, output_size=7),
        repeated,
        (_X,),
        times,
        what="numbers of times with a sum",
    )
    counted: Meaning = lambda i: np.bincount(i.astype(np.int64), minlength=5)
    yield _case(
        "bincount", lambda i: i.bincount(minlength=5), counted, (), times, what="numbers", dtype="int32"
    )
    yield _case(
        "searchsorted",
        lambda x, i: x.cast(i.dtype).searchsorted(i),
        lambda x, i: np.searchsorted(x.astype(i.dtype), i),
        (np.array([0, 1, 1, 2, 100], np.int32),),
        lambda dtype: positions(3, dtype),
        what="numbers",
        dtype="int32",
    )


def _pools() -> Iterator[Operation]:
    for axes in (1, 2, 3):
        count = 2**axes
        first = np.arange(count, dtype=np.int64)[::-1] * 3
        value = reals(1, 2, *(2,) * axes)

        def unpooled(x: Any, i: Any, axes: int = axes) -> Any:
            rows = [_written(np.zeros(4**axes), i.ravel(), row) for row in x.reshape(2, -1)]
            return np.stack(rows)

        yield _case(
            f"max_unpool{axes}d",
            lambda x, i, axes=axes: getattr(x, f"max_unpool{axes}d")(i.expand(x.shape)),
            unpooled,
            (value,),
            lambda dtype, first=first, axes=axes: first.reshape(1, 1, *(2,) * axes).astype(dtype),
        )


CASES = (*_reads(), *_writes(), *_classes(), *_numbers(), *_pools())
