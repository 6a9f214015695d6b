"""The layers of neural networks."""

from plugrad_onnx.operators.neural import (
    attention,
    convolution,
    linear_attention,
    losses,
    normalization,
    pooling,
    recurrent,
)

__all__ = [
    "attention",
    "convolution",
    "linear_attention",
    "losses",
    "normalization",
    "pooling",
    "recurrent",
]
