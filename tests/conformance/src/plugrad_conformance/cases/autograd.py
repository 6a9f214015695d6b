"""Core: gradients, computed by the device, against derivatives known in closed form."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from plugrad.dtype import dtypes
from plugrad_conformance.case import Case, Check
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import Array, sample, tensor_of
from plugrad_conformance.tolerance import tolerance_of

# name: (function of a tensor, its derivative on an array, domain)
_DERIVATIVES: dict[str, tuple[Callable[[Any], Any], Callable[[Array], Array], Callable[[Array], Array]]] = {
    "square": (lambda t: t * t, lambda x: 2 * x, lambda x: x),
    "cube": (lambda t: t**3, lambda x: 3 * x * x, lambda x: x),
    "reciprocal": (lambda t: 1 / t, lambda x: -1 / (x * x), lambda x: np.abs(x) + 0.5),
    "sqrt": (lambda t: t.sqrt(), lambda x: 0.5 / np.sqrt(x), lambda x: np.abs(x) + 0.5),
    "exp": (lambda t: t.exp(), np.exp, lambda x: x),
    "log": (lambda t: t.log(), lambda x: 1 / x, lambda x: np.abs(x) + 0.5),
    "sin": (lambda t: t.sin(), np.cos, lambda x: x),
    "tanh": (lambda t: t.tanh(), lambda x: 1 - np.tanh(x) ** 2, lambda x: x / 4),
    "sigmoid": (lambda t: t.sigmoid(), lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2, lambda x: x / 4),
    "relu": (lambda t: t.relu(), lambda x: (x > 0) * 1.0, lambda x: np.where(x == 0, 1.0, x)),
    "where": (lambda t: (t < 0.5).where(t * 3, t * 5), lambda x: np.where(x < 0.5, 3.0, 5.0), lambda x: x),
}


def _elementwise(name: str, bench: Bench) -> Check:
    function, derivative, domain = _DERIVATIVES[name]
    x = domain(sample(dtypes.float32, 60, 1, 1.0)).astype(np.float32).astype(np.float64)
    t = tensor_of(x, dtypes.float32, bench.name)
    return Check(
        [function(t).sum().gradient(t)[0]],
        [derivative(x)],
        tolerance_of("gradient", dtypes.float32),
        [np.ones_like(x)],
    )


def _matmul(bench: Bench) -> Check:
    x, y = (sample(dtypes.float32, 35, s, 1.0).reshape(shape) for s, shape in ((1, (5, 7)), (2, (7, 5))))
    a, b = (tensor_of(v, dtypes.float32, bench.name) for v in (x, y))
    weights = np.arange(25).reshape(5, 5).astype(np.float64)
    loss = (a @ b * tensor_of(weights, dtypes.float32, bench.name)).sum()
    scales = [weights @ np.abs(y).T, np.abs(x).T @ weights]
    return Check(
        list(loss.gradient(a, b)),
        [weights @ y.T, x.T @ weights],
        tolerance_of("gradient", dtypes.float32),
        scales,
    )


def _movement(bench: Bench) -> Check:
    x = sample(dtypes.float32, 24, 3, 1.0).reshape(4, 6)
    t = tensor_of(x, dtypes.float32, bench.name)
    weights = np.arange(40).reshape(5, 8).astype(np.float64)
    moved = t.permute(1, 0)[1:, ::-1].pad(((0, 0), (3, 1))) * tensor_of(weights, dtypes.float32, bench.name)
    exact = np.zeros_like(x)
    exact[:, 1:] = weights[:, 3:7][:, ::-1].T
    return Check([moved.sum().gradient(t)[0]], [exact])


def _max(bench: Bench) -> Check:
    x = np.array([[1.0, 5.0, 2.0], [7.0, 0.0, 3.0]])
    t = tensor_of(x, dtypes.float32, bench.name)
    return Check([t.max(1).sum().gradient(t)[0]], [np.array([[0.0, 1, 0], [1, 0, 0]])])


def _shared(bench: Bench) -> Check:
    """A value used twice collects both gradients; a detached one none."""
    x = sample(dtypes.float32, 10, 4, 1.0)
    t = tensor_of(x, dtypes.float32, bench.name)
    y = t * 2
    loss = (y * y + y * y.detach() + t).sum()
    return Check([loss.gradient(t)[0]], [8 * x + 4 * x + 1], tolerance_of("gradient", dtypes.float32))


def _second_order(bench: Bench) -> Check:
    x = sample(dtypes.float32, 10, 5, 1.0)
    t = tensor_of(x, dtypes.float32, bench.name)
    first = (t * t * t).sum().gradient(t)[0]
    return Check([first.sum().gradient(t)[0]], [6 * x], tolerance_of("gradient", dtypes.float32))


def _cross_entropy(bench: Bench) -> Check:
    x = sample(dtypes.float32, 20, 6, 1.0).reshape(4, 5)
    labels = np.array([0, 4, 2, 2], np.int32)
    t = tensor_of(x, dtypes.float32, bench.name)
    loss = t.sparse_categorical_crossentropy(tensor_of(labels, dtypes.int32, bench.name))
    e = np.exp(x - x.max(1, keepdims=True))
    exact = (e / e.sum(1, keepdims=True) - np.eye(5)[labels]) / 4
    return Check(
        [loss.gradient(t)[0]], [exact], tolerance_of("gradient", dtypes.float32), [np.full_like(x, 0.25)]
    )


def _conv(bench: Bench) -> Check:
    x = sample(dtypes.float32, 2 * 3 * 5 * 5, 7, 1.0).reshape(2, 3, 5, 5)
    w = sample(dtypes.float32, 4 * 3 * 9, 8, 1.0).reshape(4, 3, 3, 3)
    a, b = (tensor_of(v, dtypes.float32, bench.name) for v in (x, w))
    loss = a.conv2d(b).sum()
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    by_weight = np.broadcast_to(windows.sum((0, 2, 3)), w.shape)
    spread = np.pad(np.ones((3, 3)), 2)
    by_input = np.array([[_correlate(spread, kernel[::-1, ::-1]) for kernel in w.sum(0)]] * 2)
    scales = [np.full_like(x, 12.0), np.full_like(w, 18.0)]
    return Check(
        list(loss.gradient(a, b)), [by_input, by_weight], tolerance_of("gradient", dtypes.float32), scales
    )


def _correlate(image: Array, kernel: Array) -> Array:
    return np.einsum("yxij,ij->yx", np.lib.stride_tricks.sliding_window_view(image, kernel.shape), kernel)


_BUILDS = {
    "matmul": _matmul,
    "movement": _movement,
    "max": _max,
    "shared": _shared,
    "second-order": _second_order,
    "cross-entropy": _cross_entropy,
    "conv": _conv,
}

CASES = (
    *(Case(f"core/autograd/{name}", build=functools.partial(_elementwise, name)) for name in _DERIVATIVES),
    *(Case(f"core/autograd/{name}", build=build) for name, build in _BUILDS.items()),
)
