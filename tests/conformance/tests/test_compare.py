"""Tests of plugrad_conformance.compare and .tolerance."""

import math

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad_conformance.compare import worst_error
from plugrad_conformance.harness.values import FLOATS, largest, round_to, smallest_normal
from plugrad_conformance.tolerance import entries, tolerance_of, ulp_of


def error(got, exact, dtype=dtypes.float32, scale=None):
    return worst_error(np.atleast_1d(np.float64(got)), np.atleast_1d(exact), dtype, scale)[0]


def test_equal_values_are_not_off():
    assert error(1.5, 1.5) == 0


def test_the_next_float_is_one_unit_off():
    assert error(float(np.nextafter(np.float32(3), np.float32(4))), 3.0) == 1


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_unit_at_one_is_the_distance_to_the_next_number(dtype):
    unit = float(ulp_of(np.array([1.0]), dtype)[0])
    assert round_to([1 + unit], dtype)[0] == 1 + unit
    assert round_to([1 + unit / 4], dtype)[0] == 1


def test_units_do_not_shrink_below_the_normal_numbers():
    small = smallest_normal(dtypes.float32)
    assert ulp_of(np.array([small]), dtypes.float32) == ulp_of(np.array([small / 64]), dtypes.float32)


def test_kinds_of_numbers_must_agree():
    for got, exact in (
        (math.nan, 1.0),
        (1.0, math.nan),
        (math.inf, 1.0),
        (1.0, math.inf),
        (-math.inf, math.inf),
    ):
        assert error(got, exact) == math.inf


def test_nan_equals_nan_and_infinity_itself():
    assert error(math.nan, math.nan) == error(math.inf, math.inf) == 0


def test_a_result_beyond_the_largest_number_is_infinite():
    assert error(math.inf, np.longdouble(1e39)) <= 0.5
    assert error(1.0, np.longdouble(1e39)) > 1e6


def test_rounding_to_infinity_at_the_end_of_the_range_is_half_a_unit():
    assert error(math.inf, np.longdouble(largest(dtypes.float32)) * (1 + 2.0**-26)) <= 0.5


def test_a_scale_measures_what_cancels():
    assert error(1e-7, 0.0) > 1e6
    assert error(1e-7, 0.0, scale=np.array([1.0])) < 2


def test_integers_are_exact():
    assert worst_error(np.array([1, 2]), np.array([1, 2]), dtypes.int32) == (0.0, 0)
    assert worst_error(np.array([1, 2]), np.array([1, 3]), dtypes.int32) == (math.inf, 1)


def test_every_tolerance_has_a_reason():
    assert all(tolerance.reason for _, _, tolerance in entries())


def test_integers_have_no_tolerance():
    assert tolerance_of("add", dtypes.int32).ulp == 0
