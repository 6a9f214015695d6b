"""Attend: dot products of queries and keys, softmax, and means of values."""

import math
from typing import Any

from plugrad import Tensor, dtypes
from plugrad_onnx.graph import Call, Graph
from plugrad_onnx.registry import PREVIEW, operator
from plugrad_onnx.sizes import Size, equal, less, simplified
from plugrad_onnx.values import dtype_of, sizes_of


def _heads(x: Tensor, count: int | None) -> Tensor:
    """Return `(batch, time, heads * size)` as `(batch, heads, time, size)`; four axes stay."""
    if x.ndim == 4:
        return x
    if not count:
        raise ValueError("q_num_heads and kv_num_heads are needed for inputs of three axes")
    batch, time, size = sizes_of(x)
    return x.reshape(batch, time, count, size // count).transpose(1, 2)


def _repeated(x: Tensor, heads: int) -> Tensor:
    """Return keys or values once for each query head of their group."""
    groups = heads // sizes_of(x)[1]
    return x if groups == 1 else x.repeat_interleave(groups, 1)


@operator("Attention", since=23)
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    nonpad_kv_seqlen: Tensor | None = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    left_window_size: int = -1,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    right_window_size: int = -1,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
) -> tuple[Tensor, ...]:
    """Return the attended values, all keys and values, and a stage of the scores."""
    is_packed, out_dtype = q.ndim == 3, q.dtype
    q, k, v = _heads(q, q_num_heads), _heads(k, kv_num_heads), _heads(v, kv_num_heads)
    if past_key is not None and past_value is not None:
        k, v = Tensor.cat(past_key, k, axis=2), Tensor.cat(past_value, v, axis=2)
    heads, queries, keys = sizes_of(q)[1], sizes_of(q)[2], sizes_of(k)[2]
    wide = dtypes.float32 if q.dtype.itemsize < 4 else q.dtype
    root = math.sqrt(scale if scale is not None else 1 / math.sqrt(sizes_of(q)[3]))
    all_keys = _repeated(k, heads).cast(wide) * root
    scores = (q.cast(wide) * root).matmul(all_keys.transpose(2, 3))
    stages = [scores]
    if softcap:
        scores = softcap * (scores / softcap).tanh()
    stages.append(scores)
    offset = _offset(past_key, nonpad_kv_seqlen, queries)
    allowed = _allowed(queries, keys, offset, is_causal, left_window_size, right_window_size)
    if nonpad_kv_seqlen is not None:
        inside = Tensor.arange(keys).reshape(1, 1, 1, -1) < nonpad_kv_seqlen.reshape(-1, 1, 1, 1)
        allowed = inside if allowed is None else allowed & inside
    if attn_mask is not None:
        mask = _full_mask(attn_mask, keys)
        if mask.dtype == dtypes.bool:
            allowed = mask if allowed is None else allowed & mask
        else:
            scores = scores + mask.cast(wide)
    if allowed is not None:
        scores = allowed.where(scores, float("-inf"))
    stages.append(scores)
    precise = scores if softmax_precision is None else scores.cast(dtype_of(softmax_precision))
    weights = _softmax(precise)
    stages.append(weights)
    out = weights.cast(wide).matmul(_repeated(v, heads).cast(wide)).cast(out_dtype)
    if is_packed:
        out = out.transpose(1, 2).reshape(sizes_of(q)[0], queries, heads * sizes_of(v)[3])
    return out, k, v, stages[qk_matmul_output_mode].cast(out_dtype)


def _softmax(scores: Tensor) -> Tensor:
    """Return the softmax of rows; zeros for a row in which nothing may be attended."""
    top = scores.max(-1, keepdim=True)
    has_some = top != float("-inf")
    powers = (scores - has_some.where(top, 0)).exp()
    return powers / has_some.where(powers.sum(-1, keepdim=True), 1)


def _offset(past_key: Tensor | None, nonpad: Tensor | None, queries: Size) -> Tensor | int:
    """Return the number of keys before the first query."""
    if past_key is not None:
        return sizes_of(past_key)[2]
    return 0 if nonpad is None else (nonpad.cast(dtypes.int64) - queries).reshape(-1, 1, 1, 1)


def _allowed(
    queries: Size, keys: Size, offset: Tensor | int, is_causal: int, left: int, right: int
) -> Tensor | None:
    """Return the mask of keys that each query may attend, or None for all."""
    right = 0 if is_causal else right
    if left < 0 and right < 0:
        return None
    at = Tensor.arange(queries, dtype=dtypes.int64).reshape(1, 1, -1, 1) + offset
    key = Tensor.arange(keys, dtype=dtypes.int64).reshape(1, 1, 1, -1)
    rules = ([key <= at + right] if right >= 0 else []) + ([key >= at - left] if left >= 0 else [])
    return rules[0] & rules[-1]


def _full_mask(mask: Tensor, keys: Size) -> Tensor:
    """Return a mask for all keys; those beyond its end may not be attended."""
    short = simplified(keys - sizes_of(mask)[-1])
    if less(short, 1) or equal(sizes_of(mask)[-1], 1):
        return mask
    sides = [(0, 0)] * (mask.ndim - 1) + [(0, short)]
    if mask.dtype == dtypes.bool:
        return mask.cast(dtypes.uint8).pad(sides) != 0
    return mask.pad(sides, value=float("-inf"))


@operator("FlexAttention", domain=PREVIEW)
def flex_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    prob_mod: Any = None,
    scale: float | None = None,
    score_mod: Any = None,
    softmax_precision: int | None = None,
    call: Call,
) -> Tensor:
    """Return attended values, with graphs of the model applied to scores and to weights."""
    heads, wide = sizes_of(q)[1], dtypes.float64 if q.dtype == dtypes.float64 else dtypes.float32
    precise = wide if softmax_precision is None else dtype_of(softmax_precision)
    factor = scale if scale is not None else 1 / math.sqrt(sizes_of(q)[3])
    scores = q.cast(wide).matmul(_repeated(k, heads).cast(wide).transpose(2, 3)) * factor
    scores = _applied(score_mod, scores.cast(precise), call)
    weights = _applied(prob_mod, _softmax(scores), call)
    return weights.cast(wide).matmul(_repeated(v, heads).cast(wide)).cast(q.dtype)


def _applied(graph: Graph | None, x: Tensor, call: Call) -> Tensor:
    if graph is None:
        return x
    (out,) = call.run(graph, x)
    if not isinstance(out, Tensor):
        raise TypeError("a modifier returns one tensor")
    return out


@operator("RotaryEmbedding", since=23)
def rotary_embedding(
    x: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    position_ids: Tensor | None = None,
    *,
    interleaved: int = 0,
    num_heads: int | None = None,
    rotary_embedding_dim: int = 0,
) -> Tensor:
    """Return x with pairs of elements rotated by angles that grow with the position.

    Source: Su et al. 2021, "RoFormer", equation 34.
    """
    heads = _heads(x, num_heads)
    size = rotary_embedding_dim or sizes_of(heads)[3]
    cos, sin = (c if position_ids is None else c[position_ids] for c in (cos_cache, sin_cache))
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    turned, rest = heads[..., :size], heads[..., size:]
    if interleaved:
        first, second = turned[..., ::2], turned[..., 1::2]
    else:
        first, second = turned[..., : size // 2], turned[..., size // 2 :]
    real, imaginary = first * cos - second * sin, first * sin + second * cos
    if interleaved:
        out = real.stack(imaginary, axis=-1).reshape(*sizes_of(turned))
    else:
        out = Tensor.cat(real, imaginary, axis=-1)
    if size < sizes_of(heads)[3]:
        out = Tensor.cat(out, rest, axis=-1)
    return out if x.ndim == 4 else out.transpose(1, 2).reshape(*sizes_of(x))
