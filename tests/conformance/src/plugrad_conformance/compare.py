"""Compare a device's results with exact ones, in ULP."""

from typing import Any

import numpy as np

from plugrad.dtype import DType, is_float
from plugrad_conformance.harness.values import Array, largest
from plugrad_conformance.tolerance import Tolerance, ulp_of


def worst_error(got: Array, exact: Any, dtype: DType, scale: Any = None) -> tuple[float, int]:
    """Return the largest error of `got` in ULP, and its position.

    Infinities and NaN must be where they are in `exact`; a result beyond the largest number must be infinite
    or within the tolerance of that number.
    """
    if got.size == 0:
        return 0.0, 0
    if not is_float(dtype):
        wrong = np.ravel(got != np.asarray(exact).astype(got.dtype))
        return (float("inf") if wrong.any() else 0.0), int(np.argmax(wrong))
    want = np.broadcast_to(np.asarray(exact, np.longdouble), got.shape)
    found = got.astype(np.longdouble)
    with np.errstate(all="ignore"):
        ulp = ulp_of(want if scale is None else np.maximum(np.abs(want), np.abs(scale)), dtype)
        error = np.abs(found - want) / ulp
        beyond = np.abs(want) > largest(dtype)
        edge = np.copysign(np.longdouble(largest(dtype)), want)
        error = np.where(
            beyond, np.where(found == np.copysign(np.inf, want), 0, np.abs(found - edge) / ulp + 0.5), error
        )
        error = np.where(np.isinf(want), np.where(found == want, 0, np.inf), error)
        error = np.where(np.isnan(want), np.where(np.isnan(found), 0, np.inf), error)
        # rounding to infinity at the very end of the range is right
        error = np.where(
            np.isinf(found) & ~np.isinf(want) & (np.abs(want) > largest(dtype) - ulp), 0.5, error
        )
    error = np.ravel(np.where(np.isnan(error), np.inf, error)).astype(np.float64)
    at = int(np.argmax(error))
    return float(error[at]), at


def explain(got: Array, exact: Any, dtype: DType, at: int, error: float, tolerance: Tolerance) -> str:
    """Describe the error of the element `at`."""
    want = np.ravel(np.broadcast_to(exact, got.shape))[at]
    where = tuple(map(int, np.unravel_index(at, got.shape)))
    return (
        f"element {where} of {dtype.name}{list(got.shape)} is {np.ravel(got)[at]!r}, exactly it is {want!r}: "
        f"off by {error:.3g} ULP where {tolerance.ulp:g} are allowed ({tolerance.reason})"
    )
