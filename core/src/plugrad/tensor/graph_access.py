"""Graphs of tensors, for modules beside the class that work on graphs."""

from collections import Counter
from collections.abc import Iterable

from plugrad.dtype import is_float
from plugrad.tensor.base import TensorBase
from plugrad.tensor.tensor import Tensor
from plugrad.uop import UOp


def graph_below(x: TensorBase) -> UOp:
    """Return the node to build results of `x` on, with the history gradients need."""
    return x._graph


def tensor_of(uop: UOp, device: str, tracked: bool = False) -> Tensor:
    """Return the tensor of a node; a `tracked` one keeps its history when realized."""
    return Tensor._make(uop, device, tracked and is_float(uop.dtype))


def alive() -> list[Tensor]:
    """Return all live tensors of this process."""
    return list(Tensor._live)


def gradient_in(t: Tensor) -> Tensor | None:
    """Return the `.grad` of a tensor without recording the read in a capture."""
    return t._grad


def nodes_of(x: TensorBase) -> tuple[UOp, UOp]:
    """Return the node to build results of `x` on, and the node that is read."""
    return x._graph, x.uop


def count_sharing(tensors: Iterable[TensorBase]) -> list[int]:
    """Return the number of tensors that share the storage of each of `tensors`.

    Example:
        >>> t = Tensor([1, 2])
        >>> row = t[0]
        >>> count_sharing([t, t + 1])
        [2, 1]
    """
    showing = Counter(tensor._storage for tensor in Tensor._live)
    return [showing[tensor._storage] for tensor in tensors]
