"""Functions of each element."""

from plugrad.dtype import ConstType, dtypes, is_bool, is_float, is_unsigned
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor
from plugrad.tensor.base import promoted

Operand = Tensor | ConstType


def _both(x1: Operand, x2: Operand) -> tuple[Tensor, Tensor]:
    """Return two operands, at most one of them a Python number, as tensors of one dtype."""
    dtype = promoted([x1, x2])
    device = next((x.device for x in (x1, x2) if isinstance(x, Tensor)), None)
    if device is None:
        raise DtypeError(f"two numbers, {x1!r} and {x2!r}: pass a tensor for one of them at least.")
    left, right = (
        x.cast(dtype) if isinstance(x, Tensor) else Tensor(x, dtype=dtype, device=device) for x in (x1, x2)
    )
    return left, right


def _logical(x1: Operand, x2: Operand) -> tuple[Tensor, Tensor]:
    left, right = _both(x1, x2)
    return left.cast(dtypes.bool), right.cast(dtypes.bool)


def abs(x: Tensor, /) -> Tensor:
    """Return the magnitude of each element.

    Example:
        >>> abs(Tensor([-2, 0, 3])).tolist()
        [2, 0, 3]
    """
    return x.abs()


def acos(x: Tensor, /) -> Tensor:
    """Return the arc cosine of each element.

    Example:
        >>> acos(Tensor([1.0])).tolist()
        [0.0]
    """
    return x.acos()


def acosh(x: Tensor, /) -> Tensor:
    """Return the inverse hyperbolic cosine of each element.

    Example:
        >>> acosh(Tensor([1.0])).tolist()
        [0.0]
    """
    return x.acosh()


def asin(x: Tensor, /) -> Tensor:
    """Return the arc sine of each element.

    Example:
        >>> asin(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.asin()


def asinh(x: Tensor, /) -> Tensor:
    """Return the inverse hyperbolic sine of each element.

    Example:
        >>> asinh(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.asinh()


def atan(x: Tensor, /) -> Tensor:
    """Return the arc tangent of each element.

    Example:
        >>> atan(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.atan()


def atanh(x: Tensor, /) -> Tensor:
    """Return the inverse hyperbolic tangent of each element.

    Example:
        >>> atanh(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.atanh()


def conj(x: Tensor, /) -> Tensor:
    """Return the elements: real numbers are their own conjugates.

    Example:
        >>> conj(Tensor([-2, 0, 3])).tolist()
        [-2, 0, 3]
    """
    return +x


def cos(x: Tensor, /) -> Tensor:
    """Return the cosine of each element.

    Example:
        >>> cos(Tensor([0.0])).tolist()
        [1.0]
    """
    return x.cos()


def cosh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic cosine of each element.

    Example:
        >>> cosh(Tensor([0.0])).tolist()
        [1.0]
    """
    return x.cosh()


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


def real(x: Tensor, /) -> Tensor:
    """Return the elements: real numbers have no other part.

    Example:
        >>> real(Tensor([-2, 0, 3])).tolist()
        [-2, 0, 3]
    """
    return +x


def reciprocal(x: Tensor, /) -> Tensor:
    """Return the reciprocal of each element.

    Example:
        >>> reciprocal(Tensor([4.0])).tolist()
        [0.25]
    """
    return x.reciprocal()


def sin(x: Tensor, /) -> Tensor:
    """Return the sine of each element.

    Example:
        >>> sin(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.sin()


def sinh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic sine of each element.

    Example:
        >>> sinh(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.sinh()


def sqrt(x: Tensor, /) -> Tensor:
    """Return the square root of each element.

    Example:
        >>> sqrt(Tensor([9.0])).tolist()
        [3.0]
    """
    return x.sqrt()


def square(x: Tensor, /) -> Tensor:
    """Return the square of each element.

    Example:
        >>> square(Tensor([-2, 0, 3])).tolist()
        [4, 0, 9]
    """
    return x.square()


def tan(x: Tensor, /) -> Tensor:
    """Return the tangent of each element.

    Example:
        >>> tan(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.tan()


def tanh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic tangent of each element.

    Example:
        >>> tanh(Tensor([0.0])).tolist()
        [0.0]
    """
    return x.tanh()


def sign(x: Tensor, /) -> Tensor:
    """Return -1, 0 or 1 for each element; NaN stays.

    Example:
        >>> sign(Tensor([-2, 0, 3])).tolist()
        [-1, 0, 1]
    """
    return x.sign()


def ceil(x: Tensor, /) -> Tensor:
    """Return each element rounded up; integers stay.

    Example:
        >>> ceil(Tensor([-1.5, 0.5, 2.5])).tolist()
        [-1.0, 1.0, 3.0]
    """
    return x.ceil() if is_float(x.dtype) else x


def floor(x: Tensor, /) -> Tensor:
    """Return each element rounded down; integers stay.

    Example:
        >>> floor(Tensor([-1.5, 0.5, 2.5])).tolist()
        [-2.0, 0.0, 2.0]
    """
    return x.floor() if is_float(x.dtype) else x


def trunc(x: Tensor, /) -> Tensor:
    """Return each element rounded towards zero; integers stay.

    Example:
        >>> trunc(Tensor([-1.5, 0.5, 2.5])).tolist()
        [-1.0, 0.0, 2.0]
    """
    return x.trunc() if is_float(x.dtype) else x


def round(x: Tensor, /) -> Tensor:
    """Return each element rounded to the nearest whole number, and to even between two; integers stay.

    Example:
        >>> round(Tensor([-1.5, 0.5, 2.5])).tolist()
        [-2.0, 0.0, 2.0]
    """
    return x.round() if is_float(x.dtype) else x


def isfinite(x: Tensor, /) -> Tensor:
    """Say of each element whether it is neither infinite nor NaN.

    Example:
        >>> isfinite(Tensor([1.0, float("inf"), float("nan")])).tolist()
        [True, False, False]
    """
    return x.isfinite()


def isinf(x: Tensor, /) -> Tensor:
    """Say of each element whether it is infinite.

    Example:
        >>> isinf(Tensor([1.0, float("inf"), float("nan")])).tolist()
        [False, True, False]
    """
    return x.isinf()


def isnan(x: Tensor, /) -> Tensor:
    """Say of each element whether it is NaN.

    Example:
        >>> isnan(Tensor([1.0, float("inf"), float("nan")])).tolist()
        [False, False, True]
    """
    return x.isnan()


def logical_not(x: Tensor, /) -> Tensor:
    """Say of each element whether it is 0.

    Example:
        >>> logical_not(Tensor([0, 2])).tolist()
        [True, False]
    """
    return x.cast(dtypes.bool).logical_not()


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


def bitwise_invert(x: Tensor, /) -> Tensor:
    """Return the bits of each element inverted.

    Example:
        >>> bitwise_invert(Tensor([0, 5])).tolist()
        [-1, -6]
    """
    return ~x


def add(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the sums.

    Example:
        >>> add(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [4, 10]
    """
    left, right = _both(x1, x2)
    return left + right


def subtract(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the differences.

    Example:
        >>> subtract(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [-2, 0]
    """
    left, right = _both(x1, x2)
    return left - right


def multiply(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the products.

    Example:
        >>> multiply(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [3, 25]
    """
    left, right = _both(x1, x2)
    return left * right


def divide(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the quotients, of floats.

    Example:
        >>> divide(Tensor([1, 3]), 2).tolist()
        [0.5, 1.5]
    """
    left, right = _both(x1, x2)
    return left / right


def floor_divide(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the quotients rounded down.

    Example:
        >>> floor_divide(Tensor([7, -7]), 4).tolist()
        [1, -2]
    """
    left, right = _both(x1, x2)
    return left // right


def remainder(x1: Operand, x2: Operand, /) -> Tensor:
    """Return what division rounded down leaves, with the sign of `x2`.

    Example:
        >>> remainder(Tensor([7, -7]), 4).tolist()
        [3, 1]
    """
    left, right = _both(x1, x2)
    return left % right


def pow(x1: Operand, x2: Operand, /) -> Tensor:
    """Return `x1` to the power of `x2`.

    Example:
        >>> pow(Tensor([2, 3]), 3).tolist()
        [8, 27]
    """
    left, right = _both(x1, x2)
    return left**right


def atan2(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the angle of the point (x2, x1).

    Example:
        >>> atan2(Tensor([0.0]), Tensor([1.0])).tolist()
        [0.0]
    """
    left, right = _both(x1, x2)
    return left.atan2(right)


def hypot(x1: Operand, x2: Operand, /) -> Tensor:
    """Return sqrt(x1**2 + x2**2), which does not overflow.

    Example:
        >>> hypot(Tensor([3.0]), Tensor([4.0])).tolist()
        [5.0]
    """
    left, right = _both(x1, x2)
    return left.hypot(right)


def logaddexp(x1: Operand, x2: Operand, /) -> Tensor:
    """Return log(exp(x1) + exp(x2)), which does not overflow.

    Example:
        >>> logaddexp(Tensor([2.0]), -float("inf")).tolist()
        [2.0]
    """
    left, right = _both(x1, x2)
    return left.logaddexp(right)


def copysign(x1: Operand, x2: Operand, /) -> Tensor:
    """Return `x1` with the signs of `x2`.

    Example:
        >>> copysign(Tensor([1.0, 2.0]), Tensor([-0.0, 3.0])).tolist()
        [-1.0, 2.0]
    """
    left, right = _both(x1, x2)
    return left.copysign(right)


def maximum(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the larger of two elements; NaN if one is.

    Example:
        >>> maximum(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [3, 5]
    """
    left, right = _both(x1, x2)
    return left.maximum(right)


def minimum(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the smaller of two elements; NaN if one is.

    Example:
        >>> minimum(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [1, 5]
    """
    left, right = _both(x1, x2)
    return left.minimum(right)


def bitwise_and(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the bits that both have.

    Example:
        >>> bitwise_and(Tensor([12]), 10).tolist()
        [8]
    """
    left, right = _both(x1, x2)
    return left & right


def bitwise_or(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the bits that one of both has.

    Example:
        >>> bitwise_or(Tensor([12]), 10).tolist()
        [14]
    """
    left, right = _both(x1, x2)
    return left | right


def bitwise_xor(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the bits that only one of both has.

    Example:
        >>> bitwise_xor(Tensor([12]), 10).tolist()
        [6]
    """
    left, right = _both(x1, x2)
    return left ^ right


def bitwise_left_shift(x1: Operand, x2: Operand, /) -> Tensor:
    """Return `x1` shifted up by `x2` bits.

    Example:
        >>> bitwise_left_shift(Tensor([12]), 2).tolist()
        [48]
    """
    left, right = _both(x1, x2)
    return left << right


def bitwise_right_shift(x1: Operand, x2: Operand, /) -> Tensor:
    """Return `x1` shifted down by `x2` bits, with its sign.

    Example:
        >>> bitwise_right_shift(Tensor([12]), 2).tolist()
        [3]
    """
    left, right = _both(x1, x2)
    return left >> right


def equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Say of two elements whether they are equal.

    Example:
        >>> equal(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [False, True]
    """
    left, right = _both(x1, x2)
    return left == right


def not_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Say of two elements whether they differ.

    Example:
        >>> not_equal(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [True, False]
    """
    left, right = _both(x1, x2)
    return left != right


def less(x1: Operand, x2: Operand, /) -> Tensor:
    """Say of two elements whether they are in rising order.

    Example:
        >>> less(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [True, False]
    """
    left, right = _both(x1, x2)
    return left < right


def less_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Say of two elements whether they are in rising order, or equal.

    Example:
        >>> less_equal(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [True, True]
    """
    left, right = _both(x1, x2)
    return left <= right


def greater(x1: Operand, x2: Operand, /) -> Tensor:
    """Say of two elements whether they are in falling order.

    Example:
        >>> greater(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [False, False]
    """
    left, right = _both(x1, x2)
    return left > right


def greater_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Say of two elements whether they are in falling order, or equal.

    Example:
        >>> greater_equal(Tensor([1, 5]), Tensor([3, 5])).tolist()
        [False, True]
    """
    left, right = _both(x1, x2)
    return left >= right


def logical_and(x1: Operand, x2: Operand, /) -> Tensor:
    """Say of two elements whether none is 0.

    Example:
        >>> logical_and(Tensor([0, 1, 2]), Tensor([0, 0, 1])).tolist()
        [False, False, True]
    """
    left, right = _logical(x1, x2)
    return left & right


def logical_or(x1: Operand, x2: Operand, /) -> Tensor:
    """Say of two elements whether one is not 0.

    Example:
        >>> logical_or(Tensor([0, 1, 2]), Tensor([0, 0, 1])).tolist()
        [False, True, True]
    """
    left, right = _logical(x1, x2)
    return left | right


def logical_xor(x1: Operand, x2: Operand, /) -> Tensor:
    """Say of two elements whether only one is 0.

    Example:
        >>> logical_xor(Tensor([0, 1, 2]), Tensor([0, 0, 1])).tolist()
        [False, True, False]
    """
    left, right = _logical(x1, x2)
    return left ^ right


def clip(x: Tensor, /, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """Return each element, limited to `min` and `max`, in the dtype of `x`.

    Example:
        >>> clip(Tensor([1, 5, 9]), 2, 6).tolist()
        [2, 5, 6]
    """
    return x if min is None and max is None else x.clip(min, max).cast(x.dtype)


def where(condition: Tensor, x1: Operand, x2: Operand, /) -> Tensor:
    """Return the elements of `x1` where `condition` is true, and of `x2` elsewhere.

    Example:
        >>> where(Tensor([True, False]), Tensor([1, 2]), 0).tolist()
        [1, 0]
    """
    return condition.where(x1, x2)


def _bits(x: Tensor) -> Tensor:
    return x.bitcast({2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}[x.dtype.itemsize])


def signbit(x: Tensor, /) -> Tensor:
    """Say of each element whether its sign bit is set: of -0.0, too.

    Example:
        >>> signbit(Tensor([-0.0, 0.0])).tolist()
        [True, False]
    """
    if is_float(x.dtype):
        return _bits(x) < 0
    return Tensor.zeros(x.shape, dtype=dtypes.bool, device=x.device) if _has_no_sign(x) else x < 0


def _has_no_sign(x: Tensor) -> bool:
    return is_unsigned(x.dtype) or is_bool(x.dtype)


def nextafter(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the float next to `x1` in the direction of `x2`.

    Raises:
        DtypeError: these are no floats.

    Example:
        >>> (nextafter(Tensor([1.0]), Tensor([2.0])) - 1).tolist()
        [1.1920928955078125e-07]
    """
    left, right = _both(x1, x2)
    if not is_float(left.dtype):
        raise DtypeError(f"nextafter of {left.dtype.name}: it is of floats. Cast first.")
    bits = _bits(left)
    # floats of one sign are in the order of their bits
    away = (right > left) == (left > 0)
    moved = away.where(bits + 1, bits - 1).bitcast(left.dtype)
    smallest = (bits * 0 + 1).bitcast(left.dtype)
    out = (left == 0).where(smallest.copysign(right), moved)
    out = (left == right).where(right, out)
    return (left.isnan() | right.isnan()).where(float("nan"), out)
