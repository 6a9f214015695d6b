"""Arguments that differentiating a function counts alone, and results that forget them again."""

from collections.abc import Iterable

from plugrad.autodiff import marked
from plugrad.dtype import is_inexact
from plugrad.tensor import Tensor
from plugrad.tensor.graph_access import alive, graph_below, tensor_of
from plugrad.uop import UOp


def mark(x: Tensor) -> Tensor:
    """Return a tensor of floats as an argument distinct from the same tensor elsewhere.

    Realized inside of the function, it and what is computed from it keep their history.
    """
    if not is_inexact(x.dtype):
        return x
    return tensor_of(marked(graph_below(x)), x.device, tracked=True)


def gradients_needed() -> set[UOp]:
    """Return the nodes of all tensors that require a gradient."""
    return {graph_below(t) for t in alive() if t.requires_grad}


def released(uop: UOp, device: str, needed: Iterable[UOp]) -> Tensor:
    """Return the tensor of a result, which requires a gradient if its inputs did."""
    known = frozenset(needed)
    tracked = bool(known) and not known.isdisjoint(uop.toposort())
    return tensor_of(uop, device, tracked)
