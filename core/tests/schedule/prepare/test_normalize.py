import pytest

from plugrad.dtype import dtypes
from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.prepare.normalize import normalize
from plugrad.uop.ops import FunctionArg, Ops
from plugrad.uop.uop import UOp

COST = {"PYTHON": CostModel(cores=2, runs_loops=True, row_bytes=1 << 20)}


def buffer(*shape: int, device: str = "PYTHON") -> UOp:
    return UOp.new_buffer(device, shape, dtypes.float32)


def normal(u: UOp) -> UOp:
    return normalize(UOp.sink(u), Devices(COST, "PYTHON")).src[0]


def test_detach_is_removed() -> None:
    x = buffer(3)
    assert normal((x + 1).detach()) is x + 1


def below(limit: int) -> UOp:
    """Return whether rows of a (3, 8) lie in its first `limit` columns."""
    return UOp.iota(8).reshape((1, 8)).expand((3, 8)) < limit


def test_a_slice_of_a_choice_by_position_is_that_of_what_is_chosen_there() -> None:
    x, y = buffer(3, 8), buffer(3, 8)
    choice = below(4).where(x, y)
    assert normal(choice.shrink(((0, 3), (1, 4)))) is x.shrink(((0, 3), (1, 4)))
    assert normal(choice.shrink(((0, 3), (4, 6)))) is y.shrink(((0, 3), (4, 6)))


def test_a_slice_of_nested_choices_by_position_is_one_of_them() -> None:
    x, y, z = buffer(3, 8), buffer(3, 8), buffer(3, 8)
    choice = below(2).where(x, below(6).where(y, z))
    assert normal(choice.shrink(((0, 3), (2, 6)))) is y.shrink(((0, 3), (2, 6)))
    assert normal(below(4).where(x, 0.0).shrink(((0, 3), (4, 8)))).base.op is Ops.CONST


def test_a_slice_with_elements_of_both_choices_stays() -> None:
    value = below(4).where(buffer(3, 8), buffer(3, 8)).shrink(((0, 3), (3, 5)))
    assert normal(value) is value


def test_a_slice_of_a_choice_by_padded_positions_stays() -> None:
    position = UOp.iota(6).pad(((2, 0),))
    value = (position < 4).where(buffer(8), buffer(8)).shrink(((0, 2),))
    assert normal(value) is value


def test_a_function_is_its_outputs() -> None:
    x = buffer(3)
    function = UOp(Ops.FUNCTION, dtypes.void, (x + 1, x * 2, x), FunctionArg(2, lambda gradients, f: [None]))
    assert normal(UOp(Ops.OUTPUT, dtypes.float32, (function,), 1)) is x * 2


def test_contiguous_of_contiguous_is_one() -> None:
    x = buffer(3)
    assert normal((x + 1).contiguous().contiguous()) is (x + 1).contiguous()


def test_contiguous_memory_is_copied_all_the_same() -> None:
    x = buffer(3)
    assert normal(x.contiguous()) is x.contiguous()


def test_numbers_need_no_memory() -> None:
    steps = UOp.iota(3)
    assert normal((steps + 1).contiguous() + 1) is steps + 1 + 1


def test_a_copy_to_the_own_device_is_none_for_values_and_own_memory_for_buffers() -> None:
    x = buffer(3)
    assert normal((x + 1).copy_to_device("PYTHON")) is x + 1
    assert normal(x.copy_to_device("PYTHON")) is x.contiguous()


def test_a_copy_of_elements_out_of_order_puts_them_in_order_first() -> None:
    x = buffer(2, 3)
    turned = x.permute((1, 0))
    assert normal(turned.copy_to_device("PYTHON:1")) is turned.contiguous().copy_to_device("PYTHON:1")


def test_a_copy_of_numbers_stays() -> None:
    moved = UOp.iota(6).reshape((2, 3)).permute((1, 0)).copy_to_device("PYTHON:1")
    assert normal(moved) is moved


def test_a_copy_of_consecutive_elements_stays() -> None:
    part = buffer(4, 3).shrink(((1, 3), (0, 3)))
    assert normal(part.copy_to_device("PYTHON:1")) is part.copy_to_device("PYTHON:1")


def test_repeated_elements_are_copied_once() -> None:
    x = buffer(3, 1)
    assert normal(x.expand((3, 9)).copy_to_device("PYTHON:1")) is x.copy_to_device("PYTHON:1").expand((3, 9))


def test_movement_that_a_storing_device_cannot_do_is_done_after_the_copy() -> None:
    x = buffer(2, 3, device="DISK:/f")
    assert normal(x.permute((1, 0)).copy_to_device("PYTHON")) is x.copy_to_device("PYTHON").permute((1, 0))


def test_reshapes_in_a_row_are_one_and_useless_ones_none() -> None:
    x = buffer(2, 3)
    assert normal(x.reshape((6,)).reshape((3, 2))) is x.reshape((3, 2))
    assert normal(x.reshape((6,)).reshape((2, 3))) is x


@pytest.mark.parametrize(
    ("op", "want"), [(Ops.ADD, 0.0), (Ops.MUL, 1.0), (Ops.MAX, float("-inf"))], ids=lambda v: str(v)
)
def test_a_reduction_of_nothing_is_its_identity(op: Ops, want: float) -> None:
    reduced = normal(buffer(2, 0).reduce_axis(op, (1,)))
    assert reduced.shape == (2, 1)
    assert [u.arg for u in reduced.toposort() if u.op is Ops.CONST and u.dtype is dtypes.float32] == [want]


def test_windows_that_vectors_fit_badly_are_copied() -> None:
    model = CostModel(cores=2, runs_loops=True, row_bytes=1 << 20, vector_bytes=64)
    full = (128, 7, 7, 64)
    view = buffer(64, 9, 9).shrink(((0, 64), (1, 8), (1, 8))).permute((1, 2, 0)).reshape((1, 7, 7, 64))
    weight = buffer(128, 64).reshape((128, 1, 1, 64))
    sums = (view.expand(full) * weight.expand(full)).reduce_axis(Ops.ADD, (3,))
    (found,) = normalize(UOp.sink(sums), Devices({"PYTHON": model}, "PYTHON")).src
    assert any(u.op is Ops.CONTIGUOUS for u in found.toposort())
