"""Kernels written by hand, as loops on vectors and as work-items of a grid, against NumPy."""

import math

import numpy as np

from plugrad.dtype import STORABLE, dtypes
from plugrad.uop.ops import Ops

SPECIALS = [0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan, 1e30]
SPECIALS += [-2.5, 3.999, 0.5, -0.25, 7.0, 9e9, 1e-40, 2.0]
WITH_NUMPY = [d for d in STORABLE if d is not dtypes.bfloat16]
INTS = [d for d in STORABLE if d.kind in ("int", "uint")]


def _elementwise(w, outs, ins, count, body, numel=64):
    """Write `outs[n][i] = body(w, ins[0][i], ...)[n]` over `numel` elements, `count` at a time."""
    results = [w.param(n, dtype, numel) for n, dtype in enumerate(outs)]
    sources = [w.param(len(outs) + n, dtype, numel) for n, dtype in enumerate(ins)]
    i = w.range(numel // count, 0)
    at = w.alu(Ops.MUL, i, count)
    for out, value in zip(results, body(w, *(w.load(s, at, count) for s in sources)), strict=True):
        w.store(out, at, value)
    w.end(i)


def _floats(dtype=np.float32, numel=64):
    return np.resize(np.array(SPECIALS, dtype=np.float64), numel).astype(dtype)


def _shuffled(a):
    return np.ascontiguousarray(np.roll(a[::-1], 5))
