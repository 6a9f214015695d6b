"""Bits of integers."""

from plugrad.array_api.operands import Operand, both
from plugrad.tensor import Tensor


def bitwise_and(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the bits that both have.

    Example:
        >>> bitwise_and(Tensor([12]), 10).tolist()
        [8]
    """
    left, right = both(x1, x2)
    return left & right


def bitwise_or(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the bits that one of both has.

    Example:
        >>> bitwise_or(Tensor([12]), 10).tolist()
        [14]
    """
    left, right = both(x1, x2)
    return left | right


def bitwise_xor(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the bits that only one of both has.

    Example:
        >>> bitwise_xor(Tensor([12]), 10).tolist()
        [6]
    """
    left, right = both(x1, x2)
    return left ^ right


def bitwise_invert(x: Tensor, /) -> Tensor:
    """Return the bits of each element inverted.

    Example:
        >>> bitwise_invert(Tensor([0, 5])).tolist()
        [-1, -6]
    """
    return ~x


def bitwise_left_shift(x1: Operand, x2: Operand, /) -> Tensor:
    """Return `x1` shifted up by `x2` bits.

    Example:
        >>> bitwise_left_shift(Tensor([12]), 2).tolist()
        [48]
    """
    left, right = both(x1, x2)
    return left << right


def bitwise_right_shift(x1: Operand, x2: Operand, /) -> Tensor:
    """Return `x1` shifted down by `x2` bits, with its sign.

    Example:
        >>> bitwise_right_shift(Tensor([12]), 2).tolist()
        [3]
    """
    left, right = both(x1, x2)
    return left >> right
