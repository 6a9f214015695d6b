"""Results of ordering and comparing: the elements and their positions."""

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Ranked(NamedTuple, Generic[T]):
    """Result of `Tensor.sort`, `topk`, `kthvalue`, `mode`, `cummax`, `cummin` and `median`.

    Attributes:
        values: the elements.
        indices: their positions along the axis.

    Example:
        >>> Tensor([3, 1, 2]).topk(2).indices.tolist()
        [0, 2]
    """

    values: T
    indices: T
