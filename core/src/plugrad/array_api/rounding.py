"""Whole numbers near each element."""

from plugrad.dtype import is_complex, is_float
from plugrad.tensor import Tensor


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
    if is_complex(x.dtype):
        return Tensor.complex(x.real.round(), x.imag.round())
    return x.round() if is_float(x.dtype) else x
