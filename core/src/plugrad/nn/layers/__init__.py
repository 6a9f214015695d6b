"""Layers, losses and containers of them; the names in each `__all__` are names of `nn`."""

# ruff: noqa: F403
from plugrad.nn.layers import (
    activations,
    attention,
    cells,
    containers,
    conv,
    dropout,
    linear,
    losses,
    norm,
    padding,
    pooling,
    recurrent,
    shaping,
    transformer,
)
from plugrad.nn.layers.activations import *
from plugrad.nn.layers.attention import *
from plugrad.nn.layers.cells import *
from plugrad.nn.layers.containers import *
from plugrad.nn.layers.conv import *
from plugrad.nn.layers.dropout import *
from plugrad.nn.layers.linear import *
from plugrad.nn.layers.losses import *
from plugrad.nn.layers.norm import *
from plugrad.nn.layers.padding import *
from plugrad.nn.layers.pooling import *
from plugrad.nn.layers.recurrent import *
from plugrad.nn.layers.shaping import *
from plugrad.nn.layers.transformer import *

__all__: list[str] = []
__all__ += activations.__all__
__all__ += attention.__all__
__all__ += cells.__all__
__all__ += containers.__all__
__all__ += conv.__all__
__all__ += dropout.__all__
__all__ += linear.__all__
__all__ += losses.__all__
__all__ += norm.__all__
__all__ += padding.__all__
__all__ += pooling.__all__
__all__ += recurrent.__all__
__all__ += shaping.__all__
__all__ += transformer.__all__
