"""Tensors and the graphs they stand for, for code beside the class that works on graphs."""

# pyright: reportPrivateUsage=false
from collections import Counter
from collections.abc import Iterable

from plugrad.dtype import is_float
from plugrad.tensor.base import TensorBase
from plugrad.tensor.tensor import Tensor
from plugrad.uop.uop import UOp


def graph_below(x: TensorBase) -> UOp:
    """Return the node that results of `x` are built on: with its history where a gradient needs that.

    Example:
        >>> graph_below(Tensor([1, 2]) + 1).op
        Ops.ADD
    """
    return x._graph


def tensor_of(uop: UOp, device: str, tracked: bool = False) -> Tensor:
    """Return the tensor of a node; if `tracked`, and made of floats, it keeps its history when realized.

    Example:
        >>> tensor_of(graph_below(Tensor([1, 2])), "PYTHON").tolist()
        [1, 2]
    """
    return Tensor._make(uop, device, tracked and is_float(uop.dtype))


def alive() -> list[Tensor]:
    """Return all tensors of this process that somebody holds."""
    return list(Tensor._live)


def gradient_in(t: Tensor) -> Tensor | None:
    """Return the `.grad` of a tensor, without letting who records a call believe that this depends on it."""
    return t._grad


def nodes_of(x: TensorBase) -> tuple[UOp, UOp]:
    """Return the node that results of `x` are built on, and the one that is read."""
    return x._graph, x.uop


def count_sharing(tensors: Iterable[TensorBase]) -> list[int]:
    """Return for each of `tensors` how many show the same memory or value, itself among them.

    Example:
        >>> t = Tensor([1, 2])
        >>> row = t[0]
        >>> count_sharing([t, t + 1])
        [2, 1]
    """
    showing = Counter(tensor._storage for tensor in Tensor._live)
    return [showing[tensor._storage] for tensor in tensors]
