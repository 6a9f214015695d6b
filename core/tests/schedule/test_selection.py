"""What a reduction selects is known from the graph, however the selection is written."""

from collections.abc import Callable

import pytest

from plugrad.dtype import dtypes
from plugrad.schedule.selection import selection_of
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

ROWS, SIZE = 3, 5
X = UOp.new_buffer("PYTHON", (SIZE,), dtypes.float32).reshape((1, SIZE)).expand((ROWS, SIZE))
WANTED = UOp.new_buffer("PYTHON", (ROWS,), dtypes.int32).reshape((ROWS, 1)).expand((ROWS, SIZE))
IS_ON = UOp.new_buffer("PYTHON", (ROWS,), dtypes.bool).reshape((ROWS, 1)).expand((ROWS, SIZE))
NUMBERS = UOp.iota(SIZE, dtypes.int32)
COUNT = NUMBERS.reshape((1, SIZE)).expand((ROWS, SIZE))
FLIPPED = NUMBERS.flip((0,)).reshape((1, SIZE)).expand((ROWS, SIZE))
ZERO = X.const_like(0.0)

GATHERS: dict[str, UOp] = {
    "equal": COUNT.eq(WANTED).where(X, ZERO),
    "reversed operands": WANTED.eq(COUNT).where(X, ZERO),
    "a number": COUNT.eq(2).where(X, ZERO),
    "the other way round": COUNT.ne(WANTED).where(ZERO, X),
    "arithmetic": (COUNT * 2 + 1 - WANTED).eq(0).where(X, ZERO),
    "arithmetic before it is expanded": (NUMBERS + 1)
    .reshape((1, SIZE))
    .expand((ROWS, SIZE))
    .eq(WANTED)
    .where(X, ZERO),
    "a flipped counter": FLIPPED.eq(WANTED).where(X, ZERO),
    "a condition beside it": (IS_ON & COUNT.eq(WANTED)).where(X, ZERO),
    "nested choices": IS_ON.where(COUNT.eq(WANTED).where(X, ZERO), ZERO),
    "truths, without a cast": COUNT.eq(WANTED) & (X < 1.0),
    "a choice between truths": COUNT.eq(WANTED).where(X < 1.0, IS_ON.const_like(False)),
    "a padded counter": COUNT.eq(WANTED).where(X, ZERO).pad(((0, 0), (2, 1))),
}


@pytest.mark.parametrize("value", GATHERS.values(), ids=GATHERS)
def test_a_sum_of_one_term_gathers(value: UOp) -> None:
    selection = selection_of(value.reduce_axis(Ops.ADD, (1,)))
    assert selection is not None
    assert selection.axes == {1}
    assert value in selection.around


def test_a_product_and_a_maximum_of_one_term_gather() -> None:
    for op, neutral in ((Ops.MUL, 1.0), (Ops.MAX, float("-inf"))):
        selection = selection_of(COUNT.eq(WANTED).where(X, X.const_like(neutral)).reduce_axis(op, (1,)))
        assert selection is not None
        assert selection.axes == {1}


MOVING = UOp.new_buffer("PYTHON", (ROWS, SIZE), dtypes.int32)
OTHERS: dict[str, Callable[[], UOp]] = {
    "a maximum": lambda: COUNT.eq(WANTED).where(X, ZERO).reduce_axis(Ops.MAX, (1,)),
    "another axis": lambda: COUNT.eq(WANTED).where(MOVING, 0).reduce_axis(Ops.ADD, (0,)),
    "another value": lambda: COUNT.eq(WANTED).where(X, X.const_like(1.0)).reduce_axis(Ops.ADD, (1,)),
    "a position that moves": lambda: COUNT.eq(MOVING).where(X, ZERO).reduce_axis(Ops.ADD, (1,)),
    "less": lambda: (COUNT < WANTED).where(X, ZERO).reduce_axis(Ops.ADD, (1,)),
    "all": lambda: X.reduce_axis(Ops.ADD, (1,)),
}


@pytest.mark.parametrize("reduced", OTHERS.values(), ids=OTHERS)
def test_other_reductions_select_nothing(reduced: Callable[[], UOp]) -> None:
    assert selection_of(reduced()) is None


def test_what_a_condition_is_computed_from_is_not_around_the_value() -> None:
    equal = COUNT.eq(WANTED)
    selection = selection_of(equal.where(X, ZERO).reduce_axis(Ops.ADD, (1,)))
    assert selection is not None
    assert selection.around == {equal, equal.where(X, ZERO)}


def test_a_sum_by_position_scatters_along_an_axis() -> None:
    count, steps = 40, 7
    here = UOp.iota(count, dtypes.int32).reshape((count, 1)).expand((count, steps))
    positions = UOp.new_buffer("PYTHON", (steps,), dtypes.int32).reshape((1, steps)).expand((count, steps))
    values = UOp.new_buffer("PYTHON", (steps,), dtypes.float32).reshape((1, steps)).expand((count, steps))
    for meets in (here.eq(positions), (positions - here).eq(0), ~positions.ne(here)):
        selection = selection_of(meets.where(values, values.const_like(0.0)).reduce_axis(Ops.ADD, (1,)))
        assert selection is not None
        assert (selection.axes, selection.counter) == (frozenset(), 0)
