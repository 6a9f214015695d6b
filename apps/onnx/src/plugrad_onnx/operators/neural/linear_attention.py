"""Attend in linear time, with a matrix that each token updates."""

import math
from typing import Literal

from plugrad import Tensor, dtypes
from plugrad_onnx.registry import operator
from plugrad_onnx.values import shape_of


@operator("LinearAttention", since=27)
def linear_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past_state: Tensor | None = None,
    decay: Tensor | None = None,
    beta: Tensor | None = None,
    *,
    chunk_size: int = 64,
    kv_num_heads: int,
    q_num_heads: int,
    scale: float = 0.0,
    update_rule: Literal["linear", "gated", "delta", "gated_delta"] = "gated_delta",
) -> tuple[Tensor, Tensor]:
    """Return the attended values, and the matrix after the last token.

    Source: Yang et al. 2024, "Gated Delta Networks", equation 10, for the rule "gated_delta".
    """
    batch, time, heads = shape_of(query)[0], shape_of(query)[1], kv_num_heads
    wide = dtypes.float32 if query.dtype.itemsize < 4 else query.dtype
    q = query.cast(wide).reshape(batch, time, q_num_heads, -1)
    k = key.cast(wide).reshape(batch, time, heads, -1)
    v = value.cast(wide).reshape(batch, time, heads, -1)
    factor = scale or 1 / math.sqrt(shape_of(q)[3])
    state = Tensor.zeros(batch, heads, shape_of(k)[3], shape_of(v)[3], dtype=wide)
    if past_state is not None:
        state = past_state.cast(wide)
    outputs: list[Tensor] = []
    for t in range(time):
        k_t, v_t = k[:, t].unsqueeze(-1), v[:, t].unsqueeze(-2)
        if update_rule in ("gated", "gated_delta") and decay is not None:
            state = state * decay.cast(wide)[:, t].reshape(batch, heads, -1, 1).exp()
        if update_rule in ("delta", "gated_delta") and beta is not None:
            rate = beta.cast(wide)[:, t].reshape(batch, -1, 1, 1)
            v_t = rate * (v_t - (state * k_t).sum(2, keepdim=True))
        state = state + k_t * v_t
        of_queries = state.repeat_interleave(q_num_heads // heads, 1)
        outputs.append((q[:, t].unsqueeze(-1) * of_queries).sum(2) * factor)
    out = outputs[0].stack(*outputs[1:], axis=1) if time > 1 else outputs[0].unsqueeze(1)
    kept = query.dtype if past_state is None else past_state.dtype
    return out.reshape(batch, time, -1).cast(query.dtype), state.cast(kept)
