"""Arithmetic: sums, products, quotients, powers, and the signs of numbers."""

from plugrad.array_api.operands import Operand, both
from plugrad.array_api.overloads import of_kind, of_met_kinds, real_of_kind
from plugrad.tensor import Tensor


@of_met_kinds
def add(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the sums.

    Example:
        >>> add(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [4, 10]
    """
    left, right = both(x1, x2)
    return left + right


@of_met_kinds
def subtract(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the differences.

    Example:
        >>> subtract(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [-2, 0]
    """
    left, right = both(x1, x2)
    return left - right


@of_met_kinds
def multiply(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the products.

    Example:
        >>> multiply(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [3, 25]
    """
    left, right = both(x1, x2)
    return left * right


@of_met_kinds
def divide(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the quotients, of floats.

    Example:
        >>> divide(Tensor([1, 3]), 2).tolist()
        [0.5, 1.5]
    """
    left, right = both(x1, x2)
    return left / right


def floor_divide(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the quotients rounded down.

    Example:
        >>> floor_divide(Tensor([7, -7]), 4).tolist()
        [1, -2]
    """
    left, right = both(x1, x2)
    return left // right


def remainder(x1: Operand, x2: Operand, /) -> Tensor:
    """Return what division rounded down leaves, with the sign of `x2`.

    Example:
        >>> remainder(Tensor([7, -7]), 4).tolist()
        [3, 1]
    """
    left, right = both(x1, x2)
    return left % right


@of_met_kinds
def pow(x1: Operand, x2: Operand, /) -> Tensor:
    """Return `x1` to the power of `x2`.

    Example:
        >>> pow(Tensor([2, 3]), 3).tolist()
        [8, 27]
    """
    left, right = both(x1, x2)
    return left**right


@of_kind
def square(x: Tensor, /) -> Tensor:
    """Return the square of each element.

    Example:
        >>> square(Tensor([-2, 0, 3])).tolist()
        [4, 0, 9]
    """
    return x.square()


@of_kind
def reciprocal(x: Tensor, /) -> Tensor:
    """Return the reciprocal of each element.

    Example:
        >>> reciprocal(Tensor([4.0])).tolist()
        [0.25]
    """
    return x.reciprocal()


@of_kind
def negative(x: Tensor, /) -> Tensor:
    """Return each element times -1.

    Example:
        >>> negative(Tensor([-2, 0, 3])).tolist()
        [2, 0, -3]
    """
    return -x


@of_kind
def positive(x: Tensor, /) -> Tensor:
    """Return the elements.

    Example:
        >>> positive(Tensor([-2, 0, 3])).tolist()
        [-2, 0, 3]
    """
    return +x


@real_of_kind
def abs(x: Tensor, /) -> Tensor:
    """Return the magnitude of each element.

    Example:
        >>> abs(Tensor([-2, 0, 3])).tolist()
        [2, 0, 3]
    """
    return x.abs()


@of_kind
def sign(x: Tensor, /) -> Tensor:
    """Return -1, 0 or 1 for each element; NaN stays.

    Example:
        >>> sign(Tensor([-2, 0, 3])).tolist()
        [-1, 0, 1]
    """
    return x.sign()


@of_kind
def conj(x: Tensor, /) -> Tensor:
    """Return the elements: real numbers are their own conjugates.

    Example:
        >>> conj(Tensor([-2, 0, 3])).tolist()
        [-2, 0, 3]
    """
    return +x


@real_of_kind
def real(x: Tensor, /) -> Tensor:
    """Return the elements: real numbers have no other part.

    Example:
        >>> real(Tensor([-2, 0, 3])).tolist()
        [-2, 0, 3]
    """
    return +x


@real_of_kind
def imag(x: Tensor, /) -> Tensor:
    """Return zeros: real numbers have no imaginary part.

    Example:
        >>> imag(Tensor([-2, 0, 3])).tolist()
        [0, 0, 0]
    """
    return x.zeros_like()
