import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.dtype import (
    ELEMENTS,
    STORABLE,
    DType,
    dtypes,
    element_dtype,
    from_numpy,
    least_upper_dtype,
    parse_dtype,
    to_numpy,
    truncate,
)
from plugrad.errors import DtypeError


@pytest.mark.parametrize(("a", "b"), list(itertools.product(ELEMENTS, repeat=2)))
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


TORCH_FLOAT8 = {
    "fp8e4m3": "float8_e4m3fn",
    "fp8e5m2": "float8_e5m2",
    "fp8e4m3fnuz": "float8_e4m3fnuz",
    "fp8e5m2fnuz": "float8_e5m2fnuz",
}
BY_TORCH = {getattr(torch, TORCH_FLOAT8.get(d.name, d.name)): d for d in ELEMENTS}


def meeting_in_torch(a: torch.dtype, b: object) -> DType | None:
    other: Any = torch.empty(1, dtype=b) if isinstance(b, torch.dtype) else b
    try:
        return BY_TORCH[torch.result_type(torch.empty(1, dtype=a), other)]
    except RuntimeError:
        # not every pair has one there
        return None


def test_every_pair_that_meets_in_torch_meets_in_the_same_dtype() -> None:
    known = 0
    for a, ours in BY_TORCH.items():
        for b, theirs in BY_TORCH.items():
            if (expected := meeting_in_torch(a, b)) is not None:
                assert least_upper_dtype(ours, theirs) is expected, (ours, theirs)
                known += 1
    assert known >= 100


def test_python_numbers_are_as_weak_as_in_torch_but_for_integers_beside_bools() -> None:
    for a, ours in BY_TORCH.items():
        for number in (True, 2, 2.5):
            expected = meeting_in_torch(a, number)
            if ours is dtypes.bool and number == 2:
                expected = dtypes.default_int
            assert (Tensor.zeros(1, dtype=ours) + number).dtype is expected
            assert (number * Tensor.zeros(1, dtype=ours)).dtype is expected


def test_pairs_without_a_type_in_torch_follow_numpy_or_the_narrowest_float() -> None:
    for a in STORABLE:
        for b in STORABLE:
            if dtypes.bfloat16 in (a, b) or meeting_in_torch(torch_of(a), torch_of(b)) is not None:
                continue
            expected = from_numpy(np.result_type(to_numpy(a), to_numpy(b)))
            # no integer holds both; the default float is for devices without float64, too
            is_mixed = dtypes.uint64 in (a, b) and "int" in (a.kind, b.kind)
            assert least_upper_dtype(a, b) is (dtypes.default_float if is_mixed else expected), (a, b)


def torch_of(dtype: DType) -> torch.dtype:
    return next(theirs for theirs, ours in BY_TORCH.items() if ours is dtype)


def test_only_dtypes_of_elements_are_for_tensors() -> None:
    assert element_dtype("half") is dtypes.float16
    for wrong in ("index", dtypes.void, dtypes.int32.vec(2)):
        with pytest.raises(DtypeError, match="is no dtype of elements"):
            element_dtype(wrong)


@pytest.mark.parametrize("dtype", [d for d in ELEMENTS if to_numpy(d) is not None])
def test_dtypes_of_others_name_the_same(dtype: DType) -> None:
    theirs = np.dtype(dtype.name)
    assert parse_dtype(theirs) is dtype
    assert parse_dtype(theirs.type) is dtype
    assert parse_dtype(getattr(torch, dtype.name)) is dtype


def test_types_of_python_are_what_others_take_them_for() -> None:
    for theirs in (bool, int, float, complex):
        assert parse_dtype(theirs).name == str(torch.ones(1).to(theirs).dtype).removeprefix("torch.")  # pyright: ignore
    assert parse_dtype(torch.bfloat16) is dtypes.bfloat16


@pytest.mark.parametrize(
    "other",
    [np.dtype(">f4"), np.dtype(">c8"), torch.complex32, np.dtype("U3"), str, object, np, None, 3, Tensor],
)
def test_other_things_are_no_dtypes(other: object) -> None:
    with pytest.raises(DtypeError, match="is not a dtype"):
        parse_dtype(other)


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64])
def test_limits_of_floats_are_those_of_numpy(dtype: DType) -> None:
    ours, theirs = dtypes.finfo(dtype), np.finfo(dtype.name)
    for name in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert dtypes.finfo(dtypes.bfloat16).max == torch.finfo(torch.bfloat16).max


def test_limits_of_integers_are_those_of_numpy() -> None:
    for name in ("int8", "uint16", "int64", "uint64"):
        ours, theirs = dtypes.iinfo(name), np.iinfo(name)
        assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)
        assert (dtypes.min(ours.dtype), dtypes.max(ours.dtype)) == (theirs.min, theirs.max)
    with pytest.raises(DtypeError, match="iinfo of float32"):
        dtypes.iinfo("float32")
    with pytest.raises(DtypeError, match="finfo of int8: pass one of float16"):
        dtypes.finfo(dtypes.int8)


def test_dtypes_can_be_asked_for_their_kind() -> None:
    kinds = (dtypes.is_float, dtypes.is_int, dtypes.is_unsigned, dtypes.is_bool)
    found = [[ask(dtype) for ask in kinds] for dtype in (dtypes.bfloat16, dtypes.uint8, dtypes.bool)]
    assert found == [[True, False, False, False], [False, True, True, False], [False, False, False, True]]
    assert (dtypes.is_float("half"), dtypes.is_int(np.int8), dtypes.max("uint8")) == (True, True, 255)
