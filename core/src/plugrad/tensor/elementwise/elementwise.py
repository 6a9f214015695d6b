"""Functions of one operand: exponentials, roots, rounding, signs.

Functions that need floats take integers as the default float.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

from plugrad.dtype import dtypes, has_infinity, is_bool, is_complex, is_float, is_unsigned
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor.argument_checks import refuse_complex
from plugrad.tensor.base import Tensor
from plugrad.tensor.complex_formulas import exponentials, pairs
from plugrad.tensor.complex_formulas.pairs import apply, parts_of
from plugrad.tensor.complex_formulas.pairs import reciprocal as pair_reciprocal
from plugrad.tensor.elementwise.operands import all_false, composed, float_graph
from plugrad.tensor.keywords import renamed
from plugrad.tensor.shapes import as_int
from plugrad.uop import UOp


def _either_part(x: Tensor, asked: Callable[[Any], Any]) -> Tensor:
    """Return where a predicate of real numbers holds for one of both parts."""
    real, imag = parts_of(x)
    return asked(real) | asked(imag)


def exp2(self: Tensor) -> Tensor:
    """Return `2 ** self`.

    Example:
        >>> Tensor([0.0, 3.0]).exp2().tolist()
        [1.0, 8.0]
    """
    if is_complex(self.dtype):
        return apply(exponentials.exp2, self)
    return self._like(float_graph(self).exp2())


def exp(self: Tensor) -> Tensor:
    """Return `e ** self`.

    Example:
        >>> Tensor([0.0]).exp().tolist()
        [1.0]
    """
    if is_complex(self.dtype):
        return apply(exponentials.exp, self)
    return self._like(float_graph(self).exp())


def log2(self: Tensor) -> Tensor:
    """Return the base-2 logarithm.

    Example:
        >>> Tensor([1.0, 8.0]).log2().tolist()
        [0.0, 3.0]
    """
    if is_complex(self.dtype):
        return apply(exponentials.log2, self)
    return self._like(float_graph(self).log2())


def log(self: Tensor) -> Tensor:
    """Return the natural logarithm.

    Example:
        >>> Tensor([1.0, 0.0]).log().tolist()
        [0.0, -inf]
    """
    return composed(self, lambda x: x.log2() * math.log(2), exponentials.log)


def log10(self: Tensor) -> Tensor:
    """Return the base-10 logarithm.

    Example:
        >>> Tensor([1.0]).log10().tolist()
        [0.0]
    """
    return composed(self, lambda x: x.log2() * math.log10(2), exponentials.log10)


def sqrt(self: Tensor) -> Tensor:
    """Return the square root; NaN below 0.

    Example:
        >>> Tensor([4.0, 9.0]).sqrt().tolist()
        [2.0, 3.0]
    """
    if is_complex(self.dtype):
        return apply(exponentials.root, self)
    return self._like(float_graph(self).sqrt())


def rsqrt(self: Tensor) -> Tensor:
    """Return `1 / sqrt(self)`.

    Example:
        >>> Tensor([4.0]).rsqrt().tolist()
        [0.5]
    """
    if is_complex(self.dtype):
        return self.sqrt().reciprocal()
    return composed(self, lambda x: x.sqrt().reciprocal())


def reciprocal(self: Tensor) -> Tensor:
    """Return `1 / self`.

    Example:
        >>> Tensor([4, 2]).reciprocal().tolist()
        [0.25, 0.5]
    """
    if is_complex(self.dtype):
        return apply(pair_reciprocal, self)
    return self._like(float_graph(self).reciprocal())


def square(self: Tensor) -> Tensor:
    """Return `self * self`.

    Example:
        >>> Tensor([3, -2]).square().tolist()
        [9, 4]
    """
    return self._like(self._graph * self._graph)


def sin(self: Tensor) -> Tensor:
    """Return the sine of radians.

    Example:
        >>> Tensor([0.0]).sin().tolist()
        [0.0]
    """
    if is_complex(self.dtype):
        return apply(exponentials.sin, self)
    return self._like(float_graph(self).sin())


def cos(self: Tensor) -> Tensor:
    """Return the cosine of radians.

    Example:
        >>> Tensor([0.0]).cos().tolist()
        [1.0]
    """
    if is_complex(self.dtype):
        return apply(exponentials.cos, self)
    return self._like(float_graph(self).cos())


def tan(self: Tensor) -> Tensor:
    """Return the tangent of radians.

    Example:
        >>> Tensor([0.0]).tan().tolist()
        [0.0]
    """
    return composed(self, lambda x: x.sin() / x.cos(), exponentials.tan)


def trunc(self: Tensor) -> Tensor:
    """Return values without their fraction; integers as they are.

    Example:
        >>> Tensor([-1.5, 1.5]).trunc().tolist()
        [-1.0, 1.0]
    """
    refuse_complex(self.dtype)
    return self._like(self._graph.trunc() if is_float(self.dtype) else self._graph)


def floor(self: Tensor) -> Tensor:
    """Return the greatest integer not above each value.

    Example:
        >>> Tensor([-1.5, 1.5]).floor().tolist()
        [-2.0, 1.0]
    """
    refuse_complex(self.dtype)
    if not is_float(self.dtype):
        return self._like(self._graph)
    x, whole = self._graph, self._graph.trunc()
    return self._like((x < whole).where(whole - 1.0, whole))


def ceil(self: Tensor) -> Tensor:
    """Return the least integer not below each value.

    Example:
        >>> Tensor([-1.5, 1.5]).ceil().tolist()
        [-1.0, 2.0]
    """
    refuse_complex(self.dtype)
    if not is_float(self.dtype):
        return self._like(self._graph)
    x, whole = self._graph, self._graph.trunc()
    return self._like((x > whole).where(whole + 1.0, whole))


def round(self: Tensor, decimals: int = 0, **_names: None) -> Tensor:
    """Return the nearest integer, or number with `decimals`; halves round to even.

    Args:
        decimals: digits after the point that stay; less than 0: zeros before the point.

    Raises:
        ArgumentError: `decimals` is no integer, or a power of ten that the dtype lacks.

    Example:
        >>> Tensor([0.5, 1.5, 2.5, -0.6]).round().tolist()
        [0.0, 2.0, 2.0, -1.0]
        >>> Tensor([1.25, 1250.0]).round(decimals=-2).tolist()
        [0.0, 1200.0]
    """
    if _names:
        renamed(self.round, _names)
    if is_complex(self.dtype):
        return apply(lambda z: (z[0].round(decimals), z[1].round(decimals)), self)
    digits = as_int(decimals, "decimals")
    if not is_float(self.dtype):
        return self._like(self._graph) if digits >= 0 else _round_tens(self, -digits)
    if not digits:
        return self._like(_rounded(self._graph))
    most = 300 if self.dtype is dtypes.float64 else 38
    if builtins.abs(digits) > most:
        raise ArgumentError(f"decimals={digits} of {self.dtype.name} is out of range: {-most} to {most}.")
    return composed(self, lambda x: _rounded_decimals(x, digits))


def _round_tens(x: Tensor, zeros: int) -> Tensor:
    """Return integers rounded to multiples of a power of ten, halves to even."""
    if is_bool(x.dtype) or zeros > 20 or 10**zeros >> (x.dtype.itemsize * 8 - (not is_unsigned(x.dtype))):
        raise ArgumentError(f"decimals={-zeros}: 10**{zeros} is no {x.dtype.name}. Cast to a wider dtype.")
    step: Any = 10**zeros
    down = x // step
    rest = x - down * step
    is_up = (rest > step // 2) | ((rest == step // 2) & (down % 2 == 1))
    return (down + is_up.cast(x.dtype)) * step


def __round__(self: Tensor, ndigits: int | None = None) -> Tensor:
    return self.round(0 if ndigits is None else ndigits)


def neg(self: Tensor) -> Tensor:
    """Return `-self`.

    Raises:
        DtypeError: this tensor is bool.

    Example:
        >>> Tensor([1, -2]).neg().tolist()
        [-1, 2]
    """
    if is_bool(self.dtype):
        raise DtypeError("bools have no negative. Use ~ for not, or cast to a number dtype first.")
    return self._like(-self._graph)


def positive(self: Tensor) -> Tensor:
    """Return `+self`: the same values.

    Example:
        >>> Tensor([3, -2]).positive().tolist()
        [3, -2]
    """
    return self._like(self._graph)


def abs(self: Tensor) -> Tensor:
    """Return absolute values; their gradient at 0 is 0.

    Example:
        >>> Tensor([1, -2]).abs().tolist()
        [1, 2]
    """
    if is_complex(self.dtype):
        real, imag = parts_of(self)
        return real.hypot(imag)
    x = self._graph
    if is_unsigned(self.dtype) or is_bool(self.dtype):
        return self._like(x)
    if not is_float(self.dtype):
        return self._like((x < 0).where(-x, x))
    # the middle choice is for -0.0, which is not below 0
    return self._like((x < 0.0).where(-x, x.eq(0.0).where(x.const_like(0.0), x)))


def sign(self: Tensor) -> Tensor:
    """Return -1, 0 or 1; NaN for NaN.

    Example:
        >>> Tensor([5, 0, -2]).sign().tolist()
        [1, 0, -1]
    """
    if is_complex(self.dtype):
        return apply(pairs.signed, self)
    x = self._graph
    if is_bool(self.dtype):
        return self._like(x)
    positive = (x > 0).where(x.const_like(1), x.const_like(0))
    if is_unsigned(self.dtype):
        return self._like(positive)
    out = (x < 0).where(x.const_like(-1), positive)
    # flat everywhere: truncating passes NaN on, and a gradient of 0
    return self._like(x.ne(x).where(x.trunc(), out) if is_float(self.dtype) else out)


def isnan(self: Tensor) -> Tensor:
    """Return where elements are NaN.

    Example:
        >>> Tensor([1.0, float("nan")]).isnan().tolist()
        [False, True]
    """
    if is_complex(self.dtype):
        return _either_part(self, lambda part: part.isnan())
    return self._like(self._graph.ne(self._graph) if is_float(self.dtype) else all_false(self))


def isinf(self: Tensor, detect_positive: bool = True, detect_negative: bool = True) -> Tensor:
    """Return where elements are infinite, of either sign or of the requested one.

    Example:
        >>> Tensor([1.0, float("-inf")]).isinf().tolist()
        [False, True]
    """
    if is_complex(self.dtype):
        return _either_part(self, lambda part: part.isinf(detect_positive, detect_negative))
    x, never = self._graph, all_false(self)
    if not has_infinity(self.dtype):
        return self._like(never)
    positive = x.eq(math.inf) if detect_positive else never
    return self._like(positive | (x.eq(-math.inf) if detect_negative else never))


def isfinite(self: Tensor) -> Tensor:
    """Return where elements are neither infinite nor NaN.

    Example:
        >>> Tensor([1.0, float("inf")]).isfinite().tolist()
        [True, False]
    """
    if is_complex(self.dtype):
        return ~_either_part(self, lambda part: ~part.isfinite())
    x = self._graph
    if not is_float(self.dtype):
        return self._like(~all_false(self))
    if not has_infinity(self.dtype):
        return self._like(x.eq(x))
    return self._like((x < math.inf) & (x > -math.inf))


def _rounded(x: UOp) -> UOp:
    whole = x.trunc()
    rest = x - whole
    half = whole * 0.5
    is_odd = half.ne(half.trunc())
    up = (rest > 0.5) | (rest.eq(0.5) & is_odd)
    down = (rest < -0.5) | (rest.eq(-0.5) & is_odd)
    return up.where(whole + 1.0, down.where(whole - 1.0, whole))


def _rounded_decimals(x: UOp, digits: int) -> UOp:
    if digits < 0:
        return _rounded(x / 10.0**-digits) * 10.0**-digits
    # beyond these there are no more decimals to round, and the product might overflow
    product = x.detach() * 10.0**digits
    most = 2.0 ** (52 if x.dtype is dtypes.float64 else 23)
    inside = (product < most) & (product > -most)
    return inside.where(
        _rounded(inside.where(x, x.const_like(0.0)) * 10.0**digits) / 10.0**digits, x.detach()
    )
