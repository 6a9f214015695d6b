import itertools
import math

import pytest

from plugrad.dtype import FLOAT8, STORABLE, DType, dtypes, least_upper_dtype, parse_dtype, truncate


@pytest.mark.parametrize(("a", "b"), list(itertools.product((*STORABLE, *FLOAT8), repeat=2)))
def test_promotion_commutes_and_is_reached_once(a: DType, b: DType) -> None:
    both = least_upper_dtype(a, b)
    assert both is least_upper_dtype(b, a)
    assert least_upper_dtype(both, a) is both


def test_floats_of_a_byte_meet_other_types_as_small_floats_do() -> None:
    assert least_upper_dtype(dtypes.fp8e4m3, dtypes.fp8e5m2) is dtypes.float16
    assert least_upper_dtype(dtypes.fp8e4m3, dtypes.int64) is dtypes.fp8e4m3
    assert least_upper_dtype(dtypes.fp8e4m3, dtypes.bool) is dtypes.fp8e4m3
    for wider in (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64):
        assert least_upper_dtype(dtypes.fp8e5m2fnuz, wider) is wider


def test_numbers_are_truncated_to_what_a_float_of_a_byte_holds() -> None:
    assert truncate(1.06, dtypes.fp8e4m3) == 1.0
    assert truncate(1e9, dtypes.fp8e4m3) == 448.0
    assert truncate(-1e9, dtypes.fp8e5m2) == -math.inf
    assert math.isnan(float(truncate(1e9, dtypes.fp8e4m3fnuz)))


def test_floats_of_a_byte_have_names() -> None:
    assert parse_dtype("fp8e5m2") is dtypes.fp8e5m2
