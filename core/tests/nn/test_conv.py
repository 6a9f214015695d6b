"""Tests of plugrad.nn.conv, against torch."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad.errors import ShapeError
from plugrad.nn import Conv2d
from plugrad.nn.state import get_state_dict
from plugrad.tensor import Tensor


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"padding": 1},
        {"stride": 2, "padding": (0, 1)},
        {"dilation": 2},
        {"groups": 2, "bias": False},
    ],
    ids=str,
)
def test_conv2d_computes_what_torch_computes(options: dict[str, Any]) -> None:
    ours, theirs = Conv2d(4, 6, (3, 2), **options), torch.nn.Conv2d(4, 6, (3, 2), **options)
    assert list(get_state_dict(ours)) == list(theirs.state_dict())
    for name, tensor in get_state_dict(ours).items():
        assert tensor.shape == tuple(theirs.state_dict()[name].shape)
        tensor.assign(Tensor(theirs.state_dict()[name].numpy()))
    x = np.random.default_rng(1).normal(size=(2, 4, 7, 6)).astype(np.float32)
    expected = theirs(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(ours(Tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_groups_have_to_divide_the_channels() -> None:
    with pytest.raises(ShapeError, match="Conv2d of 4 to 6 channels does not divide into 3 groups"):
        Conv2d(4, 6, 3, groups=3)
