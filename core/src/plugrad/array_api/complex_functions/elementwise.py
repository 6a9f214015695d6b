"""Functions of each complex number: `plugrad.array_api` says what they do."""

import math
from collections.abc import Callable

from plugrad.array_api.complex_functions.operands import Operand, both
from plugrad.array_api.complexes.array import Array, Complex, as_complex
from plugrad.array_api.complexes.operands import met
from plugrad.tensor import Tensor
from plugrad.tensor.complex_formulas import exponentials, inverses, pairs
from plugrad.tensor.complex_formulas.exponentials import turned, turned_back
from plugrad.tensor.complex_formulas.pairs import Pair
from plugrad.tensor.complex_formulas.roots import root

__all__ = ["FUNCTIONS"]


def add(x1: Operand, x2: Operand, /) -> Complex:
    left, right = both(x1, x2)
    return left + right


def subtract(x1: Operand, x2: Operand, /) -> Complex:
    left, right = both(x1, x2)
    return left - right


def multiply(x1: Operand, x2: Operand, /) -> Complex:
    left, right = both(x1, x2)
    return left * right


def divide(x1: Operand, x2: Operand, /) -> Complex:
    left, right = both(x1, x2)
    return left / right


def pow(x1: Operand, x2: Operand, /) -> Complex:
    left, right = both(x1, x2)
    return left**right


def equal(x1: Operand, x2: Operand, /) -> Tensor:
    left, right = both(x1, x2)
    return left == right


def not_equal(x1: Operand, x2: Operand, /) -> Tensor:
    left, right = both(x1, x2)
    return left != right


def where(condition: Tensor, x1: Operand, x2: Operand, /) -> Complex:
    left, right = both(x1, x2)
    like = left if isinstance(left, (Tensor, Complex)) else right
    one, other = met(*(_of_number(x, like) for x in (left, right)))
    sides = zip(one.parts(), other.parts(), strict=True)
    return Complex.of_parts(*(condition.where(yes, no) for yes, no in sides))


def _of_number(x: Operand, like: Array) -> Complex:
    if isinstance(x, (Tensor, Complex)):
        return as_complex(x)
    component = as_complex(like).real.dtype
    real, imag = (Tensor(part, dtype=component, device=like.device) for part in (x.real, x.imag))
    return Complex.of_parts(real, imag)


def abs(x: Complex, /) -> Tensor:
    return x.__abs__()


def real(x: Complex, /) -> Tensor:
    return x.real


def imag(x: Complex, /) -> Tensor:
    return x.imag


def isfinite(x: Complex, /) -> Tensor:
    return x.real.isfinite() & x.imag.isfinite()


def isinf(x: Complex, /) -> Tensor:
    return x.real.isinf() | x.imag.isinf()


def isnan(x: Complex, /) -> Tensor:
    return x.real.isnan() | x.imag.isnan()


def positive(x: Complex, /) -> Complex:
    return +x


def negative(x: Complex, /) -> Complex:
    return -x


def conj(x: Complex, /) -> Complex:
    return Complex.of_parts(+x.real, -x.imag)


def square(x: Complex, /) -> Complex:
    return x * x


def reciprocal(x: Complex, /) -> Complex:
    return 1 / x


def round(x: Complex, /) -> Complex:
    return Complex.of_parts(x.real.round(), x.imag.round())


def log2(x: Complex, /) -> Complex:
    return _log(x, 2.0)


def log10(x: Complex, /) -> Complex:
    return _log(x, 10.0)


def _log(x: Complex, base: float) -> Complex:
    length, angle = exponentials.log(x.parts())
    return Complex.of_parts(length / math.log(base), angle / math.log(base))


def _of_pairs(name: str, function: Callable[[Pair], Pair]) -> Callable[[Complex], Complex]:
    def apply(x: Complex, /) -> Complex:
        return Complex.of_parts(*function(x.parts()))

    apply.__name__ = apply.__qualname__ = name
    return apply


def _beside(function: Callable[[Pair], Pair]) -> Callable[[Pair], Pair]:
    """Return f with f(z) = -i g(iz), as the sine is of the hyperbolic one."""
    return lambda z: turned_back(function(turned(z)))


_OF_PAIRS: dict[str, Callable[[Pair], Pair]] = {
    "acos": inverses.acos,
    "acosh": inverses.acosh,
    "asin": inverses.asin,
    "asinh": inverses.asinh,
    "atan": _beside(inverses.atanh),
    "atanh": inverses.atanh,
    "cos": lambda z: exponentials.cosh(turned(z)),
    "cosh": exponentials.cosh,
    "exp": exponentials.exp,
    "expm1": exponentials.expm1,
    "log": exponentials.log,
    "log1p": exponentials.log1p,
    "sign": pairs.signed,
    "sin": _beside(exponentials.sinh),
    "sinh": exponentials.sinh,
    "sqrt": root,
    "tan": _beside(exponentials.tanh),
    "tanh": exponentials.tanh,
}

#: The functions by name.
FUNCTIONS = (
    *(add, subtract, multiply, divide, pow, equal, not_equal, where),
    *(abs, real, imag, isfinite, isinf, isnan),
    *(positive, negative, conj, square, reciprocal, round, log2, log10),
    *(_of_pairs(name, function) for name, function in _OF_PAIRS.items()),
)
