"""The one IR: hash-consed nodes, patterns, rewriting, and what can be proved of integers.

What most modules need of it is here; the rest is in the modules below.
"""

from plugrad.uop.ops import ALU, COMPARE, ELEMENTWISE, MOVEMENT, Axis, AxisType, KernelInfo, Ops, identity_of
from plugrad.uop.rewrite import PatternMatcher, graph_rewrite
from plugrad.uop.shape import add_sizes, greatest, least
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat, pvars

__all__ = [
    "ALU",
    "COMPARE",
    "ELEMENTWISE",
    "MOVEMENT",
    "Axis",
    "AxisType",
    "KernelInfo",
    "Ops",
    "PatternMatcher",
    "UOp",
    "UPat",
    "add_sizes",
    "graph_rewrite",
    "greatest",
    "identity_of",
    "least",
    "pvars",
    "simplify",
]
