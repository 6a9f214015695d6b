"""Operations that differentiate other operations, with gradients from NumPy alone."""

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.programs.ops import elementwise, indexing, movement, reductions, spatial
from plugrad_conformance.programs.ops.op_spec import OpSpec, Params, array_of, is_tame, op
from plugrad_conformance.programs.program import Array

Step = tuple[str, Params]

_MEANT: dict[str, OpSpec] = {
    w.name: w for module in (elementwise, reductions, movement, indexing, spatial) for w in module.OPS
}
# f(x) - f(0) is linear in each operand
_AFFINE = (
    *("neg", "add_scalar", "scalar_sub", "mul_scalar", "halve", "sum", "cumsum", "reshape", "permute"),
    *("expand", "flip", "index", "pad", "roll", "repeat", "tril", "triu", "diagonal", "unfold", "take"),
    *("take_along_axis", "take_pairs", "gather", "mean", "pad_around", "convolve", "average_pool"),
)
_AFFINE_PAIRS = ("add", "sub", "mul", "matmul", "einsum", "cat", "stack", "scatter", "scatter_add")
# by a slope for each element, where there is one: not at 0, nor at the bounds
_SLOPES = {"abs": (0,), "relu": (0,), "clamp": (-4, 4)}
_EXTREMES = ("max", "min")
_MOST_ELEMENTS, _MOST_TERMS = 64, 1 << 16


def _propose(rng: random.Random, xs: list[Array]) -> Params | None:
    if any(x.dtype.name not in ("float32", "float64") or x.dtype != xs[0].dtype for x in xs):
        return None
    if any(not 0 < x.size <= _MOST_ELEMENTS for x in xs):
        return None
    steps: list[Step] = []
    values = xs
    for _ in range(rng.choice((1, 2, 3))):
        names = _AFFINE_PAIRS if len(values) == 2 else (*_AFFINE, *_SLOPES, *_EXTREMES)
        name = rng.choice(names)
        params = _MEANT[name].propose(rng, values)
        if params is None or not _has_slope(name, values[0], params):
            return None
        result = np.asarray(_MEANT[name].on_numpy(*values, *params))
        if not is_tame(result) or not 0 < result.size <= _MOST_ELEMENTS:
            return None
        steps.append((name, params))
        values = [result]
    weights = np.trunc(array_of(rng, values[0].shape, xs[0].dtype.name))
    params = (rng.randrange(len(xs)), tuple(steps), weights)
    return params if is_tame(_gradient(xs, *params)) else None


def _has_slope(name: str, x: Array, params: Params) -> bool:
    if name in _EXTREMES:
        extreme = _MEANT[name].on_numpy(x, params[0], True)
        return bool(np.all((x == extreme).sum(params[0]) == 1))
    return not any(np.any(x == edge) for edge in _SLOPES.get(name, ()))


def _gradient(xs: Sequence[Array], target: int, steps: Sequence[Step], weights: Array) -> Array:
    """Return the gradient of sum(weights * steps(xs)) for `target`; NaN for rounded sums."""
    taken: list[Sequence[Array]] = []
    values = xs
    for name, params in steps:
        taken.append(values)
        values = [np.asarray(_MEANT[name].on_numpy(*values, *params))]
    for (name, params), operands in zip(reversed(steps), reversed(taken), strict=True):
        weights = _pulled_back(name, params, operands, target if operands is xs else 0, weights)
    return weights.astype(xs[0].dtype)


def _pulled_back(name: str, params: Params, xs: Sequence[Array], target: int, weights: Array) -> Array:
    """Return the gradient of operand `target` for `weights` as the result's gradient."""
    x = xs[target]
    if name in _SLOPES:
        slope = np.sign(x) if name == "abs" else x > 0 if name == "relu" else np.abs(x) < 4
        return weights * slope
    if name in _EXTREMES:
        axes, keeps = params
        spread = weights if keeps else np.expand_dims(weights, axes)
        return spread * (x == _MEANT[name].on_numpy(x, axes, True))

    def result(operand: Array) -> Array:
        return np.asarray(_MEANT[name].on_numpy(*xs[:target], operand, *xs[target + 1 :], *params))

    origin = result(np.zeros_like(x))
    out = np.zeros(x.size)
    for place in range(x.size):
        unit = np.zeros(x.size, x.dtype)
        unit[place] = 1
        terms = (result(unit.reshape(x.shape)) - origin).astype(np.float64) * weights
        out[place] = terms.sum() if np.abs(terms).sum() < _MOST_TERMS else math.nan
    return out.reshape(x.shape)


def _on_tensor(xs: Sequence[Tensor], target: int, steps: Sequence[Step], weights: Array) -> Tensor:
    # a node of its own, on which no other operand depends
    wanted = xs[target].detach().contiguous()
    values = [wanted if i == target else x.detach() for i, x in enumerate(xs)]
    for name, params in steps:
        values = [_MEANT[name].on_tensor(*values, *params)]
    return values[0].gradient(wanted, gradient=Tensor(weights, device=wanted.device))[0]


def _op(name: str, arity: int) -> OpSpec:
    def on_numpy(*given: Any) -> Array:
        return _gradient(given[:arity], *given[arity:])

    def on_tensor(*given: Any) -> Tensor:
        return _on_tensor(given[:arity], *given[arity:])

    return op(name, arity, on_numpy, on_tensor, _propose)


OPS = (_op("gradient", 1), _op("gradient_pair", 2))
