"""Operations that index with tensors of positions and with masks."""

import math
import random
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.programs.ops.op_spec import MOST_ELEMENTS, Params, op, reaches
from plugrad_conformance.programs.program import Array


def _rows(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if not x.ndim or not x.size:
        return None
    axis = rng.randrange(x.ndim)
    rows = [rng.randrange(x.shape[axis]) for _ in range(rng.randint(1, 6))]
    if x.size // x.shape[axis] * len(rows) > MOST_ELEMENTS:
        return None
    return (axis, np.array(rows, np.int32))


def _take_rows(x: Any, axis: int, rows: Any) -> Any:
    return x[(*(slice(None),) * axis, rows)]


def _picked(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if not x.ndim or not x.size:
        return None
    axis, count = rng.randrange(x.ndim), rng.randint(1, 4)
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    if math.prod(shape) > MOST_ELEMENTS:
        return None
    places = [rng.randrange(x.shape[axis]) for _ in range(math.prod(shape))]
    return (np.array(places, np.int32).reshape(shape), axis)


def _pairs(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if x.ndim < 2 or not x.size:
        return None
    a, b = sorted(rng.sample(range(x.ndim), 2))
    count = rng.randint(1, 4)
    if x.size * count > MOST_ELEMENTS:
        return None
    # negative positions count from the end
    rows, columns = ([rng.randrange(-n, n) for _ in range(count)] for n in (x.shape[a], x.shape[b]))
    return (a, b, np.array([rows, columns], np.int32))


def _take_pairs(x: Any, a: int, b: int, rows: Any, columns: Any) -> Any:
    return x[(*(slice(None),) * a, rows, *(slice(None),) * (b - a - 1), columns)]


def _mask(rng: random.Random, xs: list[Array]) -> Params | None:
    x, mask = xs
    return () if mask.dtype.kind == "b" and mask.shape == x.shape and x.ndim else None


def _filled(rng: random.Random, xs: list[Array]) -> Params | None:
    x, mask = xs
    fits = mask.dtype.kind == "b" and reaches(mask, x) and x.dtype.kind in "iuf"
    return (rng.randint(0, 3),) if fits else None


def _masked_fill(x: Array, mask: Array, value: int) -> Array:
    return np.where(mask, x.dtype.type(value), x)


def _gathered(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if not x.ndim or not x.size:
        return None
    axis = rng.randrange(x.ndim)
    shape = tuple(rng.randint(1, 4) if i == axis else rng.randint(1, n) for i, n in enumerate(x.shape))
    if math.prod(shape) > MOST_ELEMENTS:
        return None
    places = [rng.randrange(x.shape[axis]) for _ in range(math.prod(shape))]
    return (axis, np.array(places, np.int32).reshape(shape))


def _gather(x: Array, axis: int, index: Array) -> Array:
    part = tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(index.shape))
    return np.take_along_axis(x[part], index, axis)


def _scattered(rng: random.Random, xs: list[Array]) -> Params | None:
    x, source = xs
    if x.dtype != source.dtype or x.ndim != source.ndim or not x.ndim or not source.size or not x.size:
        return None
    axis = rng.randrange(x.ndim)
    if any(i != axis and n > m for i, (n, m) in enumerate(zip(source.shape, x.shape, strict=True))):
        return None
    places = [rng.randrange(x.shape[axis]) for _ in range(source.size)]
    return (axis, np.array(places, np.int64).reshape(source.shape))


def _scatter(x: Array, source: Array, axis: int, index: Array, adds: bool = False) -> Array:
    out = x.copy()
    for place in np.ndindex(index.shape):
        to = (*place[:axis], int(index[place]), *place[axis + 1 :])
        out[to] = out[to] + source[place] if adds else source[place]
    return out


def _scatter_add(x: Array, source: Array, axis: int, index: Array) -> Array:
    return _scatter(x, source, axis, index, adds=True)


def _scattered_extremes(rng: random.Random, xs: list[Array]) -> Params | None:
    params = _scattered_numbers(rng, xs)
    return None if params is None else (*params, rng.choice(("amax", "amin")))


def _scatter_extreme(x: Array, source: Array, axis: int, index: Array, how: str) -> Array:
    out, better = x.copy(), np.maximum if how == "amax" else np.minimum
    for place in np.ndindex(index.shape):
        to = (*place[:axis], int(index[place]), *place[axis + 1 :])
        out[to] = better(out[to], source[place])
    return out


def _searched(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if not x.size or x.dtype.kind not in "iuf":
        return None
    return (rng.sample(list(x.flat), rng.randint(1, min(4, x.size))), rng.random() < 0.5)


def _search(x: Array, values: list[Any], right: bool) -> Array:
    found = np.searchsorted(np.sort(x.reshape(-1)), np.array(values, x.dtype), "right" if right else "left")
    return found.astype(np.int32)


def _search_tensor(x: Tensor, values: list[Any], right: bool) -> Tensor:
    wanted = Tensor([value.item() for value in values], dtype=x.dtype, device=x.device)
    return x.reshape(-1).sort()[0].searchsorted(wanted, right)


def _scattered_numbers(rng: random.Random, xs: list[Array]) -> Params | None:
    return _scattered(rng, xs) if xs[0].dtype.kind in "iuf" else None


def _scattered_sums(rng: random.Random, xs: list[Array]) -> Params | None:
    """Propose places for floats that add exactly: small multiples of 1/16."""
    total = sum(float(np.abs(x.astype(np.float64)).sum()) for x in xs)
    return None if xs[0].dtype == np.float16 and total >= 1 << 7 else _scattered_numbers(rng, xs)


def _classes(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    count = rng.randint(1, 5)
    return (count,) if x.dtype.kind in "iu" and x.ndim < 4 and x.size * count <= MOST_ELEMENTS else None


def _one_hot(x: Array, count: int) -> Array:
    return (x[..., None] == np.arange(count).astype(x.dtype)).astype(np.int32)


OPS = (
    op("take", 1, _take_rows, lambda x, a, r: _take_rows(x, a, Tensor(r, device=x.device)), _rows),
    op(
        "take_along_axis",
        1,
        np.take_along_axis,
        lambda x, i, a: x.take_along_axis(Tensor(i, device=x.device), a),
        _picked,
    ),
    op(
        "take_pairs",
        1,
        lambda x, a, b, r: _take_pairs(x, a, b, *r),
        lambda x, a, b, r: _take_pairs(x, a, b, *(Tensor(row, device=x.device) for row in r)),
        _pairs,
    ),
    op("masked", 2, lambda x, m: x[m], lambda x, m: x[m], _mask, reads=True),
    op("masked_select", 2, lambda x, m: x[m], lambda x, m: x.masked_select(m), _mask, reads=True),
    op("nonzero", 1, lambda x: np.argwhere(x).astype(np.int32), lambda x: x.nonzero(), reads=True),
    op(
        "masked_fill",
        2,
        _masked_fill,
        lambda x, m, c: x.masked_fill(m, c),
        _filled,
    ),
    op(
        "scatter",
        2,
        _scatter,
        lambda x, s, a, i: x.scatter(a, Tensor(i, device=x.device), s),
        _scattered,
    ),
    op(
        "scatter_add",
        2,
        _scatter_add,
        lambda x, s, a, i: x.scatter_add(a, Tensor(i, device=x.device), s),
        _scattered_sums,
    ),
    op("gather", 1, _gather, lambda x, a, i: x.gather(a, Tensor(i, device=x.device)), _gathered),
    op(
        "scatter_extreme",
        2,
        _scatter_extreme,
        lambda x, s, a, i, how: x.scatter_reduce(a, Tensor(i, device=x.device), s, how),
        _scattered_extremes,
    ),
    op("search", 1, _search, _search_tensor, _searched),
    op("one_hot", 1, _one_hot, lambda x, n: x.one_hot(n), _classes),
)
