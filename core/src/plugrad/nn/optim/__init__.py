"""Optimizers: how parameters follow their gradients.

Learning rates and step counts are tensors, not numbers: a jitted training step reads them at each replay,
so a changed learning rate takes effect. `step()` writes all parameters and averages in one realize.
"""

from typing import TYPE_CHECKING, Any

from plugrad.nn.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam
from plugrad.nn.optim.adaptive import Adadelta, Adagrad, RMSprop
from plugrad.nn.optim.clipping import clip_grad_norm_, clip_grad_value_
from plugrad.nn.optim.groups import ParamGroup
from plugrad.nn.optim.layerwise import LAMB, LARS
from plugrad.nn.optim.muon import Muon
from plugrad.nn.optim.optimizer import Optimizer
from plugrad.nn.optim.optimizer_group import OptimizerGroup
from plugrad.nn.optim.scaling import GradScaler
from plugrad.nn.optim.sgd import ASGD, SGD, Rprop
from plugrad.tensor import Tensor as _Tensor
from plugrad.tensor.migration_hints import missing_name as _missing_name

__all__ = [
    "ASGD",
    "LAMB",
    "LARS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "GradScaler",
    "Muon",
    "NAdam",
    "Optimizer",
    "OptimizerGroup",
    "ParamGroup",
    "RAdam",
    "RMSprop",
    "Rprop",
    "clip_grad_norm_",
    "clip_grad_value_",
]

if not TYPE_CHECKING:  # or the type checker would take any name for an optimizer

    def __getattr__(name: str) -> Any:
        raise _missing_name(__name__, name, _Tensor)
