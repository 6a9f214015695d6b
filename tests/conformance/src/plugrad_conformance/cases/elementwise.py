"""Core: every operation on every dtype it takes, on ordinary and on extreme values."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from plugrad.dtype import DType, dtype_min, dtypes, is_float, is_unsigned
from plugrad_conformance.case import Case, Check, needs_dtypes
from plugrad_conformance.element_functions import ELEMENT_FUNCTIONS, ElementFunction
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import (
    ALL,
    BYTES,
    FLOATS,
    INTS,
    SIGNED,
    Array,
    largest,
    operands,
    pairs,
    round_to,
    sample,
    tensor_of,
)
from plugrad_conformance.tolerance import tolerance_of

_COUNT = 67


def _moderate(x: Array) -> Array:
    """Angles that a float32 reduction still holds digits of."""
    return np.where(np.abs(x) < 1000, x, 1.25)


def _small(x: Array) -> Array:
    return np.where(np.abs(x) < 40, x, 1.25)


_FLOAT_UNARY = (
    *("neg", "abs", "relu", "sign", "trunc", "floor", "ceil", "round", "square", "reciprocal", "sqrt"),
    *("rsqrt", "exp2", "log2", "exp", "log", "sin", "cos", "tanh", "sigmoid", "silu", "softplus"),
)
_DOMAINS: dict[str, Callable[[Array], Array]] = {
    **dict.fromkeys(("sin", "cos"), _moderate),
    **dict.fromkeys(("sigmoid", "silu", "softplus"), _small),
}
_SCALES: dict[str, Callable[[Array], Array]] = {
    "tanh": lambda x: np.minimum(np.abs(x), 1),
    "silu": np.abs,
    "softplus": np.ones_like,
}
_FLOAT_TESTS = ("isnan", "isinf", "isfinite")
_FLOAT_BINARY = ("add", "sub", "mul", "div", "maximum", "minimum")
_INT_BINARY = ("add", "sub", "mul", "maximum", "minimum", "and", "or", "xor")
#: The methods of cases by another name.
_METHODS = {
    "not": "bitwise_not",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "equal": "eq",
    "not-equal": "ne",
}


def _function(name: str) -> ElementFunction:
    return ELEMENT_FUNCTIONS[_METHODS.get(name, name.replace("-", "_"))]


def _as_longdouble(x: Array) -> Array:
    return x.astype(np.longdouble) if x.dtype.kind == "f" else x


def _float_unary(name: str, dtype: DType, bench: Bench) -> Check:
    x = operands(dtype, _COUNT)
    if domain := _DOMAINS.get(name):
        x = round_to(domain(x), dtype)
    scale = _SCALES.get(name)
    scales = None if scale is None else [scale(np.nan_to_num(x, posinf=0, neginf=0))]
    return _float_check(name, dtype, bench, x, scales)


def _float_check(name: str, dtype: DType, bench: Bench, x: Array, scales: list[Array] | None = None) -> Check:
    function = _function(name)
    with np.errstate(all="ignore"):
        exact = function.reference(_as_longdouble(x))
    out = function.on_tensor(tensor_of(x, dtype, bench.name))
    return Check([out], [exact], tolerance_of(name, dtype), scales)


def _exact_unary(name: str, dtype: DType, bench: Bench) -> Check:
    function = _function(name)
    x = operands(dtype, _COUNT)
    with np.errstate(all="ignore"):
        return Check([function.on_tensor(tensor_of(x, dtype, bench.name))], [function.reference(x)])


def _float_binary(name: str, dtype: DType, bench: Bench) -> Check:
    function = _function(name)
    x, y = pairs(dtype, 40)
    a, b = (tensor_of(v, dtype, bench.name) for v in (x, y))
    with np.errstate(all="ignore"):
        exact = function.reference(_as_longdouble(x), _as_longdouble(y))
    return Check([function.on_tensor(a, b)], [exact], tolerance_of(name, dtype))


def _exact_binary(count: int, name: str, dtype: DType, bench: Bench) -> Check:
    function = _function(name)
    x, y = pairs(dtype, count)
    a, b = (tensor_of(v, dtype, bench.name) for v in (x, y))
    with np.errstate(all="ignore"):
        return Check([function.on_tensor(a, b)], [function.reference(x, y)])


_int_binary = functools.partial(_exact_binary, 40)
_comparison = functools.partial(_exact_binary, 20)


def _divisible(dtype: DType) -> tuple[Array, Array]:
    """Return pairs without a zero divisor, and without the one quotient that overflows."""
    x, y = pairs(dtype, 40)
    keep = y != 0
    if not is_unsigned(dtype):
        keep &= ~((x == dtype_min(dtype)) & (y == -1))
    return x[keep], y[keep]


def _int_division(name: str, dtype: DType, bench: Bench) -> Check:
    x, y = _divisible(dtype)
    a, b = (tensor_of(v, dtype, bench.name) for v in (x, y))
    function = _function(name)
    return Check([function.on_tensor(a, b)], [function.reference(x, y)])


def _division_by_constants(dtype: DType, bench: Bench) -> Check:
    """By a number that the compiler knows: shifts and multiplications take its place."""
    x = operands(dtype, _COUNT)
    t = tensor_of(x, dtype, bench.name)
    numbers = (1, 2, 3, 7, 8, 100) if is_unsigned(dtype) else (1, 2, 3, 7, 8, 100, -2, -7)
    outputs = [f(t, n) for n in numbers for f in (lambda a, n: a // n, lambda a, n: a % n)]
    expected = [f(x, x.dtype.type(n)) for n in numbers for f in (np.floor_divide, np.remainder)]
    return Check(outputs, expected)


def _shift(name: str, dtype: DType, bench: Bench) -> Check:
    """Shift by every amount, including the width and more."""
    bits = dtype.itemsize * 8
    x = np.repeat(operands(dtype, 20), bits + 3)
    amounts = np.tile(np.arange(bits + 3), len(x) // (bits + 3)).astype(x.dtype)
    a, b = (tensor_of(v, dtype, bench.name) for v in (x, amounts))
    if name == "lshift":
        wide = [(int(v) << int(s)) & ((1 << bits) - 1) for v, s in zip(x, amounts, strict=True)]
        exact = np.array(wide, np.uint64).astype(f"u{dtype.itemsize}").view(x.dtype)
        return Check([a << b], [exact])
    return Check([a >> b], [np.array([int(v) >> int(s) for v, s in zip(x, amounts, strict=True)], x.dtype)])


def _pow(dtype: DType, bench: Bench) -> Check:
    base = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0, 0.1, -1.0, -2.0, -0.5])
    exponent = np.array([0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, 1.5])
    x, y = (round_to(v, dtype) for v in (np.repeat(base, len(exponent)), np.tile(exponent, len(base))))
    a, b = (tensor_of(v, dtype, bench.name) for v in (x, y))
    with np.errstate(all="ignore"):
        return Check([a**b], [_as_longdouble(x) ** _as_longdouble(y)], tolerance_of("pow", dtype))


def _int_pow(dtype: DType, bench: Bench) -> Check:
    x = sample(dtype, 40, 9)
    t = tensor_of(x, dtype, bench.name)
    with np.errstate(all="ignore"):
        return Check([t**2, t**3], [x * x, x * x * x])


def _float_mod(dtype: DType, bench: Bench) -> Check:
    x, y = sample(dtype, 60, 3, 50.0), sample(dtype, 60, 4, 5.0)
    y = round_to(np.where(np.abs(y) < 0.25, 1.0, y), dtype)
    a, b = (tensor_of(v, dtype, bench.name) for v in (x, y))
    exact = np.remainder(_as_longdouble(x), _as_longdouble(y))
    return Check([a % b], [exact], tolerance_of("mod", dtype))


def _fmod(dtype: DType, bench: Bench) -> Check:
    """C's remainder, exact however far apart its operands are."""
    x, y = pairs(dtype, 60)
    if not is_float(dtype):
        x, y = _divisible(dtype)
    a, b = (tensor_of(v, dtype, bench.name) for v in (x, y))
    with np.errstate(all="ignore"):
        return Check([a.fmod(b)], [np.fmod(_as_longdouble(x), _as_longdouble(y))])


def _where(dtype: DType, bench: Bench) -> Check:
    x, y = pairs(dtype, 20)
    c = np.arange(len(x)) % 3 == 0
    on = [tensor_of(v, d, bench.name) for v, d in ((c, dtypes.bool), (x, dtype), (y, dtype))]
    return Check([on[0].where(on[1], on[2])], [np.where(c, x, y)])


_BYTE_OPS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    **{
        name: (_function(name).on_tensor, _function(name).reference)
        for name in ("add", "mul", "maximum", "less")
    },
    "where": (lambda a, b: (a != 1).where(a, b), lambda x, y: np.where(x != 1, x, y)),
}


def _byte_op(name: str, dtype: DType, bench: Bench) -> Check:
    """Floats of a byte, stored as such: results are rounded once."""
    on_tensor, exact = _BYTE_OPS[name]
    numbers = np.array([0.5, 1.0, 1.5, -1.0, -2.0, 3.0, 0.25, 7.0])
    x, y = np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))
    a, b = (tensor_of(v, dtypes.float32, bench.name).cast(dtype).contiguous() for v in (x, y))
    out, wanted = on_tensor(a, b), exact(x, y)
    if name == "less":
        return Check([out], [wanted])
    return Check([out.contiguous().cast(dtypes.float32)], [BYTES[dtype].nearest(wanted)])


def _bools(bench: Bench) -> Check:
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    a, b = (tensor_of(v, dtypes.bool, bench.name) for v in (x, y))
    outputs = [a & b, a | b, a ^ b, ~a, a + b, a * b, a == b, a != b, a < b, a.maximum(b), a.minimum(b)]
    expected = [x & y, x | y, x ^ y, ~x, x | y, x & y, x == y, x != y, ~x & y, x | y, x & y]
    return Check(outputs, expected)


def _max_of_nan(dtype: DType, bench: Bench) -> Check:
    """NaN wins, from either side, in elementwise and in reduced form."""
    x = np.array([np.nan, 1.0, np.nan, -np.inf, 2.0])
    y = np.array([1.0, np.nan, np.nan, np.nan, 3.0])
    a, b = (tensor_of(v, dtype, bench.name) for v in (x, y))
    both = tensor_of(np.stack([x, y]), dtype, bench.name)
    exact = np.maximum(x, y)
    return Check(
        [a.maximum(b), a.minimum(b), both.max(0), both.min(0)],
        [exact, np.minimum(x, y), exact, np.minimum(x, y)],
    )


def _exp_ends(name: str, dtype: DType, bench: Bench) -> Check:
    """Check powers at infinities, NaN, exact results and overflow."""
    x = np.array([-np.inf, np.inf, np.nan, 0.0, -0.0, 1.0, 2.0, -1.0, 10.0, -10.0, -5000.0, 5000.0])
    return _float_check(name, dtype, bench, x)


def _large_angles(name: str, dtype: DType, bench: Bench) -> Check:
    """Angles of any size, and those next to multiples of pi/2, where digits cancel."""
    powers = 10.0 ** np.arange(3, 300, 11)
    x = np.concatenate([powers, -powers * 7.3, np.arange(1, 30) * (np.pi / 2)])
    x = round_to(x[np.abs(x) <= largest(dtype)], dtype)
    return _float_check(name, dtype, bench, x)


def _subnormals(dtype: DType, bench: Bench) -> Check:
    """Numbers below the normal ones are kept: loaded, added, multiplied and stored."""
    tiny = {dtypes.float16: 2.0**-24, dtypes.bfloat16: 2.0**-133, dtypes.float32: 2.0**-149}.get(
        dtype, 5e-324
    )
    x = np.array([1, 2, 3, 7, 100], np.float64) * tiny
    t = tensor_of(x, dtype, bench.name)
    return Check([t + t, t * 3.0, -t, t.maximum(0.0)], [x * 2, x * 3, -x, x])


def _zeros_have_signs(dtype: DType, bench: Bench) -> Check:
    """1/x tells 0.0 from -0.0."""
    x = np.array([0.0, -0.0, 0.0, -0.0])
    t = tensor_of(x, dtype, bench.name)
    return Check([t.reciprocal(), (-t).reciprocal()], [np.copysign(np.inf, x), np.copysign(np.inf, -x)])


def _many_at_once(dtype: DType, bench: Bench) -> Check:
    """A long expression in one kernel: registers, precedence, reuse of a value."""
    x, y = sample(dtype, 200, 1), sample(dtype, 200, 2)
    a, b = (tensor_of(v, dtype, bench.name) for v in (x, y))

    def expression(p: Any, q: Any, choose: Any) -> Any:
        r = p * q - (p + q) * 2
        s = choose(p < q, r, -r) + p
        return s * s - q * choose(p == q, p, q) + r

    on_device = expression(a, b, lambda c, u, v: c.where(u, v))
    with np.errstate(all="ignore"):
        return Check([on_device], [expression(x, y, np.where)])


def _cases(
    prefix: str, names: Iterable[str], dtypes_: Iterable[DType], build: Callable[..., Check]
) -> list[Case]:
    return [
        Case(
            f"core/elementwise/{prefix}{name}-{d.name}",
            build=functools.partial(build, name, d),
            needs=needs_dtypes(d.name),
        )
        for name in names
        for d in dtypes_
    ]


def _single(name: str, dtypes_: Iterable[DType], build: Callable[..., Check]) -> list[Case]:
    return [
        Case(
            f"core/elementwise/{name}-{d.name}", build=functools.partial(build, d), needs=needs_dtypes(d.name)
        )
        for d in dtypes_
    ]


def _cases_by_name(
    what: str, names: Iterable[str], dtypes_: Iterable[DType], build: Callable[..., Check]
) -> list[Case]:
    of_each = [_single(f"{name}-{what}", dtypes_, functools.partial(build, name)) for name in names]
    return [case for cases in of_each for case in cases]


CASES = (
    *_cases("", _FLOAT_UNARY, FLOATS, _float_unary),
    *_cases("", _FLOAT_TESTS, FLOATS, _exact_unary),
    *_cases("", ("neg", "abs", "square", "sign", "relu"), SIGNED, _exact_unary),
    *_cases("", ("not", "square"), (d for d in INTS if is_unsigned(d)), _exact_unary),
    *_cases("", ("not",), SIGNED, _exact_unary),
    *_cases("", _FLOAT_BINARY, FLOATS, _float_binary),
    *_cases("", _INT_BINARY, INTS, _int_binary),
    *_cases("", ("less", "equal"), ALL, _comparison),
    *_cases(
        "",
        ("less-equal", "greater", "greater-equal", "not-equal"),
        (dtypes.float32, dtypes.int32, dtypes.uint8),
        _comparison,
    ),
    *_cases("", ("floordiv", "mod"), INTS, _int_division),
    *_cases("", ("lshift", "rshift"), INTS, _shift),
    *_single("division-by-constants", INTS, _division_by_constants),
    *_single("pow", FLOATS, _pow),
    *_single("pow", (dtypes.int32, dtypes.int64, dtypes.uint8), _int_pow),
    *_single("mod", (dtypes.float32, dtypes.float64), _float_mod),
    *_single("fmod", (*INTS, *FLOATS), _fmod),
    *_single("where", ALL, _where),
    *_cases("", _BYTE_OPS, BYTES, _byte_op),
    Case("core/elementwise/bools", build=_bools, needs=needs_dtypes("bool")),
    *_single("max-of-nan", FLOATS, _max_of_nan),
    *_cases_by_name("at-its-ends", ("exp2", "exp"), FLOATS, _exp_ends),
    *_cases_by_name("of-large-angles", ("sin", "cos"), FLOATS, _large_angles),
    *_single("subnormals", FLOATS, _subnormals),
    *_single("zeros-have-signs", FLOATS, _zeros_have_signs),
    *_single("many-at-once", (dtypes.int32, dtypes.int64, dtypes.uint16), _many_at_once),
)
