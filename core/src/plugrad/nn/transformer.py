"""A layer of a transformer's encoder."""

from typing import Literal

from plugrad.errors import ArgumentError
from plugrad.nn.attention import MultiHeadAttention
from plugrad.nn.dropout import Dropout
from plugrad.nn.linear import Linear
from plugrad.nn.norm import LayerNorm
from plugrad.tensor import Tensor

__all__ = ["TransformerEncoderLayer"]


class TransformerEncoderLayer:
    """Self-attention and two dense layers, each with a way around it: (L, N, E) -> (L, N, E).

    Args:
        d_model: size E.
        nhead: heads of attention.
        dim_feedforward: size between the dense layers.
        dropout: probability that an element is left out, while training.
        activation: between the dense layers; "gelu" is the exact one.
        layer_norm_eps: added to variances.
        batch_first: the axes are (N, L, E).
        norm_first: normalize what goes into each part, not what comes out.

    Source: Vaswani et al. 2017, section 3.1; `norm_first` as in Xiong et al. 2020.

    Raises:
        ArgumentError: there is no such activation.
        ShapeError: the heads do not divide `d_model`.

    Example:
        >>> TransformerEncoderLayer(8, 2, 16)(Tensor.ones(5, 2, 8)).shape
        (5, 2, 8)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Literal["relu", "gelu"] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
    ) -> None:
        if activation not in ("relu", "gelu"):
            raise ArgumentError(
                f"TransformerEncoderLayer: activation={activation!r} is neither 'relu' nor 'gelu'."
            )
        self.self_attn = MultiHeadAttention(d_model, nhead, dropout, batch_first=batch_first)
        self.linear1 = Linear(d_model, dim_feedforward)
        self.linear2 = Linear(dim_feedforward, d_model)
        self.norm1 = LayerNorm(d_model, layer_norm_eps)
        self.norm2 = LayerNorm(d_model, layer_norm_eps)
        self.dropout = Dropout(dropout)
        self.activation = activation
        self.norm_first = norm_first

    def __call__(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the layer's output for `src`; masks as `MultiHeadAttention` takes them."""
        masks = src_key_padding_mask, src_mask, is_causal
        if self.norm_first:
            src = src + self._attended(self.norm1(src), *masks)
            return src + self._dense(self.norm2(src))
        src = self.norm1(src + self._attended(src, *masks))
        return self.norm2(src + self._dense(src))

    def _attended(self, x: Tensor, padding: Tensor | None, mask: Tensor | None, is_causal: bool) -> Tensor:
        return self.dropout(self.self_attn(x, x, x, padding, mask, is_causal))

    def _dense(self, x: Tensor) -> Tensor:
        between = self.linear1(x)
        between = between.relu() if self.activation == "relu" else between.gelu("none")
        return self.dropout(self.linear2(self.dropout(between)))
