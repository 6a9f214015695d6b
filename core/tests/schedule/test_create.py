import time

import pytest

from plugrad.dtype import dtypes
from plugrad.errors import DeviceError
from plugrad.schedule.create import Schedule, create_schedule
from plugrad.schedule.fusion import CostModel
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

LOOPS = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20)


def buffer(*shape: int, device: str = "PYTHON") -> UOp:
    return UOp.new_buffer(device, shape, dtypes.float32)


def plan(*values: UOp, **limits: int) -> Schedule:
    model = CostModel(LOOPS.cores, LOOPS.runs_loops, LOOPS.row_bytes, **limits)
    return create_schedule(UOp.sink(*values), {"PYTHON": model, "PYTHON:1": model}, "PYTHON")


def test_each_value_that_is_asked_for_has_memory() -> None:
    x = buffer(3)
    made = plan(x + 1, (x + 1) * 2)
    assert [root for call in made.calls for root in call.roots] == list(made.results)


def test_assigns_and_copies_are_found_again_after_rewriting() -> None:
    x, far = buffer(3), buffer(3, device="PYTHON:1")
    changed = x.assign(x.detach() + 1)
    copied = far.copy_to_device("PYTHON")
    made = plan(changed + copied)
    assert set(made.effects) == {changed, copied}
    assert made.effects[changed] is x.assign(x + 1)


def test_a_value_for_later_is_computed_again_behind_what_it_waits_for() -> None:
    x, w = buffer(64, 64), buffer(64, 64)

    def inner(x: UOp) -> UOp:
        return (x * w).reduce_axis(Ops.ADD, (1,)).contiguous()

    first = inner(x)
    last = (first * 2).contiguous()
    again = inner(x.later(last))
    made = plan(again + 1, last)
    assert again is not first
    order = [root for call in made.calls for root in call.roots]
    assert order.index(first) < order.index(last) < order.index(again)
    own = [call for joined in made.calls for call in (joined, *joined.others)]
    alone = {kernel.src[0] for call in own if call.root in (first, again) for kernel in (call.ast,)}
    assert len(alone) == 1


def test_what_is_overwritten_meanwhile_is_copied_for_later() -> None:
    x = buffer(4)
    last = (x.assign(buffer(4)) * 2).contiguous()
    made = plan((x.later(last) + 1).contiguous(), last)
    assert [call.target for call in made.calls].index(x) > 0


def test_equal_computations_are_one_kernel_whatever_their_tensors() -> None:
    x, y = buffer(3), buffer(3)
    made = plan(x * 2 + 1, y * 2 + 1)
    assert made.calls[0].ast is made.calls[1].ast


def test_the_output_is_slot_zero_and_inputs_follow_in_the_order_of_use() -> None:
    x, y = buffer(3), buffer(3)
    (call,) = plan(y - x).calls
    assert call.memory == (y - x, y, x)


def test_an_assign_reads_and_writes_one_slot() -> None:
    x = buffer(3)
    (call,) = plan(x.assign(x + 1)).calls
    assert call.memory == (x,)
    assert call.target is x


def test_versions_are_copied_only_when_no_order_will_do() -> None:
    x = buffer(3)
    changed = x.assign(x + 1)
    assert [len(call.roots) for call in plan(x * 2, changed).calls] == [2]
    assert len(plan(x.flip((0,)) * 2, changed).calls) == 2
    assert [len(call.roots) for call in plan(x + changed).calls] == [1, 2]


def test_readers_run_before_the_next_write() -> None:
    x = buffer(3)
    changed = x.assign(x + 1)
    made = plan(changed, x * 2, x.flip((0,)))
    assert made.calls[-1].roots[-1] is changed


def test_long_chains_are_cut_into_kernels_of_bounded_size() -> None:
    value = buffer(8)
    for _ in range(10_000):
        value = value * 0.5 + 1.0
    calls = plan(value).calls
    assert max(len(call.ast.toposort()) for call in calls) < 2000
    assert len(calls) < 120


def test_a_graph_of_thousands_of_nodes_is_scheduled_within_a_second() -> None:
    value, other = buffer(16, 16), buffer(16, 16)
    for step in range(400):
        value = (value * 1.5 + other).maximum(other) - float(step)
        if step % 20 == 19:
            value = value.reduce_axis(Ops.ADD, (1,)).expand((16, 16)) + value.permute((1, 0))
    started = time.process_time()
    plan(value)
    # a tenth of that on an idle machine
    assert time.process_time() - started < 2


def test_a_device_without_a_cost_model_does_not_compute() -> None:
    with pytest.raises(DeviceError, match="DISK:/f stores data"):
        plan(buffer(3, device="DISK:/f") + 1)
