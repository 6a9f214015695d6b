"""Attention with several heads."""

import functools
import math
from typing import Any

from plugrad.dtype import is_bool
from plugrad.errors import ShapeError
from plugrad.nn.checks import check_counts, check_tensors
from plugrad.nn.functional import linear
from plugrad.nn.init import draw_by_both_fans, parameter
from plugrad.nn.layers.linear import Linear
from plugrad.nn.module import Module
from plugrad.tensor import Tensor
from plugrad.tensor.base import DTypeLike
from plugrad.tensor.functional.dropout import check_probability

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention of queries to keys in several subspaces: (L, N, E), (S, N, K), (S, N, V) -> (L, N, E).

    Returns the output, and what each query takes of each key. Without a batch: (L, E), (S, K), (S, V) ->
    (L, E).

    Masks mean what they mean to PyTorch's layer: a True *forbids*; `Tensor.scaled_dot_product_attention`
    takes them the other way round.

    Args:
        embed_dim: size E of queries, and of keys and values unless these have others.
        num_heads: how many subspaces E is divided into.
        dropout: probability that a weight is left out, while training.
        bias: add learnt numbers.
        add_bias_kv: let every query see one more key and value, which are learnt.
        add_zero_attn: let every query see one more key and value, of zeros.
        kdim: size K of keys, if not E.
        vdim: size V of values, if not E. With either, queries, keys and values have a weight each.
        batch_first: the axes are (N, L, E).
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.

    Source: Vaswani et al. 2017, section 3.2.2.

    Raises:
        ShapeError: the heads do not divide `embed_dim`.

    Example:
        >>> x = Tensor.ones(5, 2, 8)
        >>> out, weights = MultiheadAttention(8, 2)(x, x, x)
        >>> out.shape, weights.shape
        ((5, 2, 8), (2, 5, 5))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        self.sizes = (embed_dim, embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim)
        check_counts(
            self, 0, embed_dim=embed_dim, num_heads=num_heads, kdim=self.sizes[1], vdim=self.sizes[2]
        )
        check_probability(dropout, type(self).__name__)
        if num_heads < 1 or embed_dim < 1 or embed_dim % num_heads:
            raise ShapeError(
                f"{type(self).__name__} of size {embed_dim} does not divide into {num_heads} heads. Choose a "
                "number that divides it."
            )
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.add_zero_attn = add_zero_attn
        draw = functools.partial(draw_by_both_fans, device=device, dtype=dtype)
        if self.sizes == (embed_dim,) * 3:
            self.in_proj_weight = draw(3 * embed_dim, embed_dim)
        else:
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight = (
                draw(embed_dim, size) for size in self.sizes
            )
        zeros = functools.partial(Tensor.zeros, device=device, dtype=dtype)
        self.in_proj_bias = parameter(zeros(3 * embed_dim)) if bias else None
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k, self.bias_v = (
                parameter(Tensor.randn(1, 1, embed_dim, device=device, dtype=dtype) / math.sqrt(embed_dim))
                for _ in range(2)
            )
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype)
        if bias:
            self.out_proj.bias = parameter(zeros(embed_dim))

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the output, and what each query takes of each key, (N, L, S).

        Args:
            query: (L, N, E).
            key: (S, N, K).
            value: (S, N, V).
            key_padding_mask: (N, S), True (or a float to add) for keys that do not count; (S,) without a
                batch.
            need_weights: False returns None for the weights, and takes no memory that grows with L times S.
            attn_mask: (L, S) or (N*num_heads, L, S), the same for pairs of query and key.
            average_attn_weights: the mean of all heads' weights; else (N, num_heads, L, S).
            is_causal: query `i` attends to keys `0..i` only. PyTorch's layer wants `attn_mask` as well.

        Raises:
            ShapeError: shapes do not fit each other.
        """
        given = (query, key, value)
        out, weights = self._attended(given, key_padding_mask, attn_mask, is_causal, need_weights)
        if weights is None:
            return out, None
        weights = weights.mean(1) if average_attn_weights else weights
        return out, weights.squeeze(0) if out.ndim == 2 else weights

    def _attended(
        self, given: tuple[Tensor, ...], padding: Any, pairs: Any, is_causal: bool, weighs: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return the output, and attention weights (N, heads, L, S) if `weighs`."""
        query, key, value = given
        masks = {"key_padding_mask": padding, "attn_mask": pairs}
        given_masks = {name: mask for name, mask in masks.items() if mask is not None}
        check_tensors(self, query=query, key=key, value=value, **given_masks)
        is_single = all(x.ndim == 2 for x in given)
        self._check_shapes(given, 2 if is_single else 3)
        batch = 0 if self.batch_first else 1
        if is_single:
            given = tuple(x.unsqueeze(batch) for x in given)
            padding = None if padding is None else padding.unsqueeze(0)
        q, k, v = (
            self._project_heads(x if self.batch_first else x.transpose(0, 1), number)
            for number, x in enumerate(given)
        )
        mask, keys = self._mask(q, k, padding, pairs), k.shape[2]
        k, v = self._with_more_keys(k, v)
        has_more = k.shape[2] != keys
        if is_causal and (mask is not None or weighs or has_more):
            rows, places = (Tensor.arange(count, device=q.device) for count in (q.shape[2], keys))
            later = _additive_mask(places > rows.unsqueeze(1), q)
            mask, is_causal = later if mask is None else mask + later, False
        if mask is not None and has_more:
            # whatever else is forbidden, the keys that were added are not
            mask = mask.pad((0, k.shape[2] - keys))
        weights = None
        if weighs:
            scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(self.embed_dim // self.num_heads))
            weights = (scores if mask is None else scores + mask).softmax(-1).dropout(self.dropout)
            out = weights @ v
        else:
            out = q.scaled_dot_product_attention(k, v, mask, self.dropout, is_causal)
        out = self.out_proj(out.transpose(1, 2).flatten(2))
        out = out if self.batch_first else out.transpose(0, 1)
        return out.squeeze(batch) if is_single else out, weights

    def _with_more_keys(self, *parts: Tensor) -> list[Tensor]:
        """Append the learnt key and value, and those of zeros, to (N, heads, S, E/heads)."""
        out: list[Tensor] = []
        for part, learnt in zip(parts, (self.bias_k, self.bias_v), strict=True):
            n, heads, _, size = part.shape
            more = [] if learnt is None else [learnt.reshape(1, heads, 1, size).expand(n, heads, 1, size)]
            if self.add_zero_attn:
                more.append(part.new_zeros(n, heads, 1, size))
            out.append(part.cat(*more, axis=2) if more else part)
        return out

    def _check_shapes(self, given: tuple[Tensor, ...], ndim: int) -> None:
        for x, size in zip(given, self.sizes, strict=True):
            if x.ndim != ndim or x.shape[-1] != size:
                raise ShapeError(
                    f"{type(self).__name__} of size {self.embed_dim} got shape {x.shape}; it takes "
                    f"{'(N, L, ' if self.batch_first else '(L, N, '}{size})."
                )

    def _project_heads(self, x: Tensor, number: int) -> Tensor:
        """Project queries (0), keys (1) or values (2) and split them into heads."""
        rows = slice(number * self.embed_dim, (number + 1) * self.embed_dim)
        if self.sizes == (self.embed_dim,) * 3:
            weight = self.in_proj_weight[rows]
        else:
            weight = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)[number]
        out = linear(x, weight, None if self.in_proj_bias is None else self.in_proj_bias[rows])
        return out.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def _mask(self, query: Tensor, key: Tensor, padding: Any, pairs: Any) -> Tensor | None:
        """Return one additive mask that broadcasts to (N, heads, L, S)."""
        n, heads, length, _ = query.shape
        keys = key.shape[2]
        found: list[Tensor] = []
        if padding is not None:
            if padding.shape != (n, keys):
                raise ShapeError(f"key_padding_mask of shape {padding.shape}: it takes ({n}, {keys}).")
            found.append(_additive_mask(padding, query).reshape(n, 1, 1, keys))
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
            found.append(_additive_mask(pairs, query))
        if not found:
            return None
        return found[0] if len(found) == 1 else found[0] + found[1]


def _additive_mask(mask: Tensor, like: Tensor) -> Tensor:
    """Return a mask as floats to add: -inf where a bool forbids."""
    if not is_bool(mask.dtype):
        return mask.cast(like.dtype)
    return mask.where(Tensor.full((), -float("inf"), dtype=like.dtype, device=like.device), 0.0)
