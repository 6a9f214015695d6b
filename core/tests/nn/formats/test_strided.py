"""Strides pick the elements that torch picks."""

import pytest
import torch

from plugrad.nn.formats.strided import extent, from_strides
from plugrad.tensor import Tensor


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((), ()),
        ((4,), (1,)),
        ((2, 3, 4), (12, 4, 1)),
        ((4, 2, 3), (1, 12, 4)),
        ((3, 4, 2), (4, 1, 12)),
        ((3, 2), (10, 3)),
        ((2, 3), (1, 2)),
        ((3,), (5,)),
        ((2, 1, 3), (7, 99, 2)),
        ((2, 3), (0, 1)),
        ((2, 3), (0, 0)),
        ((3, 2, 4), (8, 0, 2)),
        ((3, 4), (3, 2)),
        ((3, 3), (1, 1)),
        ((2, 2, 2), (5, 3, 1)),
        ((0, 3), (3, 1)),
        ((1, 1), (0, 5)),
    ],
)
def test_strides_pick_what_they_pick_in_torch(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    count = extent(shape, strides)
    memory = torch.arange(count)
    expected = torch.as_strided(memory, shape, strides)
    found = from_strides(Tensor(memory.tolist(), dtype="int64"), shape, strides)
    assert found.shape == shape
    assert found.tolist() == expected.tolist()
