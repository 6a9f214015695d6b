import pytest

from plugrad.dtype import dtypes
from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.movement import moves
from plugrad.schedule.prepare.normalize import normalize
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

LOOPS = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20)
GRID = CostModel(cores=64, runs_loops=False, row_bytes=1 << 20)


def buffer(*shape: int, device: str = "PYTHON") -> UOp:
    return UOp.new_buffer(device, shape, dtypes.float32)


def normal(u: UOp) -> UOp:
    return normalize(UOp.sink(u), Devices({"PYTHON": LOOPS}, "PYTHON")).src[0]


def split_on_a_grid(sums: UOp) -> list[UOp]:
    (found,) = normalize(UOp.sink(sums), Devices({"PYTHON": GRID}, "PYTHON")).src
    return [u for u in found.toposort() if u.op is Ops.REDUCE_AXIS]


def test_a_long_sum_becomes_pieces_and_their_sum() -> None:
    out = normal(buffer(1 << 20).reduce_axis(Ops.ADD, (0,)))
    reductions = [u for u in out.toposort() if u.op is Ops.REDUCE_AXIS]
    assert [u.src[0].shape for u in reductions] == [(16, 1 << 16), (16, 1)]
    assert reductions[1].src[0].op is Ops.CONTIGUOUS


def test_a_grid_pads_a_sum_of_a_length_that_nothing_divides() -> None:
    pieces, whole = split_on_a_grid(buffer(1_000_003).reduce_axis(Ops.ADD, (0,)))
    assert pieces.src[0].shape == (128, 7816)
    assert any(u.op is Ops.PAD for u in pieces.toposort())
    assert whole.src[0].shape == (128, 1)


def test_a_product_of_few_tiles_has_pieces_that_are_stored_apart() -> None:
    full = (64, 64, 1 << 16)
    a = buffer(64, 1 << 16).reshape((64, 1, 1 << 16)).expand(full)
    b = buffer(64, 1 << 16).reshape((1, 64, 1 << 16)).expand(full)
    pieces, whole = split_on_a_grid((a * b).reduce_axis(Ops.ADD, (2,)))
    assert pieces.src[0].shape == (64, 64, 128, 512)
    assert whole.src[0].shape[0] == 128
    assert whole.arg == (Ops.ADD, (0,))


def test_what_reads_enough_for_all_units_stays_one_reduction_on_a_grid() -> None:
    rows = buffer(8192, 1024).reduce_axis(Ops.ADD, (1,))
    assert split_on_a_grid(rows) == [rows]
    columns = buffer(1024, 8192).permute((1, 0)).reduce_axis(Ops.ADD, (1,))
    assert split_on_a_grid(columns) == [columns]


def test_a_long_sum_on_a_device_without_a_cost_model_stays() -> None:
    total = buffer(1 << 20, device="DISK:/f").reduce_axis(Ops.ADD, (0,))
    assert normal(total) is total


def test_a_deep_sum_of_values_is_not_asked_for_all_its_views(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[UOp] = []

    def counted(view: UOp, axis: int) -> bool:
        asked.append(view)
        return moves(view, axis)

    monkeypatch.setattr("plugrad.schedule.prepare.long_reductions.moves", counted)
    x = buffer(8, 1 << 16)
    for _ in range(100):
        x = x + buffer(8, 1 << 16)
    split_on_a_grid(x.reduce_axis(Ops.ADD, (1,)))
    assert 0 < len(asked) < 10
    asked.clear()
    split_on_a_grid(buffer(8, 64).reduce_axis(Ops.ADD, (1,)))
    assert not asked, "what is too short for any number of results needs no look at its memory"


def test_a_view_that_moves_along_all_axes_decides_wherever_it_is_found() -> None:
    # a group reads 32 neighbours of the columns together, whatever else is added
    columns = buffer(1 << 16, 64).permute((1, 0))
    row = buffer(1, 1 << 16).expand((64, 1 << 16))
    for value in (columns + row, row + columns):
        pieces, _ = split_on_a_grid(value.reduce_axis(Ops.ADD, (1,)))
        assert (
            pieces.src[0].shape[1] == split_on_a_grid(columns.reduce_axis(Ops.ADD, (1,)))[0].src[0].shape[1]
        )


def test_a_row_beyond_a_cache_is_reduced_in_pieces_that_fit_it() -> None:
    one_core = CostModel(cores=1, runs_loops=True, row_bytes=1 << 20)
    rows = buffer(4, 3 << 20).reduce_axis(Ops.ADD, (1,))
    (found,) = normalize(UOp.sink(rows), Devices({"PYTHON": one_core}, "PYTHON")).src
    pieces = next(u for u in found.toposort() if u.op is Ops.REDUCE_AXIS)
    assert pieces.src[0].shape == (4, 48, 1 << 16)
