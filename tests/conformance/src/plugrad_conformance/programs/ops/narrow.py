"""Operations in floats that NumPy lacks: bfloat16 and the floats of a byte.

A float operand is rounded to such a dtype, one other op works on what results, and that goes back to the
operand's dtype. All values stay within the dtype, so each rounding is one of `_rounded`.
"""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from plugrad.tensor import Tensor
from plugrad_conformance.programs.ops import changes, elementwise, movement, reductions
from plugrad_conformance.programs.ops.op_spec import OpSpec, Params, Propose, is_tame, op
from plugrad_conformance.programs.program import Array

# significant bits, and the largest finite value, of each dtype
_BITS: dict[str, tuple[int, float]] = {
    "bfloat16": (8, 3.0e38),
    "fp8e4m3": (4, 448),
    "fp8e5m2": (3, 57344),
    "fp8e4m3fnuz": (4, 240),
    "fp8e5m2fnuz": (3, 57344),
}
_ONE = (
    *("neg", "abs", "sign", "floor", "ceil", "trunc", "round", "relu", "clamp", "add_scalar", "scalar_sub"),
    *("mul_scalar", "halve", "sum", "max", "min", "argmax", "sort", "reshape", "permute", "expand", "flip"),
    *("index", "pad", "roll", "repeat", "tril", "unfold", "diagonal"),
)
_TWO = ("add", "sub", "mul", "maximum", "less", "equal", "matmul", "cat", "stack", "set", "add_to")
_SUMS = ("sum", "matmul")
_INNER: dict[str, OpSpec] = {
    w.name: w
    for w in (*elementwise.OPS, *reductions.OPS, *movement.OPS, *changes.OPS)
    if w.name in (*_ONE, *_TWO)
}


def _rounded(x: Array, name: str) -> Array:
    """Round to nearest, ties to even; tame arrays have no subnormal values."""
    mantissa, exponent = np.frexp(x.astype(np.float64))
    return np.ldexp(np.rint(np.ldexp(mantissa, _BITS[name][0])), exponent - _BITS[name][0]).astype(x.dtype)


def _fits(x: Array, name: str) -> bool:
    return x.dtype.kind != "f" or (is_tame(x) and bool(np.all(np.abs(x) <= _BITS[name][1])))


def _propose(names: Sequence[str]) -> Propose:
    def propose(rng: random.Random, xs: list[Array]) -> Params | None:
        if any(x.dtype.name not in ("float32", "float64") or x.dtype != xs[0].dtype for x in xs):
            return None
        dtype, inner = rng.choice([*_BITS]), _INNER[rng.choice(names)]
        narrow = [_rounded(x, dtype) for x in xs]
        params = inner.propose(rng, narrow)
        if params is None or not all(_fits(x, dtype) for x in narrow):
            return None
        if inner.name in _SUMS and not _is_exact(narrow, dtype):
            return None
        result = np.asarray(inner.on_numpy(*(x.copy() for x in narrow), *params))
        return (dtype, inner.name, rng.random() < 0.5, params) if _fits(result, dtype) else None

    return propose


def _is_exact(xs: Sequence[Array], dtype: str) -> bool:
    """Say whether partial sums of multiples of 1/16 are exact in any order."""
    grain = 1 / 16 ** len(xs)
    return float(np.prod([np.abs(x).sum() for x in xs])) < grain * 2 ** _BITS[dtype][0]


def _on_numpy(xs: Sequence[Array], dtype: str, inner: str, is_stored: bool, params: Params) -> Array:
    result = np.asarray(_INNER[inner].on_numpy(*(_rounded(x, dtype) for x in xs), *params))
    return _rounded(result, dtype) if result.dtype.kind == "f" else result


def _on_tensor(xs: Sequence[Tensor], dtype: str, inner: str, is_stored: bool, params: Params) -> Tensor:
    meant = _INNER[inner]
    narrow = [x.cast(dtype) for x in xs]
    if is_stored:
        narrow = [x.contiguous() for x in narrow]
    result = meant.on_tensor(*narrow, *params)
    result = narrow[0] if meant.changes else result
    result = result.contiguous() if is_stored else result
    return result.cast(xs[0].dtype) if result.dtype is narrow[0].dtype else result


def _op(name: str, arity: int, inner: Sequence[str]) -> OpSpec:
    def on_numpy(*given: Any) -> Array:
        return _on_numpy(given[:arity], *given[arity:])

    def on_tensor(*given: Any) -> Tensor:
        return _on_tensor(given[:arity], *given[arity:])

    return op(name, arity, on_numpy, on_tensor, _propose(inner))


OPS = (_op("narrow", 1, _ONE), _op("narrow_pair", 2, _TWO))
