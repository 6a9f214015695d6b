from plugrad.dtype import dtypes
from plugrad.schedule.create import Schedule, create_schedule
from plugrad.schedule.fusion import CostModel
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def plan(*values: UOp, max_buffers: int) -> Schedule:
    model = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20, max_buffers=max_buffers)
    return create_schedule(UOp.sink(*values), {"PYTHON": model}, "PYTHON")


def buffer(*shape: int, device: str = "PYTHON") -> UOp:
    return UOp.new_buffer(device, shape, dtypes.float32)


def test_no_kernel_has_more_buffers_than_its_device_allows() -> None:
    total = buffer(3)
    for _ in range(200):
        total = total + buffer(3)
    made = plan(total, max_buffers=31)
    assert max(len(call.memory) for call in made.calls) <= 31
    assert len(made.calls) == 7
    wide_tree = [buffer(3) for _ in range(64)]
    while len(wide_tree) > 1:
        wide_tree = [a + b for a, b in zip(wide_tree[::2], wide_tree[1::2], strict=True)]
    assert max(len(call.memory) for call in plan(*wide_tree, max_buffers=5).calls) <= 5


def test_what_is_read_by_movement_is_cut_below_it() -> None:
    rows = [buffer(1, 4) * 2 for _ in range(6)]
    total = rows[0].expand((3, 4))
    for row in rows[1:]:
        total = total + row.expand((3, 4))
    made = plan(total, max_buffers=4)
    assert max(len(call.memory) for call in made.calls) <= 4
    assert not any(call.root.op is Ops.EXPAND for call in made.calls)


def test_without_a_limit_nothing_is_cut() -> None:
    total = buffer(3)
    for _ in range(50):
        total = total + buffer(3)
    assert len(plan(total, max_buffers=0).calls) == 1
