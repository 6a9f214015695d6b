"""Choices between values: by a condition, by size, within limits."""

from plugrad.array_api.operands import Operand, both
from plugrad.tensor import Tensor


def where(condition: Tensor, x1: Operand, x2: Operand, /) -> Tensor:
    """Return the elements of `x1` where `condition` is true, and of `x2` elsewhere.

    Example:
        >>> where(Tensor([True, False]), Tensor([1, 2]), 0).tolist()
        [1, 0]
    """
    return condition.where(x1, x2)


def maximum(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the larger of two elements; NaN if one is.

    Example:
        >>> maximum(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [3, 5]
    """
    left, right = both(x1, x2)
    return left.maximum(right)


def minimum(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the smaller of two elements; NaN if one is.

    Example:
        >>> minimum(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [1, 5]
    """
    left, right = both(x1, x2)
    return left.minimum(right)


def clip(x: Tensor, /, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """Return each element, limited to `min` and `max`, in the dtype of `x`.

    Example:
        >>> clip(Tensor([1, 5, 9]), 2, 6).tolist()
        [2, 5, 6]
    """
    return x if min is None and max is None else x.clip(min, max).cast(x.dtype)
