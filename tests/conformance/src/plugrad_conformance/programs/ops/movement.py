"""Operations that move elements."""

import math
import random
from typing import Any

import numpy as np

from plugrad_conformance.programs.ops.op_spec import MOST_ELEMENTS, Params, op, slices
from plugrad_conformance.programs.program import Array


def _reshape(rng: random.Random, xs: list[Array]) -> Params | None:
    left, shape = xs[0].size, list[int]()
    while left > 1 and len(shape) < 4:
        divisor = rng.choice([d for d in range(1, left + 1) if left % d == 0])
        shape.append(divisor)
        left //= divisor
    if xs[0].size == 0:
        return ((0, 3),)
    return ((*shape, left),)


def _permute(rng: random.Random, xs: list[Array]) -> Params | None:
    return (tuple(rng.sample(range(xs[0].ndim), xs[0].ndim)),) if xs[0].ndim > 1 else None


def _expand(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    shape = [rng.choice((1, 2, 3)) if s == 1 else s for s in x.shape]
    shape = [rng.choice((1, 2)), *shape] if rng.random() < 0.3 and len(shape) < 4 else shape
    return (tuple(shape),) if math.prod(shape) <= MOST_ELEMENTS else None


def _pad(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    pads = tuple((rng.choice((0, 0, 1, 2)), rng.choice((0, 0, 1, 3))) for _ in x.shape)
    size = math.prod(s + a + b for s, (a, b) in zip(x.shape, pads, strict=True))
    return (pads,) if x.ndim and size <= MOST_ELEMENTS else None


_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _pad_around(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if not x.ndim or not x.size:
        return None
    mode = rng.choice([*_MODES])
    most = [min(3, n - 1 if mode == "reflect" else n) for n in x.shape]
    pads = tuple((rng.randint(0, m), rng.randint(0, m)) for m in most)
    size = math.prod(s + a + b for s, (a, b) in zip(x.shape, pads, strict=True))
    return (pads, mode) if size <= MOST_ELEMENTS else None


def _wrapped(x: Array, pads: Any, mode: str) -> Array:
    method: Any = _MODES[mode]
    return np.pad(x, pads, method)


def _flip(rng: random.Random, xs: list[Array]) -> Params | None:
    axes = tuple(i for i in range(xs[0].ndim) if rng.random() < 0.5)
    return (axes,) if axes else None


def _index(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    index = slices(rng, x.shape, (1, 1, 1, 2, -1, -2, 3))
    return (index,) if x.ndim and (x[index].size or rng.random() < 0.1) else None


def _roll(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    return (rng.randint(-5, 5), rng.randrange(x.ndim)) if x.ndim else None


def _repeats(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    counts = tuple(rng.choice((1, 1, 2, 3)) for _ in x.shape)
    return (counts,) if x.ndim and x.size * math.prod(counts) <= MOST_ELEMENTS else None


def _diagonal(rng: random.Random, xs: list[Array]) -> Params | None:
    return (rng.randint(-2, 2),) if xs[0].ndim >= 2 else None


def _main_diagonal(x: Array, offset: int) -> Array:
    # NumPy marks it as read-only
    return np.diagonal(x, offset).copy()


def _windows(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if not x.ndim or x.ndim > 3 or not x.size:
        return None
    axis = rng.randrange(x.ndim)
    size, step = rng.randint(1, x.shape[axis]), rng.randint(1, 3)
    return (axis, size, step) if x.size * size <= MOST_ELEMENTS else None


def _unfold(x: Array, axis: int, size: int, step: int) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis)
    return windows[(*(slice(None),) * axis, slice(None, None, step))]


def _joint_axis(rng: random.Random, xs: list[Array]) -> Params | None:
    x, y = xs
    if x.dtype != y.dtype or x.ndim != y.ndim or not x.ndim or x.size + y.size > MOST_ELEMENTS:
        return None
    axes = [i for i in range(x.ndim) if x.shape[:i] == y.shape[:i] and x.shape[i + 1 :] == y.shape[i + 1 :]]
    return (rng.choice(axes),) if axes else None


def _stacked(rng: random.Random, xs: list[Array]) -> Params | None:
    x, y = xs
    fits = x.dtype == y.dtype and x.shape == y.shape and x.ndim < 4 and x.size * 2 <= MOST_ELEMENTS
    return (rng.randint(0, x.ndim),) if fits else None


OPS = (
    op("reshape", 1, lambda x, s: x.reshape(s), lambda x, s: x.reshape(s), _reshape, is_view=True),
    op("permute", 1, lambda x, p: x.transpose(p), lambda x, p: x.permute(p), _permute, is_view=True),
    op("expand", 1, np.broadcast_to, lambda x, s: x.expand(s), _expand, is_view=True),
    op("flip", 1, np.flip, lambda x, a: x.flip(a), _flip, is_view=True),
    op("index", 1, lambda x, i: x[i], lambda x, i: x[i], _index, is_view=True),
    op("pad", 1, np.pad, lambda x, p: x.pad(p), _pad),
    op(
        "pad_around",
        1,
        _wrapped,
        lambda x, p, mode: x.pad(p, mode),
        _pad_around,
    ),
    op("roll", 1, np.roll, lambda x, n, a: x.roll(n, a), _roll),
    op("repeat", 1, np.tile, lambda x, n: x.repeat(n), _repeats),
    op("tril", 1, np.tril, lambda x, k: x.tril(k), _diagonal),
    op("triu", 1, np.triu, lambda x, k: x.triu(k), _diagonal),
    op("diagonal", 1, _main_diagonal, lambda x, k: x.diagonal(k), _diagonal, is_view=True),
    op("unfold", 1, _unfold, lambda x, a, n, s: x.unfold(a, n, s), _windows),
    op("cat", 2, lambda x, y, a: np.concatenate([x, y], a), lambda x, y, a: x.cat(y, axis=a), _joint_axis),
    op("stack", 2, lambda x, y, a: np.stack([x, y], a), lambda x, y, a: x.stack(y, axis=a), _stacked),
)
