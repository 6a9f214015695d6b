"""Tests of plugrad_llvm.types."""

import math

import pytest

from plugrad.dtype import DType, dtypes
from plugrad_llvm.types import literal, memory_type, suffix, type_name


@pytest.mark.parametrize(
    ("dtype", "in_register", "in_memory"),
    [
        (dtypes.bool, "i1", "i8"),
        (dtypes.bool.vec(4), "<4 x i1>", "<4 x i8>"),
        (dtypes.uint16, "i16", "i16"),
        (dtypes.float16, "half", "half"),
        (dtypes.bfloat16.vec(8), "<8 x i16>", "<8 x i16>"),
        (dtypes.float64, "double", "double"),
    ],
)
def test_types_in_registers_and_in_memory(dtype: DType, in_register: str, in_memory: str) -> None:
    assert (type_name(dtype), memory_type(dtype)) == (in_register, in_memory)


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        (dtypes.bool, True, "true"),
        (dtypes.int8, -128, "-128"),
        (dtypes.float16, 1.0, "0xH3C00"),
        (dtypes.bfloat16, 1.0, "16256"),
        (dtypes.float32, 0.1, "0x3FB99999A0000000"),  # rounded to float32 first
        (dtypes.float64, 0.1, "0x3FB999999999999A"),
        (dtypes.float32, -math.inf, "0xFFF0000000000000"),
        (dtypes.float32, math.nan, "0x7FF8000000000000"),
        (dtypes.float32.vec(4), 0.0, "splat (float 0x0000000000000000)"),
    ],
)
def test_constants_keep_their_bits(dtype: DType, value: float, text: str) -> None:
    assert literal(dtype, value) == text


def test_functions_are_named_after_what_they_work_on() -> None:
    assert [suffix(d) for d in (dtypes.float32, dtypes.int32.vec(8))] == ["f32", "v8i32"]
