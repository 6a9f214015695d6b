"""Operations of the API beyond those of networks, in JAX: `OPS` by the name that torch.export gives each."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy import special
from jax.scipy.ndimage import map_coordinates

from suite.exported.networks import adaptive, each, windows

Array = jax.Array
Axes = Sequence[int] | None


def avg_pool(
    x: Array, size: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,)
) -> Array:
    return windows(x, size, stride, padding, 0.0, lax.add) / math.prod(each(size, x.ndim - 2))


def upsample_bilinear(
    x: Array, size: Sequence[int] | None, corners: bool, scales: Sequence[float] = ()
) -> Array:
    sizes = size or [int(scale * n) for scale, n in zip(scales, x.shape[2:], strict=True)]
    return jax.image.resize(x, (*x.shape[:2], *sizes), "bilinear", antialias=False)


def grid_sampler(x: Array, grid: Array, *options: Any) -> Array:
    h, w = x.shape[2:]
    columns, rows = ((grid[..., 0] + 1) * w - 1) / 2, ((grid[..., 1] + 1) * h - 1) / 2

    def channels(images: Array, row: Array, column: Array) -> Array:
        return jax.vmap(lambda image: map_coordinates(image, [row, column], 1, "constant"))(images)

    return jax.vmap(channels)(x, rows, columns)


def rms_norm(x: Array, shape: Sequence[int], w: Array | None = None, eps: float | None = None) -> Array:
    least = jnp.finfo(x.dtype).eps if eps is None else eps
    y = x * lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + least)
    return y if w is None else y * w


def instance_norm(x: Array, *options: Any) -> Array:
    axes, eps = tuple(range(2, x.ndim)), options[-2]
    centered = x - x.mean(axes, keepdims=True)
    return centered * lax.rsqrt(jnp.square(centered).mean(axes, keepdims=True) + eps)


def cross_entropy(x: Array, y: Array, *options: Any) -> Array:
    return -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean()


def norm(x: Array, order: float = 2, axes: Axes = None, keepdim: bool = False) -> Array:
    return jnp.sqrt(jnp.square(x).sum(tuple(axes) if axes else None, keepdims=keepdim))


def _places(indices: Sequence[Array | None]) -> tuple[Any, ...]:
    return tuple(slice(None) if index is None else index for index in indices)


def index_put(x: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    at = x.at[_places(indices)]
    return at.add(values) if accumulate else at.set(values)


def along(x: Array, axis: int, index: Array) -> Any:
    """Return the place of the elements that `index` names along an axis."""
    places = list(jnp.meshgrid(*map(jnp.arange, index.shape), indexing="ij", sparse=True))
    places[axis] = index
    return x.at[tuple(places)]


def slices(x: Array, axis: int, index: Array) -> Any:
    """Return the place of the slices that `index` names along an axis."""
    return x.at[(*[slice(None)] * axis, index)]


_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(x: Array, sizes: Sequence[int], mode: str = "constant", value: float | None = None) -> Array:
    pairs = [tuple(sizes[i : i + 2]) for i in range(len(sizes) - 2, -1, -2)]
    return jnp.pad(x, [(0, 0)] * (x.ndim - len(pairs)) + pairs, _MODES[mode])


def unfold(x: Array, axis: int, size: int, step: int) -> Array:
    starts = jnp.arange(0, x.shape[axis] - size + 1, step)
    return jnp.moveaxis(jnp.take(x, starts[:, None] + jnp.arange(size), axis), axis + 1, -1)


def pixel_shuffle(x: Array, r: int) -> Array:
    n, c, h, w = x.shape
    parts = x.reshape(n, c // r**2, r, r, h, w).transpose(0, 1, 4, 2, 5, 3)
    return parts.reshape(n, c // r**2, h * r, w * r)


def to(x: Array, *given: Any, dtype: Any = None, **options: Any) -> Array:
    found = next((item for item in (*given, dtype) if hasattr(item, "itemsize")), None)
    return x if found is None else x.astype(str(found).removeprefix("torch."))


def divide(x: Array, y: Array, rounding_mode: str | None = None) -> Array:
    return jnp.floor_divide(x, y) if rounding_mode == "floor" else jnp.divide(x, y)


# torch gives positions as well, which nobody asks for here
OPS: dict[str, Callable[..., Any]] = {
    "_assert_tensor_metadata": lambda *options, **more: None,
    "_int_mm": lambda x, y: jnp.matmul(x, y, preferred_element_type=jnp.int32),
    "adaptive_max_pool2d": lambda x, sizes: (adaptive(jnp.max)(x, sizes), None),
    "amax": lambda x, axes=(), keepdim=False: x.max(tuple(axes) or None, keepdims=keepdim),
    "arange": lambda *sizes, **options: jnp.arange(*sizes),
    "avg_pool2d": avg_pool,
    "clamp_min": jnp.maximum,
    "cross_entropy_loss": cross_entropy,
    "cummax": lambda x, axis: (lax.cummax(x, axis), None),
    "digamma": special.digamma,
    "div": divide,
    "einsum": lambda text, xs, **options: jnp.einsum(text, *xs),
    "eq": jnp.equal,
    "erf": special.erf,
    "erfinv": special.erfinv,
    "expand_as": lambda x, y: jnp.broadcast_to(x, y.shape),
    "fft_fft": lambda x, n=None, axis=-1: jnp.fft.fft(x, n, axis),
    "fft_rfft": lambda x, n=None, axis=-1: jnp.fft.rfft(x, n, axis),
    "fft_rfft2": jnp.fft.rfft2,
    "gather": lambda x, axis, index: jnp.take_along_axis(x, index, axis),
    "ge": jnp.greater_equal,
    "grid_sampler": grid_sampler,
    "gt": jnp.greater,
    "histc": lambda x, bins, low, high: jnp.histogram(x, bins, (low, high))[0],
    "index": lambda x, indices: x[_places(indices)],
    "index_add": lambda x, axis, index, values: slices(x, axis, index).add(values),
    "index_copy": lambda x, axis, index, values: slices(x, axis, index).set(values),
    "index_put": index_put,
    "instance_norm": instance_norm,
    "kthvalue": lambda x, k, axis=-1: (jnp.sort(x, axis)[:, k - 1], None),
    "le": jnp.less_equal,
    "lgamma": special.gammaln,
    "linalg_cholesky": jnp.linalg.cholesky,
    "linalg_det": jnp.linalg.det,
    "linalg_eigvalsh": jnp.linalg.eigvalsh,
    "linalg_inv": jnp.linalg.inv,
    "linalg_qr": jnp.linalg.qr,
    "linalg_solve": jnp.linalg.solve,
    "linalg_svdvals": lambda x: jnp.linalg.svd(x, compute_uv=False),
    "linalg_vector_norm": norm,
    "log_softmax": lambda x, axis: jax.nn.log_softmax(x, axis),
    "logcumsumexp": lax.cumlogsumexp,
    "logsumexp": lambda x, axes, keepdim=False: special.logsumexp(x, tuple(axes), keepdims=keepdim),
    "mT": lambda x: x.mT,
    "masked_fill": lambda x, mask, value: jnp.where(mask, value, x),
    "median": lambda x, axis: (jnp.sort(x, axis)[:, (x.shape[axis] - 1) // 2], None),
    "mul": jnp.multiply,
    "numpy_T": lambda x: x.T,
    "one_hot": lambda x, n: jax.nn.one_hot(x, n, dtype=jnp.int64),
    "pad": pad,
    "pixel_shuffle": pixel_shuffle,
    "repeat_interleave": jnp.repeat,
    "rms_norm": rms_norm,
    "scatter": lambda x, axis, index, values: along(x, axis, index).set(values),
    "scatter_add": lambda x, axis, index, values: along(x, axis, index).add(values),
    "scatter_reduce": lambda x, axis, index, values, how: along(x, axis, index).max(values),
    "sigmoid": jax.nn.sigmoid,
    "softmax": lambda x, axis: jax.nn.softmax(x, axis),
    "sort": lambda x, axis=-1: (jnp.sort(x, axis), None),
    "sub": jnp.subtract,
    "take_along_dim": jnp.take_along_axis,
    "to": to,
    "topk": lambda x, k, axis=-1: lax.top_k(x, k),
    "unfold": unfold,
    "upsample_bilinear2d": upsample_bilinear,
    "view_as_complex": lambda x: lax.complex(x[..., 0], x[..., 1]),
    "view_as_real": lambda x: jnp.stack([x.real, x.imag], -1),
}
