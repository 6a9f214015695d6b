"""Compute each element from the elements at its place in the operands."""

from typing import TYPE_CHECKING

from plugrad._util import LazyModule

if TYPE_CHECKING:
    from plugrad.tensor.elementwise import gamma_graphs as gamma_graphs
    from plugrad.tensor.elementwise import special_graphs as special_graphs
else:
    # many programs need neither
    gamma_graphs = LazyModule("plugrad.tensor.elementwise.gamma_graphs")
    special_graphs = LazyModule("plugrad.tensor.elementwise.special_graphs")
