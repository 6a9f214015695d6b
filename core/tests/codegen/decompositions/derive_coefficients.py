"""Derive the coefficients in plugrad/codegen/decompositions/polynomials.py: run this file to print them.

Each polynomial is fitted by least squares at the 200 Chebyshev nodes of its interval, in 60 digits, with
errors taken relative to the function that it serves: within a few percent of the minimax polynomial, and
simpler than an exchange. Coefficients are rounded to the dtype from the lowest power up; after each one the
rest are fitted again, so that they make up for the rounding. The errors printed are those of the rounded
coefficients.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from mpmath import mp, mpf

mp.dps = 60
Real = Any
Function = Callable[[Real], Real]


class Problem(NamedTuple):
    """`function` on `[low, high]`, where an error counts `weight` times; degrees for float32 and float64."""

    function: Function
    weight: Function
    low: Real
    high: Real
    degrees: tuple[int | None, int | None]


def fit(problem: Problem, degree: int, dtype: type[np.floating[Any]]) -> list[Real]:
    """Return the coefficients, rounded to `dtype`."""
    known: list[Real] = []
    for _ in range(degree + 1):
        known.append(mpf(float(dtype(float(_least_squares(problem, degree, known)[0])))))
    return known


def _least_squares(problem: Problem, degree: int, known: Sequence[Real]) -> list[Real]:
    middle, half = (problem.low + problem.high) / 2, (problem.high - problem.low) / 2
    nodes = [middle + half * mp.cos(mp.pi * (2 * k + 1) / 400) for k in range(200)]
    rows, right = mp.matrix(200, degree + 1 - len(known)), mp.matrix(200, 1)
    for row, x in enumerate(nodes):
        weight = problem.weight(x)
        for column in range(rows.cols):
            rows[row, column] = weight * x ** (len(known) + column)
        right[row] = weight * (problem.function(x) - _value(known, x))
    return list(mp.lu_solve(rows.T * rows, rows.T * right))


def _value(coefficients: Sequence[Real], x: Real) -> Real:
    """Return the polynomial with these coefficients, the constant one first, at `x`."""
    value = mpf(0)
    for c in reversed(coefficients):
        value = value * x + c
    return value


def worst_error(problem: Problem, coefficients: Sequence[Real]) -> float:
    """Return the base-2 logarithm of the greatest weighted error."""
    step = (problem.high - problem.low) / 4001
    points = [problem.low + step * k for k in range(4002)]
    values = [(x, _value([mpf(c) for c in coefficients], x)) for x in points]
    return float(
        mp.log(max(abs(problem.weight(x) * (problem.function(x) - value)) for x, value in values), 2)
    )


def _exp_tail(r: Real) -> Real:
    return (mp.exp(r) - 1 - r) / r**2


def _log_tail(f: Real) -> Real:
    return (mp.log(1 + f) - f + f * f / 2) / f**3


def _atanh(z: Real) -> Real:
    return mp.atanh(mp.sqrt(z)) / mp.sqrt(z)


def _sin(z: Real) -> Real:
    return mp.sin(mp.sqrt(z)) / mp.sqrt(z)


def _cos(z: Real) -> Real:
    return mp.cos(mp.sqrt(z))


_HALF = mpf("0.5001")
_HALF_LOG = mp.log(2) * _HALF
_TINY = mpf(10) ** -12
_LOG_LOW, _LOG_HIGH = mp.sqrt(mpf("0.5")) - 1 - mpf("1e-6"), mp.sqrt(2) - 1 + mpf("1e-6")
_ATANH_HIGH = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.00001")
_QUARTER_TURN = (mp.pi / 4) ** 2 * mpf("1.0001")

# what each polynomial stands for is said in polynomials.py
PROBLEMS = {
    "EXP": Problem(_exp_tail, lambda r: r**2 / mp.exp(r), -_HALF_LOG, _HALF_LOG, (4, 9)),
    "EXP2": Problem(lambda f: (2**f - 1) / f, lambda f: abs(f) / 2**f, -_HALF, _HALF, (5, 10)),
    "LOG": Problem(_log_tail, lambda f: f**3 / mp.log(1 + f), _LOG_LOW, _LOG_HIGH, (8, None)),
    "ATANH": Problem(lambda z: (_atanh(z) - 1) / z, lambda z: z / _atanh(z), _TINY, _ATANH_HIGH, (None, 6)),
    "ATANH_TAIL": Problem(
        lambda z: (_atanh(z) - 1 - z / 3) / z**2, lambda z: z**2 / _atanh(z), _TINY, _ATANH_HIGH, (2, 6)
    ),
    "SINE": Problem(lambda z: (_sin(z) - 1) / z, lambda z: z / _sin(z), _TINY, _QUARTER_TURN, (2, 5)),
    "COSINE": Problem(
        lambda z: (_cos(z) - 1 + z / 2) / z**2, lambda z: z**2 / _cos(z), _TINY, _QUARTER_TURN, (2, 5)
    ),
}


def main() -> None:
    for name, problem in PROBLEMS.items():
        for degree, dtype in zip(problem.degrees, (np.float32, np.float64), strict=True):
            if degree is not None:
                coefficients = fit(problem, degree, dtype)
                print(f"{name} {dtype.__name__}: error 2**{worst_error(problem, coefficients):.1f}")
                print("   ", ", ".join(repr(float(c)) for c in coefficients))
    print("2/pi:", ", ".join(f"{w:#010x}" for w in _words_of_two_over_pi(40)))
    for label, value in (
        ("log2(e)", 1 / mp.log(2)),
        ("log(2)", mp.log(2)),
        ("2*log2(e)", 2 / mp.log(2)),
        ("pi/2", mp.pi / 2),
        ("1/3", mpf(1) / 3),
    ):
        print(f"{label}: {float(value)!r} and {float(value - mpf(float(value)))!r}")


def _words_of_two_over_pi(count: int) -> list[int]:
    with mp.workdps(count * 12):
        bits = int(mp.floor(2 / mp.pi * mpf(2) ** (32 * count)))
    return [bits >> (32 * (count - 1 - i)) & 0xFFFFFFFF for i in range(count)]


if __name__ == "__main__":
    main()
