"""Tests of plugrad.tensor.linalg.recurrence."""

import numpy as np
import pytest

from plugrad import Tensor, events
from plugrad.tensor.linalg.recurrence import joined_steps, steps_of


@pytest.mark.parametrize("size", [1, 16, 17, 300])
@pytest.mark.parametrize("axis", [0, 1])
def test_steps_are_slices_and_join_again(size: int, axis: int) -> None:
    x = np.arange(size * 2, dtype=np.int32).reshape((size, 2) if axis == 0 else (2, size))
    steps = steps_of(Tensor(x), axis)
    assert len(steps) == size
    np.testing.assert_array_equal(steps[-1].numpy(), np.take(x, -1, axis))
    np.testing.assert_array_equal(joined_steps(steps, axis).numpy(), x)


def test_many_steps_take_few_kernels() -> None:
    names: set[str] = set()
    x = Tensor(np.arange(400, dtype=np.int32).reshape(200, 2)).realize()
    with events.subscribe(events.KernelEvent, lambda event: names.add(event.name)):
        out = joined_steps([(step + 1).contiguous() for step in steps_of(x)]).realize()
    assert out[199].tolist() == [399, 400]
    assert len(names) < 60
