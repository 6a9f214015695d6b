"""A value that may be computed in two ways is scheduled in the one that suits its device."""

from dataclasses import replace

from plugrad.builtin.python import CAPABILITIES
from plugrad.dtype import dtypes
from plugrad.schedule.create import create_schedule
from plugrad.schedule.fusion import CostModel
from plugrad.schedule.prepare.dispatch import dispatch
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

COST = {
    "PYTHON": CostModel(cores=2, runs_loops=True, row_bytes=1 << 20),
    "PYTHON:1": CostModel(cores=256, runs_loops=False, row_bytes=1 << 20),
}


def buffer(device: str = "PYTHON") -> UOp:
    return UOp.new_buffer(device, (3,), dtypes.float32)


def doubled_on_a_grid(device: str, runs_loops: bool, inputs: tuple[UOp, ...]) -> UOp | None:
    (x,) = inputs
    return None if runs_loops else x + x


def chosen(u: UOp, default: str = "PYTHON") -> UOp:
    return dispatch(UOp.sink(u), COST, default)[UOp.sink(u)].src[0]


def test_the_device_of_a_value_decides() -> None:
    x, far = buffer(), buffer("PYTHON:1")
    assert chosen((x * 2.0).dispatch(doubled_on_a_grid, x) + 1.0) is x * 2.0 + 1.0
    assert chosen((far * 2.0).dispatch(doubled_on_a_grid, far) + 1.0) is far + far + 1.0


def test_numbers_are_computed_on_the_default_device_whatever_else_is_read() -> None:
    numbers = UOp.iota(3).cast(dtypes.float32)
    value = (numbers * 2.0).dispatch(
        lambda device, runs_loops, inputs: None if runs_loops else numbers, buffer()
    )
    assert chosen(value) is numbers * 2.0
    assert chosen(value, "PYTHON:1") is numbers


def test_rules_may_leave_a_choice_themselves() -> None:
    far = buffer("PYTHON:1")
    inner = (far * 4.0).dispatch(doubled_on_a_grid, (far * 2.0).dispatch(doubled_on_a_grid, far))
    outer = (far * 4.0).dispatch(lambda device, runs_loops, inputs: inner, far)
    assert chosen(outer) is (far + far) + (far + far)


def test_a_sum_by_position_that_is_updated_needs_no_other_graph() -> None:
    cost = {"PYTHON": CostModel.of(CAPABILITIES)}
    numbers = UOp.new_buffer("PYTHON", (5000,), dtypes.int32)

    def counts(of: UOp) -> UOp:
        here = UOp.iota(1000, dtypes.int32).reshape((1000, 1)).expand((1000, 5000))
        meets = here.eq(of.reshape((1, 5000)).expand((1000, 5000)))
        return meets.cast(dtypes.int32).reduce_axis(Ops.ADD, (1,))

    def chosen(value: UOp, *inputs: UOp) -> UOp:
        other = UOp.const(dtypes.int32, 7).reshape((1, 1)).expand((1000, 1))
        sink = UOp.sink(value.dispatch(lambda device, runs_loops, inputs: other, *inputs))
        return dispatch(sink, cost, "PYTHON")[sink].src[0]

    assert chosen(counts(numbers) + 1) is counts(numbers) + 1
    # what is counted has loops of its own, unless it is an input
    square = numbers.reshape((5000, 1)).expand((5000, 5000))
    ranks = (square < numbers.reshape((1, 5000)).expand((5000, 5000))).cast(dtypes.int32)
    summed = ranks.reduce_axis(Ops.ADD, (1,))
    assert chosen(counts(summed)) is not counts(summed)
    assert chosen(counts(summed), summed) is counts(summed)


def test_graphs_without_a_choice_stay() -> None:
    assert dispatch(UOp.sink(buffer() + 1.0), COST, "PYTHON") == {}


def test_what_is_not_chosen_has_no_effects() -> None:
    far, near = buffer("PYTHON:1"), buffer()
    copied = near.copy_to_device("PYTHON:1")
    value = (far * 2.0 + copied * 0.0).dispatch(doubled_on_a_grid, far)
    made = create_schedule(UOp.sink(value), COST, "PYTHON")
    assert len(made.calls) == 1
    assert made.effects == {}


def test_effects_behind_a_choice_are_found_by_the_nodes_that_were_given() -> None:
    far, memory = buffer("PYTHON:1"), buffer("PYTHON:1")
    written = memory.assign((far * 2.0).dispatch(doubled_on_a_grid, far))
    made = create_schedule(UOp.sink(written), COST, "PYTHON")
    assert made.effects == {written: memory.assign(far + far)}


def test_a_device_without_doubles_keeps_the_first_graph() -> None:
    def wide(device: str, runs_loops: bool, inputs: tuple[UOp, ...]) -> UOp:
        return (inputs[0].cast(dtypes.float64) * 2.0).cast(dtypes.float32)

    x = buffer()
    value = (x * 2.0).dispatch(wide, x)
    without = {"PYTHON": replace(COST["PYTHON"], has_doubles=False)}
    assert dispatch(UOp.sink(value), without, "PYTHON")[UOp.sink(value)].src[0] is x * 2.0
    assert chosen(value) is wide("PYTHON", True, (x,))
