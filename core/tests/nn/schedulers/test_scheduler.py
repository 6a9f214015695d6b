"""Tests of schedules beside torch's, step by step."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.optim import lr_scheduler as theirs

from plugrad.jit import jit
from plugrad.nn import schedulers
from plugrad.nn.optim import SGD
from plugrad.nn.schedulers import (
    CosineAnnealingWarmRestarts,
    LinearLR,
    MultiStepLR,
    OneCycleLR,
    SequentialLR,
    StepLR,
)
from plugrad.nn.state import safe_load, safe_save
from plugrad.tensor import Tensor

CASES: list[tuple[str, dict[str, Any]]] = [
    ("StepLR", {"step_size": 3, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [2, 5, 5, 9], "gamma": 0.5}),
    ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 2, "T_mult": 2}),
    ("LinearLR", {}),
    ("LinearLR", {"start_factor": 1.0, "end_factor": 0.0, "total_iters": 7}),
    ("ConstantLR", {"factor": 0.25, "total_iters": 3}),
    ("ExponentialLR", {"gamma": 0.7}),
    ("PolynomialLR", {"total_iters": 7, "power": 2.0}),
    ("PolynomialLR", {}),
    ("LambdaLR", {"lr_lambda": lambda step: 1 / (1 + step)}),
    ("LambdaLR", {"lr_lambda": [lambda step: 0.5**step, lambda step: 1.0]}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 13, "cycle_momentum": False}),
    ("OneCycleLR", {"max_lr": 0.5, "epochs": 5, "steps_per_epoch": 3, "cycle_momentum": False}),
    ("OneCycleLR", {"max_lr": [0.5, 1.5], "total_steps": 20, "pct_start": 0.4, "cycle_momentum": False}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 13, "anneal_strategy": "linear", "cycle_momentum": False}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 20, "three_phase": True, "cycle_momentum": False}),
]


def optimizers() -> tuple[SGD, Any]:
    groups = [{"lr": 0.1}, {"lr": 0.3}]
    mine = SGD([{**group, "params": [Tensor([1.0])]} for group in groups])
    return mine, torch.optim.SGD([{**group, "params": [torch.ones(1)]} for group in groups])


def rates(optimizer: Any) -> list[float]:
    return [float(group["lr"]) for group in optimizer.param_groups]


@pytest.mark.parametrize(
    ("name", "options"), CASES, ids=[f"{name}-{number}" for number, (name, _) in enumerate(CASES)]
)
@pytest.mark.filterwarnings("ignore:Detected call of")
def test_rates_are_those_of_torch(name: str, options: dict[str, Any]) -> None:
    mine, other = optimizers()
    right = getattr(theirs, name)(other, **options)
    left = getattr(schedulers, name)(mine, **options)
    for _ in range(12):
        np.testing.assert_allclose(rates(mine), rates(other), rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(left.get_last_lr(), right.get_last_lr(), rtol=1e-9, atol=1e-12)
        other.step()
        left.step()
        right.step()


def test_a_jitted_step_follows_the_schedule() -> None:
    w = Tensor([0.0])
    optimizer = SGD([w], lr=1.0)
    schedule = MultiStepLR(optimizer, [3, 5], gamma=0.5)

    @jit
    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    seen: list[float] = []
    for _ in range(7):
        before = w.item()
        step(Tensor([1.0]))
        seen.append(before - w.item())
        schedule.step()
    assert seen == [1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25]
    assert step.captures == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda o: StepLR(o, 2, 0.5),
        lambda o: OneCycleLR(o, 1.0, 20),
        lambda o: CosineAnnealingWarmRestarts(o, 3),
        lambda o: SequentialLR(o, [LinearLR(o), StepLR(o, 1)], [5]),
    ],
)
def test_schedules_go_on_from_a_saved_state(make: Any, tmp_path: Any) -> None:
    first = make(optimizers()[0])
    for _ in range(4):
        first.step()
    safe_save(first.state_dict(), tmp_path / "schedule.safetensors")
    optimizer, _ = optimizers()
    second = make(optimizer)
    second.load_state_dict(safe_load(tmp_path / "schedule.safetensors"))
    assert second.get_last_lr() == first.get_last_lr()
    np.testing.assert_allclose(rates(optimizer), first.get_last_lr(), rtol=1e-6)


def test_a_schedule_sets_the_rate_again_that_a_state_changed() -> None:
    optimizer, _ = optimizers()
    schedule = StepLR(optimizer, 10)
    other, _ = optimizers()
    other.param_groups[0].lr = 0.5
    optimizer.load_state_dict(other.state_dict())
    np.testing.assert_allclose(rates(optimizer), [0.5, 0.3], rtol=1e-6)
    schedule.step()
    np.testing.assert_allclose(rates(optimizer), [0.1, 0.3], rtol=1e-6)
