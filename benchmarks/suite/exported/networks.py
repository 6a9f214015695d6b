"""Operations of networks in JAX: `OPS` by the name that torch.export gives each.

What is missing has its name in jax.numpy too.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Array = jax.Array


def each(value: int | Sequence[int], axes: int) -> list[int]:
    """Return one number for each axis."""
    values = [value] if isinstance(value, int) else list(value)
    return values * axes if len(values) == 1 else values


def conv(
    x: Array,
    w: Array,
    b: Array | None = None,
    stride: Sequence[int] = (1,),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    groups: int = 1,
) -> Array:
    n = x.ndim - 2
    around = [(p, p) for p in each(padding, n)]
    options = each(stride, n), around, None, each(dilation, n)
    y = lax.conv_general_dilated(x, w, *options, feature_group_count=groups)
    return y if b is None else y + b.reshape(-1, *[1] * n)


def conv_transpose(
    x: Array,
    w: Array,
    b: Array | None = None,
    stride: Sequence[int] = (1,),
    padding: Sequence[int] = (0,),
    output_padding: Sequence[int] = (0,),
) -> Array:
    n = x.ndim - 2
    sizes = zip(w.shape[2:], each(padding, n), each(output_padding, n), strict=True)
    around = [(size - 1 - p, size - 1 - p + more) for size, p, more in sizes]
    flipped = jnp.flip(w, range(2, w.ndim)).swapaxes(0, 1)
    y = lax.conv_general_dilated(x, flipped, [1] * n, around, each(stride, n))
    return y if b is None else y + b.reshape(-1, *[1] * n)


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


def group_norm(
    x: Array, groups: int, w: Array | None = None, b: Array | None = None, eps: float = 1e-5, _: bool = True
) -> Array:
    y = _normalized(x.reshape(x.shape[0], groups, -1), -1, eps).reshape(x.shape)
    return y if w is None or b is None else y * w[:, None, None] + b[:, None, None]


def _normalized(x: Array, axis: int, eps: float) -> Array:
    centered = x - x.mean(axis, keepdims=True)
    return centered * lax.rsqrt(jnp.square(centered).mean(axis, keepdims=True) + eps)


def windows(
    x: Array,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    first: float,
    combine: Callable[[Array, Array], Array],
) -> Array:
    n = x.ndim - 2
    around = [(0, 0), (0, 0), *((p, p) for p in each(padding, n))]
    steps = each(stride or size, n)
    return lax.reduce_window(x, first, combine, (1, 1, *each(size, n)), (1, 1, *steps), around)


def max_pool(
    x: Array, size: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,)
) -> Array:
    return windows(x, size, stride, padding, -jnp.inf, lax.max)


def adaptive(reduce: Callable[..., Array]) -> Callable[..., Array]:
    """Return a pool of an image to a size, by `reduce` of the elements of each part."""

    def pool(x: Array, sizes: Sequence[int]) -> Array:
        for axis, size in zip((2, 3), sizes, strict=True):
            n = x.shape[axis]
            ends = [(i * n // size, -(-(i + 1) * n // size)) for i in range(size)]
            parts = [reduce(lax.slice_in_dim(x, *end, axis=axis), axis, keepdims=True) for end in ends]
            x = jnp.concatenate(parts, axis)
        return x

    return pool


def upsample_nearest(x: Array, size: Sequence[int] | None, scales: Sequence[float] | None = None) -> Array:
    for axis in (2, 3):
        times = size[axis - 2] // x.shape[axis] if size else int((scales or ())[axis - 2])
        x = x.repeat(times, axis)
    return x


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


def take_slice(x: Array, axis: int, first: int, last: int, step: int = 1) -> Array:
    return lax.slice_in_dim(x, first, min(last, x.shape[axis]), step, axis)


def flatten(x: Array, first: int = 0, last: int = -1) -> Array:
    return x.reshape(*x.shape[:first], -1, *x.shape[last % x.ndim + 1 :])


def dropout(x: Array, p: float, train: bool) -> Array:
    if not train or not p:
        return x
    # the key depends on a value, or XLA could draw once for all calls
    key = jax.random.key(lax.bitcast_convert_type(x.ravel()[0], jnp.int32))
    return jnp.where(jax.random.bernoulli(key, 1 - p, x.shape), x / (1 - p), 0)


OPS: dict[str, Callable[..., Any]] = {
    "adaptive_avg_pool2d": adaptive(jnp.mean),
    "add_": jnp.add,
    "batch_norm": batch_norm,
    "cat": jnp.concatenate,
    "contiguous": lambda x: x,
    "conv1d": conv,
    "conv2d": conv,
    "conv3d": conv,
    "conv_transpose2d": conv_transpose,
    "dropout": dropout,
    "embedding": lambda w, x: w[x],
    "flatten": flatten,
    "gelu": lambda x, **how: jax.nn.gelu(x, approximate="approximate" in how),
    "getitem": lambda x, n: x[n],
    "group_norm": group_norm,
    "hardtanh": lambda x, low, high: jnp.clip(x, low, high),
    "layer_norm": layer_norm,
    "linear": lambda x, w, b=None: x @ w.T if b is None else x @ w.T + b,
    "lstm": lstm,
    "max_pool1d": max_pool,
    "max_pool2d": max_pool,
    "max_pool3d": max_pool,
    "permute": jnp.transpose,
    "relu": jax.nn.relu,
    "scaled_dot_product_attention": attention,
    "select": select,
    "silu": jax.nn.silu,
    "slice": take_slice,
    "transpose": jnp.swapaxes,
    "unflatten": unflatten,
    "unsqueeze": jnp.expand_dims,
    "upsample_nearest2d": upsample_nearest,
    "view": jnp.reshape,
    "zeros": lambda size, **options: jnp.zeros(size),
}
