"""Second names of elementwise functions, as in PyTorch and NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from plugrad.dtype import ConstType, Number
from plugrad.tensor.keywords import REQUIRED, ClampNames, renamed

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


# --- arithmetic ---


def subtract(self: Tensor, other: Tensor | Number, *, alpha: ConstType = 1) -> Tensor:
    """Return `self - other * alpha`.

    Raises:
        DtypeError: both are bools, or `alpha` is no number.

    Example:
        >>> Tensor([3, 2]).subtract(1).tolist()
        [2, 1]
    """
    return self.sub(other, alpha=alpha)


def multiply(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `self * other`.

    Example:
        >>> Tensor([3, 2]).multiply(2).tolist()
        [6, 4]
    """
    return self.mul(other)


def divide(
    self: Tensor, other: Tensor | Number, *, rounding_mode: Literal["trunc", "floor"] | None = None
) -> Tensor:
    """Return `div(other)`.

    Raises:
        ArgumentError: there is no such rounding mode.

    Example:
        >>> Tensor([3, 2]).divide(2).tolist()
        [1.5, 1.0]
    """
    return self.div(other, rounding_mode=rounding_mode)


def true_divide(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `self / other`.

    Example:
        >>> Tensor([3, 2]).true_divide(2).tolist()
        [1.5, 1.0]
    """
    return self.div(other)


def floor_divide(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `self // other`, rounded down.

    Example:
        >>> Tensor([3, -3]).floor_divide(2).tolist()
        [1, -2]
    """
    return self.floordiv(other)


def negative(self: Tensor) -> Tensor:
    """Return `-self`.

    Raises:
        DtypeError: this tensor is bool.

    Example:
        >>> Tensor([3, -2]).negative().tolist()
        [-3, 2]
    """
    return self.neg()


def positive(self: Tensor) -> Tensor:
    """Return `+self`: the same values.

    Example:
        >>> Tensor([3, -2]).positive().tolist()
        [3, -2]
    """
    return +self


def absolute(self: Tensor) -> Tensor:
    """Return `abs()`.

    Example:
        >>> Tensor([3, -2]).absolute().tolist()
        [3, 2]
    """
    return self.abs()


def sgn(self: Tensor) -> Tensor:
    """Return `sign()`.

    Example:
        >>> Tensor([3, 0, -2]).sgn().tolist()
        [1, 0, -1]
    """
    return self.sign()


def fix(self: Tensor) -> Tensor:
    """Return `trunc()`.

    Example:
        >>> Tensor([1.5, -1.5]).fix().tolist()
        [1.0, -1.0]
    """
    return self.trunc()


def clamp_min(self: Tensor, min_: Tensor | Number = REQUIRED, **names: Unpack[ClampNames]) -> Tensor:
    """Return `clamp(min_)`.

    Example:
        >>> Tensor([-1, 2]).clamp_min(0).tolist()
        [0, 2]
    """
    if names or min_ is REQUIRED:
        (min_,) = renamed(self.clamp_min, names, min_=min_)
    return self.clamp(min_)


def clamp_max(self: Tensor, max_: Tensor | Number = REQUIRED, **names: Unpack[ClampNames]) -> Tensor:
    """Return `clamp(max_=max_)`.

    Example:
        >>> Tensor([-1, 2]).clamp_max(0).tolist()
        [-1, 0]
    """
    if names or max_ is REQUIRED:
        (max_,) = renamed(self.clamp_max, names, max_=max_)
    return self.clamp(max_=max_)


# --- bits ---


def bitwise_left_shift(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `self << other`.

    Raises:
        DtypeError: an operand is no integer.

    Example:
        >>> Tensor([1, 3]).bitwise_left_shift(2).tolist()
        [4, 12]
    """
    return self.lshift(other)


def bitwise_right_shift(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `self >> other`.

    Raises:
        DtypeError: an operand is no integer.

    Example:
        >>> Tensor([8, -8]).bitwise_right_shift(2).tolist()
        [2, -2]
    """
    return self.rshift(other)


# --- angles ---


def arcsin(self: Tensor) -> Tensor:
    """Return `asin()`.

    Example:
        >>> Tensor([0.0]).arcsin().tolist()
        [0.0]
    """
    return self.asin()


def arccos(self: Tensor) -> Tensor:
    """Return `acos()`.

    Example:
        >>> Tensor([1.0]).arccos().tolist()
        [0.0]
    """
    return self.acos()


def arctan(self: Tensor) -> Tensor:
    """Return `atan()`.

    Example:
        >>> Tensor([0.0]).arctan().tolist()
        [0.0]
    """
    return self.atan()


def arcsinh(self: Tensor) -> Tensor:
    """Return `asinh()`.

    Example:
        >>> Tensor([0.0]).arcsinh().tolist()
        [0.0]
    """
    return self.asinh()


def arccosh(self: Tensor) -> Tensor:
    """Return `acosh()`.

    Example:
        >>> Tensor([1.0]).arccosh().tolist()
        [0.0]
    """
    return self.acosh()


def arctanh(self: Tensor) -> Tensor:
    """Return `atanh()`.

    Example:
        >>> Tensor([0.0]).arctanh().tolist()
        [0.0]
    """
    return self.atanh()


def arctan2(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return `atan2(other)`.

    Example:
        >>> Tensor([0.0]).arctan2(1.0).tolist()
        [0.0]
    """
    return self.atan2(other)
