"""Floats: rounding, signs, finite values, neighbours."""

from plugrad.array_api.operands import Operand, both
from plugrad.dtype import dtypes, is_complex, is_float
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor


def isfinite(x: Tensor, /) -> Tensor:
    """Return where elements are neither infinite nor NaN.

    Example:
        >>> isfinite(Tensor([1.0, float("inf"), float("nan")])).tolist()
        [True, False, False]
    """
    return x.isfinite()


def isinf(x: Tensor, /) -> Tensor:
    """Return where elements are infinite.

    Example:
        >>> isinf(Tensor([1.0, float("inf"), float("nan")])).tolist()
        [False, True, False]
    """
    return x.isinf()


def isnan(x: Tensor, /) -> Tensor:
    """Return where elements are NaN.

    Example:
        >>> isnan(Tensor([1.0, float("inf"), float("nan")])).tolist()
        [False, False, True]
    """
    return x.isnan()


def copysign(x1: Operand, x2: Operand, /) -> Tensor:
    """Return `x1` with the signs of `x2`.

    Example:
        >>> copysign(Tensor([1.0, 2.0]), Tensor([-0.0, 3.0])).tolist()
        [-1.0, 2.0]
    """
    left, right = both(x1, x2)
    return left.copysign(right)


def signbit(x: Tensor, /) -> Tensor:
    """Return where the sign bit is set, also of -0.0.

    Example:
        >>> signbit(Tensor([-0.0, 0.0])).tolist()
        [True, False]
    """
    return x.signbit()


def nextafter(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the float next to `x1` in the direction of `x2`.

    Raises:
        DtypeError: these are no floats.

    Example:
        >>> (nextafter(Tensor([1.0]), Tensor([2.0])) - 1).tolist()
        [1.1920928955078125e-07]
    """
    left, right = both(x1, x2)
    if not is_float(left.dtype):
        raise DtypeError(f"nextafter of {left.dtype.name}: it is of floats. Cast first.")
    bits = left.bitcast({2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}[left.dtype.itemsize])
    # floats of one sign are in the order of their bits
    away = (right > left) == (left > 0)
    moved = away.where(bits + 1, bits - 1).bitcast(left.dtype)
    smallest = (bits * 0 + 1).bitcast(left.dtype)
    out = (left == 0).where(smallest.copysign(right), moved)
    out = (left == right).where(right, out)
    return (left.isnan() | right.isnan()).where(float("nan"), out)


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
    """Return the nearest integers, halves rounded to even.

    Example:
        >>> round(Tensor([-1.5, 0.5, 2.5])).tolist()
        [-2.0, 0.0, 2.0]
    """
    if is_complex(x.dtype):
        return Tensor.complex(x.real.round(), x.imag.round())
    return x.round() if is_float(x.dtype) else x
