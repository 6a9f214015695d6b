from dataclasses import replace

from plugrad.dtype import dtypes
from plugrad.schedule.calls.kernelize import KernelCall, make_kernel_call
from plugrad.schedule.fusion import CostModel
from plugrad.schedule.rangeify import Rangeify
from plugrad.schedule.versions import part_of
from plugrad.uop.ops import Axis, AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp

MODEL = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20)


def buffer(*shape: int, device: str = "PYTHON") -> UOp:
    return UOp.new_buffer(device, shape, dtypes.float32)


def calls_of(*values: UOp) -> list[KernelCall]:
    walk = Rangeify(UOp.sink(*values), {"PYTHON": MODEL}, "PYTHON", set(values))
    return [make_kernel_call(kernel, walk) for kernel in walk.run()]


def test_a_kernel_is_this_graph() -> None:
    (call,) = calls_of(buffer(4) * 2)
    i = UOp.range(4, 0)
    out, x = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 4)) for slot in (0, 1))
    store = out.index(i).store(x.index(i).load() * 2, i)
    assert call.ast is UOp.sink(store, arg=KernelInfo("map_4"))


def test_ranges_are_numbered_from_zero_output_axes_first() -> None:
    first, second = calls_of(buffer(4, 8).reduce_axis(Ops.ADD, (1,)), buffer(4, 8).reduce_axis(Ops.ADD, (1,)))
    assert first.ast is second.ast
    axes = [u.arg for u in first.ast.toposort() if u.op is Ops.RANGE]
    assert set(axes) == {Axis((0,), AxisType.LOOP), Axis((1,), AxisType.REDUCE)}


def test_names_say_what_the_loops_are() -> None:
    names = [
        call.ast.arg.name
        for call in calls_of(buffer(4, 8).reduce_axis(Ops.ADD, (1,)), buffer(2) + 1, buffer() + 1)
    ]
    assert names == ["reduce_4_8", "map_2", "map_1"]


def test_a_buffer_that_is_read_twice_is_one_slot() -> None:
    x = buffer(4)
    (call,) = calls_of(x + x.flip((0,)))
    assert len(call.memory) == 2
    assert call.reads == (x,)


def test_what_an_assign_reads_shares_the_slot_it_writes() -> None:
    x = buffer(4)
    (call,) = calls_of(x.assign(x + 1))
    assert {u.arg[0] for u in call.ast.toposort() if u.op is Ops.PARAM} == {0}


def test_a_copy_names_the_part_of_memory_that_it_reads() -> None:
    x = buffer(8, device="PYTHON:1")
    (call,) = calls_of(x.shrink(((2, 6),)).copy_to_device("PYTHON"))
    assert call.ast.op is Ops.COPY
    assert call.memory[1] is part_of(x, 2, 4)
    assert call.reads == (x,)


def test_variables_are_part_of_a_kernel() -> None:
    n = UOp.variable("n", 1, 8)
    (call,) = calls_of(buffer(8).shrink(((0, n),)) + 1)
    assert call.ast.variables() == (n,)
    assert call.ast.arg.name == "map_8"


def test_kernels_that_read_equal_parts_of_memory_are_one() -> None:
    x = buffer(4096)
    first, second = calls_of(x.shrink(((768, 1152),)) * 2, x.shrink(((0, 384),)) * 2)
    assert first.ast is second.ast
    assert first.memory[1] is part_of(x, 768, 384)
    assert second.memory[1] is part_of(x, 0, 384)
    assert first.reads == second.reads == (x,)


def test_parts_of_computed_memory_are_memory_too() -> None:
    made = (buffer(4096) + 1).contiguous()
    _, first, second = calls_of(made.shrink(((768, 1152),)) * 2, made.shrink(((0, 384),)) * 2)
    assert first.ast is second.ast
    assert first.memory[1] is part_of(made, 768, 384)
    assert first.reads == second.reads == (made,)


def test_a_part_is_no_value_that_is_a_view_of_it() -> None:
    made = (buffer(64) + 1).contiguous()
    view = made.shrink(((0, 16),))
    calls = {call.root: call for call in calls_of(view, made.shrink(((0, 16),)) * 2)}
    assert calls[view].memory == (view, part_of(made, 0, 16))
    assert part_of(made, 0, 16) is not view


def test_what_is_written_is_taken_as_a_whole() -> None:
    x = buffer(4096)
    (call,) = calls_of(x.assign(x.shrink(((0, 16),)).reshape((1, 16)).expand((256, 16)).reshape((4096,)) + x))
    assert call.memory == (x,)


def test_devices_without_views_take_whole_memories() -> None:
    x = buffer(4096)
    value = x.shrink(((768, 1152),)) * 2
    walk = Rangeify(UOp.sink(value), {"PYTHON": replace(MODEL, takes_parts=False)}, "PYTHON", {value})
    (call,) = (make_kernel_call(kernel, walk) for kernel in walk.run())
    assert call.memory[1] is x
