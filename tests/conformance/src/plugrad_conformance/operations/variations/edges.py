"""Cases at the ends of dtypes: outermost integers, and NaN, infinities and zeros along axes.

Integers wrap as those of NumPy do, whose arrays are of the same dtype here. Results of all integer dtypes lie
behind each other, so that one kernel computes them.
"""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from plugrad_conformance.element_functions import ELEMENT_FUNCTIONS, SHIFTS, ElementFunction, method
from plugrad_conformance.operations.admitted import INTEGERS, result_dtype
from plugrad_conformance.operations.operation import Array, Meaning, Operation

_NUMBERS = INTEGERS[1:]
#: What the ids of cases of outermost integers end in.
OUTERMOST = "outermost integers"


def _ends(dtype: str) -> Array:
    """Return the integers at the ends of a dtype and around its middle."""
    info = np.iinfo(dtype)
    middle = (int(info.min) + int(info.max) + 1) // 2
    return np.array([info.min, info.min + 1, middle - 1, 1, 2, 3, 7, info.max - 1, info.max], dtype)


def _together(name: str, call: Any, reference: Any, inputs: Callable[[str], tuple[Array, ...]]) -> Operation:
    """Return a case of all integer dtypes."""
    given = [inputs(dtype) for dtype in _NUMBERS]
    count = len(given[0])

    def called(*tensors: Any) -> Any:
        parts = [call(*tensors[i : i + count]) for i in range(0, len(tensors), count)]
        rows = [x.reshape(-1).cast("int64") for x in parts]
        return rows[0].cat(*rows[1:])

    def meant(*arrays: Any) -> Any:
        parts = [reference(*arrays[i : i + count]) for i in range(0, len(arrays), count)]
        rows = [np.asarray(x).reshape(-1).astype(np.int64) for x in parts]
        return np.concatenate(rows)

    every = tuple(x for part in given for x in part)
    return Operation(name, OUTERMOST, called, meant, every, "int64")


def _of_function(function: ElementFunction, inputs: Callable[[str], tuple[Array, ...]]) -> Operation:
    return _together(function.name, function.on_tensor, function.reference, inputs)


_ONE = (
    *[ELEMENT_FUNCTIONS[name] for name in ("neg", "abs", "sign", "square", "bitwise_not", "relu")],
    ElementFunction("logical_not", np.logical_not),
    ElementFunction("signbit", lambda x: x < 0),
)
_TWO = (
    *("add", "sub", "mul", "maximum", "minimum", "floordiv", "mod", "fmod"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "eq", "ne", "lt", "le", "gt", "ge"),
)


def _elementwise() -> Iterator[Operation]:
    for function in _ONE:
        yield _of_function(function, lambda dtype: (_ends(dtype),))
    for name in _TWO:
        pairs: Any = lambda dtype: (_ends(dtype)[:, None], _ends(dtype))
        yield _of_function(ELEMENT_FUNCTIONS[name], pairs)
    for function in SHIFTS:
        # by the width of the dtype, and by one less
        counts: Any = lambda dtype: (
            _ends(dtype)[:, None],
            np.array([0, 1, np.iinfo(dtype).bits - 1, np.iinfo(dtype).bits, 100], dtype),
        )
        yield _of_function(function, counts)
    powers: Any = lambda dtype: (_ends(dtype)[:, None], np.array([0, 1, 2, 5], dtype))
    yield _of_function(ElementFunction("pow", np.power, 2), powers)


_ALONG: dict[str, Meaning] = {
    "max": lambda x: x.max(1),
    "min": lambda x: x.min(1),
    "argmax": lambda x: x.argmax(1),
    "argmin": lambda x: x.argmin(1),
    "cummax": lambda x: np.maximum.accumulate(x, 1),
    "cummin": lambda x: np.minimum.accumulate(x, 1),
    "sort": lambda x: np.sort(x, 1),
    "argsort": lambda x: np.argsort(x, 1, kind="stable"),
    "median": lambda x: np.sort(x, 1)[:, 1],
    "ptp": lambda x: np.ptp(x, 1),
    "diff": lambda x: np.diff(x, axis=1),
    "sum": lambda x: x.sum(1, dtype=_sum_dtype(x)),
    "prod": lambda x: x.prod(1, dtype=_sum_dtype(x)),
    "cumsum": lambda x: x.cumsum(1, dtype=_sum_dtype(x)),
    "cumprod": lambda x: x.cumprod(1, dtype=_sum_dtype(x)),
}


def _sum_dtype(x: Array) -> str:
    return result_dtype("sum", x.dtype.name)


def _first_result(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) else value


def _along_axes() -> Iterator[Operation]:
    for name, meaning in _ALONG.items():
        along: Any = lambda x, name=name: _first_result(getattr(x, name)(axis=1))
        rows: Any = lambda dtype: (_ends(dtype)[[8, 0, 1, 7, 2, 8, 0, 3]].reshape(2, 4),)
        yield _together(name, along, meaning, rows)


# --- floats along axes ---

_SPECIAL = np.array(
    [
        [1.0, np.nan, -2.0, 0.5],
        [np.inf, 1.0, 2.0, -3.0],
        [-np.inf, 0.25, -0.0, 0.0],
        [np.inf, -np.inf, 3.0, 3.0],
        [-0.0, 0.0, -0.0, 1.0],
        [np.nan, np.nan, np.inf, 1.0],
        [-np.inf, -np.inf, -np.inf, -np.inf],
    ]
)


def _running(ufunc: Any) -> Meaning:
    def scanned(x: Any) -> tuple[Array, Array]:
        values = ufunc.accumulate(x, 1)
        same = (x == values) | (np.isnan(x) & np.isnan(values))
        return values, np.maximum.accumulate(np.where(same, np.arange(x.shape[1]), 0), 1)

    return scanned


def _lower_median(x: Any) -> Array:
    return np.where(np.isnan(x).any(1), np.nan, np.sort(x, 1)[:, 1])


def _norm(p: float) -> Meaning:
    return lambda x: np.linalg.norm(x, p, axis=1)


_FLOATS: dict[str, tuple[str, Meaning, Meaning]] = {
    "amax": ("amax", lambda x: x.amax(1), lambda x: x.max(1)),
    "amin": ("amin", lambda x: x.amin(1), lambda x: x.min(1)),
    "aminmax": ("aminmax", lambda x: x.aminmax(axis=1), lambda x: (x.min(1), x.max(1))),
    "argmax": ("argmax", lambda x: x.argmax(1), lambda x: x.argmax(1)),
    "argmin": ("argmin", lambda x: x.argmin(1), lambda x: x.argmin(1)),
    "prod": ("prod", lambda x: x.prod(1), lambda x: x.prod(1)),
    "sort": ("sort", lambda x: x.sort(1)[0], lambda x: np.sort(x, 1)),
    "argsort": ("argsort", lambda x: x.argsort(1), lambda x: np.argsort(x, 1, kind="stable")),
    "msort": ("msort", lambda x: x.msort(), lambda x: np.sort(x, 0)),
    "topk": ("topk", lambda x: x.topk(3, 1)[0], lambda x: np.sort(x, 1)[:, :0:-1]),
    "kthvalue": ("kthvalue", lambda x: x.kthvalue(3, 1)[0], lambda x: np.sort(x, 1)[:, 2]),
    "median": ("median", lambda x: x.median(1)[0], _lower_median),
    "cummax": ("cummax", lambda x: x.cummax(1), _running(np.maximum)),
    "cummin": ("cummin", lambda x: x.cummin(1), _running(np.minimum)),
    "ptp": ("ptp", lambda x: x.ptp(1), lambda x: np.ptp(x, 1)),
    "diff": ("diff", lambda x: x.diff(1, 1), lambda x: np.diff(x, 1, 1)),
    "count_nonzero": ("count_nonzero", lambda x: x.count_nonzero(1), lambda x: np.count_nonzero(x, 1)),
    "norm of p inf": ("norm", lambda x: x.norm(math.inf, 1), _norm(np.inf)),
    "norm of p -inf": ("norm", lambda x: x.norm(-math.inf, 1), _norm(-np.inf)),
    "norm of p 0": ("norm", lambda x: x.norm(0, 1), _norm(0)),
    "norm of p 1": ("norm", lambda x: x.norm(1, 1), _norm(1)),
    "norm of p 3": ("norm", lambda x: x.norm(3, 1), _norm(3)),
    "var_mean": ("var_mean", lambda x: x.var_mean(1), lambda x: (x.var(1, ddof=1), x.mean(1))),
    "std_mean": ("std_mean", lambda x: x.std_mean(1), lambda x: (x.std(1, ddof=1), x.mean(1))),
    "logcumsumexp": (
        "logcumsumexp",
        lambda x: x.logcumsumexp(1),
        lambda x: np.log(np.cumsum(np.exp(x), 1)),
    ),
    "isclose": ("isclose", lambda x: x.isclose(x.flip(1)), lambda x: np.isclose(x, x[:, ::-1])),
    "nonzero": ("nonzero", lambda x: x.nonzero(), np.argwhere),
}
_COUNTS = frozenset(("argmax", "argmin", "argsort", "count_nonzero", "nonzero"))


def _special() -> Iterator[Operation]:
    for variation, (name, call, reference) in _FLOATS.items():
        for dtype in ("float16", "float32", "float64"):
            case = f"{variation.removeprefix(name)} special values of {dtype}".strip()
            result = "bool" if name == "isclose" else "int32" if name in _COUNTS else dtype
            yield Operation(name, case, call, reference, (_SPECIAL.astype(dtype),), result)


# --- functions with poles ---


def lgamma(x: float) -> float:
    """Return the logarithm of the size of the gamma function, infinite at its poles."""
    is_pole = math.isfinite(x) and x <= 0 and x == math.floor(x)
    return math.inf if is_pole or x > 1e300 else math.lgamma(x)


def digamma(x: float) -> float:
    """Return digamma by reflection left of 1/2, and by series right of it.

    Source: Abramowitz and Stegun, 6.3.7 and 6.3.18.
    """
    if x == 0:
        return -math.copysign(math.inf, x)
    if x != x or x == math.inf:
        return x
    if x == -math.inf or (x < 0 and x == math.floor(x)):
        return math.nan
    if x < 0.5:
        return digamma(1 - x) - math.pi / math.tan(math.pi * x)
    if x < 20:
        return digamma(x + 1) - 1 / x
    if x > 1e30:
        return math.log(x)
    # the coefficients of x**-2n are -B(2n) / 2n
    terms = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132)
    return math.log(x) - 1 / (2 * x) + sum(c / x ** (2 * n) for n, c in enumerate(terms, 1))


_POLES = np.array([-3, -2.5, -1, -0.5, -0.0, 0.0, 0.25, 1, 2, 5.5, 100, np.inf, -np.inf, np.nan])
_ENDS = np.array([-1.5, -1, -0.0, 0.0, 1, 2, np.inf, -np.inf, np.nan])


def _with_poles() -> Iterator[Operation]:
    for dtype in ("float16", "float32", "float64"):
        for name, function in (("lgamma", lgamma), ("digamma", digamma)):
            meaning: Meaning = np.vectorize(function, otypes=[float])
            yield Operation(
                name, f"poles of {dtype}", method(name), meaning, (_POLES.astype(dtype),), accuracy=4.0
            )
        ends: Meaning = lambda x: np.where(np.abs(x) == 1, x * np.inf, np.where(x == 0, x, np.nan))
        yield Operation("erfinv", f"ends of {dtype}", method("erfinv"), ends, (_ENDS.astype(dtype),))


CASES: tuple[Operation, ...] = (*_elementwise(), *_along_axes(), *_special(), *_with_poles())
