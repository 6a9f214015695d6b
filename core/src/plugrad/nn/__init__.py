"""Layers, optimizers and the state of models, built on tensors alone."""

from plugrad.nn import optim, state
from plugrad.nn.conv import Conv2d
from plugrad.nn.dropout import Dropout
from plugrad.nn.linear import Embedding, Linear
from plugrad.nn.norm import BatchNorm, LayerNorm

__all__ = ["BatchNorm", "Conv2d", "Dropout", "Embedding", "LayerNorm", "Linear", "optim", "state"]
