import pytest

from plugrad.dtype import dtypes
from plugrad.errors import ShapeError
from plugrad.schedule.shape_guards import Condition, conditions_of
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

N = UOp.variable("n", 2, 8)


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


def test_what_holds_for_all_values_is_not_asked() -> None:
    x = buffer(8, 6)
    first = x.shrink(((0, N), (0, 6)))
    for u in (
        x,
        first.pad(((0, 8 - N), (1, 1))),
        first.reshape((N * 6,)),
        x.shrink(((N - 2, N), (0, 6))),
        first.shrink(((N - 1, N), (0, 6))),
        UOp.iota(N - 1, dtypes.int32),
    ):
        assert conditions_of(UOp.sink(u)) == ()


def test_a_slice_asks_to_stay_inside() -> None:
    x = buffer(6)
    (asked,) = conditions_of(UOp.sink(x.shrink(((0, N),))))
    assert asked == Condition(Ops.SHRINK, (0, 0, N, 6))
    asked.check({"n": 6})
    with pytest.raises(ShapeError, match=r"with n=7: a slice of 0..7 leaves its axis of size 6"):
        asked.check({"n": 7, "m": 1})
    (asked,) = conditions_of(UOp.sink(x.shrink(((N - 3, N - 2),))))
    with pytest.raises(ShapeError, match=r"a slice of -1..0"):
        asked.check({"n": 2})


def test_sizes_that_do_not_fit_are_found_by_the_values() -> None:
    x = buffer(8, 6).shrink(((0, N), (0, 6)))
    padded, counted, halves = x.pad(((0, 6 - N), (0, 0))), UOp.iota(N - 3, dtypes.int32), x.reshape((12, 2))
    for u, good, bad, message in (
        (padded, 6, 8, "padding by -2 elements"),
        (counted, 3, 2, "an axis of -1 elements"),
        (halves, 4, 5, "30 elements are no 24 elements"),
    ):
        (asked,) = conditions_of(UOp.sink(u))
        asked.check({"n": good})
        with pytest.raises(ShapeError, match=message):
            asked.check({"n": bad})
