"""Attention with several heads."""

import math
from typing import Any, Literal, overload

from plugrad.dtype import is_bool
from plugrad.errors import ShapeError
from plugrad.nn.init import parameter, xavier_uniform
from plugrad.nn.linear import Linear
from plugrad.tensor import Tensor

__all__ = ["MultiHeadAttention"]


class MultiHeadAttention:
    """Attention of queries to keys in several subspaces: (L, N, E), (S, N, K), (S, N, V) -> (L, N, E).

    Without a batch: (L, E), (S, K), (S, V) -> (L, E).

    Masks mean what they mean to PyTorch's layer: a True *forbids*; `Tensor.scaled_dot_product_attention`
    takes them the other way round.

    Args:
        embed_dim: size E of queries, and of keys and values unless these have others.
        num_heads: how many subspaces E is divided into.
        dropout: probability that a weight is left out, while training.
        bias: add learnt numbers.
        batch_first: the axes are (N, L, E).
        kdim: size K of keys, if not E.
        vdim: size V of values, if not E. With either, queries, keys and values have a weight each.

    Source: Vaswani et al. 2017, section 3.2.2.

    Raises:
        ShapeError: the heads do not divide `embed_dim`.

    Example:
        >>> x = Tensor.ones(5, 2, 8)
        >>> MultiHeadAttention(8, 2)(x, x, x).shape
        (5, 2, 8)
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        batch_first: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
    ) -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise ShapeError(
                f"MultiHeadAttention of size {embed_dim} does not divide into {num_heads} heads. Choose a "
                "number that divides it."
            )
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.sizes = (embed_dim, embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim)
        if self.sizes == (embed_dim,) * 3:
            self.in_proj_weight = xavier_uniform(3 * embed_dim, embed_dim)
        else:
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight = (
                xavier_uniform(embed_dim, size) for size in self.sizes
            )
        self.in_proj_bias = parameter(Tensor.zeros(3 * embed_dim)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if bias:
            self.out_proj.bias = parameter(Tensor.zeros(embed_dim))

    @overload
    def __call__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
        need_weights: Literal[False] = False,
        average_attn_weights: bool = True,
    ) -> Tensor: ...

    @overload
    def __call__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
        *,
        need_weights: Literal[True],
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor]: ...

    def __call__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
        need_weights: bool = False,
        average_attn_weights: bool = True,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Return the layer's output and, if asked, the weights of keys.

        Args:
            query: (L, N, E).
            key: (S, N, K).
            value: (S, N, V).
            key_padding_mask: (N, S), True (or a float to add) for keys that do not count; (S,) without a
                batch.
            attn_mask: (L, S) or (N*num_heads, L, S), the same for pairs of query and key.
            is_causal: query `i` attends to keys `0..i` only.
            need_weights: also return what each query takes of each key, (N, L, S). This takes memory for all
                of them, which the output alone does not.
            average_attn_weights: the mean of all heads; else (N, num_heads, L, S).

        Raises:
            ShapeError: shapes do not fit each other.
        """
        given = (query, key, value)
        is_single = all(x.ndim == 2 for x in given)
        self._check_shapes(given, 2 if is_single else 3)
        if is_single:
            batch = 0 if self.batch_first else 1
            given = tuple(x.unsqueeze(batch) for x in given)
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        q, k, v = (
            self._heads(x if self.batch_first else x.transpose(0, 1), number)
            for number, x in enumerate(given)
        )
        mask = self._mask(q, k, key_padding_mask, attn_mask)
        if is_causal and (mask is not None or need_weights):
            rows, places = (Tensor.arange(part.shape[2], device=query.device) for part in (q, k))
            later = _added(places > rows.unsqueeze(1), q)
            mask, is_causal = later if mask is None else mask + later, False
        weights = None
        if need_weights:
            scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(self.embed_dim // self.num_heads))
            weights = (scores if mask is None else scores + mask).softmax(-1).dropout(self.dropout)
            out = weights @ v
        else:
            out = q.scaled_dot_product_attention(k, v, mask, self.dropout, is_causal)
        out = self.out_proj(out.transpose(1, 2).flatten(2))
        out = out if self.batch_first else out.transpose(0, 1)
        if is_single:
            out = out.squeeze(0 if self.batch_first else 1)
        if weights is None:
            return out
        weights = weights.mean(1) if average_attn_weights else weights
        return out, weights.squeeze(0) if is_single else weights

    def _check_shapes(self, given: tuple[Tensor, ...], ndim: int) -> None:
        for x, size in zip(given, self.sizes, strict=True):
            if x.ndim != ndim or x.shape[-1] != size:
                raise ShapeError(
                    f"MultiHeadAttention of size {self.embed_dim} got shape {x.shape}; it takes "
                    f"{'(N, L, ' if self.batch_first else '(L, N, '}{size})."
                )

    def _heads(self, x: Tensor, number: int) -> Tensor:
        """Return projected queries (0), keys (1) or values (2): (N, L, E) -> (N, heads, L, E/heads)."""
        rows = slice(number * self.embed_dim, (number + 1) * self.embed_dim)
        if self.sizes == (self.embed_dim,) * 3:
            weight = self.in_proj_weight[rows]
        else:
            weight = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)[number]
        out = x @ weight.transpose(0, 1)
        out = out if self.in_proj_bias is None else out + self.in_proj_bias[rows]
        return out.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def _mask(self, query: Tensor, key: Tensor, padding: Any, pairs: Any) -> Tensor | None:
        """Return one mask of floats to add, (N or 1, heads or 1, L or 1, S)."""
        n, heads, length, _ = query.shape
        keys = key.shape[2]
        found: list[Tensor] = []
        if padding is not None:
            if padding.shape != (n, keys):
                raise ShapeError(f"key_padding_mask of shape {padding.shape}: it takes ({n}, {keys}).")
            found.append(_added(padding, query).reshape(n, 1, 1, keys))
        if pairs is not None:
            if pairs.shape == (length, keys):
                pairs = pairs.reshape(1, 1, length, keys)
            elif pairs.shape == (n * heads, length, keys):
                pairs = pairs.reshape(n, heads, length, keys)
            else:
                raise ShapeError(
                    f"attn_mask of shape {pairs.shape}: it takes ({length}, {keys}) or "
                    f"({n * heads}, {length}, {keys})."
                )
            found.append(_added(pairs, query))
        if not found:
            return None
        return found[0] if len(found) == 1 else found[0] + found[1]


def _added(mask: Tensor, like: Tensor) -> Tensor:
    """Return a mask as floats to add: -inf where a bool forbids."""
    if not is_bool(mask.dtype):
        return mask.cast(like.dtype)
    return mask.where(Tensor.full((), -float("inf"), dtype=like.dtype, device=like.device), 0.0)
