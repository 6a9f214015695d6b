"""Casts of floats that no integer holds, open in C (see `plugrad.tensor.host.conversion`)."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import math
from collections.abc import Iterator

import numpy as np

from plugrad.dtype import DType, dtypes, truncate
from plugrad_conformance.operations.operation import Array, Meaning, Operation

_BEYOND = (
    *(
        math.nan,
        math.inf,
        -math.inf,
        0.0,
        -0.0,
        0.5,
        -0.5,
        -1.0,
        -1.5,
        255.9,
        256.0,
        -300.0,
        40000.0,
        -40000.0,
    ),
    *(2.0**31, -(2.0**31), -(2.0**31) - 1, 3e9, -3e9, 5e9, 3e9 + 7, -3e9 - 7, 2.0**32),
    *(9.2e18, 2.0**63, -(2.0**63), 9.3e18, -9.3e18, 1.7e19, 2.0**64, 1e20, -1e20),
)
_INTEGERS = (
    *(dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
    *(dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64),
)


def _instruction(value: float, bits: int) -> int:
    """Return the result of x86-64's conversion to a signed integer.

    It is the least one for all that does not fit.
    """
    limit = 1 << (bits - 1)
    return math.trunc(value) if math.isfinite(value) and -limit <= math.trunc(value) < limit else -limit


def _integer(value: float, target: DType) -> int:
    if target is dtypes.uint64 and value >= 2.0**63:
        return (_instruction(value - 2.0**63, 64) + (1 << 63)) % (1 << 64)
    is_long = target.itemsize == 8 or target in (dtypes.uint8, dtypes.uint32)
    return int(truncate(_instruction(value, 64 if is_long else 32), target))


def _beyond() -> Iterator[Operation]:
    for source in ("float16", "float32", "float64"):
        with np.errstate(over="ignore"):
            values = np.array(_BEYOND).astype(source)
        for target in _INTEGERS:
            meaning: Meaning = lambda x, target=target: _integers(x, target)
            call: Meaning = lambda x, target=target: x.cast(target)
            name = f"{source} beyond {target.name}"
            yield Operation("cast", name, call, meaning, (values,), dtype=target.name)


def _integers(values: Array, target: DType) -> Array:
    return np.array([_integer(float(v), target) for v in values], target.name)


CASES = tuple(_beyond())
