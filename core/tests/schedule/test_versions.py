from plugrad.dtype import dtypes
from plugrad.schedule.versions import (
    Descent,
    memory_of,
    owner_of,
    owners,
    part_of,
    slice_of,
)
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


def test_consecutive_elements_are_a_slice() -> None:
    x = buffer(4, 6)
    assert slice_of(x) == (x, 0)
    assert slice_of(x.reshape((24,))) == (x, 0)
    assert slice_of(x.shrink(((1, 3), (0, 6)))) == (x, 6)
    assert slice_of(x.shrink(((1, 2), (2, 4)))) == (x, 8)
    assert slice_of(x.flip(()).reshape((2, 12)).shrink(((1, 2), (3, 12)))) == (x, 15)


def test_other_elements_are_no_slice() -> None:
    x = buffer(4, 6)
    views = [
        x.permute((1, 0)),
        x.flip((0,)),
        x.shrink(((0, 2), (0, 3))),
        x.pad(((1, 0), (0, 0))),
        x.reshape((24, 1)).expand((24, 2)),
    ]
    assert [slice_of(view) for view in views] == [None] * 5
    assert slice_of(x + 1) is None


def test_a_version_shows_the_memory_it_was_assigned_to() -> None:
    x = buffer(4)
    part = x.shrink(((1, 3),))
    changed = part.assign(part + 1)
    whole = x.after(changed)
    assert memory_of(whole.reshape((2, 2))) is x
    assert slice_of(changed) == (x, 1)


def test_the_owner_is_found_over_each_version_once() -> None:
    x = version = buffer(4)
    for _ in range(2000):
        version = version.after(version.shrink(((0, 1),)).assign(version.shrink(((1, 2),))))
    steps: list[UOp] = []
    descent = Descent(lambda u: steps.append(u) or u.op is not Ops.BUFFER)  # type: ignore[func-returns-value]
    below = version
    while below.op is not Ops.BUFFER:
        assert descent(below) is x
        below = below.src[0]
    assert len(steps) == 2001
    assert owners()(version.reshape((2, 2))) is memory_of(version) is x


def test_a_part_is_a_shrunk_row() -> None:
    x = buffer(4, 6)
    assert part_of(x, 0, 24) is x
    part = part_of(x, 6, 12)
    assert part.rtag(None).src[1:] == x.reshape((24,)).shrink(((6, 18),)).src[1:]
    assert owner_of(part) is x is owner_of(x)
