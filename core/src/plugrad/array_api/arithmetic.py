"""Arithmetic of numbers and bits: sums, products, quotients, powers, signs, shifts."""

from plugrad.array_api.operands import Operand, both
from plugrad.dtype import is_complex
from plugrad.tensor import Tensor


def add(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the sums.

    Example:
        >>> add(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [4, 10]
    """
    left, right = both(x1, x2)
    return left + right


def subtract(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the differences.

    Example:
        >>> subtract(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [-2, 0]
    """
    left, right = both(x1, x2)
    return left - right


def multiply(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the products.

    Example:
        >>> multiply(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [3, 25]
    """
    left, right = both(x1, x2)
    return left * right


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
    """Return the remainder of floor division, with the sign of `x2`.

    Example:
        >>> remainder(Tensor([7, -7]), 4).tolist()
        [3, 1]
    """
    left, right = both(x1, x2)
    return left % right


def pow(x1: Operand, x2: Operand, /) -> Tensor:
    """Return `x1` to the power of `x2`.

    Example:
        >>> pow(Tensor([2, 3]), 3).tolist()
        [8, 27]
    """
    left, right = both(x1, x2)
    return left**right


def square(x: Tensor, /) -> Tensor:
    """Return the square of each element.

    Example:
        >>> square(Tensor([-2, 0, 3])).tolist()
        [4, 0, 9]
    """
    return x.square()


def reciprocal(x: Tensor, /) -> Tensor:
    """Return the reciprocal of each element.

    Example:
        >>> reciprocal(Tensor([4.0])).tolist()
        [0.25]
    """
    return x.reciprocal()


def negative(x: Tensor, /) -> Tensor:
    """Return each element times -1.

    Example:
        >>> negative(Tensor([-2, 0, 3])).tolist()
        [2, 0, -3]
    """
    return -x


def positive(x: Tensor, /) -> Tensor:
    """Return the elements.

    Example:
        >>> positive(Tensor([-2, 0, 3])).tolist()
        [-2, 0, 3]
    """
    return +x


def abs(x: Tensor, /) -> Tensor:
    """Return the magnitude of each element.

    Example:
        >>> abs(Tensor([-2, 0, 3])).tolist()
        [2, 0, 3]
    """
    return x.abs()


def sign(x: Tensor, /) -> Tensor:
    """Return -1, 0 or 1 for each element; NaN stays.

    Example:
        >>> sign(Tensor([-2, 0, 3])).tolist()
        [-1, 0, 1]
    """
    return x.sign()


def conj(x: Tensor, /) -> Tensor:
    """Return the conjugates: of real numbers the elements.

    Example:
        >>> conj(Tensor([-2, 0, 3])).tolist()
        [-2, 0, 3]
    """
    return x.conj() if is_complex(x.dtype) else +x


def real(x: Tensor, /) -> Tensor:
    """Return the real parts: of real numbers the elements.

    Example:
        >>> real(Tensor([-2, 0, 3])).tolist()
        [-2, 0, 3]
    """
    return x.real if is_complex(x.dtype) else +x


def imag(x: Tensor, /) -> Tensor:
    """Return the imaginary parts: of real numbers zeros.

    Example:
        >>> imag(Tensor([-2, 0, 3])).tolist()
        [0, 0, 0]
    """
    return x.imag if is_complex(x.dtype) else x.zeros_like()


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
