"""Operations that reduce, scan, sort and multiply matrices."""

import math
import random

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.programs.ops.op_spec import FLOATS, MOST_ELEMENTS, Params, exact_sums, op, some_axis
from plugrad_conformance.programs.program import Array

# sums of integers have 64 bits, as in NumPy
_SUMS = {
    **dict.fromkeys(("bool", "int8", "int16", "int32"), "int64"),
    **dict.fromkeys(("uint8", "uint16", "uint32"), "uint64"),
}


def _axes(rng: random.Random, xs: list[Array]) -> Params | None:
    (x,) = xs
    if rng.random() < 0.2:
        return (tuple(range(x.ndim)), rng.random() < 0.3)
    axes = tuple(i for i in range(x.ndim) if rng.random() < 0.5)
    return (axes, rng.random() < 0.3) if axes else None


def _axes_of_some(rng: random.Random, xs: list[Array]) -> Params | None:
    return _axes(rng, xs) if xs[0].size else None


def sum_of(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    """Return sums over axes in the dtype that plugrad gives them."""
    dtype = _SUMS.get(x.dtype.name, x.dtype.name)
    return np.sum(x, axes, dtype=accumulator(dtype), keepdims=keep).astype(dtype)


def accumulator(dtype: str) -> str:
    """Return the dtype in which sums of a dtype are exact."""
    return "float64" if dtype in FLOATS else dtype


def _prod(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    dtype = _SUMS.get(x.dtype.name, x.dtype.name)
    return np.prod(x, axes, dtype=accumulator(dtype), keepdims=keep).astype(dtype)


def _integers(rng: random.Random, xs: list[Array]) -> Params | None:
    return _axes(rng, xs) if xs[0].dtype.kind in "biu" else None


def _cumsum(x: Array, axis: int) -> Array:
    dtype = _SUMS.get(x.dtype.name, x.dtype.name)
    return np.cumsum(x, axis, dtype=accumulator(dtype)).astype(dtype)


def _cumprod(x: Array, axis: int) -> Array:
    dtype = _SUMS.get(x.dtype.name, x.dtype.name)
    return np.cumprod(x, axis, dtype=dtype).astype(dtype)


def _axis_of_integers(rng: random.Random, xs: list[Array]) -> Params | None:
    return some_axis(rng, xs) if xs[0].dtype.kind in "biu" else None


def _axis_of_numbers(rng: random.Random, xs: list[Array]) -> Params | None:
    return some_axis(rng, xs) if xs[0].dtype.kind in "iuf" else None


def _greatest(rng: random.Random, xs: list[Array]) -> Params | None:
    axis = some_axis(rng, xs)
    return None if axis is None else (rng.randint(1, xs[0].shape[axis[0]]), *axis)


def _topk(x: Array, count: int, axis: int) -> Array:
    return np.flip(np.sort(x, axis), axis).take(range(count), axis)


def _products(rng: random.Random, xs: list[Array]) -> Params | None:
    x, y = xs
    if x.dtype != y.dtype or x.dtype.kind not in "if" or not x.ndim or not y.ndim:
        return None
    try:
        return () if np.matmul(np.zeros(x.shape), np.zeros(y.shape)).size <= MOST_ELEMENTS else None
    except ValueError:
        return None


def _matmul(x: Array, y: Array) -> Array:
    wide = accumulator(x.dtype.name)
    return np.matmul(x.astype(wide), y.astype(wide)).astype(x.dtype)


_FORMULAS = (
    *("i,i->", "i,j->ij", "ij,j->i", "i,ij->j", "ij,kj->ik", "ij,ij->j", "ij,ij->", "ij,ik->jk", "ii,i->i"),
    *(
        "ij,ji->i",
        "bij,bkj->bik",
        "bij,jk->ikb",
        "bij,bij->b",
        "bij,i->jb",
        "...i,...i->...",
        "...ij,j->i...",
    ),
)


def _formula(rng: random.Random, xs: list[Array]) -> Params | None:
    x, y = xs
    formula = rng.choice(_FORMULAS)
    if x.dtype != y.dtype or x.dtype.kind not in "if":
        return None
    try:
        return (formula,) if _einsum(x, y, formula).size <= MOST_ELEMENTS else None
    except ValueError:
        return None


def _einsum(x: Array, y: Array, formula: str) -> Array:
    wide = accumulator(x.dtype.name)
    return np.asarray(np.einsum(formula, x.astype(wide), y.astype(wide))).astype(x.dtype)


def _halves(rng: random.Random, xs: list[Array]) -> Params | None:
    """Propose axes with 1, 2, 4, ... elements, of which means are exact."""
    params = _axes(rng, xs)
    if params is None or xs[0].dtype.kind != "f":
        return None
    count = math.prod(xs[0].shape[axis] for axis in params[0])
    return params if count and count & (count - 1) == 0 else None


def _mean(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return np.mean(x, axes, dtype="float64", keepdims=keep).astype(x.dtype)


def _order(rng: random.Random, xs: list[Array]) -> Params | None:
    axis = some_axis(rng, xs)
    return None if axis is None else (*axis, rng.random() < 0.5)


def _argsort(x: Array, axis: int, is_falling: bool) -> Array:
    # equal elements stay in their order, whichever that is
    _, ranks = np.unique(x, return_inverse=True)
    ranks = ranks.reshape(x.shape)
    return np.argsort(-ranks if is_falling else ranks, axis, stable=True).astype(np.int32)


OPS = (
    op("sum", 1, sum_of, lambda x, a, k: x.sum(a, keepdim=k), exact_sums(_axes)),
    op("prod", 1, _prod, lambda x, a, k: x.prod(a, keepdim=k), _integers),
    op("max", 1, lambda x, a, k: x.max(a, keepdims=k), lambda x, a, k: x.max(a, keepdim=k), _axes_of_some),
    op("min", 1, lambda x, a, k: x.min(a, keepdims=k), lambda x, a, k: x.min(a, keepdim=k), _axes_of_some),
    op("any", 1, lambda x, a, k: x.any(a, keepdims=k), lambda x, a, k: x.any(a, keepdim=k), _axes),
    op("all", 1, lambda x, a, k: x.all(a, keepdims=k), lambda x, a, k: x.all(a, keepdim=k), _axes),
    op("cumsum", 1, _cumsum, lambda x, a: x.cumsum(a), exact_sums(some_axis)),
    op("argmax", 1, lambda x, a: x.argmax(a).astype(np.int32), lambda x, a: x.argmax(a), some_axis),
    op("argmin", 1, lambda x, a: x.argmin(a).astype(np.int32), lambda x, a: x.argmin(a), some_axis),
    op("sort", 1, lambda x, a: np.sort(x, a), lambda x, a: x.sort(a)[0], some_axis),
    op("cumprod", 1, _cumprod, lambda x, a: x.cumprod(a), _axis_of_integers),
    op("cummax", 1, np.maximum.accumulate, lambda x, a: x.cummax(a)[0], _axis_of_numbers),
    op("topk", 1, _topk, lambda x, k, a: x.topk(k, a)[0], _greatest),
    op("matmul", 2, _matmul, lambda x, y: x @ y, exact_sums(_products)),
    op("einsum", 2, _einsum, lambda x, y, f: Tensor.einsum(f, x, y), exact_sums(_formula)),
    op("mean", 1, _mean, lambda x, a, k: x.mean(a, keepdim=k), exact_sums(_halves)),
    op("cummin", 1, np.minimum.accumulate, lambda x, a: x.cummin(a)[0], _axis_of_numbers),
    op("argsort", 1, _argsort, lambda x, a, falling: x.argsort(a, falling), _order),
)
