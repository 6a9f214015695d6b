"""Tests of plugrad.tensor.shape.reorder, against torch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad import Tensor
from plugrad.errors import ArgumentError, ShapeError


@pytest.mark.parametrize("factor", [1, 2, 3])
@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_pixels_are_shuffled_as_by_torch_and_back(factor: int, lead: tuple[int, ...]) -> None:
    x = np.arange(np.prod((*lead, 36, 2, 3))).reshape(*lead, 36, 2, 3).astype(np.int32)
    out = Tensor(x).pixel_shuffle(factor)
    np.testing.assert_array_equal(out.numpy(), F.pixel_shuffle(torch.tensor(x), factor).numpy())
    np.testing.assert_array_equal(out.pixel_unshuffle(factor).numpy(), x)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"pixel_shuffle of shape \(6, 2, 2\) by 2: 2\*2 must divide the 6"):
        Tensor.ones(6, 2, 2).pixel_shuffle(2)
    with pytest.raises(
        ShapeError, match=r"pixel_unshuffle of shape \(1, 4, 3\) by 2: it must divide 4 and 3"
    ):
        Tensor.ones(1, 4, 3).pixel_unshuffle(2)
    with pytest.raises(ShapeError, match=r"pixel_shuffle of shape \(4, 4\)"):
        Tensor.ones(4, 4).pixel_shuffle(2)
    with pytest.raises(ArgumentError, match="pixel_shuffle: a factor of 0"):
        Tensor.ones(1, 4, 4).pixel_shuffle(0)
