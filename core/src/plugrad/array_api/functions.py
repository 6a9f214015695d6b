"""Functions of numbers: exponentials, logarithms, roots, angles."""

from plugrad.array_api.operands import Operand, both
from plugrad.tensor import Tensor


def exp(x: Tensor, /) -> Tensor:
    """Return the exponential of each element.

    Example:
        >>> exp(Tensor([0.0])).tolist()
        [1.0]
    """
    return x.exp()


def expm1(x: Tensor, /) -> Tensor:
    """Return exp(x) - 1 of each element, exact for small ones.

    Example:
        >>> expm1(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.expm1()


def log(x: Tensor, /) -> Tensor:
    """Return the natural logarithm of each element.

    Example:
        >>> log(Tensor([1.0])).tolist()
        [0.0]
    """
    return x.log()


def log1p(x: Tensor, /) -> Tensor:
    """Return log(1 + x) of each element, exact for small ones.

    Example:
        >>> log1p(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.log1p()


def log2(x: Tensor, /) -> Tensor:
    """Return the logarithm to base 2 of each element.

    Example:
        >>> log2(Tensor([8.0])).tolist()
        [3.0]
    """
    return x.log2()


def log10(x: Tensor, /) -> Tensor:
    """Return the logarithm to base 10 of each element.

    Example:
        >>> log10(Tensor([100.0])).tolist()
        [2.0]
    """
    return x.log10()


def logaddexp(x1: Operand, x2: Operand, /) -> Tensor:
    """Return log(exp(x1) + exp(x2)), which does not overflow.

    Example:
        >>> logaddexp(Tensor([2.0]), -float("inf")).tolist()
        [2.0]
    """
    left, right = both(x1, x2)
    return left.logaddexp(right)


def sqrt(x: Tensor, /) -> Tensor:
    """Return the square root of each element.

    Example:
        >>> sqrt(Tensor([9.0])).tolist()
        [3.0]
    """
    return x.sqrt()


def hypot(x1: Operand, x2: Operand, /) -> Tensor:
    """Return sqrt(x1**2 + x2**2), which does not overflow.

    Example:
        >>> hypot(Tensor([3.0]), Tensor([4.0])).tolist()
        [5.0]
    """
    left, right = both(x1, x2)
    return left.hypot(right)


def sin(x: Tensor, /) -> Tensor:
    """Return the sine of each element.

    Example:
        >>> sin(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.sin()


def cos(x: Tensor, /) -> Tensor:
    """Return the cosine of each element.

    Example:
        >>> cos(Tensor([0.0])).tolist()
        [1.0]
    """
    return x.cos()


def tan(x: Tensor, /) -> Tensor:
    """Return the tangent of each element.

    Example:
        >>> tan(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.tan()


def asin(x: Tensor, /) -> Tensor:
    """Return the arc sine of each element.

    Example:
        >>> asin(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.asin()


def acos(x: Tensor, /) -> Tensor:
    """Return the arc cosine of each element.

    Example:
        >>> acos(Tensor([1.0])).tolist()
        [0.0]
    """
    return x.acos()


def atan(x: Tensor, /) -> Tensor:
    """Return the arc tangent of each element.

    Example:
        >>> atan(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.atan()


def atan2(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the angle of the point (x2, x1).

    Example:
        >>> atan2(Tensor([0.0]), Tensor([1.0])).tolist()
        [0.0]
    """
    left, right = both(x1, x2)
    return left.atan2(right)


def sinh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic sine of each element.

    Example:
        >>> sinh(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.sinh()


def cosh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic cosine of each element.

    Example:
        >>> cosh(Tensor([0.0])).tolist()
        [1.0]
    """
    return x.cosh()


def tanh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic tangent of each element.

    Example:
        >>> tanh(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.tanh()


def asinh(x: Tensor, /) -> Tensor:
    """Return the inverse hyperbolic sine of each element.

    Example:
        >>> asinh(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.asinh()


def acosh(x: Tensor, /) -> Tensor:
    """Return the inverse hyperbolic cosine of each element.

    Example:
        >>> acosh(Tensor([1.0])).tolist()
        [0.0]
    """
    return x.acosh()


def atanh(x: Tensor, /) -> Tensor:
    """Return the inverse hyperbolic tangent of each element.

    Example:
        >>> atanh(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.atanh()
