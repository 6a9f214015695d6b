from plugrad.dtype import dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.strides import coefficient, constant_size, flat_position, shifted
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp

i, j = UOp.range(4, 0), UOp.range(8, 1)


def test_the_coefficient_of_a_sum_is_that_of_its_terms() -> None:
    assert coefficient(i * 8 + j * 2 + i, i) == 9
    assert coefficient(i * 8 + j * 2, j) == 2


def test_what_does_not_move_has_coefficient_zero() -> None:
    assert coefficient(j * 8 + 3, i) == 0
    assert coefficient(j // 3, i) == 0


def test_what_is_not_linear_has_none() -> None:
    assert coefficient(i // 2, i) is None
    assert coefficient(i * j, i) is None
    gathered = UOp(Ops.PARAM, dtypes.int32, (), (0, 8)).index(i).load().cast(dtypes.index)
    assert coefficient(gathered + i, i) is None


def test_a_symbolic_range_has_no_constant_size() -> None:
    assert constant_size(i) == 4
    assert constant_size(UOp.range(UOp.variable("n", 1, 4), 0)) is None


def test_memory_of_its_own_has_a_place_for_each_step_in_order() -> None:
    assert simplify(flat_position((i, j))) is simplify(i * 8 + j)


def test_a_shift_is_found_through_casts_unless_something_wraps() -> None:
    r = UOp.range(256, 0)
    assert shifted(r) == (r, 0)
    assert shifted((r + 3).cast(dtypes.int32) + -5) == (r, -2)
    assert shifted(r.cast(dtypes.uint8)) == (r, 0)
    for u in (
        r.cast(dtypes.uint8) + 1,
        (r + 1).cast(dtypes.uint8),
        r.cast(dtypes.int8),
        r.cast(dtypes.float16),
        r * 2,
    ):
        assert shifted(u) == (u, 0)
