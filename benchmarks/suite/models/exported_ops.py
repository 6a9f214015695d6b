"""The operations of exported PyTorch networks, in JAX: `OPS` by the name that torch.export gives each."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Array = jax.Array


def conv2d(x: Array, w: Array, b: Array | None = None, *options: Any) -> Array:
    stride, padding, dilation, groups = (*options, *([1, 1], [0, 0], [1, 1], 1)[len(options) :])
    around = [(p, p) for p in padding]
    y = lax.conv_general_dilated(x, w, stride, around, None, dilation, feature_group_count=groups)
    return y if b is None else y + b[:, None, None]


def conv_transpose2d(x: Array, w: Array, b: Array, stride: Sequence[int], padding: Sequence[int]) -> Array:
    around = [(n - 1 - p, n - 1 - p) for n, p in zip(w.shape[2:], padding, strict=True)]
    flipped = jnp.flip(w, (2, 3)).swapaxes(0, 1)
    return lax.conv_general_dilated(x, flipped, (1, 1), around, tuple(stride)) + b[:, None, None]


def batch_norm(
    x: Array,
    w: Array,
    b: Array,
    mean: Array,
    var: Array,
    train: bool,
    rate: float,
    eps: float,
    _: bool = True,
) -> Array:
    if train:
        mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    scale = w * lax.rsqrt(var + eps)
    return x * scale[:, None, None] + (b - mean * scale)[:, None, None]


def layer_norm(
    x: Array, shape: Sequence[int], w: Array, b: Array, eps: float = 1e-5, _: bool = True
) -> Array:
    return _normalized(x, -1, eps) * w + b


def group_norm(x: Array, groups: int, w: Array, b: Array, eps: float = 1e-5, _: bool = True) -> Array:
    y = _normalized(x.reshape(x.shape[0], groups, -1), -1, eps).reshape(x.shape)
    return y * w[:, None, None] + b[:, None, None]


def _normalized(x: Array, axis: int, eps: float) -> Array:
    centered = x - x.mean(axis, keepdims=True)
    return centered * lax.rsqrt(jnp.square(centered).mean(axis, keepdims=True) + eps)


def max_pool2d(
    x: Array, size: Sequence[int], stride: Sequence[int], padding: Sequence[int] = (0, 0)
) -> Array:
    around = [(0, 0), (0, 0), *((p, p) for p in padding)]
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, *size), (1, 1, *stride), around)


def attention(
    q: Array, k: Array, v: Array, mask: None = None, dropout: float = 0.0, is_causal: bool = False
) -> Array:
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if is_causal:
        scores = jnp.where(jnp.tri(*scores.shape[-2:], dtype=bool), scores, -jnp.inf)
    return jax.nn.softmax(scores, -1) @ v


def lstm(
    x: Array, states: Sequence[Array], weights: Sequence[Array], *options: Any
) -> tuple[Array, None, None]:
    """Return the results of layers of `(batch, words, width)`, and nothing of their last states."""
    for n in range(0, len(weights), 4):
        inner, outer, *biases = weights[n : n + 4]

        def step(state: tuple[Array, Array], part: Array, outer: Array = outer) -> Any:
            h, c = state
            i, f, g, o = jnp.split(part + h @ outer.T, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        first = jnp.zeros((x.shape[0], outer.shape[1]))
        x = lax.scan(step, (first, first), (x @ inner.T + sum(biases)).swapaxes(0, 1))[1].swapaxes(0, 1)
    return x, None, None


def select(x: Array, axis: int, index: int) -> Array:
    return lax.index_in_dim(x, index, axis, keepdims=False)


def unflatten(x: Array, axis: int, sizes: Sequence[int]) -> Array:
    axis %= x.ndim
    return x.reshape(*x.shape[:axis], *sizes, *x.shape[axis + 1 :])


def flatten(x: Array, first: int = 0, last: int = -1) -> Array:
    return x.reshape(*x.shape[:first], -1, *x.shape[last % x.ndim + 1 :])


OPS: dict[str, Callable[..., Any]] = {
    "adaptive_avg_pool2d": lambda x, size: x.mean((2, 3), keepdims=True),
    "add": jnp.add,
    "add_": jnp.add,
    "batch_norm": batch_norm,
    "cat": jnp.concatenate,
    "contiguous": lambda x: x,
    "conv2d": conv2d,
    "conv_transpose2d": conv_transpose2d,
    "dropout": lambda x, p, train: x,
    "embedding": lambda w, x: w[x],
    "flatten": flatten,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "getitem": lambda x, n: x[n],
    "group_norm": group_norm,
    "hardtanh": lambda x, low, high: jnp.clip(x, low, high),
    "layer_norm": layer_norm,
    "linear": lambda x, w, b=None: x @ w.T if b is None else x @ w.T + b,
    "lstm": lstm,
    "max_pool2d": max_pool2d,
    "mean": jnp.mean,
    "permute": jnp.transpose,
    "relu": jax.nn.relu,
    "reshape": jnp.reshape,
    "scaled_dot_product_attention": attention,
    "select": select,
    "silu": jax.nn.silu,
    "slice": lambda x, axis, first, last: lax.slice_in_dim(x, first, min(last, x.shape[axis]), axis=axis),
    "squeeze": jnp.squeeze,
    "transpose": jnp.swapaxes,
    "unflatten": unflatten,
    "unsqueeze": jnp.expand_dims,
    "upsample_nearest2d": lambda x, size, scale: x.repeat(int(scale[0]), 2).repeat(int(scale[1]), 3),
    "view": jnp.reshape,
    "zeros": lambda size, **options: jnp.zeros(size),
}
