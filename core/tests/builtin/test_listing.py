"""Tests of plugrad.builtin.listing."""

import math

import pytest

from plugrad.builtin.listing import instructions, read, write
from plugrad.dtype import STORABLE, DType, dtypes
from plugrad.errors import FileFormatError, VerifyError
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp


def _program() -> list[UOp]:
    size = UOp.const(dtypes.int32, 4)
    row = UOp.range(size, (0, 1), AxisType.REDUCE)
    wide = UOp.const(dtypes.float32.vec(4), -0.0)
    param = UOp(Ops.PARAM, dtypes.float32, (), (0, 16))
    store = param.index(row * size).store(wide)
    sink = UOp.sink(store, arg=KernelInfo("k"))
    return list(sink.toposort())


def test_a_listing_is_read_back_as_it_was_written() -> None:
    name, program = read(write(_program(), "k_4"))
    assert name == "k_4"
    assert program == instructions(_program())


def test_a_listing_is_one_readable_line_an_instruction() -> None:
    assert write(_program(), "k_4").splitlines()[:4] == [
        "kernel k_4",
        "0 = PARAM float32 () (0, 16)",
        "1 = CONST int32 () 4",
        "2 = RANGE int32 (1) ((0, 1), 'REDUCE')",
    ]


def test_a_symbolic_size_of_a_buffer_is_left_out() -> None:
    param = UOp(Ops.PARAM, dtypes.float32, (), (0, UOp.variable("n", 1, 8) * 2))
    assert read(write([param], "k"))[1][0].arg == (0, None)


@pytest.mark.parametrize("dtype", [d.vec(n) for d in (*STORABLE, dtypes.index) for n in (1, 8)], ids=str)
def test_every_dtype_comes_back_scalar_or_vector(dtype: DType) -> None:
    assert read(write([UOp.const(dtype, 1)], "k"))[1][0].dtype is dtype


@pytest.mark.parametrize("value", [math.inf, -math.inf, -0.0, 1e-45, 0.1])
def test_float_constants_come_back_exactly(value: float) -> None:
    program = read(write([UOp(Ops.CONST, dtypes.float64, (), value)], "k"))[1]
    assert repr(program[0].arg) == repr(value)


def test_nan_comes_back_as_nan() -> None:
    assert math.isnan(read(write([UOp.const(dtypes.float32, math.nan)], "k"))[1][0].arg)


def test_a_node_before_its_source_is_refused() -> None:
    with pytest.raises(VerifyError, match=r"stands before its source"):
        instructions(_program()[::-1])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not a listing",
        "kernel k\n1 = CONST int32 () 4",
        "kernel k\n0 = EXEC int32 () 4",
        "kernel k\n0 = NEG int32 (0)",
        "kernel k\n0 = CONST int31 () 4",
        "kernel k\n0 = CONST int32 () __import__('os')",
        "kernel k\n0 = CONST int32 () (",
    ],
)
def test_a_foreign_listing_is_refused_and_never_executed(text: str) -> None:
    with pytest.raises(FileFormatError):
        read(text)


def test_an_update_names_its_op() -> None:
    param = UOp(Ops.PARAM, dtypes.int32, (), (0, 16))
    one = UOp.const(dtypes.int32, 1)
    program = list(param.index(one).store(one, op=Ops.ADD).toposort())
    text = write(program, "k")
    assert text.splitlines()[-1] == "3 = STORE void (2 1) 'ADD'"
    assert read(text)[1] == instructions(program)
