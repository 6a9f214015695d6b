"""Functions of elements: arithmetic, comparisons, logic, bits, roots, logarithms, angles, rounding."""

from plugrad.array_api.methods import Operand, binary, both, unary
from plugrad.dtype import dtypes, is_float
from plugrad.errors import DtypeError
from plugrad.tensor import Tensor

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    "where",
]


# --- of one array ---

abs = unary(Tensor.abs)
acos = unary(Tensor.acos)
acosh = unary(Tensor.acosh)
asin = unary(Tensor.asin)
asinh = unary(Tensor.asinh)
atan = unary(Tensor.atan)
atanh = unary(Tensor.atanh)
bitwise_invert = unary(Tensor.bitwise_not, "bitwise_invert")
ceil = unary(Tensor.ceil)
conj = unary(Tensor.conj)
cos = unary(Tensor.cos)
cosh = unary(Tensor.cosh)
exp = unary(Tensor.exp)
expm1 = unary(Tensor.expm1)
floor = unary(Tensor.floor)
isfinite = unary(Tensor.isfinite)
isinf = unary(Tensor.isinf)
isnan = unary(Tensor.isnan)
log = unary(Tensor.log)
log10 = unary(Tensor.log10)
log1p = unary(Tensor.log1p)
log2 = unary(Tensor.log2)
logical_not = unary(Tensor.logical_not)
negative = unary(Tensor.neg, "negative")
positive = unary(Tensor.positive)
reciprocal = unary(Tensor.reciprocal)
round = unary(Tensor.round)
sign = unary(Tensor.sign)
signbit = unary(Tensor.signbit)
sin = unary(Tensor.sin)
sinh = unary(Tensor.sinh)
sqrt = unary(Tensor.sqrt)
square = unary(Tensor.square)
tan = unary(Tensor.tan)
tanh = unary(Tensor.tanh)
trunc = unary(Tensor.trunc)

# --- of two ---

add = binary(Tensor.add)
atan2 = binary(Tensor.atan2)
bitwise_and = binary(Tensor.bitwise_and)
bitwise_left_shift = binary(Tensor.lshift, "bitwise_left_shift")
bitwise_or = binary(Tensor.bitwise_or)
bitwise_right_shift = binary(Tensor.rshift, "bitwise_right_shift")
bitwise_xor = binary(Tensor.bitwise_xor)
copysign = binary(Tensor.copysign)
divide = binary(Tensor.div, "divide")
equal = binary(Tensor.eq, "equal")
floor_divide = binary(Tensor.floordiv, "floor_divide")
greater = binary(Tensor.gt, "greater")
greater_equal = binary(Tensor.ge, "greater_equal")
hypot = binary(Tensor.hypot)
less = binary(Tensor.lt, "less")
less_equal = binary(Tensor.le, "less_equal")
logaddexp = binary(Tensor.logaddexp)
logical_and = binary(Tensor.logical_and)
logical_or = binary(Tensor.logical_or)
logical_xor = binary(Tensor.logical_xor)
maximum = binary(Tensor.maximum)
minimum = binary(Tensor.minimum)
multiply = binary(Tensor.mul, "multiply")
not_equal = binary(Tensor.ne, "not_equal")
pow = binary(Tensor.pow)
remainder = binary(Tensor.mod, "remainder")
subtract = binary(Tensor.sub, "subtract")


def real(x: Tensor, /) -> Tensor:
    return x.real


def imag(x: Tensor, /) -> Tensor:
    return x.imag


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


def where(condition: Tensor, x1: Operand, x2: Operand, /) -> Tensor:
    """Return the elements of `x1` where `condition` is true, and of `x2` elsewhere.

    Example:
        >>> where(Tensor([True, False]), Tensor([1, 2]), 0).tolist()
        [1, 0]
    """
    return condition.where(x1, x2)


def clip(x: Tensor, /, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """Return each element, limited to `min` and `max`, in the dtype of `x`.

    Example:
        >>> clip(Tensor([1, 5, 9]), 2, 6).tolist()
        [2, 5, 6]
    """
    return x if min is None and max is None else x.clip(min, max).cast(x.dtype)
