"""The catalogue of functions of elements: meaning to NumPy, derivatives and domain.

The table of operations, the cases of the suite and the random programs read their functions here.
"""

# the lambdas of a table take whatever its inputs are
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

Reference = Callable[..., Any]


def method(name: str, *args: Any, **options: Any) -> Callable[..., Any]:
    """Return a call of a method: its operands come first, then `args`.

    Example:
        >>> method("clip", 0, 1)(np.array([2, -3]))
        array([1, 0])
    """
    return lambda x, *others: getattr(x, name)(*others, *args, **options)


@dataclass(frozen=True, slots=True)
class ElementFunction:
    """A method that is a function of single elements.

    Attributes:
        name: the method.
        reference: the same of arrays, in their precision.
        arity: how many operands it takes.
        order: how often it is differentiable.
        domain: numbers within which derivatives are checked.
        accuracy: how many times the usual error is allowed.
    """

    name: str
    reference: Reference
    arity: int = 1
    order: int = 2
    domain: tuple[float, float] = (-2.0, 2.0)
    accuracy: float = 1.0

    @property
    def on_tensor(self) -> Callable[..., Any]:
        """The method, as a function of tensors."""
        return method(self.name)


def limited(x: Any, low: float, high: float) -> Any:
    """Return `x` within two limits; NaN stays."""
    return np.minimum(np.maximum(x, low), high)


def sigmoid(x: Any) -> Any:
    """Return `1 / (1 + exp(-x))` without overflow."""
    return np.where(x < 0, np.exp(np.minimum(x, 0)), 1.0) / (1 + np.exp(-np.abs(x)))


def softplus(x: Any) -> Any:
    """Return `log(1 + exp(x))` without overflow."""
    return np.logaddexp(0, x)


erf: Reference = np.vectorize(math.erf, otypes=[float])
_erfc: Reference = np.vectorize(math.erfc, otypes=[float])


def _elu(x: Any) -> Any:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def _selu(x: Any) -> Any:
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))


def _gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _relu(x: Any) -> Any:
    return np.maximum(x, np.zeros_like(x))


_POSITIVE = (0.1, 3.0)
_UNIT = (-0.95, 0.95)
#: Of any float; integers become floats.
SMOOTH = (
    ElementFunction("exp", np.exp),
    ElementFunction("exp2", np.exp2),
    ElementFunction("expm1", np.expm1),
    ElementFunction("log", np.log, domain=_POSITIVE),
    ElementFunction("log2", np.log2, domain=_POSITIVE),
    ElementFunction("log10", np.log10, domain=_POSITIVE),
    ElementFunction("log1p", np.log1p, domain=_POSITIVE),
    ElementFunction("sqrt", np.sqrt, domain=_POSITIVE),
    ElementFunction("rsqrt", lambda x: 1 / np.sqrt(x), domain=_POSITIVE),
    ElementFunction("reciprocal", lambda x: 1 / x, domain=_POSITIVE),
    ElementFunction("sin", np.sin),
    ElementFunction("cos", np.cos),
    ElementFunction("tan", np.tan, domain=_UNIT, accuracy=10.0),
    ElementFunction("asin", np.arcsin, domain=_UNIT),
    ElementFunction("acos", np.arccos, domain=_UNIT),
    ElementFunction("atan", np.arctan),
    ElementFunction("sinh", np.sinh),
    ElementFunction("cosh", np.cosh),
    ElementFunction("tanh", np.tanh),
    ElementFunction("asinh", np.arcsinh),
    ElementFunction("acosh", np.arccosh, domain=(1.1, 4.0)),
    ElementFunction("atanh", np.arctanh, domain=_UNIT),
    ElementFunction("erf", erf),
    ElementFunction("erfc", _erfc),
    ElementFunction("sigmoid", sigmoid),
    ElementFunction("logsigmoid", lambda x: -softplus(-x)),
    ElementFunction("softplus", softplus),
    ElementFunction("softsign", lambda x: x / (1 + np.abs(x))),
    ElementFunction("celu", _elu),
    ElementFunction("elu", _elu),
    ElementFunction("selu", _selu),
    ElementFunction("tanhshrink", lambda x: x - np.tanh(x)),
)
#: Products of infinities and 0 at the ends.
GATED = (
    ElementFunction("gelu", _gelu),
    ElementFunction("quick_gelu", lambda x: x * sigmoid(1.702 * x)),
    ElementFunction("silu", lambda x: x * sigmoid(x)),
    ElementFunction("swish", lambda x: x * sigmoid(x)),
    ElementFunction("mish", lambda x: x * np.tanh(softplus(x))),
    ElementFunction("hardswish", lambda x: x * limited(x + 3, 0, 6) / 6),
)
#: Exact in every dtype.
EXACT = (
    ElementFunction("abs", np.abs),
    ElementFunction("neg", np.negative),
    ElementFunction("sign", np.sign, order=0),
    ElementFunction("square", np.square),
    ElementFunction("trunc", np.trunc, order=0),
    ElementFunction("ceil", np.ceil, order=0),
    ElementFunction("floor", np.floor, order=0),
    ElementFunction("round", np.round, order=0),
    ElementFunction("relu", _relu),
)
#: With kinks between straight lines.
BENT = (
    ElementFunction("relu6", lambda x: limited(x, 0, 6)),
    ElementFunction("leaky_relu", lambda x: np.where(x < 0, 0.01 * x, x)),
    ElementFunction("hardsigmoid", lambda x: limited(x + 3, 0, 6) / 6),
    ElementFunction("hardtanh", lambda x: limited(x, -1, 1)),
    ElementFunction("softshrink", lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
    ElementFunction("hardshrink", lambda x: np.where(np.abs(x) <= 0.5, 0, x)),
)
#: Tests of one float.
TESTS = (
    ElementFunction("isnan", np.isnan, order=0),
    ElementFunction("isinf", np.isinf, order=0),
    ElementFunction("isfinite", np.isfinite, order=0),
)
BINARY = (
    ElementFunction("add", np.add, 2),
    ElementFunction("sub", np.subtract, 2),
    ElementFunction("mul", np.multiply, 2),
    ElementFunction("div", np.divide, 2),
    ElementFunction("maximum", np.maximum, 2),
    ElementFunction("minimum", np.minimum, 2),
    ElementFunction("atan2", np.arctan2, 2),
    ElementFunction("hypot", np.hypot, 2),
    ElementFunction("logaddexp", np.logaddexp, 2),
    ElementFunction("copysign", np.copysign, 2),
)
#: With kinks everywhere: not differentiated by the divisor.
DIVISIONS = (
    ElementFunction("floordiv", np.floor_divide, 2, 0),
    ElementFunction("mod", np.mod, 2),
    ElementFunction("remainder", np.mod, 2),
    ElementFunction("fmod", np.fmod, 2),
)
EQUALITIES = (ElementFunction("eq", np.equal, 2, 0), ElementFunction("ne", np.not_equal, 2, 0))
#: Comparisons and logic, of numbers and truth values.
LOGIC = (
    ElementFunction("lt", np.less, 2, 0),
    ElementFunction("le", np.less_equal, 2, 0),
    ElementFunction("gt", np.greater, 2, 0),
    ElementFunction("ge", np.greater_equal, 2, 0),
    ElementFunction("less", np.less, 2, 0),
    ElementFunction("less_equal", np.less_equal, 2, 0),
    ElementFunction("greater", np.greater, 2, 0),
    ElementFunction("greater_equal", np.greater_equal, 2, 0),
    ElementFunction("not_equal", np.not_equal, 2, 0),
    ElementFunction("logical_and", np.logical_and, 2, 0),
    ElementFunction("logical_or", np.logical_or, 2, 0),
    ElementFunction("logical_xor", np.logical_xor, 2, 0),
)
BITS = (
    ElementFunction("bitwise_and", np.bitwise_and, 2, 0),
    ElementFunction("bitwise_or", np.bitwise_or, 2, 0),
    ElementFunction("bitwise_xor", np.bitwise_xor, 2, 0),
)
SHIFTS = (
    ElementFunction("lshift", np.left_shift, 2, 0),
    ElementFunction("rshift", np.right_shift, 2, 0),
)
_NOT = ElementFunction("bitwise_not", np.invert, order=0)


def by_name(functions: Iterable[ElementFunction]) -> dict[str, ElementFunction]:
    """Return functions by the names of their methods."""
    return {function.name: function for function in functions}


ELEMENT_FUNCTIONS = by_name(
    (*SMOOTH, *GATED, *EXACT, *BENT, *TESTS, *BINARY, *DIVISIONS, *EQUALITIES, *LOGIC, *BITS, *SHIFTS, _NOT)
)
