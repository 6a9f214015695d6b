"""Comparisons, choices between values, and logic of elements."""

from plugrad.array_api.operands import Operand, both, logical
from plugrad.dtype import dtypes
from plugrad.tensor import Tensor


def equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Return where both elements are equal.

    Example:
        >>> equal(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [False, True]
    """
    left, right = both(x1, x2)
    return left == right


def not_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Return where the elements differ.

    Example:
        >>> not_equal(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [True, False]
    """
    left, right = both(x1, x2)
    return left != right


def less(x1: Operand, x2: Operand, /) -> Tensor:
    """Return where `x1 < x2`.

    Example:
        >>> less(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [True, False]
    """
    left, right = both(x1, x2)
    return left < right


def less_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Return where `x1 <= x2`.

    Example:
        >>> less_equal(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [True, True]
    """
    left, right = both(x1, x2)
    return left <= right


def greater(x1: Operand, x2: Operand, /) -> Tensor:
    """Return where `x1 > x2`.

    Example:
        >>> greater(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [False, False]
    """
    left, right = both(x1, x2)
    return left > right


def greater_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Return where `x1 >= x2`.

    Example:
        >>> greater_equal(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [False, True]
    """
    left, right = both(x1, x2)
    return left >= right


def logical_and(x1: Operand, x2: Operand, /) -> Tensor:
    """Return where both elements are nonzero.

    Example:
        >>> logical_and(Tensor([0, 1, 2]), Tensor([0, 0, 1])).tolist()
        [False, False, True]
    """
    left, right = logical(x1, x2)
    return left & right


def logical_or(x1: Operand, x2: Operand, /) -> Tensor:
    """Return where an element is nonzero.

    Example:
        >>> logical_or(Tensor([0, 1, 2]), Tensor([0, 0, 1])).tolist()
        [False, True, True]
    """
    left, right = logical(x1, x2)
    return left | right


def logical_xor(x1: Operand, x2: Operand, /) -> Tensor:
    """Return where exactly one element is nonzero.

    Example:
        >>> logical_xor(Tensor([0, 1, 2]), Tensor([0, 0, 1])).tolist()
        [False, True, False]
    """
    left, right = logical(x1, x2)
    return left ^ right


def logical_not(x: Tensor, /) -> Tensor:
    """Return where elements are 0.

    Example:
        >>> logical_not(Tensor([0, 2])).tolist()
        [True, False]
    """
    return x.cast(dtypes.bool).logical_not()


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
