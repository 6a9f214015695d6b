import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.index_dtype import lower_index_dtype
from plugrad.codegen.lower import lower
from plugrad.dtype import DType, dtypes
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

i32, i64, index = dtypes.int32, dtypes.int64, dtypes.index
BIG = 1 << 16


def param(slot: int, numel: int, dtype: DType = dtypes.uint8) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, numel))


def sized(size: int, ident: int, dtype: DType) -> UOp:
    return UOp(Ops.RANGE, dtype, (UOp.const(dtype, size),), UOp.range(size, ident).arg)


def test_small_addresses_have_32_bits() -> None:
    i = UOp.range(8, 0)
    assert lower_index_dtype(i * 4 + 1) is sized(8, 0, i32) * 4 + 1


def test_addresses_beyond_2_to_the_31_have_64_bits_and_their_loops_32() -> None:
    i, j = UOp.range(BIG, 0), UOp.range(BIG, 1)
    wide_i, wide_j = (sized(BIG, n, i32).cast(i64) for n in range(2))
    assert lower_index_dtype(i * BIG + j) is wide_i * UOp.const(i32, BIG).cast(i64) + wide_j


def test_an_address_of_exactly_2_to_the_31_less_one_still_has_32_bits() -> None:
    i = UOp.range(8, 0)
    assert lower_index_dtype(i + ((1 << 31) - 8)).dtype is i32
    assert lower_index_dtype(i + ((1 << 31) - 7)).dtype is i64


def test_a_loop_of_2_to_the_31_steps_counts_in_64_bits() -> None:
    assert lower_index_dtype(UOp.range((1 << 31) - 1, 0)).dtype is i32
    assert lower_index_dtype(UOp.range(1 << 31, 0)) is sized(1 << 31, 0, i64)


def test_what_is_computed_from_wide_values_is_wide() -> None:
    i = UOp.range(1 << 33, 0)
    assert lower_index_dtype(i // (1 << 30)).dtype is i64


def test_comparisons_are_made_in_the_wider_type() -> None:
    i, j = UOp.range(8, 0), UOp.range(1 << 33, 1)
    got = lower_index_dtype(i < j)
    want = sized(8, 0, i32).cast(i64) < sized(1 << 33, 1, i64)
    assert got is want


@pytest.mark.parametrize(
    ("source", "width"), [(i32, i32), (dtypes.uint8, i32), (dtypes.uint32, i64), (i64, i64)]
)
def test_data_enters_addresses_with_the_width_its_type_asks_for(source: DType, width: DType) -> None:
    value = UOp(Ops.PARAM, source, (), (0, 4)).index(UOp.const(index, 0)).load()
    assert lower_index_dtype(value.cast(index)).dtype is width


def test_variables_get_a_width_and_keep_their_name() -> None:
    n = UOp.variable("n", 1, 9)
    assert lower_index_dtype(n + 1) is UOp.variable("n", 1, 9, i32) + 1


def test_choices_between_widths_take_the_wider() -> None:
    i, j = UOp.range(8, 0), UOp.range(1 << 33, 1)
    got = lower_index_dtype((i < 4).where(i, j))
    assert got.dtype is i64
    assert got.src[1].op is Ops.CAST


def test_vectors_of_addresses_keep_their_lanes() -> None:
    i = UOp.range(8, 0)
    lanes = UOp(Ops.VECTORIZE, index.vec(2), (i, i + 1))
    got = lower_index_dtype(lanes.cast(dtypes.float32.vec(2)))
    assert got.src[0].dtype is i32.vec(2)


def test_a_reduction_of_addresses_keeps_its_loop() -> None:
    k = UOp.range(8, 0, AxisType.REDUCE)
    got = lower_index_dtype((k * 3).reduce(Ops.MAX, k))
    assert got.src[1].op is Ops.RANGE


def test_a_kernel_on_four_gigabytes_reads_64_bit_addresses() -> None:
    i, j = UOp.range(BIG, 0), UOp.range(BIG, 1)
    place = i + j * BIG
    value = param(1, BIG * BIG).index(place).load()
    ast = UOp.sink(param(0, BIG * BIG).index(i * BIG + j).store(value, i, j), arg=KernelInfo())
    program = lower(ast, CAPABILITIES, ()).program
    assert {u.src[1].dtype for u in program if u.op is Ops.INDEX} == {i64}
    assert {u.dtype for u in program if u.op is Ops.SPECIAL} == {i32}
