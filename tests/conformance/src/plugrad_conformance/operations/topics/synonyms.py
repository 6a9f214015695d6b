"""Comparisons and logic by name, and the second names of functions of elements."""

# the lambdas of a table take whatever its inputs are
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from collections.abc import Iterator

import numpy as np

from plugrad_conformance.element_functions import LOGIC, method
from plugrad_conformance.operations.operation import (
    EDGES,
    EMPTY,
    Meaning,
    Operation,
    bools,
    positive,
    reals,
    whole,
)

# of one operand: the reference, and whether it is smooth on positive numbers below 1
_ONE: dict[str, tuple[Meaning, bool]] = {
    "negative": (np.negative, True),
    "positive": (np.positive, True),
    "absolute": (np.absolute, True),
    "sgn": (np.sign, False),
    "fix": (np.trunc, False),
    "arcsin": (np.arcsin, True),
    "arccos": (np.arccos, True),
    "arctan": (np.arctan, True),
    "arcsinh": (np.arcsinh, True),
    "arctanh": (np.arctanh, True),
}
_TWO: dict[str, Meaning] = {
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "true_divide": np.divide,
    "arctan2": np.arctan2,
    "clamp_min": np.maximum,
    "clamp_max": np.minimum,
}


def _cases() -> Iterator[Operation]:
    for function in LOGIC:
        name, call, meaning = function.name, function.on_tensor, function.reference
        pairs = EDGES[:, None], EDGES[None, :]
        numbers = whole(3, 4, low=-2, high=3), reals(4)
        masks = bools(9), bools(9, seed=1)
        for variation, inputs in (("edges", pairs), ("int32 and float32", numbers), ("bools", masks)):
            yield Operation(name, variation, call, meaning, inputs, dtype="bool")
        empty = EMPTY, np.ones((2, 1, 1), np.float32)
        yield Operation(name, "empty", call, meaning, empty, dtype="bool")
    inside = reals(3, 4, low=0.05, high=0.45)
    for name, (meaning, is_smooth) in _ONE.items():
        yield Operation(name, "derivatives", method(name), meaning, (inside,), order=2 * is_smooth)
        yield Operation(name, "edges", method(name), meaning, (EDGES,))
    yield Operation("arccosh", "derivatives", method("arccosh"), np.arccosh, (inside + 1,), order=2)
    for name, meaning in _TWO.items():
        operands = reals(3, 1), positive(4)
        yield Operation(name, "broadcast, derivatives", method(name), meaning, operands, order=2)
    x, y = whole(12), np.array([1, 2, -3, 5, -7, 6] * 2, np.int32)
    yield Operation("floor_divide", "int32", method("floor_divide"), np.floor_divide, (x, y))
    counts = np.array([0, 1, 5, 3, 2, 20] * 2, np.int32)
    yield Operation("bitwise_left_shift", "int32", method("bitwise_left_shift"), np.left_shift, (x, counts))
    yield Operation(
        "bitwise_right_shift", "int32", method("bitwise_right_shift"), np.right_shift, (x, counts)
    )
    a, b = reals(3, 4), reals(4, seed=1)
    for name, meaning in (
        ("add", lambda x, y: x + 2.5 * y),
        ("sub", lambda x, y: x - 2.5 * y),
        ("subtract", lambda x, y: x - 2.5 * y),
    ):
        yield Operation(name, "alpha", method(name, alpha=2.5), meaning, (a, b), order=2)
    for name in ("concat", "concatenate"):
        joined: Meaning = lambda x, y: np.concatenate([x, y], 1)  # noqa: E731
        yield Operation(name, "axis 1", method(name, axis=1), joined, (reals(2, 3), reals(2, 1)), order=2)
    whole_numbers: Meaning = lambda x: x.astype(np.int32)  # noqa: E731
    as_int32: Meaning = lambda x: x.astype("int32")  # noqa: E731
    yield Operation("astype", "int32", as_int32, whole_numbers, (reals(3, low=-9),), dtype="int32")
    towards_zero: Meaning = lambda x, y: np.trunc(x / y)  # noqa: E731
    yield Operation("divide", "rounded", method("divide", rounding_mode="trunc"), towards_zero, (a, b + 3))


CASES = tuple(_cases())
