"""Attention with several heads."""

from typing import Any

from plugrad.dtype import is_bool
from plugrad.errors import ShapeError
from plugrad.nn.init import parameter, xavier_uniform
from plugrad.nn.linear import Linear
from plugrad.tensor import Tensor

__all__ = ["MultiHeadAttention"]


class MultiHeadAttention:
    """Attention of queries to keys in several subspaces: (L, N, E), (S, N, E), (S, N, E) -> (L, N, E).

    Masks mean what they mean to PyTorch's layer: a True *forbids*; `Tensor.scaled_dot_product_attention`
    takes them the other way round.

    Args:
        embed_dim: size E of queries, keys and values.
        num_heads: how many subspaces E is divided into.
        dropout: probability that a weight is left out, while training.
        bias: add learnt numbers.
        batch_first: the axes are (N, L, E).

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
        self.in_proj_weight = xavier_uniform(3 * embed_dim, embed_dim)
        self.in_proj_bias = parameter(Tensor.zeros(3 * embed_dim)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if bias:
            self.out_proj.bias = parameter(Tensor.zeros(embed_dim))

    def __call__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the layer's output.

        Args:
            query: (L, N, E).
            key: (S, N, E).
            value: (S, N, E).
            key_padding_mask: (N, S), True (or a float to add) for keys that do not count.
            attn_mask: (L, S) or (N*num_heads, L, S), the same for pairs of query and key.
            is_causal: query `i` attends to keys `0..i` only.

        Raises:
            ShapeError: shapes do not fit each other.
        """
        parts: list[Tensor] = []
        for number, x in enumerate((query, key, value)):
            if x.ndim != 3 or x.shape[-1] != self.embed_dim:
                raise ShapeError(
                    f"MultiHeadAttention of size {self.embed_dim} got shape {x.shape}; it takes "
                    f"{'(N, L, ' if self.batch_first else '(L, N, '}{self.embed_dim})."
                )
            parts.append(self._heads(x if self.batch_first else x.transpose(0, 1), number))
        mask = self._mask(parts[0], parts[1], key_padding_mask, attn_mask)
        if mask is not None and is_causal:
            rows, places = (Tensor.arange(part.shape[2], device=query.device) for part in parts[:2])
            mask = mask + _added(places > rows.unsqueeze(1), mask)
            is_causal = False
        out = parts[0].scaled_dot_product_attention(parts[1], parts[2], mask, self.dropout, is_causal)
        out = self.out_proj(out.transpose(1, 2).flatten(2))
        return out if self.batch_first else out.transpose(0, 1)

    def _heads(self, x: Tensor, number: int) -> Tensor:
        """Return projected queries (0), keys (1) or values (2): (N, L, E) -> (N, heads, L, E/heads)."""
        rows = slice(number * self.embed_dim, (number + 1) * self.embed_dim)
        out = x @ self.in_proj_weight[rows].transpose(0, 1)
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
