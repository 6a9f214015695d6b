"""Tests of plugrad.nn.schedulers.SequentialLR beside torch."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.optim import lr_scheduler as theirs

from plugrad.nn.optim import SGD
from plugrad.nn.schedulers import CosineAnnealingLR, LinearLR, SequentialLR
from plugrad.tensor import Tensor


def optimizers() -> tuple[SGD, Any]:
    groups = [{"lr": 0.1}, {"lr": 0.3}]
    mine = SGD([{**group, "params": [Tensor([1.0])]} for group in groups])
    return mine, torch.optim.SGD([{**group, "params": [torch.ones(1)]} for group in groups])


def rates(optimizer: Any) -> list[float]:
    return [float(group["lr"]) for group in optimizer.param_groups]


@pytest.mark.filterwarnings("ignore:Detected call of", "ignore:The epoch parameter")
def test_a_warm_up_before_a_cosine_is_torchs() -> None:
    mine, other = optimizers()
    left = SequentialLR(mine, [LinearLR(mine, 0.1, total_iters=4), CosineAnnealingLR(mine, 8)], [4])
    right = theirs.SequentialLR(
        other, [theirs.LinearLR(other, 0.1, total_iters=4), theirs.CosineAnnealingLR(other, 8)], [4]
    )
    for _ in range(12):
        np.testing.assert_allclose(rates(mine), rates(other), rtol=1e-5, atol=1e-8)
        other.step()
        left.step()
        right.step()
