"""Tests of plugrad.nn.layers.norm, against torch."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad import nn
from plugrad.errors import ShapeError
from plugrad.nn.state import get_state_dict
from plugrad.tensor import Tensor

RNG = np.random.default_rng(1)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize(
    "options", [{}, {"affine": True, "track_running_stats": True, "momentum": 0.4}], ids=str
)
def test_layers_train_and_evaluate_as_torchs(axes: int, options: dict[str, Any]) -> None:
    ours, theirs = (getattr(module, f"InstanceNorm{axes}d")(3, **options) for module in (nn, torch.nn))
    assert list(get_state_dict(ours)) == list(theirs.state_dict())
    for training in (True, True, False):
        x = RNG.normal(2, 3, size=(4, 3, *[3] * axes)).astype(np.float32)
        theirs.train(training)
        with Tensor.train(training):
            out = ours(Tensor(x)).numpy()
        np.testing.assert_allclose(out, theirs(torch.tensor(x)).detach().numpy(), rtol=1e-4, atol=1e-5)
        for name, tensor in get_state_dict(ours).items():
            np.testing.assert_allclose(
                tensor.numpy(), theirs.state_dict()[name].numpy(), rtol=1e-4, atol=1e-5
            )


def test_one_example_needs_no_axis_of_a_batch() -> None:
    x = Tensor(RNG.normal(size=(3, 4, 5)).astype(np.float32))
    layer = nn.InstanceNorm2d(3)
    np.testing.assert_array_equal(layer(x).numpy(), layer(x.unsqueeze(0)).numpy()[0])


def test_other_shapes_are_refused() -> None:
    with pytest.raises(
        ShapeError, match=r"InstanceNorm2d of 3 channels got shape \(3, 4\); it takes \(N, 3, H, W\)"
    ):
        nn.InstanceNorm2d(3)(Tensor.ones(3, 4))
    with pytest.raises(
        ShapeError, match=r"InstanceNorm1d of 3 channels got shape \(2, 4\); it takes \(N, 3, L\)"
    ):
        nn.InstanceNorm1d(3)(Tensor.ones(2, 4))
