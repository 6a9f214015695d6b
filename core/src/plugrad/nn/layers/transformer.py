"""Layers of transformers: encoders, decoders, and stacks of them."""

import copy
from collections.abc import Callable
from typing import Any, Literal

from plugrad.errors import ArgumentError
from plugrad.nn.checks import check_counts, check_tensors
from plugrad.nn.layers.attention import MultiheadAttention
from plugrad.nn.layers.dropout import Dropout
from plugrad.nn.layers.linear import Linear
from plugrad.nn.layers.norm import LayerNorm
from plugrad.nn.module import Module
from plugrad.nn.state import get_state_dict
from plugrad.tensor import Tensor
from plugrad.tensor.base import DTypeLike

__all__ = ["TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"]

Activation = Literal["relu", "gelu"] | Callable[[Tensor], Tensor]


class _Layer(Module):
    """Self-attention and the dense layers of encoders and decoders."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        if not callable(activation) and activation not in ("relu", "gelu"):
            raise ArgumentError(
                f"{type(self).__name__}: activation={activation!r} is neither 'relu' nor 'gelu', nor a "
                "function."
            )

        def attention() -> MultiheadAttention:
            return MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, device=device, dtype=dtype
            )

        self.self_attn = attention()
        if self._has_memory:
            self.multihead_attn = attention()
        self.linear1 = Linear(d_model, dim_feedforward, bias, device, dtype)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device, dtype)
        self.norm1, self.norm2 = (
            LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype) for _ in range(2)
        )
        if self._has_memory:
            self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.activation: Activation = activation
        self.norm_first = norm_first

    _has_memory = False

    def _residual(self, x: Tensor, norm: LayerNorm, part: Callable[[Tensor], Tensor]) -> Tensor:
        """Return `x` plus `part(x)`, normalized before or after."""
        return x + part(norm(x)) if self.norm_first else norm(x + part(x))

    def _seen(
        self,
        attention: MultiheadAttention,
        x: Tensor,
        memory: Tensor,
        padding: Tensor | None,
        mask: Tensor | None,
        is_causal: bool,
    ) -> Tensor:
        out, _ = attention(x, memory, memory, padding, False, mask, is_causal=is_causal)
        return self.dropout(out)

    def _dense(self, x: Tensor) -> Tensor:
        between = self.linear1(x)
        if callable(self.activation):
            between = self.activation(between)
        else:
            between = between.relu() if self.activation == "relu" else between.gelu("none")
        return self.dropout(self.linear2(self.dropout(between)))


class TransformerEncoderLayer(_Layer):
    """Self-attention and two dense layers, each with a residual connection: (L, N, E).

    Args:
        d_model: size E.
        nhead: heads of attention.
        dim_feedforward: size between the dense layers.
        dropout: probability that an element is left out, while training.
        activation: between the dense layers; "gelu" is the exact one; or a function of a tensor.
        layer_norm_eps: added to variances.
        batch_first: the axes are (N, L, E).
        norm_first: normalize what goes into each part, not what comes out.
        bias: have biases.
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.

    Source: Vaswani et al. 2017, section 3.1; `norm_first` as in Xiong et al. 2020.

    Raises:
        ArgumentError: there is no such activation.
        ShapeError: the heads do not divide `d_model`.

    Example:
        >>> TransformerEncoderLayer(8, 2, 16)(Tensor.ones(5, 2, 8)).shape
        (5, 2, 8)
    """

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the layer's output for `src`; masks as `MultiheadAttention` takes them."""
        check_tensors(self, src=src)
        masks = src_key_padding_mask, src_mask, is_causal
        src = self._residual(src, self.norm1, lambda x: self._seen(self.self_attn, x, x, *masks))
        return self._residual(src, self.norm2, self._dense)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to an encoder's output (S, N, E), two dense layers: (L, N, E).

    Takes the arguments of `TransformerEncoderLayer`.

    Source: Vaswani et al. 2017, section 3.1.

    Raises:
        ArgumentError: there is no such activation.
        ShapeError: the heads do not divide `d_model`.

    Example:
        >>> TransformerDecoderLayer(8, 2, 16)(Tensor.ones(5, 2, 8), Tensor.ones(3, 2, 8)).shape
        (5, 2, 8)
    """

    _has_memory = True

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the layer's output for `tgt`; masks as `MultiheadAttention` takes them."""
        check_tensors(self, tgt=tgt, memory=memory)
        own = tgt_key_padding_mask, tgt_mask, tgt_is_causal
        others = memory_key_padding_mask, memory_mask, memory_is_causal
        tgt = self._residual(tgt, self.norm1, lambda x: self._seen(self.self_attn, x, x, *own))
        tgt = self._residual(tgt, self.norm2, lambda x: self._seen(self.multihead_attn, x, memory, *others))
        return self._residual(tgt, self.norm3, self._dense)


class _Stack(Module):
    """Layers one after the other."""

    def __init__(
        self, layer: _Layer, num_layers: int, norm: Callable[[Tensor], Tensor] | None = None
    ) -> None:
        check_counts(self, 1, num_layers=num_layers)
        # computed first: copies of a graph of random numbers would each draw their own
        Tensor.realize(*get_state_dict(layer).values())
        self.layers = [copy.deepcopy(layer) for _ in range(num_layers)]
        self.norm = norm

    def _run(self, x: Tensor, *arguments: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *arguments)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """Layers of an encoder one after the other: (L, N, E) -> (L, N, E).

    Args:
        encoder_layer: what all layers start as copies of.
        num_layers: how many.
        norm: applied to the last one's output, if given.
        enable_nested_tensor: taken and of no effect, as
        mask_check: both choose among PyTorch's own ways to compute the same.

    Raises:
        ArgumentError: `num_layers` is no integer above 0.

    Example:
        >>> TransformerEncoder(TransformerEncoderLayer(8, 2, 16), 2)(Tensor.ones(5, 2, 8)).shape
        (5, 2, 8)
    """

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Callable[[Tensor], Tensor] | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the last layer's output for `src`; masks as `MultiheadAttention` takes them."""
        check_tensors(self, src=src)
        return self._run(src, mask, src_key_padding_mask, is_causal)


class TransformerDecoder(_Stack):
    """Layers of a decoder one after the other: (L, N, E), (S, N, E) -> (L, N, E).

    Args:
        decoder_layer: what all layers start as copies of.
        num_layers: how many.
        norm: applied to the last one's output, if given.

    Raises:
        ArgumentError: `num_layers` is no integer above 0.

    Example:
        >>> decoder = TransformerDecoder(TransformerDecoderLayer(8, 2, 16), 2)
        >>> decoder(Tensor.ones(5, 2, 8), Tensor.ones(3, 2, 8)).shape
        (5, 2, 8)
    """

    def __init__(
        self,
        decoder_layer: TransformerDecoderLayer,
        num_layers: int,
        norm: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the last layer's output for `tgt`; masks as `MultiheadAttention` takes them."""
        check_tensors(self, tgt=tgt, memory=memory)
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        return self._run(tgt, memory, *masks, tgt_is_causal, memory_is_causal)
