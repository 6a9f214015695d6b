"""The work of the cases in NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np

from suite.data import floats

Thunk = Callable[[], Any]


def op_call(n: int) -> Thunk:
    a, b = floats(n), floats(n, seed=1)
    return lambda: a + b


jit_call = op_call


def chain(n: int) -> Thunk:
    x = floats(n)
    return lambda: np.maximum((x + 1) * 2 - 0.5, 0) + 3


def total(n: int) -> Thunk:
    x = floats(n)
    return x.sum


def softmax(n: int) -> Thunk:
    x = floats(n, n)

    def run() -> Any:
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    return run


def layernorm(n: int) -> Thunk:
    x = floats(n, n)

    def run() -> Any:
        centered = x - x.mean(1, keepdims=True)
        return centered / np.sqrt(np.square(centered).mean(1, keepdims=True) + 1e-5)

    return run


def matmul(n: int) -> Thunk:
    a, b = floats(n, n), floats(n, n, seed=1)
    return lambda: a @ b


def matmul_transposed(n: int) -> Thunk:
    a, b = floats(n, n), floats(n, n, seed=1)
    return lambda: a @ b.T


def gemv(n: int) -> Thunk:
    a, x = floats(n, n), floats(n, seed=1)
    return lambda: a @ x


def attention(heads: int, tokens: int, size: int) -> Thunk:
    q, k, v = (floats(heads, tokens, size, seed=seed) for seed in range(3))

    def run() -> Any:
        scores = q @ k.swapaxes(1, 2) * np.float32(size**-0.5)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v

    return run


def conv2d(batch: int, channels: int, size: int, filters: int) -> Thunk:
    x, w = floats(batch, channels, size, size), floats(filters, channels, 3, 3, seed=1)

    def run() -> Any:
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        return np.tensordot(windows, w, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)

    return run
