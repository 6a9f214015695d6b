from plugrad.dtype import dtypes
from plugrad.schedule.gather_fusion import inside_lookup
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

X = UOp.new_buffer("PYTHON", (5,), dtypes.float32)
INDEX = UOp.new_buffer("PYTHON", (3,), dtypes.int32)
ROWS = X.reshape((1, 5)).expand((3, 5))
WANTED = INDEX.reshape((3, 1)).expand((3, 5))


def counter(size: int) -> UOp:
    return UOp.iota(size, dtypes.int32).reshape((1, size)).expand((3, size))


def chosen(condition: UOp, otherwise: float = 0.0) -> UOp:
    return condition.where(ROWS, ROWS.const_like(otherwise))


def test_a_sum_of_one_term_is_a_lookup() -> None:
    for condition in (counter(5).eq(WANTED), WANTED.eq(counter(5)), counter(5).eq(2)):
        choice = chosen(condition)
        assert inside_lookup(choice.reduce_axis(Ops.ADD, (1,))) == (choice, condition)


def test_other_sums_are_none() -> None:
    same = counter(5).eq(WANTED)
    moving = UOp.new_buffer("PYTHON", (3, 5), dtypes.int32)
    assert inside_lookup(chosen(same).reduce_axis(Ops.MAX, (1,))) == ()
    assert inside_lookup(chosen(same).reduce_axis(Ops.ADD, (0,))) == ()
    assert inside_lookup(chosen(same).reduce_axis(Ops.ADD, (0, 1))) == ()
    assert inside_lookup(chosen(same, 1.0).reduce_axis(Ops.ADD, (1,))) == ()
    assert inside_lookup(chosen(counter(5).eq(moving)).reduce_axis(Ops.ADD, (1,))) == ()
    assert inside_lookup(chosen(counter(5) < WANTED).reduce_axis(Ops.ADD, (1,))) == ()
    assert inside_lookup(ROWS) == ()
