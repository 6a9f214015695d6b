"""Optimizers: how parameters follow their gradients.

Learning rates and step counts are tensors, not numbers: a jitted training step reads them at each replay,
so a changed learning rate takes effect. `step()` writes all parameters and averages in one realize.
"""

from plugrad.nn.optim.adam import Adam, AdamW
from plugrad.nn.optim.adaptive import Adagrad, RMSprop
from plugrad.nn.optim.clipping import clip_grad_norm_, clip_grad_value_
from plugrad.nn.optim.groups import ParamGroup
from plugrad.nn.optim.layerwise import LAMB, LARS
from plugrad.nn.optim.muon import Muon
from plugrad.nn.optim.optimizer import Optimizer
from plugrad.nn.optim.scaling import GradScaler
from plugrad.nn.optim.sgd import SGD
from plugrad.nn.optim.together import OptimizerGroup

__all__ = [
    "LAMB",
    "LARS",
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "GradScaler",
    "Muon",
    "Optimizer",
    "OptimizerGroup",
    "ParamGroup",
    "RMSprop",
    "clip_grad_norm_",
    "clip_grad_value_",
]
