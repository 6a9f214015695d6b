"""Layers, optimizers and the state of models, built on tensors alone."""

# ruff: noqa: F403 - the packages say in their `__all__` what is a name of `nn`
from typing import TYPE_CHECKING, Any

from plugrad.nn import data, datasets, functional, init, layers, optim, schedulers, state
from plugrad.nn.layers import *
from plugrad.nn.module import Module, Parameter
from plugrad.nn.summaries import Summary, summary
from plugrad.tensor import Tensor as _Tensor
from plugrad.tensor.migration_hints import missing_name as _missing_name

__all__ = [
    "Module",
    "Parameter",
    "Summary",
    "data",
    "datasets",
    "functional",
    "init",
    "optim",
    "schedulers",
    "state",
    "summary",
]
__all__ += layers.__all__

if not TYPE_CHECKING:  # or the type checker would take any name for one of `nn`

    def __getattr__(name: str) -> Any:
        raise _missing_name(__name__, name, _Tensor)
