import pytest

from plugrad.dtype import dtypes
from plugrad.schedule.partial_copies import copied_in_part, slice_before_copy
from plugrad.uop.uop import UOp

COMPUTING = {"PYTHON"}


def buffer(*shape: int, device: str = "PYTHON") -> UOp:
    return UOp.new_buffer(device, shape, dtypes.float32)


def loaded(*shape: int) -> UOp:
    return buffer(*shape, device="DISK:/f").copy_to_device("PYTHON")


def test_a_slice_of_a_copy_is_the_copy_of_a_slice() -> None:
    stored = buffer(6, 4, device="DISK:/f")
    part = stored.copy_to_device("PYTHON").shrink(((2, 4), (0, 4)))
    assert slice_before_copy(part, COMPUTING) is stored.shrink(((2, 4), (0, 4))).copy_to_device("PYTHON")


def test_a_slice_may_be_one_of_another_shape() -> None:
    stored = buffer(24, device="DISK:/f")
    part = stored.copy_to_device("PYTHON").reshape((6, 4)).shrink(((5, 6), (1, 3)))
    want = stored.reshape((6, 4)).shrink(((5, 6), (1, 3))).copy_to_device("PYTHON")
    assert slice_before_copy(part, COMPUTING) is want


@pytest.mark.parametrize(
    "part",
    [
        loaded(6, 4).shrink(((0, 6), (1, 2))),
        loaded(6, 4).permute((1, 0)).shrink(((1, 2), (0, 6))),
        loaded(6).flip((0,)).shrink(((0, 2),)),
        buffer(6).copy_to_device("PYTHON:1").shrink(((0, 2),)),
        buffer(6).shrink(((0, 2),)),
    ],
    ids=["columns", "rows turned", "backwards", "of a device that computes", "no copy"],
)
def test_other_parts_stay(part: UOp) -> None:
    assert slice_before_copy(part, {*COMPUTING, "PYTHON:1"}) is None


def test_a_copy_that_is_used_elsewhere_is_made() -> None:
    x = loaded(6)
    first, last = x.shrink(((0, 2),)), x.shrink(((4, 6),))
    assert copied_in_part(UOp.sink(first + last), COMPUTING) == {x}
    assert copied_in_part(UOp.sink(first + last, x), COMPUTING) == set()
    assert copied_in_part(UOp.sink(first, x + 1), COMPUTING) == set()
    assert copied_in_part(UOp.sink(first, x.flip((0,)).shrink(((0, 2),))), COMPUTING) == set()
