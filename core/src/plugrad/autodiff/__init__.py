"""Derivatives, graph to graph: one rule an op, and the reverse walk that applies them."""

from plugrad.autodiff.gradient import compute_gradient
from plugrad.autodiff.vjp import VJP

__all__ = ["VJP", "compute_gradient"]
