import itertools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrad.dtype import dtypes
from plugrad.schedule.movement import ALWAYS, ZERO, flatten, source_indices, strides_of, unflatten
from plugrad.uop.ops import Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.random_graphs import random_movement
from plugrad_conformance.testing.tensor_oracle import value_of


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.int32)


def ranges_of(shape: Any) -> tuple[UOp, ...]:
    return tuple(UOp.range(size, axis) if size != 1 else ZERO for axis, size in enumerate(shape))


def number(u: UOp, values: dict[UOp, UOp]) -> Any:
    bound = u.substitute(values)
    assert bound.vmin == bound.vmax, f"{bound} is no number"
    return bound.vmin


def read_through(view: UOp) -> list[Any]:
    """Return, element by element, the position in the buffer below `view`, or None for a zero of padding."""
    ranges = ranges_of(view.shape)
    idxs, gate, below = ranges, ALWAYS, view
    while below.op is not Ops.BUFFER:
        idxs, inside = source_indices(below, idxs)
        gate = gate & inside
        below = below.src[0]
    position = flatten(idxs, below.shape)
    out: list[Any] = []
    for place in itertools.product(*(range(size) for size in view.shape)):
        values = {
            r: UOp.const(dtypes.index, at) for r, at in zip(ranges, place, strict=True) if r is not ZERO
        }
        out.append(number(position, values) if number(gate, values) else None)
    return out


def numpy_reads(view: UOp) -> list[Any]:
    below = view
    while below.op is not Ops.BUFFER:
        below = below.src[0]
    places = np.arange(1, 1 + int(np.prod(below.shape)), dtype=np.int32).reshape(below.shape)
    return [None if at == 0 else at - 1 for at in value_of(view, {below: places}).reshape(-1)]


@pytest.mark.parametrize(
    "view",
    [
        buffer(2, 3).reshape((3, 2)),
        buffer(2, 3).reshape((1, 6, 1)),
        buffer(4, 6).reshape((2, 2, 3, 2)),
        buffer(6, 4).reshape((4, 6)),
        buffer(2, 3).permute((1, 0)),
        buffer(2, 3, 4).permute((2, 0, 1)),
        buffer(2, 1).expand((2, 3)),
        buffer(2, 3).flip((0, 1)),
        buffer(5).shrink(((1, 4),)),
        buffer(2, 3).pad(((1, 0), (0, 2))),
        buffer(3).pad(((1, 1),)).flip((0,)).pad(((0, 1),)),
        buffer(5).pad(((0, 1),)).reshape((3, 2)).shrink(((0, 3), (0, 1))),
        buffer(2, 3).permute((1, 0)).reshape((6,)).shrink(((1, 5),)).reshape((2, 2)),
        buffer(),
        buffer(1).reshape(()),
    ],
    ids=lambda view: f"{view.op.name}-{view.shape}",
)
def test_elements_are_found_where_numpy_finds_them(view: UOp) -> None:
    assert read_through(view) == numpy_reads(view)


@given(st.integers(0, 10_000))
def test_random_chains_of_movements_are_those_of_numpy(seed: int) -> None:
    rng = random.Random(seed)
    view = buffer(*(rng.randint(1, 4) for _ in range(rng.randint(0, 3))))
    for _ in range(rng.randint(1, 5)):
        moved = random_movement(rng, view)
        view = moved if np.prod(moved.shape) <= 200 else view
    assert read_through(view) == numpy_reads(view)


def test_axes_that_a_reshape_leaves_alone_keep_their_index() -> None:
    i, j, k = (UOp.range(size, axis) for axis, size in enumerate((4, 2, 3)))
    assert source_indices(buffer(4, 6).reshape((4, 2, 3)), (i, j, k))[0][0] is i


def test_merging_and_splitting_an_axis_gives_its_index_back() -> None:
    i, j = UOp.range(4, 0), UOp.range(6, 1)
    merged = flatten((i, j), (4, 6))
    assert unflatten(merged, (4, 6)) == (i, j)


def test_strides_are_those_of_row_major_order() -> None:
    assert strides_of((2, 3, 4)) == (12, 4, 1)
    n = UOp.variable("n", 1, 8)
    assert strides_of((2, n)) == (1 * n, 1)


def test_padding_that_nobody_reads_leaves_no_condition() -> None:
    view = buffer(6).pad(((2, 2),)).shrink(((2, 8),))
    (idx,), _ = source_indices(view, (UOp.range(6, 0),))
    _, inside = source_indices(view.src[0], (idx,))
    assert inside is ALWAYS


def test_a_reshape_mixes_only_those_symbolic_axes_that_change() -> None:
    n = UOp.variable("n", 1, 4)
    source = buffer(4, 6, 4).shrink([(0, n), (0, 6), (0, n)])
    view = source.reshape((n, 1, 2, 3, n))
    ranges = ranges_of(view.shape)
    (first, middle, last), gate = source_indices(view, ranges)
    assert (first, last) == (ranges[0], ranges[4])
    assert middle is simplify(ranges[2] * 3 + ranges[3])
    assert gate is ALWAYS
    back = view.reshape(source.shape)
    ranges = ranges_of(back.shape)
    found, _ = source_indices(back, ranges)
    assert found == (ranges[0], ZERO, simplify(ranges[1] // 3), simplify(ranges[1] % 3), ranges[2])


def test_a_reshape_joins_symbolic_axes() -> None:
    n = UOp.variable("n", 1, 4)
    view = buffer(4, 4, 3).shrink([(0, n), (0, n), (0, 3)]).reshape((n * n, 3))
    for size, row in ((2, 3), (3, 7), (1, 0)):
        indices, _ = source_indices(view, (UOp.const(dtypes.index, row), UOp.const(dtypes.index, 2)))
        values = {n: UOp.const(dtypes.index, size)}
        assert [number(simplify(i.substitute(values)), {}) for i in indices] == [row // size, row % size, 2]
