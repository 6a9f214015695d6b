"""Functions of single elements: arithmetic, comparisons, bits, special functions, activations."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrad_conformance.element_functions import (
    BENT,
    BINARY,
    BITS,
    DIVISIONS,
    ELEMENT_FUNCTIONS,
    EQUALITIES,
    EXACT,
    GATED,
    SHIFTS,
    SMOOTH,
    TESTS,
    ElementFunction,
    erf,
    limited,
    method,
    sigmoid,
    softplus,
)
from plugrad_conformance.operations.operation import (
    EDGES,
    EMPTY,
    Array,
    Meaning,
    Operation,
    bools,
    positive,
    reals,
    whole,
)


def _name_and_meanings(function: ElementFunction) -> tuple[str, Meaning, Meaning]:
    return function.name, function.on_tensor, function.reference


# --- one operand ---


def _smooth(function: ElementFunction) -> Iterator[Operation]:
    """Yield the cases of a function of floats; integers become floats."""
    name, call, reference = function.name, function.on_tensor, function.reference
    low, high = function.domain
    inside = reals(3, 4, low=low, high=high)
    order, accuracy = function.order, function.accuracy
    yield Operation(name, "derivatives", call, reference, (inside,), order=order, accuracy=accuracy)
    yield Operation(name, "edges", call, reference, (EDGES,), accuracy=accuracy)
    yield Operation(name, "float16 of shape ()", call, reference, (inside[0, 0].astype(np.float16),))
    yield Operation(name, "empty", call, reference, (EMPTY,))
    yield Operation(name, "int32", call, reference, (np.array([1], np.int32),), dtype="float32")


_UNIT = reals(3, 4, low=-0.95, high=0.95)


def _one_operand() -> Iterator[Operation]:
    for function in SMOOTH:
        yield from _smooth(function)
    for name, call, meaning in map(_name_and_meanings, GATED):
        yield Operation(name, "derivatives", call, meaning, (reals(3, 4, low=-4, high=4),), order=2)
        yield Operation(name, "float16", call, meaning, (reals(5).astype(np.float16),))
        yield Operation(name, "empty", call, meaning, (EMPTY,))
    for function in EXACT:
        name, call, meaning = _name_and_meanings(function)
        yield Operation(name, "derivatives", call, meaning, (reals(3, 4),), order=function.order)
        yield Operation(name, "int8 of shape ()", call, meaning, (np.array(-7, np.int8),))
        yield Operation(name, "uint64", call, meaning, (whole(5, low=0, dtype="uint64"),))
        yield Operation(name, "edges", call, meaning, (EDGES,))
        yield Operation(name, "empty", call, meaning, (EMPTY,))
    for name, call, meaning in map(_name_and_meanings, BENT):
        yield Operation(name, "derivatives", call, meaning, (reals(4, 5, low=-4, high=8),), order=2)
        yield Operation(name, "edges", call, meaning, (EDGES,))
    for name, call, meaning in map(_name_and_meanings, TESTS):
        yield Operation(name, "edges", call, meaning, (EDGES,), dtype="bool")
        yield Operation(name, "int32", call, meaning, (whole(3),), dtype="bool")
        yield Operation(name, "empty", call, meaning, (EMPTY,), dtype="bool")
    x = reals(3, 4)
    for name, call, reference in (
        ("celu", lambda x: x.celu(2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(np.minimum(x, 0) / 2))),
        ("elu", lambda x: x.elu(0.5), lambda x: np.where(x > 0, x, 0.5 * np.expm1(np.minimum(x, 0)))),
        ("leaky_relu", lambda x: x.leaky_relu(0.2), lambda x: np.where(x < 0, 0.2 * x, x)),
        ("softplus", lambda x: x.softplus(3.0), lambda x: softplus(3 * x) / 3),
        ("hardtanh", lambda x: x.hardtanh(-0.25, 0.75), lambda x: limited(x, -0.25, 0.75)),
        ("hardshrink", lambda x: x.hardshrink(1.0), lambda x: np.where(np.abs(x) <= 1, 0, x)),
        ("softshrink", lambda x: x.softshrink(1.0), lambda x: np.sign(x) * np.maximum(np.abs(x) - 1, 0)),
        ("threshold", lambda x: x.threshold(0.5, -3.0), lambda x: np.where(x <= 0.5, -3.0, x)),
        (
            "nan_to_num",
            lambda x: x.nan_to_num(7.0, 8.0, -9.0),
            lambda x: np.nan_to_num(x, nan=7.0, posinf=8.0, neginf=-9.0),
        ),
        ("clamp", lambda x: x.clamp(-0.75, 1.25), lambda x: limited(x, -0.75, 1.25)),
        ("clip", lambda x: x.clip(max_=0.25), lambda x: np.minimum(x, 0.25)),
    ):
        meaning_of: Any = call
        yield Operation(name, "parameters", meaning_of, reference, (x,), order=2)
        yield Operation(name, "parameters, edges", meaning_of, reference, (EDGES,))
    exact: Meaning = lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2)))
    yield Operation("gelu", "exact", lambda x: x.gelu("none"), exact, (x,), order=2)
    limits = (reals(3, 1, seed=1) - 1.03, reals(4, seed=2) + 1.04)
    yield Operation(
        "clamp",
        "tensors broadcast",
        lambda x, low, high: x.clamp(low, high),
        lambda x, low, high: np.minimum(np.maximum(x, low), high),
        (x, *limits),
        order=2,
    )
    nan_below = np.where(np.arange(len(EDGES)) % 3, -0.5, np.nan).astype(np.float32)
    yield Operation(
        "clamp",
        "limits that are NaN",
        lambda x, low: x.clamp(low),
        np.maximum,
        (EDGES, nan_below),
    )
    yield Operation(
        "glu", "axis 0", lambda x: x.glu(0), lambda x: x[:2] * sigmoid(x[2:]), (reals(4, 3),), order=2
    )
    yield Operation(
        "prelu",
        "a weight a channel",
        lambda x, w: x.prelu(w),
        lambda x, w: np.where(x > 0, x, w[:, None] * x),
        (reals(2, 3, 4), positive(3)),
        order=2,
    )


# --- two operands ---

_OPERATORS: dict[str, tuple[Meaning, str]] = {
    "__add__": (operator.add, "f"),
    "__sub__": (operator.sub, "f"),
    "__mul__": (operator.mul, "f"),
    "__truediv__": (operator.truediv, "f"),
    "__floordiv__": (operator.floordiv, "i"),
    "__mod__": (operator.mod, "i"),
    "__pow__": (operator.pow, "p"),
    "__and__": (operator.and_, "i"),
    "__or__": (operator.or_, "i"),
    "__xor__": (operator.xor, "i"),
    "__lshift__": (operator.lshift, "s"),
    "__rshift__": (operator.rshift, "s"),
}
_ORDERS: dict[str, Meaning] = {
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
    "__eq__": operator.eq,
    "__ne__": operator.ne,
}
_PAIRS = (EDGES[:, None], EDGES[None, :])


def _operands(kind: str) -> tuple[Array, Array]:
    if kind == "f":
        return reals(3, 4), positive(4, seed=1)
    if kind == "p":
        return positive(3, 1), reals(4, seed=1)
    return whole(3, 4, low=1), whole(4, seed=1, low=1, high=6)


def _two_operands() -> Iterator[Operation]:
    x, y = reals(3, 1, 4), positive(2, 4, seed=1)
    apart = x, np.where(np.abs(y) < 0.05, 1, y).astype(np.float32)
    for name, call, meaning in map(_name_and_meanings, BINARY):
        yield Operation(name, "broadcast, derivatives", call, meaning, apart, order=2)
        yield Operation(name, "edges", call, meaning, _PAIRS)
        yield Operation(name, "a number", method(name, 1.5), _bind_second(meaning, 1.5), (x,), order=2)
        yield Operation(name, "empty", call, meaning, (EMPTY, np.ones((2, 1, 1), np.float32)))
    for name in ("add", "sub", "mul", "maximum", "minimum"):
        _, call, meaning = _name_and_meanings(ELEMENT_FUNCTIONS[name])
        small = (
            whole(3, 4, dtype="int8", low=-128, high=128),
            whole(4, seed=1, dtype="int8", low=-128, high=128),
        )
        yield Operation(name, "int8", call, meaning, small)
        mixed = whole(3, 4), reals(4)
        yield Operation(name, "int32 and float32", call, meaning, mixed, dtype="float32")
    for function in DIVISIONS:
        name, call, meaning = _name_and_meanings(function)
        yield Operation(name, "reals", call, meaning, apart, order=function.order, fixed=(1,))
        values = whole(20), np.array([1, 2, -3, 5, -7] * 4, np.int32)
        yield Operation(name, "int32", call, meaning, values)
        unsigned = whole(6, low=0, high=200, dtype="uint8"), np.array([1, 2, 3, 50, 7, 255], np.uint8)
        yield Operation(name, "uint8", call, meaning, unsigned)
    for name, call, meaning in map(_name_and_meanings, EQUALITIES):
        yield Operation(name, "edges", call, meaning, _PAIRS, dtype="bool")
        yield Operation(name, "int16", call, meaning, (whole(9, dtype="int16"),) * 2, dtype="bool")
    for name, meaning in _ORDERS.items():
        yield Operation(name, "edges", meaning, meaning, _PAIRS, dtype="bool")
        numbers = whole(3, 4, low=-2, high=3), whole(4, low=-2, high=3, seed=1)
        yield Operation(name, "int32", meaning, meaning, numbers, dtype="bool")
    for name, call, meaning in map(_name_and_meanings, BITS):
        sixties = np.full(5, 60, np.uint8)
        yield Operation(name, "uint8", call, meaning, (whole(5, low=0, high=255, dtype="uint8"), sixties))
        yield Operation(name, "bools", call, meaning, (bools(9), bools(9, seed=1)), dtype="bool")
    for name, call, meaning in map(_name_and_meanings, SHIFTS):
        yield Operation(name, "int32", call, meaning, (whole(5), np.array([0, 1, 5, 3, 2], np.int32)))
    yield Operation(
        "pow", "derivatives", lambda x, y: x.pow(y), np.power, (positive(3, 1), reals(4)), order=2
    )
    yield Operation("pow", "edges", lambda x, y: x.pow(y), np.power, _PAIRS)
    yield Operation("pow", "whole exponents", lambda x: x.pow(3), lambda x: x**3, (reals(5),), order=2)
    yield Operation(
        "pow", "int32", lambda x, y: x.pow(y), np.power, (whole(5), whole(5, low=0, high=5, seed=1))
    )
    yield Operation(
        "lerp",
        "a tensor",
        lambda a, b, w: a.lerp(b, w),
        lambda a, b, w: a + w * (b - a),
        (x, y, _UNIT[0]),
        order=2,
    )
    yield Operation(
        "lerp", "a number", lambda a, b: a.lerp(b, 0.25), lambda a, b: 0.75 * a + 0.25 * b, (x, y), order=2
    )
    near = (
        np.array([1, 1 + 1e-6, 2, np.inf, np.nan], np.float32),
        np.array([1, 1, 2.1, np.inf, np.nan], np.float32),
    )
    yield Operation("isclose", "edges", lambda a, b: a.isclose(b), np.isclose, near, dtype="bool")
    yield Operation(
        "isclose",
        "NaN is NaN",
        lambda a, b: a.isclose(b, 0.1, 0.0, True),
        lambda a, b: np.isclose(a, b, 0.1, 0, True),
        near,
        dtype="bool",
    )


def _bind_second(meaning: Any, value: float) -> Meaning:
    return lambda x: meaning(x, value)


def _operators() -> Iterator[Operation]:
    for name, (meaning, kind) in _OPERATORS.items():
        x, y = _operands(kind)
        order = 0 if kind in "is" else 2
        function: Any = meaning
        number: Any = 2.5 if order else 2
        yield Operation(name, "two tensors", meaning, meaning, (x, y), order=order)
        flipped: Meaning = lambda x, f=function, n=number: f(n, x)
        yield Operation(f"__r{name[2:]}", "a number", flipped, flipped, (y,), order=order)
        in_place: Any = getattr(operator, f"__i{name[2:]}")
        large = np.broadcast_to(x, np.broadcast_shapes(x.shape, y.shape))
        written: Meaning = lambda x, y, f=in_place: f(x.contiguous(), y)
        yield Operation(
            f"__i{name[2:]}",
            "two tensors",
            written,
            meaning,
            (large, y),
            order=order,
        )
    x, mask = reals(3, 4), bools(4)
    yield Operation("__neg__", "reals", operator.neg, operator.neg, (x,), order=2)
    yield Operation("__pos__", "reals", operator.pos, operator.pos, (x,), order=2)
    yield Operation("__abs__", "reals", operator.abs, operator.abs, (x,), order=2)
    yield Operation("__invert__", "int32", operator.invert, operator.invert, (whole(5),))
    yield Operation(
        "bitwise_not", "uint16", lambda x: x.bitwise_not(), np.invert, (whole(5, low=0, dtype="uint16"),)
    )
    yield Operation("logical_not", "reals", lambda x: x.logical_not(), np.logical_not, (EDGES,), dtype="bool")
    yield Operation(
        "where",
        "broadcast",
        lambda m, x, y: m.where(x, y),
        np.where,
        (mask, x, reals(3, 1, seed=1)),
        dtype="float32",
        order=2,
    )
    yield Operation(
        "where",
        "numbers",
        lambda m: m.where(2, 0.5),
        lambda m: np.where(m, 2.0, 0.5),
        (mask,),
        dtype="float32",
    )
    yield Operation(
        "where",
        "int16 and int32",
        lambda m, x, y: m.where(x, y),
        np.where,
        (mask, whole(4, dtype="int16"), whole(4)),
        dtype="int32",
    )
    yield Operation(
        "masked_fill",
        "a number",
        lambda x, m: x.masked_fill(m, -1.5),
        lambda x, m: np.where(m, -1.5, x),
        (x, mask),
        order=2,
    )


CASES = (*_one_operand(), *_two_operands(), *_operators())
