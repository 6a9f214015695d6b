"""Layers, optimizers and the state of models, built on tensors alone.

The names of layers are those that the modules here list in their `__all__`.
"""

# ruff: noqa: F403
from plugrad.nn import (
    activations,
    attention,
    containers,
    conv,
    datasets,
    dropout,
    instance_norm,
    linear,
    losses,
    module,
    norm,
    optim,
    padding,
    pooling,
    recurrent,
    schedulers,
    shaping,
    state,
    transformer,
)
from plugrad.nn.activations import *
from plugrad.nn.attention import *
from plugrad.nn.containers import *
from plugrad.nn.conv import *
from plugrad.nn.dropout import *
from plugrad.nn.instance_norm import *
from plugrad.nn.linear import *
from plugrad.nn.losses import *
from plugrad.nn.module import *
from plugrad.nn.norm import *
from plugrad.nn.padding import *
from plugrad.nn.pooling import *
from plugrad.nn.recurrent import *
from plugrad.nn.shaping import *
from plugrad.nn.transformer import *

__all__ = ["datasets", "optim", "schedulers", "state"]
__all__ += activations.__all__
__all__ += attention.__all__
__all__ += containers.__all__
__all__ += conv.__all__
__all__ += dropout.__all__
__all__ += instance_norm.__all__
__all__ += linear.__all__
__all__ += losses.__all__
__all__ += module.__all__
__all__ += norm.__all__
__all__ += padding.__all__
__all__ += pooling.__all__
__all__ += recurrent.__all__
__all__ += shaping.__all__
__all__ += transformer.__all__
