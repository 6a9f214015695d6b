"""Attention: means of values, weighted by how well their keys fit a query.

Long sequences are done in blocks of keys. Each block changes three running results for every query (the
greatest score so far, the sum of exponentials and the mean of values), so that the scores of one block
are all that is ever in memory: it grows with the number of queries, not with its product with that of keys.
All blocks run the same kernels. A gradient needs the scores of all blocks again and keeps them.

Source: Vaswani et al. 2017, equation 1; Milakov and Gimelshein 2018, "Online normalizer calculation for
softmax", section 3.
"""

import math
from typing import Any, Self

from plugrad.dtype import dtypes, is_bool, is_float, sum_acc_dtype
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.dropout import DropoutMixin
from plugrad.tensor.lookup import counted
from plugrad.tensor.matmul import MatmulMixin
from plugrad.tensor.shapes import broadcast_shapes, show
from plugrad.tensor.steps import steps_of

_BLOCK = 512
# Up to this many scores for each head, one matrix of them is faster than several blocks.
_WHOLE = 1 << 20


class AttentionMixin(DropoutMixin, MatmulMixin):
    """Attention of queries (this tensor) to keys and values."""

    __slots__ = ()

    def scaled_dot_product_attention(
        self,
        key: Self,
        value: Self,
        attn_mask: Self | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        *,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Self:
        """Return `softmax(self @ key.T * scale + mask) @ value`.

        (..., L, E) with keys (..., S, E) and values (..., S, V) -> (..., L, V); batch axes broadcast. Narrow
        floats are computed in float32 and rounded at the end. A query that may attend to nothing gives zeros.

        Memory grows with L and with S, not with L*S, unless a mask of that size is passed or gradients are
        asked for.

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
            query, key, value, attn_mask = _grouped(query, key, value, attn_mask)
            shape = (*self.shape[:-1], value.shape[-1])
        wide = sum_acc_dtype(self.dtype)
        factor = 1 / math.sqrt(self.shape[-1]) if scale is None else scale  # pyright: ignore[reportArgumentType]
        q, k, v = query.cast(wide) * factor, key.cast(wide), value.cast(wide)
        count: Any = self.shape[-2] * key.shape[-2]
        is_long = key.shape[-2] > _BLOCK and count > _WHOLE  # pyright: ignore[reportOperatorIssue]
        attend = _in_blocks if is_long else _at_once
        out = attend(q, k, v, attn_mask, is_causal, dropout_p).cast(self.dtype)
        return out if shape is None else out.reshape(shape)


def _at_once(q: Any, k: Any, v: Any, mask: Any, is_causal: bool, dropout_p: float) -> Any:
    scores = q @ k.transpose(-2, -1)
    if is_causal:
        mask = _causal(q, q.shape[-2], k.shape[-2])
    scores = _masked(scores, mask)
    if mask is None:
        return scores.softmax(-1).dropout(dropout_p) @ v
    highest = _finite(scores.max(-1, keepdim=True).detach())
    weights = (scores - highest).exp()
    total = weights.sum(-1, keepdim=True)
    weights = weights / (total == 0).where(1.0, total)
    return weights.dropout(dropout_p) @ v


def _in_blocks(q: Any, k: Any, v: Any, mask: Any, is_causal: bool, dropout_p: float) -> Any:
    size, queries = k.shape[-2], q.shape[-2]
    blocks = -(-size // _BLOCK)
    width = -(-size // blocks)
    q = q.contiguous()
    keys, values = (_blocks_of(x, blocks, width, -2) for x in (k, v))
    masks = [None] * blocks if mask is None else _mask_blocks(mask, size, blocks, width)
    lead = broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2], what="scaled_dot_product_attention")
    rows = (*lead, queries, 1)
    zero = q._like(q._graph.const_like(0.0).reshape((1,) * len(rows)))
    highest = (zero.expand(rows) - math.inf).contiguous()
    total = zero.expand(rows).contiguous()
    out = zero.expand(*lead, queries, v.shape[-1]).contiguous()
    # the number of the block's first key: in memory, since as a constant it would make another kernel
    begin = zero.cast(dtypes.int32).reshape(1).contiguous()
    for key, value, allowed in zip(keys, values, masks, strict=True):
        scores = _masked(q @ key.transpose(-2, -1), allowed)
        place = q._like(counted(width, dtypes.int32, (width,), 0)) + begin
        if is_causal:
            row = q._like(counted(queries, dtypes.int32, (queries, 1), 0))
            scores = (place <= row).where(scores, -math.inf)
        if blocks * width != size:
            scores = (place < size).where(scores, -math.inf)
        scores = scores.contiguous()
        following = highest.maximum(scores.max(-1, keepdim=True)).detach().contiguous()
        base = _finite(following)
        weights = (scores - base).exp().contiguous()
        shrunk = (_finite(highest, -math.inf) - base).exp().contiguous()
        before, total = total * shrunk, (total * shrunk + weights.sum(-1, keepdim=True)).contiguous()
        # divided in each block: what needs the sum comes after it, and this block's weights can go
        out = (out * before + weights.dropout(dropout_p) @ value) / (total == 0).where(1.0, total)
        out = out.contiguous()
        highest = following
        begin = (begin + width).contiguous()
    return out


def _blocks_of(x: Any, blocks: int, width: int, axis: int) -> list[Any]:
    """Return an axis in `blocks` parts of `width` elements, zeros behind the end."""
    at = x.ndim + axis
    missing = blocks * width - x.shape[at]
    if missing:
        x = x.pad([(0, missing if a == at else 0) for a in range(x.ndim)])
    return steps_of(x.reshape(*x.shape[:at], blocks, width, *x.shape[at + 1 :]), at)


def _mask_blocks(mask: Any, size: int, blocks: int, width: int) -> list[Any]:
    if mask.ndim == 0 or mask.shape[-1] == 1:
        return [mask] * blocks
    # what lies behind the keys is refused by its place
    return _blocks_of(mask, blocks, width, -1)


def _masked(scores: Any, mask: Any) -> Any:
    if mask is None:
        return scores
    return mask.where(scores, -math.inf) if is_bool(mask.dtype) else scores + mask.cast(scores.dtype)


def _causal(x: Any, queries: int, keys: int) -> Any:
    shape = (queries, keys)
    place, row = (x._like(counted(shape[axis], dtypes.int32, shape, axis)) for axis in (1, 0))
    return place <= row


def _finite(highest: Any, otherwise: float = 0.0) -> Any:
    """Return maxima of nothing, which are -inf, as 0: -inf - -inf is no number."""
    return (highest == -math.inf).where(otherwise, highest)


def _grouped(query: Any, key: Any, value: Any, mask: Any) -> tuple[Any, Any, Any, Any]:
    """Return queries (..., heads of keys, queries for each, L, E) and the others with an axis of 1 there."""
    if min(query.ndim, key.ndim, value.ndim) < 3:
        raise ShapeError(
            "scaled_dot_product_attention with enable_gqa takes (..., heads, length, size), not "
            f"{show(query.shape)}."
        )
    heads, groups = query.shape[-3], key.shape[-3]
    if value.shape[-3] != groups or heads % groups:
        raise ShapeError(
            f"scaled_dot_product_attention with enable_gqa: {heads} heads of queries, {groups} of keys, "
            f"{value.shape[-3]} of values. Keys and values have as many, and that divides the first."
        )
    query = query.unflatten(-3, (groups, heads // groups))
    if mask is not None and mask.ndim >= 3:
        spread = mask.shape[-3] != 1
        mask = mask.unflatten(-3, (groups, heads // groups)) if spread else mask.unsqueeze(-3)
    return query, key.unsqueeze(-3), value.unsqueeze(-3), mask


def _check(query: Any, key: Any, value: Any, mask: Any, dropout_p: float, is_causal: bool) -> None:
    what = "scaled_dot_product_attention"
    for x in (query, key, value):
        x.static_shape(what)
    query._check_device(key, value, *([] if mask is None else [mask]))
    if not is_float(query.dtype) or not query.dtype is key.dtype is value.dtype:
        raise DtypeError(
            f"{what} of {query.dtype.name}, {key.dtype.name} and {value.dtype.name}: it takes floats of one "
            "dtype. Cast first."
        )
    fits = min(query.ndim, key.ndim, value.ndim) >= 2
    if not fits or query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2] or not key.shape[-2]:
        raise ShapeError(
            f"{what} of queries {show(query.shape)}, keys {show(key.shape)} and values {show(value.shape)}: "
            "it takes (..., L, E), (..., S, E) and (..., S, V)."
        )
    if not 0 <= dropout_p <= 1:
        raise ArgumentError(f"{what}: dropout_p={dropout_p} lies outside of 0..1.")
    if mask is None:
        return
    if is_causal:
        raise ArgumentError(f"{what}: both attn_mask and is_causal. Put the causal part into the mask.")
    if not is_bool(mask.dtype) and not is_float(mask.dtype):
        raise DtypeError(f"{what} with a mask of {mask.dtype.name}: it takes bools or floats. Cast first.")
