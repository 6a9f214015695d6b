"""Operations that look along axes: sums, extremes, statistics, scans, orders, norms."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from plugrad_conformance.operations.operation import (
    EMPTY,
    Array,
    Meaning,
    Operation,
    bools,
    positive,
    reals,
    whole,
)

_Along = Callable[..., Any]
_X = reals(2, 3, 4)
_ODD = np.array([[1.0, np.nan, 2.0], [-np.inf, 0.0, np.inf], [3.0, -1.0, -0.0]], np.float32)


def _along(name: str, axis: Any, **options: Any) -> Meaning:
    return lambda x: getattr(x, name)(axis, **options)


def _softmax(x: Any, axis: Any) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _logsumexp(x: Any, axis: Any, keepdims: bool = False) -> Any:
    top = x.max(axis=axis, keepdims=True)
    out = np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top
    return out if keepdims else out.squeeze(axis)


def _reduced(name: str, reference: _Along, order: int, dtype: str | None = None) -> Iterator[Operation]:
    """Yield the cases of a reduction: each spelling of axes, shapes without axes or elements."""
    for axis in (None, 1, (0, -1)):
        here: Meaning = lambda x, axis=axis: reference(x, axis=axis)
        yield Operation(
            name, f"axis {axis}", _along(name, axis), here, (_X,), dtype, order if axis == 1 else 0
        )
    yield Operation(
        name,
        "keepdim",
        _along(name, -1, keepdim=True),
        lambda x: reference(x, axis=-1, keepdims=True),
        (_X,),
        dtype,
    )
    yield Operation(
        name, "shape ()", _along(name, None), lambda x: reference(x, axis=None), (reals(),), dtype
    )


def _reductions() -> Iterator[Operation]:
    for name, reference, order in (("sum", np.sum, 2), ("prod", np.prod, 2), ("mean", np.mean, 2)):
        yield from _reduced(name, reference, order)
    for name, reference in (("max", np.max), ("min", np.min)):
        yield from _reduced(name, reference, 2)
        for kind in ("int8", "uint32", "int64"):
            values = whole(3, 5, low=0, high=99, dtype=kind)
            yield Operation(name, kind, _along(name, 0), _on_axis(reference, 0), (values,))
        yield Operation(name, "nan and inf", _along(name, 1), _on_axis(reference, 1), (_ODD,))
    for name, reference in (("sum", np.sum), ("prod", np.prod)):
        for kind, wide in (("int8", "int64"), ("uint16", "uint64"), ("int64", "int64"), ("bool", "int64")):
            values = whole(3, 5, low=0, high=4, dtype=kind)
            here: Meaning = lambda x, f=reference, w=wide: f(x, axis=1, dtype=w)
            yield Operation(name, kind, _along(name, 1), here, (values,), dtype=wide)
        yield Operation(name, "empty", _along(name, 1), _on_axis(reference, 1), (EMPTY,))
        halves = reals(700).astype(np.float16) if name == "sum" else positive(6).astype(np.float16)
        yield Operation(name, "float16", _along(name, 0), _on_axis(reference, 0), (halves,), accuracy=2.0)
    yield Operation("sum", "nan and inf", _along("sum", 0), _on_axis(np.sum, 0), (_ODD,))
    yield Operation(
        "sum", "dtype", lambda x: x.sum(1, dtype="float64"), _on_axis(np.sum, 1), (_X,), dtype="float64"
    )
    for name, reference in (("any", np.any), ("all", np.all)):
        yield from _reduced(name, reference, 0, "bool")
        yield Operation(name, "bools", _along(name, 0), _on_axis(reference, 0), (bools(4, 3),), dtype="bool")
        yield Operation(name, "empty", _along(name, 1), _on_axis(reference, 1), (EMPTY,), dtype="bool")
    for name, reference in (("var", np.var), ("std", np.std)):
        biased: _Along = lambda x, axis, f=reference, **k: f(x, axis=axis, ddof=0, **k)
        sample: _Along = lambda x, axis, f=reference, **k: f(x, axis=axis, ddof=1, **k)
        yield Operation(name, "sample", _along(name, 1), _on_axis(sample, 1), (_X,), order=2)
        half: Meaning = lambda x, f=reference: f(x, axis=1, ddof=0.5)
        yield Operation(name, "correction", _along(name, 1, correction=0.5), half, (_X,), order=2)
        pair: Meaning = lambda x, f=sample: (f(x, axis=1), x.mean(1))
        yield Operation(
            name, "biased", _along(name, None, correction=0), _on_axis(biased, None), (_X,), order=2
        )
        yield Operation(f"{name}_mean", "sample", _along(f"{name}_mean", 1), pair, (_X,), order=2)
    for name, reference in (("argmax", np.argmax), ("argmin", np.argmin)):
        for axis in (None, 0, -1):
            yield Operation(
                name, f"axis {axis}", _along(name, axis), _on_axis(reference, axis), (_X,), dtype="int32"
            )
        ties = np.array([[3, 1, 3, 1], [2, 2, 2, 2]], np.int16)
        yield Operation(
            name, "first of equals", _along(name, 1), _on_axis(reference, 1), (ties,), dtype="int32"
        )
        yield Operation(name, "nan", _along(name, 1), _on_axis(reference, 1), (_ODD,), dtype="int32")
    yield Operation(
        "count_nonzero",
        "axis 0",
        _along("count_nonzero", 0),
        _on_axis(np.count_nonzero, 0),
        (whole(4, 5, low=-1, high=2),),
        dtype="int32",
    )
    for axis in (0, -1):
        for name, reference in (
            ("softmax", _softmax),
            ("log_softmax", lambda x, axis: x - _logsumexp(x, axis, True)),
            ("softmin", lambda x, axis: _softmax(-x, axis)),
        ):
            yield Operation(
                name, f"axis {axis}", _along(name, axis), _on_axis(reference, axis), (_X,), order=2
            )
    yield Operation("logsumexp", "axis 1", _along("logsumexp", 1), _on_axis(_logsumexp, 1), (_X,), order=2)
    large = np.array([[1000.0, 999.0, -1000.0]], np.float32)
    yield Operation("logsumexp", "large", _along("logsumexp", 1), _on_axis(_logsumexp, 1), (large,))
    yield Operation("softmax", "large", _along("softmax", 1), _on_axis(_softmax, 1), (large,))


def _on_axis(function: Any, axis: Any) -> Meaning:
    return lambda x: function(x, axis=axis)


def _scans() -> Iterator[Operation]:
    for axis in (0, -1):
        yield Operation(
            "cumsum", f"axis {axis}", _along("cumsum", axis), _on_axis(np.cumsum, axis), (_X,), order=2
        )
        yield Operation(
            "cumprod", f"axis {axis}", _along("cumprod", axis), _on_axis(np.cumprod, axis), (_X,), order=2
        )
    yield Operation(
        "cumsum", "long", _along("cumsum", 0), _on_axis(np.cumsum, 0), (reals(700),), accuracy=10.0
    )
    yield Operation(
        "cumsum", "int32", _along("cumsum", 1), _on_axis(np.cumsum, 1), (whole(2, 5),), dtype="int64"
    )
    yield Operation("cumsum", "empty", _along("cumsum", 1), _on_axis(np.cumsum, 1), (EMPTY,))
    for name, reference in (("cummax", np.maximum), ("cummin", np.minimum)):
        here: Meaning = lambda x, f=reference: _running(x, f)
        yield Operation(name, "axis 0", _along(name, 0), here, (reals(5, 3),), order=2)
        yield Operation(name, "equals", _along(name, 0), here, (whole(7, 2, low=0, high=3),))
    yield Operation(
        "logcumsumexp",
        "axis 1",
        _along("logcumsumexp", 1),
        lambda x: np.log(np.cumsum(np.exp(x), 1)),
        (reals(3, 5),),
        order=2,
    )


def _running(x: Any, function: Any) -> tuple[Array, Array]:
    """Return the running extremes along axis 0, and where the last of each was."""
    values = function.accumulate(x, 0)
    steps = np.arange(len(x)).reshape(-1, *[1] * (x.ndim - 1))
    return values, np.maximum.accumulate(np.where(x == values, steps, 0), 0)


def _orders() -> Iterator[Operation]:
    distinct, equal = reals(3, 7), whole(3, 7, low=0, high=4)
    for axis in (0, 1):
        ascending: Meaning = lambda x, a=axis: (np.sort(x, a, kind="stable"), np.argsort(x, a, kind="stable"))
        yield Operation("sort", f"axis {axis}", _along("sort", axis), ascending, (distinct,), order=2)
        yield Operation("sort", f"equals, axis {axis}", _along("sort", axis), ascending, (equal,))
    yield Operation("sort", "descending", _along("sort", -1, descending=True), _descending, (equal,))
    with_nan = np.array([3, np.nan, -np.inf, np.inf, -0.0, 1], np.float32)
    yield Operation("sort", "nan last", lambda x: x.sort()[0], np.sort, (with_nan,))
    yield Operation("sort", "empty", lambda x: x.sort(1)[0], lambda x: x, (EMPTY,))
    yield Operation(
        "argsort",
        "equals",
        _along("argsort", 1),
        lambda x: np.argsort(x, 1, kind="stable"),
        (equal,),
        dtype="int32",
    )
    yield Operation(
        "topk",
        "greatest",
        lambda x: x.topk(3, 1),
        lambda x: tuple(part[:, :3] for part in _descending(x)),
        (distinct,),
        order=2,
    )
    yield Operation(
        "topk", "least", lambda x: x.topk(2, 0, largest=False)[0], lambda x: np.sort(x, 0)[:2], (equal,)
    )
    lower: Meaning = lambda x: (np.sort(x, 1)[:, 1], np.argsort(x, 1)[:, 1])
    yield Operation("median", "axis 1, the lower of two", _along("median", 1), lower, (reals(3, 4),), order=2)
    yield Operation("median", "of all", lambda x: x.median(), np.median, (reals(3, 3),))
    for how in ("linear", "lower", "higher", "nearest", "midpoint"):
        yield Operation(
            "quantile",
            how,
            lambda x, how=how: x.quantile(0.3, 1, interpolation=how),
            lambda x, how=how: np.quantile(x, 0.3, axis=1, method=how),
            (distinct,),
            order=2,
        )
    yield Operation(
        "quantile",
        "several",
        lambda x, q: x.quantile(q),
        np.quantile,
        (distinct, np.array([0, 0.25, 1], np.float32)),
    )


def _descending(x: Any) -> tuple[Array, Array]:
    order = np.argsort(-x, -1, kind="stable")
    return np.take_along_axis(x, order, -1), order


def _norms() -> Iterator[Operation]:
    for p in (1.0, 2.0, 3.0, np.inf, -np.inf, 0.0):
        reference: Meaning = lambda x, p=p: np.linalg.norm(x, p, axis=1)
        yield Operation(
            "norm",
            f"p={p}",
            lambda x, p=p: x.norm(p, 1),
            reference,
            # no two of one magnitude
            (reals(3, 4, high=1.9),),
            order=2 if p else 0,
        )
    yield Operation(
        "norm", "of all", lambda x: x.norm(), lambda x: np.linalg.norm(x.reshape(-1)), (_X,), order=2
    )
    yield Operation(
        "normalize",
        "axis 1",
        lambda x: x.normalize(),
        lambda x: x / np.linalg.norm(x, axis=1, keepdims=True),
        (_X,),
        order=2,
    )


CASES = (*_reductions(), *_scans(), *_orders(), *_norms())
