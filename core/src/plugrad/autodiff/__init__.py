"""Transforms of graphs: derivatives by one rule an op, batches, and recomputation."""

from plugrad.autodiff.function import FunctionRule, inputs_of, marked, outputs_of, with_rule
from plugrad.autodiff.gradient import compute_gradient, pull_back, receivers
from plugrad.autodiff.placeholder import placeholder
from plugrad.autodiff.recompute import recomputed, repeated
from plugrad.autodiff.vjp import VJP

__all__ = [
    "VJP",
    "FunctionRule",
    "compute_gradient",
    "inputs_of",
    "marked",
    "outputs_of",
    "placeholder",
    "pull_back",
    "receivers",
    "recomputed",
    "repeated",
    "with_rule",
]
