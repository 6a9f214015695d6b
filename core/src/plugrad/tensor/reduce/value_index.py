"""What comes of putting elements in order, or of comparing them: the elements, and where they were."""

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Ranked(NamedTuple, Generic[T]):
    """What `Tensor.sort`, `topk`, `kthvalue`, `mode`, `cummax`, `cummin`, and `median` along an axis give.

    Attributes:
        values: the elements.
        indices: their positions along the axis.

    Example:
        >>> Tensor([3, 1, 2]).topk(2).indices.tolist()
        [0, 2]
    """

    values: T
    indices: T
