from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.dtype import DType, dtypes
from plugrad.errors import DtypeError, ShapeError
from plugrad.tensor.host.host_data import empty_lists, flatten, infer_dtype, nest, pack, unpack
from plugrad.tensor.scalars import check_fits


def test_lists_flatten_in_row_major_order() -> None:
    assert flatten([[1, 2, 3], [4, 5, 6]]) == ((2, 3), [1, 2, 3, 4, 5, 6])
    assert flatten([]) == ((0,), [])
    assert flatten([[], []]) == ((2, 0), [])


@pytest.mark.parametrize("data", [[[1, 2], [3]], [[1], 2], [1, [2]], [[1, [2]]]])
def test_ragged_lists_are_refused(data: Any) -> None:
    with pytest.raises(ShapeError, match="lists at depth"):
        flatten(data)


def test_lists_without_end_are_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ShapeError, match="nested more than 64 deep, or hold themselves"):
        flatten(loop)


def test_what_is_no_number_is_refused_whatever_dtype_is_asked_for() -> None:
    class Three:
        def __index__(self) -> int:
            return 3

    for value in (Three(), torch.tensor(1), "a", None):
        with pytest.raises(DtypeError, match="cannot make an element of"):
            flatten([value, 2])


def test_the_longest_integers_are_refused_by_their_bits() -> None:
    with pytest.raises(DtypeError, match="an integer of 16610 bits does not fit int32"):
        check_fits(10**5000, dtypes.int32)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([True, False], dtypes.bool),
        ([True, 2], dtypes.int32),
        ([1, 2.0], dtypes.float32),
        ([1 << 31], dtypes.int64),
        ([-(1 << 31)], dtypes.int32),
        ([], dtypes.float32),
    ],
)
def test_dtypes_follow_the_numbers(values: list[Any], dtype: DType) -> None:
    assert infer_dtype(values) is dtype


def test_numbers_of_numpy_count_as_those_of_python() -> None:
    shape, values = flatten([[np.float32(0.5), 1], [np.int64(2), np.bool_(True)]])
    assert shape == (2, 2)
    assert list(map(type, values)) == [float, int, int, bool]


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(DtypeError, match=r"cannot make an element of 'a' \(str\)"):
        infer_dtype([1, "a"])


@pytest.mark.parametrize(
    "name", ["bool", "int8", "uint16", "int64", "uint64", "float16", "float32", "float64"]
)
def test_packing_is_what_numpy_does_and_unpacking_its_inverse(name: str) -> None:
    values = [0, 1, 1, 0, 1] if name == "bool" else [0, 1, 2, 100, 7]
    dtype: DType = getattr(dtypes, name)
    packed = pack(values, dtype)
    assert packed == np.array(values, name).tobytes()
    assert unpack(memoryview(packed), dtype) == np.array(values, name).tolist()


def test_bfloat16_rounds_to_nearest_even() -> None:
    values = [1.0, 1.00390625, 1.01171875, -3.0e38, float("inf"), 0.1]
    expected = torch.tensor(values, dtype=torch.bfloat16).tolist()
    assert unpack(memoryview(pack(values, dtypes.bfloat16)), dtypes.bfloat16) == expected


def test_a_float_beyond_the_dtype_becomes_infinite() -> None:
    assert unpack(memoryview(pack([1e6, -1e6, 2], dtypes.float16)), dtypes.float16) == [
        float("inf"), float("-inf"), 2.0,
    ]  # fmt: skip


def test_an_integer_that_does_not_fit_is_refused_with_the_limits() -> None:
    with pytest.raises(DtypeError, match=r"300 does not fit uint8, which holds 0\.\.255"):
        pack([1, 300], dtypes.uint8)
    with pytest.raises(DtypeError, match="nan is no int32"):
        check_fits(float("nan"), dtypes.int32)


def test_a_fraction_is_cut_off_for_integers() -> None:
    assert unpack(memoryview(pack([1.7, -1.7], dtypes.int32)), dtypes.int32) == [1, -1]


def test_nesting_is_the_inverse_of_flattening() -> None:
    assert nest([1, 2, 3, 4, 5, 6], (3, 1, 2)) == [[[1, 2]], [[3, 4]], [[5, 6]]]
    assert nest([1], ()) == 1
    assert empty_lists((2, 0)) == [[], []]


def test_only_numbers_are_true_or_false() -> None:
    for wrong in ("a", None):
        with pytest.raises(DtypeError, match="cannot make an element of"):
            Tensor([wrong], dtype="bool")


def test_an_integer_beyond_all_floats_is_refused() -> None:
    for dtype in ("float16", "bfloat16", "fp8e4m3", "float32", "float64"):
        with pytest.raises(DtypeError, match="an integer of 1329 bits is beyond every float"):
            Tensor([10**400], dtype=dtype)
        with pytest.raises(DtypeError, match="an integer of 1329 bits is beyond every float"):
            Tensor(10**400, dtype=dtype)
