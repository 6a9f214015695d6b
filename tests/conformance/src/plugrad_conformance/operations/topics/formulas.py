"""Formulas of elements, rounding to decimals, and Python's functions that are operators."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

import math
import operator
from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import numpy as np

from plugrad_conformance.element_functions import method
from plugrad_conformance.operations.operation import EDGES, EMPTY, Meaning, Operation, positive, reals, whole

_UNIT = reals(3, 4, low=0.05, high=0.95)
_HALVES = np.array([-0.0, 0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], np.float16)
_PAIRS = (EDGES[:, None], EDGES[None, :])
# name: the reference, where it is differentiated, and how often
_ONE: dict[str, tuple[Meaning, Any, int]] = {
    "frac": (lambda x: x - np.trunc(x), reals(3, 4), 2),
    "deg2rad": (np.deg2rad, reals(3, 4), 2),
    "rad2deg": (np.rad2deg, reals(3, 4), 2),
    "sinc": (np.sinc, reals(3, 4), 2),
    "logit": (lambda x: np.log(x / (1 - x)), _UNIT, 2),
}
_TESTS: dict[str, Meaning] = {"signbit": np.signbit, "isposinf": np.isposinf, "isneginf": np.isneginf}
_TWO: dict[str, Meaning] = {
    "fmax": np.fmax,
    "fmin": np.fmin,
    "logaddexp2": np.logaddexp2,
    "ldexp": lambda x, y: x * 2.0**y,
    "xlogy": lambda x, y: x * np.log(y),
}


def _xlogy(x: Any, y: Any) -> Any:
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log(y))


def _digamma(x: Any) -> Any:
    """Return the derivative of lgamma for x > 0: Abramowitz and Stegun, 6.3.6 and 6.3.18."""
    y = x + 20
    far = np.log(y) - 1 / (2 * y) - 1 / (12 * y**2) + 1 / (120 * y**4) - 1 / (252 * y**6)
    far = far + 1 / (240 * y**8) - 1 / (132 * y**10)
    return far - sum(1 / (x + n) for n in range(20))


def _erfinv(x: Any) -> Any:
    normal = NormalDist()
    return np.vectorize(lambda v: normal.inv_cdf((1 + v) / 2) / math.sqrt(2), otypes=[float])(x)


def _heaviside(x: Any, y: Any) -> Any:
    return np.where(x == 0, y, np.where(x > 0, 1.0, 0.0))


def _one_operand() -> Iterator[Operation]:
    for name, (meaning, inputs, order) in _ONE.items():
        yield Operation(name, "derivatives", method(name), meaning, (inputs,), order=order, accuracy=4.0)
        yield Operation(name, "edges", method(name), meaning, (EDGES,), accuracy=4.0)
        yield Operation(name, "float16", method(name), meaning, (_UNIT[0].astype(np.float16),))
        yield Operation(name, "empty", method(name), meaning, (EMPTY,))
    for name, meaning in _TESTS.items():
        yield Operation(name, "edges", method(name), meaning, (EDGES,), dtype="bool")
        yield Operation(name, "float16", method(name), meaning, (_HALVES,), dtype="bool")
        yield Operation(name, "int8", method(name), meaning, (whole(6, dtype="int8"),), dtype="bool")
        yield Operation(
            name, "uint32", method(name), meaning, (whole(6, low=0, dtype="uint32"),), dtype="bool"
        )
    lgamma: Meaning = np.vectorize(math.lgamma, otypes=[float])
    for name, meaning, inputs in (
        ("lgamma", lgamma, reals(3, 4, low=-3, high=12)),
        ("digamma", _digamma, positive(3, 4)),
        ("erfinv", _erfinv, reals(3, 4, low=-0.95, high=0.95)),
    ):
        yield Operation(name, "derivatives", method(name), meaning, (inputs,), order=2, accuracy=4.0)
        yield Operation(name, "float16", method(name), meaning, (_UNIT[0].astype(np.float16),))
        yield Operation(name, "empty", method(name), meaning, (EMPTY,))
    limited: Meaning = lambda x: np.log(np.clip(x, 0.25, 0.75) / (1 - np.clip(x, 0.25, 0.75)))
    yield Operation("logit", "eps", method("logit", 0.25), limited, (_UNIT,), order=2, accuracy=4.0)
    for decimals in (1, -1):
        rounded: Meaning = lambda x, d=decimals: np.round(x, d)
        values = reals(12, low=-90, high=90)
        yield Operation("round", f"{decimals} decimals", method("round", decimals), rounded, (values,))
        yield Operation("__round__", f"{decimals}", lambda x, d=decimals: round(x, d), rounded, (values,))
    tens: Meaning = lambda x: np.round(x, -1)
    halves = np.array([5, 15, 25, -5, -15, -25, 14, 16, -14, -16, 0, 120], np.int8)
    yield Operation("round", "tens of int8", method("round", -1), tens, (halves,))


def _more_operands() -> Iterator[Operation]:
    x, y = reals(3, 1), positive(4, seed=1)
    for name, meaning in _TWO.items():
        yield Operation(name, "broadcast, derivatives", method(name), meaning, (x, y), order=2)
        yield Operation(name, "empty", method(name), meaning, (EMPTY, np.ones((2, 1, 1), np.float32)))
    for name in ("fmax", "fmin", "logaddexp2"):
        yield Operation(name, "edges", method(name), _TWO[name], _PAIRS)
    for name in ("fmax", "fmin"):
        small = whole(9, dtype="int8"), whole(9, seed=1, dtype="int8")
        yield Operation(name, "int8", method(name), _TWO[name], small)
    yield Operation("xlogy", "edges", method("xlogy"), _xlogy, _PAIRS)
    yield Operation("heaviside", "edges", method("heaviside"), _heaviside, _PAIRS)
    signs = whole(9, low=-1, high=2), whole(9, seed=1)
    yield Operation("heaviside", "int32", method("heaviside"), _heaviside, signs)
    # powers of two that float32 has not
    wide = np.array([1e-40, 1e30, -3e38, 1.5]), np.array([200.0, -200.0, -250.0, 127.0])
    narrow: Any = tuple(part.astype(np.float32) for part in wide)
    yield Operation("ldexp", "large powers", method("ldexp"), _TWO["ldexp"], narrow)
    power: Meaning = lambda x, y: np.float_power(x, y)
    inputs = positive(3, 1), reals(4)
    yield Operation("float_power", "reals", method("float_power"), power, inputs, dtype="float64", order=2)
    three = x, reals(2, 1, 4, seed=2), y
    product: Meaning = lambda x, y, z: x + 0.5 * y * z
    quotient: Meaning = lambda x, y, z: x + 0.5 * y / z
    yield Operation("addcmul", "value", method("addcmul", value=0.5), product, three, order=2)
    yield Operation("addcdiv", "value", method("addcdiv", value=0.5), quotient, three, order=2)


def _operators() -> Iterator[Operation]:
    x, y = whole(8), np.array([1, 2, -3, 5, -7, 6, -1, 4], np.int32)
    for part, name in enumerate(("quotient", "remainder")):
        both: Meaning = lambda x, y, i=part: divmod(x, y)[i]
        of_number: Meaning = lambda y, i=part: divmod(17, y)[i]
        yield Operation("__divmod__", name, both, both, (x, y))
        yield Operation("__rdivmod__", name, of_number, of_number, (y,))
    a, b = reals(2, 3), reals(3, 3, seed=1)
    of_array: Meaning = lambda x: b @ x.T
    yield Operation("__rmatmul__", "an array", of_array, of_array, (reals(4, 3),), order=2)
    written: Meaning = lambda x, y: operator.imatmul(x.contiguous(), y)
    yield Operation("__imatmul__", "two tensors", written, operator.matmul, (a, b), order=2)


CASES = (*_one_operand(), *_more_operands(), *_operators())
