"""Layers, optimizers and the state of models, built on tensors alone."""

# ruff: noqa: F403 - the packages say in their `__all__` what is a name of `nn`
from plugrad.nn import data, datasets, functional, init, layers, optim, schedulers, state
from plugrad.nn.layers import *
from plugrad.nn.module import Module, Parameter
from plugrad.nn.summaries import Summary, summary

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
