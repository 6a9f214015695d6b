"""Layers, optimizers and the state of models, built on tensors alone."""

# ruff: noqa: F403 - the packages say in their `__all__` what is a name of `nn`
from plugrad.nn import datasets, layers, optim, schedulers, state
from plugrad.nn.layers import *
from plugrad.nn.module import Module

__all__ = ["Module", "datasets", "optim", "schedulers", "state"]
__all__ += layers.__all__
