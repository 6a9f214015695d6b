"""Attention: means of values, weighted by how well their keys fit a query.

Long sequences are done in blocks of keys. Each block changes three running results for every query (the
greatest score so far, the sum of exponentials and the mean of values), so that the scores of one block
are all that is ever in memory: it grows with the number of queries, not with its product with that of keys.
All blocks run the same kernels. A gradient computes the scores again, a block at a time.

Source: Vaswani et al. 2017, equation 1; Milakov and Gimelshein 2018, "Online normalizer calculation for
softmax", section 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from plugrad._frozen import frozen
from plugrad.autodiff import repeated
from plugrad.dtype import DType, dtypes, is_bool, is_float, sum_acc_dtype
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.argument_checks import real_number, require_optional_tensors, require_tensors
from plugrad.tensor.base import Tensor
from plugrad.tensor.custom_gradient import with_backward
from plugrad.tensor.linalg.recurrence import joined_steps, steps_of
from plugrad.tensor.lookup import counted
from plugrad.tensor.shapes import Dim, broadcast_shapes, show, size_today
from plugrad.uop import UOp

_BLOCK = 512
# Up to this many scores for each head, one matrix of them is faster than several blocks.
_WHOLE = 1 << 20
# Causal attention of this many queries and more is cut: most of what a mask would empty is not computed.
# Each part has kernels of its own, to be compiled: four parts compute 5/8 of all, and eight would 9/16.
_PART = 128
_MOST_PARTS = 4

# Queries, keys, values, mask, the number of the first query where attention is causal, dropout.
_Attend = Callable[[Any, Any, Any, Any, int | None, float], Any]


def scaled_dot_product_attention(
    self: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return `softmax(self @ key.T * scale + mask) @ value`.

    (..., L, E) with keys (..., S, E) and values (..., S, V) -> (..., L, V); batch axes broadcast. Sums of
    narrow floats are float32. Weights are rounded to the dtype of the values that they multiply, but not
    where keys are many. A query that may attend to nothing gives zeros, where there are no keys at all, too.

    Memory grows with L and with S, not with L*S, unless a mask of that size is passed, or one of them is
    symbolic; for gradients too, but not for second ones.

    Args:
        key: what queries are compared with.
        value: what is averaged.
        attn_mask: bools (True: may attend) or floats added to scores; broadcasts to (..., L, S).
        dropout_p: probability that a weight is left out, while training (see `Tensor.train`).
        is_causal: query `i` attends to keys `0..i` only.
        scale: factor of scores; `1/sqrt(E)` if left out.
        enable_gqa: axis -3 holds heads, and each head of keys and values serves several of queries.

    Raises:
        ShapeError: shapes do not fit each other.
        DtypeError: queries, keys or values are no floats of one dtype, or the mask is of integers.
        ArgumentError: both a mask and `is_causal`, or `dropout_p` outside of 0..1.

    Example:
        >>> x = Tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> x.scaled_dot_product_attention(x, x, is_causal=True)[0].tolist()
        [1.0, 0.0]
    """
    _check(self, key, value, attn_mask, dropout_p, is_causal)
    query: Any = self
    shape = None
    if enable_gqa:
        query, key, value, attn_mask = _group_heads(query, key, value, attn_mask)
        shape = (*self.shape[:-1], value.shape[-1])
    wide = sum_acc_dtype(self.dtype)
    factor: Any = _scale(self.shape[-1], scale, wide)
    if isinstance(factor, UOp):
        factor = self._make(factor, self._device)
    lengths: Any = self.shape[-2], key.shape[-2]
    # a symbolic number of keys is no number of blocks
    is_static = all(isinstance(length, int) for length in lengths)
    is_long = is_static and lengths[1] > _BLOCK and lengths[0] * lengths[1] > _WHOLE
    q, k, v = query, key, value
    # weights of a byte would have two or three digits
    if is_long or self.dtype is wide or self.dtype.itemsize == 1:
        q, k, v, factor = query.cast(wide).mul(factor), key.cast(wide), value.cast(wide), 1
    attend = _attend_in_blocks if is_long else partial(_attend_at_once, factor)
    parts = min(_MOST_PARTS, lengths[0] // _PART) if is_static and is_causal else 1
    if parts > 1:
        out = _attend_in_parts(attend, parts, q, k, v, dropout_p).cast(self.dtype)
    else:
        out = attend(q, k, v, attn_mask, 0 if is_causal else None, dropout_p).cast(self.dtype)
    return out if shape is None else out.reshape(shape)


def _attend_in_parts(attend: _Attend, count: int, q: Any, k: Any, v: Any, dropout_p: float) -> Any:
    """Attend causally in `count` parts of the queries, each to the keys it sees."""
    queries, keys = q.shape[-2], k.shape[-2]
    width = -(-queries // count)
    parts: list[Any] = []
    for first in range(0, queries, width):
        last = min(first + width, queries)
        key, value = (x[..., : min(last, keys), :] for x in (k, v))
        parts.append(attend(q[..., first:last, :], key, value, None, first, dropout_p))
    return parts[0].cat(*parts[1:], dim=-2)


def _attend_at_once(
    factor: Any, q: Any, k: Any, v: Any, mask: Any, first: int | None, dropout_p: float
) -> Any:
    """Attend to all keys together; causal queries are numbered from `first`."""
    # products take their factors as narrow as they come, which is what matrix instructions take
    narrow, wide = v.dtype, sum_acc_dtype(v.dtype)
    scores = q.matmul(k.transpose(-2, -1), dtype=wide) * factor
    if first is not None:
        shape = (q.shape[-2], k.shape[-2])
        place, row = (q._like(counted(shape[axis], dtypes.int32, shape, axis)) for axis in (1, 0))
        # in memory: masked where the product is, once for each score; no query attends to nothing
        scores = _masked(scores, place <= (row + first if first else row)).contiguous()
    scores = _masked(scores, mask)
    if mask is None or 0 in scores.shape:
        return scores.softmax(-1).dropout(dropout_p).cast(narrow).matmul(v, dtype=wide)
    highest = _finite(scores.max(-1, keepdim=True).detach())
    weights = (scores - highest).exp()
    total = weights.sum(-1, keepdim=True)
    weights = weights / (total == 0).where(1.0, total)
    return weights.dropout(dropout_p).cast(narrow).matmul(v, dtype=wide)


@frozen
class _Blocks:
    """Blocks of keys, and the keys that a query may attend to.

    Attributes:
        size: the number of keys.
        width: how many of them are in a block.
        first: the number of the first query, where query `i` attends to keys `0..i` only; else None.
        dropout_p: probability that a weight is left out.
    """

    size: int
    width: int
    first: int | None
    dropout_p: float

    @property
    def count(self) -> int:
        """The number of blocks."""
        return -(-self.size // self.width)

    def split(self, x: Any, axis: int) -> list[Any]:
        """Return the blocks of an axis of keys, zeros behind the end."""
        at = x.ndim + axis
        missing = self.count * self.width - x.shape[at]
        if missing:
            x = x.pad([(0, missing if a == at else 0) for a in range(x.ndim)])
        return steps_of(x.reshape(*x.shape[:at], self.count, self.width, *x.shape[at + 1 :]), at)

    def split_mask(self, mask: Any) -> list[Any]:
        """Return the mask of each block, refusing places behind the last key."""
        is_same = mask is None or mask.ndim == 0 or mask.shape[-1] == 1
        return [mask] * self.count if is_same else self.split(mask, -1)

    def join(self, parts: list[Any], axis: int) -> Any:
        """Return blocks as one axis of keys."""
        at = parts[0].ndim + axis
        shape = parts[0].shape
        whole = joined_steps(parts, at).reshape(*shape[:at], self.count * self.width, *shape[at + 1 :])
        return whole.shrink([(0, self.size if a == at else size) for a, size in enumerate(whole.shape)])

    def block_starts(self, like: Any) -> Iterator[Any]:
        """Yield the first key number of each block, in memory so that kernels are shared."""
        begin = like._like(UOp.const(dtypes.int32, 0).reshape((1,))).contiguous()
        for _ in range(self.count):
            yield begin
            begin = (begin + self.width).contiguous()

    def scores(self, q: Any, key: Any, allowed: Any, begin: Any) -> Any:
        """Return the scores of queries with the keys of the block at `begin`."""
        scores = _masked(q @ key.transpose(-2, -1), allowed)
        place = q._like(counted(self.width, dtypes.int32, (self.width,), 0)) + begin
        if self.first is not None:
            queries = q.shape[-2]
            row = q._like(counted(queries, dtypes.int32, (queries, 1), 0)) + self.first
            scores = (place <= row).where(scores, -math.inf)
        if self.count * self.width != self.size:
            scores = (place < self.size).where(scores, -math.inf)
        return scores.contiguous()

    def with_dropout(self, weights: Any, kept: Any) -> Any:
        """Return weights, or their gradient, after dropout with the mask `kept`."""
        return weights if kept is None else kept.where(weights / (1 - self.dropout_p), 0)


def _attend_in_blocks(q: Any, k: Any, v: Any, mask: Any, first: int | None, dropout_p: float) -> Any:
    size, p = k.shape[-2], dropout_p if q.training else 0.0
    blocks = _Blocks(size, -(-size // -(-size // _BLOCK)), first, p)
    lead = broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    rows = (*lead, q.shape[-2])
    scores = (*rows, blocks.width)
    kept = [
        q.rand(*scores, dtype=dtypes.float32, device=q.device) >= p for _ in range(blocks.count if p else 0)
    ]
    inputs = [q.contiguous(), k, v, *kept, *([] if mask is None else [mask])]
    outputs = _forward(blocks, rows, *_split_inputs([x.detach() for x in inputs], len(kept)))

    def backward(gradients: Any, taken: Any, made: Any) -> Any:
        found = _backward(blocks, gradients, made, *_split_inputs(taken, len(kept)))
        return [*found[:3], *[None] * len(kept), *found[3:][: len(taken) - 3 - len(kept)]]

    return with_backward(outputs, inputs, backward)[0]


def _split_inputs(inputs: Sequence[Any], kept: int) -> tuple[Any, Any, Any, Any, Any]:
    """Return queries, keys, values, the dropout masks of the blocks, and the mask."""
    q, k, v, *rest = inputs
    return q, k, v, rest[:kept], rest[kept] if len(rest) > kept else None


def _forward(
    blocks: _Blocks, rows: tuple[Any, ...], q: Any, k: Any, v: Any, kept: list[Any], mask: Any
) -> list[Any]:
    """Return the result, (*rows, V), and the logarithms of the sums of exponentials, (*rows, 1)."""
    zero = q._like(q._graph.const_like(0.0).reshape((1,) * (len(rows) + 1)))
    highest = (zero.expand(*rows, 1) - math.inf).contiguous()
    total = zero.expand(*rows, 1).contiguous()
    out = zero.expand(*rows, v.shape[-1]).contiguous()
    masks = blocks.split_mask(mask)
    parts = zip(blocks.split(k, -2), blocks.split(v, -2), masks, blocks.block_starts(q), strict=True)
    for number, (key, value, allowed, begin) in enumerate(parts):
        # behind what is left of the block before: else the scores of all blocks may come first
        turn = q if not number else q._like(q._graph.later(out._graph))
        scores = blocks.scores(turn, key, allowed, begin)
        following = highest.maximum(scores.max(-1, keepdim=True)).contiguous()
        base = _finite(following)
        weights = (scores - base).exp().contiguous()
        shrunk = (_finite(highest, -math.inf) - base).exp().contiguous()
        before, total = total * shrunk, (total * shrunk + weights.sum(-1, keepdim=True)).contiguous()
        weights = blocks.with_dropout(weights, kept[number] if kept else None)
        # divided in each block: what needs the sum comes after it, and this block's weights can go
        out = ((out * before + weights @ value) / (total == 0).where(1.0, total)).contiguous()
        highest = following
    return [out, highest + total.log()]


def _backward(
    blocks: _Blocks, gradients: Any, made: Any, q: Any, k: Any, v: Any, kept: list[Any], mask: Any
) -> list[Any]:
    """Return the gradients of queries, keys, values and mask, one block at a time.

    Source: Dao et al. 2022, "FlashAttention", algorithm 4.
    """
    (out, log_total), (by_out, by_log) = made, gradients
    by_out = by_out.contiguous()
    # The same computation again, and not what the forward pass left: behind the gradient, and behind what
    # weights are made with. Else the scores of all blocks come first, and wait for it.
    base = _finite(log_total).contiguous()
    before = [by_out._graph, base._graph]
    later = q._like(q._graph.later(*before))
    again = [x._like(repeated([x._graph], [], before)[0]) for x in kept]
    offset = (by_log - (by_out * out).sum(-1, keepdim=True)).contiguous()
    by_q: Any = None
    by_keys, by_values, by_masks = list[Any](), list[Any](), list[Any]()
    masks = blocks.split_mask(mask)
    parts = zip(blocks.split(k, -2), blocks.split(v, -2), masks, blocks.block_starts(q), strict=True)
    for number, (key, value, allowed, begin) in enumerate(parts):
        drops = again[number] if again else None
        weights = (blocks.scores(later, key, allowed, begin) - base).exp().contiguous()
        by_values.append(
            _sum_to_shape(blocks.with_dropout(weights, drops).transpose(-2, -1) @ by_out, value.shape)
        )
        by_weights = blocks.with_dropout(by_out @ value.transpose(-2, -1), drops)
        by_scores = (weights * (by_weights + offset)).contiguous()
        by_keys.append(_sum_to_shape(by_scores.transpose(-2, -1) @ later, key.shape))
        part = _sum_to_shape(by_scores @ key, q.shape)
        by_q = part if by_q is None else (by_q + part).contiguous()
        if mask is not None and is_float(mask.dtype):
            by_masks.append(_sum_to_shape(by_scores, allowed.shape).cast(mask.dtype))
    return [
        by_q,
        blocks.join(by_keys, -2),
        blocks.join(by_values, -2),
        _mask_gradient(blocks, masks, by_masks),
    ]


def _mask_gradient(blocks: _Blocks, masks: list[Any], gradients: list[Any]) -> Any:
    if not gradients:
        return None
    if masks[0] is not masks[-1]:
        return blocks.join(gradients, -1)
    total = gradients[0]
    for part in gradients[1:]:
        total = total + part
    return total


def _sum_to_shape(x: Any, shape: tuple[Any, ...]) -> Any:
    """Return the gradient of an operand that was broadcast from `shape`, in memory."""
    extra = x.ndim - len(shape)
    axes = [*range(extra), *[a + extra for a, size in enumerate(shape) if size != x.shape[a + extra]]]
    return (x.sum(tuple(axes)) if axes else x).reshape(shape).contiguous()


def _masked(scores: Any, mask: Any) -> Any:
    if mask is None:
        return scores
    return mask.where(scores, -math.inf) if is_bool(mask.dtype) else scores + mask.cast(scores.dtype)


def _finite(highest: Any, otherwise: float = 0.0) -> Any:
    """Return maxima of nothing, which are -inf, as 0: -inf - -inf is no number."""
    return (highest == -math.inf).where(otherwise, highest)


def _group_heads(query: Any, key: Any, value: Any, mask: Any) -> tuple[Any, Any, Any, Any]:
    """Return queries (..., groups, heads, L, E), and the others with one head a group."""
    if min(query.ndim, key.ndim, value.ndim) < 3:
        raise ShapeError(
            "scaled_dot_product_attention with enable_gqa takes (..., heads, length, size), not "
            f"{show(query.shape)}."
        )
    heads, groups = query.shape[-3], key.shape[-3]
    if value.shape[-3] != groups or not size_today(groups) or size_today(heads) % size_today(groups):
        counts = [show((count,))[1:-2] for count in (heads, groups, value.shape[-3])]
        raise ShapeError(
            f"scaled_dot_product_attention with enable_gqa: {counts[0]} heads of queries, {counts[1]} of "
            f"keys, {counts[2]} of values. Keys and values have as many, and that divides the first."
        )
    query = query.unflatten(-3, (groups, heads // groups))
    if mask is not None and mask.ndim >= 3:
        spread = mask.shape[-3] != 1
        mask = mask.unflatten(-3, (groups, heads // groups)) if spread else mask.unsqueeze(-3)
    return query, key.unsqueeze(-3), value.unsqueeze(-3), mask


def _scale(size: Dim, scale: float | None, wide: DType) -> float | UOp:
    """Return the factor of the scores: a number, or a node if `size` is symbolic."""
    if scale is not None:
        return scale
    if not isinstance(size, int):
        return 1 / size.maximum(1).cast(wide).sqrt()
    # scores of no terms are 0, whatever they are multiplied by
    return 1 / math.sqrt(size or 1)


def _check(query: Any, key: Any, value: Any, mask: Any, dropout_p: float, is_causal: bool) -> None:
    what = "scaled_dot_product_attention"
    require_tensors(key=key, value=value)
    require_optional_tensors(attn_mask=mask)
    query._check_device(key, value, *([] if mask is None else [mask]))
    if not is_float(query.dtype) or not query.dtype is key.dtype is value.dtype:
        raise DtypeError(
            f"{what} of {query.dtype.name}, {key.dtype.name} and {value.dtype.name}: it takes floats of one "
            "dtype. Cast first."
        )
    fits = min(query.ndim, key.ndim, value.ndim) >= 2
    if not fits or query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ShapeError(
            f"{what} of queries {show(query.shape)}, keys {show(key.shape)} and values {show(value.shape)}: "
            "it takes (..., L, E), (..., S, E) and (..., S, V)."
        )
    if not 0 <= real_number(dropout_p, "dropout_p") <= 1:
        raise ArgumentError(f"{what}: dropout_p={dropout_p} lies outside of 0..1.")
    if mask is None:
        return
    if is_causal:
        raise ArgumentError(f"{what}: both attn_mask and is_causal. Put the causal part into the mask.")
    if not is_bool(mask.dtype) and not is_float(mask.dtype):
        raise DtypeError(f"{what} with a mask of {mask.dtype.name}: it takes bools or floats. Cast first.")
