"""Core: sums, products, extremes and their relatives, for every dtype along every axis."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from plugrad.dtype import DType, dtypes, is_bool, is_float, sum_dtype, to_numpy
from plugrad_conformance.case import Case, Check, needs_dtypes
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import ALL, FLOATS, INTS, Array, round_to, sample, tensor_of
from plugrad_conformance.tolerance import Tolerance, tolerance_of

_SHAPE = (4, 37, 3)


def _values(dtype: DType, seed: int = 0) -> Array:
    return sample(dtype, int(np.prod(_SHAPE)), seed).reshape(_SHAPE)


def _narrowed(tolerance: Tolerance, dtype: DType) -> Tolerance:
    return Tolerance(max(tolerance.ulp, 1.0), tolerance.reason) if dtype.itemsize == 2 else tolerance


def _sum(dtype: DType, bench: Bench) -> Check:
    x = _values(dtype)
    t = tensor_of(x, dtype, bench.name)
    outputs = [t.sum(), t.sum(0), t.sum(1), t.sum((0, 2)), t.sum(2, keepdim=True)]
    axes: list[Any] = [None, 0, 1, (0, 2), 2]
    wide = np.longdouble if is_float(dtype) else to_numpy(sum_dtype(dtype))
    expected = [x.sum(axis, dtype=wide, keepdims=axis == 2) for axis in axes]
    scales = [np.abs(x.astype(np.longdouble)).sum(axis, keepdims=axis == 2) for axis in axes]
    return Check(
        outputs, expected, _narrowed(tolerance_of("sum", dtype), dtype), scales if is_float(dtype) else None
    )


def _prod(dtype: DType, bench: Bench) -> Check:
    x = sample(dtype, 60, 2, 0.5).reshape(5, 12)
    x = np.where(x == 0, x.dtype.type(1), x)
    t = tensor_of(x, dtype, bench.name)
    wide = np.longdouble if is_float(dtype) else to_numpy(sum_dtype(dtype))
    with np.errstate(all="ignore"):
        return Check(
            [t.prod(0), t.prod(1)],
            [x.prod(0, dtype=wide), x.prod(1, dtype=wide)],
            tolerance_of("prod", dtype),
        )


def _extremes(dtype: DType, bench: Bench) -> Check:
    x = _values(dtype, 1)
    t = tensor_of(x, dtype, bench.name)
    return Check(
        [t.max(), t.min(), t.max(1), t.min(1), t.max((0, 2)), t.min(0, keepdim=True)],
        [x.max(), x.min(), x.max(1), x.min(1), x.max((0, 2)), x.min(0, keepdims=True)],
    )


def _places(dtype: DType, bench: Bench) -> Check:
    x = _values(dtype, 4)
    t = tensor_of(x, dtype, bench.name)
    outputs = [t.argmax(1), t.argmin(1), t.argmax(), t.argmin(2)]
    return Check(outputs, [x.argmax(1), x.argmin(1), x.argmax(), x.argmin(2)])


def _mean(dtype: DType, bench: Bench) -> Check:
    x = _values(dtype, 2)
    t = tensor_of(x, dtype, bench.name)
    exact = x.astype(np.longdouble)
    out = dtype if is_float(dtype) else dtypes.float32
    scales = [np.abs(exact).mean(), np.abs(exact).mean(1)]
    return Check(
        [t.mean(), t.mean(1)],
        [exact.mean(), exact.mean(1)],
        _narrowed(tolerance_of("mean", out), out),
        scales,
    )


def _var(dtype: DType, bench: Bench) -> Check:
    x = _values(dtype, 3)
    t = tensor_of(x, dtype, bench.name)
    exact = x.astype(np.longdouble)
    outputs, expected = [t.var(1), t.std(1)], [exact.var(1, ddof=1), exact.std(1, ddof=1)]
    return Check(outputs, expected, tolerance_of("var", dtype))


def _softmax(dtype: DType, bench: Bench) -> Check:
    x = _values(dtype, 5)
    t = tensor_of(x, dtype, bench.name)
    wide = x.astype(np.longdouble)
    e = np.exp(wide - wide.max(1, keepdims=True))
    soft = e / e.sum(1, keepdims=True)
    log = wide - wide.max(1, keepdims=True) - np.log(e.sum(1, keepdims=True))
    scales = [np.zeros_like(soft), np.abs(wide) + np.abs(wide).max(1, keepdims=True)]
    tolerance = tolerance_of("softmax", dtype)
    return Check([t.softmax(1), t.log_softmax(1)], [soft, log], tolerance, scales)


def _truths(bench: Bench) -> Check:
    x = np.zeros((4, 5), np.int32)
    x[1, 2], x[2] = 3, 1
    t = tensor_of(x, dtypes.int32, bench.name)
    b = tensor_of(x != 0, dtypes.bool, bench.name)
    outputs = [t.any(1), t.all(1), b.any(0), b.all(0), b.any(), b.all()]
    return Check(outputs, [x.any(1), x.all(1), x.any(0), x.all(0), x.any(), x.all()])


def _nan_spreads(dtype: DType, bench: Bench) -> Check:
    """A NaN spreads to the sum and extremes of its own row only."""
    x = np.ones((5, 300))
    x[1, 299], x[2, 0], x[3, 7], x[3, 200] = np.nan, np.inf, np.inf, -np.inf
    t = tensor_of(x, dtype, bench.name)
    with np.errstate(all="ignore"):
        return Check([t.sum(1), t.max(1), t.min(1)], [x.sum(1), x.max(1), x.min(1)])


def _half_accumulates_wide(dtype: DType, bench: Bench) -> Check:
    """A sum of 16-bit floats is accumulated in float32."""
    x = round_to(np.random.default_rng(5).uniform(0.5, 1.5, (2, 4096)), dtype)
    large = round_to(x * 30_000, dtype)
    t, u = tensor_of(x, dtype, bench.name), tensor_of(large, dtype, bench.name)
    return Check([t.sum(1), u.mean(1)], [x.sum(1), large.mean(1)], tolerance_of("sum", dtype))


def _integers_wrap(bench: Bench) -> Check:
    """Sums beyond int32 wrap around."""
    x = np.full((2, 5), 2**30, np.int32)
    x[1, 2:] = 1
    with np.errstate(all="ignore"):
        return Check(
            [tensor_of(x, dtypes.int32, bench.name).sum(1, dtype="int32")], [x.sum(1, dtype=np.int32)]
        )


def _lengths(bench: Bench) -> Check:
    """Reductions around the lengths at which kernels change their shape."""
    outputs, expected = [], []
    for n in (1, 2, 7, 16, 31, 32, 33, 64, 127, 128, 129, 255, 256, 257, 511, 513, 1024):
        x = (np.arange(2 * n, dtype=np.int32) * 7919 % 1000).reshape(2, n)
        t = tensor_of(x, dtypes.int32, bench.name)
        outputs += [t.sum(1), t.max(1)]
        expected += [x.sum(1), x.max(1)]
    return Check(outputs, expected)


def _matmul(dtype: DType, shape: tuple[int, int, int], bench: Bench) -> Check:
    m, k, n = shape
    x, y = (sample(dtype, a * b, seed, 1.0).reshape(a, b) for seed, (a, b) in enumerate(((m, k), (k, n))))
    a, b = (tensor_of(v, dtype, bench.name) for v in (x, y))
    if not is_float(dtype):
        with np.errstate(all="ignore"):
            return Check([a @ b], [(x @ y).astype(x.dtype)])
    wide = x.astype(np.longdouble) @ y.astype(np.longdouble)
    scale = np.abs(x) @ np.abs(y)
    return Check([a @ b], [wide], _narrowed(tolerance_of("matmul", dtype), dtype), [scale])


def _batched_matmul(bench: Bench) -> Check:
    x, y = (sample(dtypes.float32, 2 * 3 * 5 * 5, s).reshape(2, 3, 5, 5) for s in (1, 2))
    a, b = (tensor_of(v, dtypes.float32, bench.name) for v in (x, y))
    return Check(
        [a @ b.transpose(2, 3)],
        [x @ y.swapaxes(2, 3)],
        tolerance_of("matmul", dtypes.float32),
        [np.abs(x) @ np.abs(y).swapaxes(2, 3)],
    )


def _conv(stride: int, padding: int, groups: int, bench: Bench) -> Check:
    x = sample(dtypes.float32, 2 * 4 * 9 * 8, 1).reshape(2, 4, 9, 8)
    w = sample(dtypes.float32, 6 * (4 // groups) * 3 * 3, 2).reshape(6, 4 // groups, 3, 3)
    a, b = (tensor_of(v, dtypes.float32, bench.name) for v in (x, w))
    out = a.conv2d(b, stride=stride, padding=padding, groups=groups)
    exact = _convolved(x, w, stride, padding, groups)
    scale = _convolved(np.abs(x), np.abs(w), stride, padding, groups)
    return Check([out], [exact], tolerance_of("conv", dtypes.float32), [scale])


def _convolved(x: Array, w: Array, stride: int, padding: int, groups: int) -> Array:
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::stride, ::stride]
    parts = zip(np.split(windows, groups, 1), np.split(w, groups, 0), strict=True)
    return np.concatenate([np.einsum("ncyxij,ocij->noyx", a, b) for a, b in parts], 1)


def _pooled(bench: Bench) -> Check:
    x = sample(dtypes.float32, 2 * 3 * 8 * 6, 3).reshape(2, 3, 8, 6)
    t = tensor_of(x, dtypes.float32, bench.name)
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), (2, 3))[:, :, ::2, ::2]
    exact = [windows.max((-2, -1)), windows.mean((-2, -1))]
    return Check(
        [t.max_pool2d(2), t.avg_pool2d(2)],
        exact,
        tolerance_of("mean", dtypes.float32),
        [np.zeros_like(exact[0]), np.abs(windows).mean((-2, -1))],
    )


def _each(name: str, dtypes_: tuple[DType, ...], build: Callable[..., Check], *more: str) -> list[Case]:
    return [
        Case(
            f"core/reductions/{name}-{d.name}",
            build=functools.partial(build, d),
            needs=needs_dtypes(d.name, *more),
        )
        for d in dtypes_
    ]


_NUMBERS = tuple(d for d in ALL if not is_bool(d))
_MATMULS = ((1, 1, 1), (4, 5, 6), (17, 33, 9), (1, 64, 32), (32, 16, 1), (48, 64, 40))

CASES = (
    *_each("sum", ALL, _sum),
    *_each("prod", (*INTS, dtypes.float32, dtypes.float64), _prod),
    *_each("extremes", _NUMBERS, _extremes),
    *_each("places", _NUMBERS, _places),
    *_each("mean", (*FLOATS, dtypes.int32, dtypes.uint8), _mean),
    *_each("var", (dtypes.float32, dtypes.float64), _var),
    *_each("softmax", (dtypes.float32, dtypes.float64), _softmax),
    *_each("nan-spreads", FLOATS, _nan_spreads),
    *_each("half-accumulates-wide", (dtypes.float16, dtypes.bfloat16), _half_accumulates_wide),
    Case("core/reductions/truths", build=_truths),
    Case("core/reductions/integers-wrap", build=_integers_wrap),
    Case("core/reductions/lengths", build=_lengths),
    *(
        Case(
            f"core/reductions/matmul-{m}x{k}x{n}-float32",
            build=functools.partial(_matmul, dtypes.float32, (m, k, n)),
        )
        for m, k, n in _MATMULS
    ),
    *(
        Case(
            f"core/reductions/matmul-17x33x9-{d.name}",
            build=functools.partial(_matmul, d, (17, 33, 9)),
            needs=needs_dtypes(d.name),
        )
        for d in (dtypes.float16, dtypes.bfloat16, dtypes.float64, dtypes.int32, dtypes.int64)
    ),
    Case("core/reductions/batched-matmul", build=_batched_matmul),
    *(
        Case(
            f"core/reductions/conv-stride-{s}-padding-{p}-groups-{g}", build=functools.partial(_conv, s, p, g)
        )
        for s, p, g in ((1, 0, 1), (2, 1, 1), (1, 1, 2))
    ),
    Case("core/reductions/pooling", build=_pooled),
)
