import pytest

from plugrad.dtype import dtypes
from plugrad.schedule.partial_load import loaded_parts
from plugrad.uop.uop import UOp

COMPUTING = {"PYTHON", "PYTHON:1"}


def buffer(*shape: int, device: str = "PYTHON") -> UOp:
    return UOp.new_buffer(device, shape, dtypes.float32)


def stored(*shape: int) -> UOp:
    return buffer(*shape, device="DISK:/f")


def loaded(*shape: int) -> UOp:
    return stored(*shape).copy_to_device("PYTHON")


def test_a_slice_of_a_copy_is_the_copy_of_a_slice() -> None:
    x = stored(6, 4)
    part = x.copy_to_device("PYTHON").shrink(((2, 4), (0, 4)))
    want = x.shrink(((2, 4), (0, 4))).copy_to_device("PYTHON")
    assert loaded_parts(UOp.sink(part), COMPUTING) == {part: want}
    assert loaded_parts(UOp.sink(part.contiguous()), COMPUTING) == {part.contiguous(): want}


def test_a_slice_may_be_one_of_another_shape() -> None:
    x = stored(24)
    part = x.copy_to_device("PYTHON").reshape((6, 4)).shrink(((5, 6), (1, 3))).reshape((2,))
    want = x.reshape((6, 4)).shrink(((5, 6), (1, 3))).reshape((2,)).copy_to_device("PYTHON")
    assert loaded_parts(UOp.sink(part), COMPUTING) == {part: want}


@pytest.mark.parametrize(
    "part",
    [
        loaded(6, 4),
        loaded(6, 4).reshape((24,)),
        loaded(6, 4).shrink(((0, 6), (1, 2))),
        loaded(6, 4).permute((1, 0)).shrink(((1, 2), (0, 6))),
        loaded(6).flip((0,)).shrink(((0, 2),)),
        loaded(6).shrink(((0, 2),)) + 1,
        buffer(6).copy_to_device("PYTHON:1").shrink(((0, 2),)),
        buffer(6).copy_to_device("DISK:/f").copy_to_device("PYTHON").shrink(((0, 2),)),
        buffer(6).shrink(((0, 2),)),
    ],
    ids=[
        "all",
        "all of another shape",
        "columns",
        "rows turned",
        "backwards",
        "computed",
        "of a device that computes",
        "of what is not stored yet",
        "no copy",
    ],
)
def test_nothing_else_is_loaded_in_part(part: UOp) -> None:
    assert loaded_parts(UOp.sink(part), COMPUTING) == {}


def test_what_is_used_elsewhere_is_loaded_as_a_whole() -> None:
    x = loaded(6)
    first, last = x.shrink(((0, 2),)), x.shrink(((4, 6),))
    assert loaded_parts(UOp.sink(first, last), COMPUTING).keys() == {first, last}
    assert loaded_parts(UOp.sink(first, x), COMPUTING) == {}
    assert loaded_parts(UOp.sink(first, last + 1), COMPUTING) == {}
    assert loaded_parts(UOp.sink(first, loaded(6) + 1), COMPUTING).keys() == {first}
