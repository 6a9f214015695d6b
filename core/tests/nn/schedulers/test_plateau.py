"""Tests of plugrad.nn.schedulers.plateau beside torch."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.optim import lr_scheduler as theirs

from plugrad.errors import StateError
from plugrad.nn.optim import SGD
from plugrad.nn.schedulers import ReduceLROnPlateau
from plugrad.nn.state import safe_load, safe_save
from plugrad.tensor import Tensor


def optimizers() -> tuple[SGD, Any]:
    groups = [{"lr": 0.1}, {"lr": 0.3}]
    mine = SGD([{**group, "params": [Tensor([1.0])]} for group in groups])
    return mine, torch.optim.SGD([{**group, "params": [torch.ones(1)]} for group in groups])


def rates(optimizer: Any) -> list[float]:
    return [float(group["lr"]) for group in optimizer.param_groups]


@pytest.mark.parametrize(
    "options",
    [
        {"patience": 1, "factor": 0.5},
        {"patience": 0, "mode": "max", "threshold": 0.1, "threshold_mode": "abs", "factor": 0.5},
        {"patience": 1, "cooldown": 2, "min_lr": [0.05, 0.2], "factor": 0.5},
        {"patience": 0, "threshold": 0.2, "factor": 0.9, "mode": "max"},
    ],
    ids=str,
)
def test_plateaus_are_those_of_torch(options: dict[str, Any]) -> None:
    mine, other = optimizers()
    left, right = ReduceLROnPlateau(mine, **options), theirs.ReduceLROnPlateau(other, **options)
    measures = [5.0, 4.0, 4.0, 3.9999, float("nan"), 4.1, 3.0, 3.0, 3.05, 3.2, 2.0, 2.5, 2.5, 2.5, 2.5, 2.5]
    for measure in measures:
        left.step(Tensor(measure))
        right.step(measure)
        np.testing.assert_allclose(rates(mine), rates(other), rtol=1e-5)


def test_a_plateau_goes_on_from_a_saved_state(tmp_path: Any) -> None:
    options: Any = {"patience": 1, "cooldown": 1, "factor": 0.5}
    first = ReduceLROnPlateau(optimizers()[0], **options)
    for loss in (3.0, 2.0, 2.0, 2.0, 2.0):
        first.step(loss)
    safe_save(first.state_dict(), tmp_path / "schedule.safetensors")
    second = ReduceLROnPlateau(optimizers()[0], **options)
    second.load_state_dict(safe_load(tmp_path / "schedule.safetensors"))
    for _ in range(4):
        first.step(2.0)
        second.step(2.0)
        assert second.get_last_lr() == first.get_last_lr()
    with pytest.raises(StateError, match="does not fit this ReduceLROnPlateau"):
        second.load_state_dict({})
