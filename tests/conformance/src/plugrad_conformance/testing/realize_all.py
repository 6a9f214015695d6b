"""Compute the tensors of a test in one go.

Subgraphs that they share, as gradients do, are scheduled once.
"""

from plugrad.tensor import Tensor
from plugrad.tree import iter_leaves


def realize_all(*values: object) -> None:
    """Realize all tensors among `values` and in their lists and tuples."""
    Tensor.realize(*(leaf for leaf in iter_leaves(values) if isinstance(leaf, Tensor)))
