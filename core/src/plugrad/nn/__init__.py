"""Layers, optimizers and the state of models, built on tensors alone."""

from plugrad.nn import datasets, optim, schedulers, state
from plugrad.nn.attention import MultiHeadAttention
from plugrad.nn.containers import Sequential
from plugrad.nn.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from plugrad.nn.dropout import Dropout
from plugrad.nn.linear import Bilinear, Embedding, Linear
from plugrad.nn.norm import (
    BatchNorm,
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    LayerNorm2d,
    RMSNorm,
)
from plugrad.nn.recurrent import GRU, LSTM, GRUCell, LSTMCell
from plugrad.nn.transformer import TransformerEncoderLayer

__all__ = [
    "GRU",
    "LSTM",
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Dropout",
    "Embedding",
    "GRUCell",
    "GroupNorm",
    "InstanceNorm",
    "LSTMCell",
    "LayerNorm",
    "LayerNorm2d",
    "Linear",
    "MultiHeadAttention",
    "RMSNorm",
    "Sequential",
    "TransformerEncoderLayer",
    "datasets",
    "optim",
    "schedulers",
    "state",
]
