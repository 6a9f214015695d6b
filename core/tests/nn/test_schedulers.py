"""Tests of plugrad.nn.schedulers beside torch's, step by step."""

import doctest
from typing import Any

import numpy as np
import pytest
import torch
from torch.optim import lr_scheduler as theirs

from plugrad.errors import ArgumentError, StateError
from plugrad.jit import jit
from plugrad.nn import optim, schedulers
from plugrad.nn.optim import SGD
from plugrad.nn.schedulers import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    LambdaLR,
    LinearLR,
    MultiStepLR,
    OneCycleLR,
    PolynomialLR,
    ReduceLROnPlateau,
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


def test_a_cycle_ends() -> None:
    schedule = OneCycleLR(optimizers()[0], 1.0, total_steps=2)
    schedule.step()
    with pytest.raises(ArgumentError, match="step 2 of a cycle of 2"):
        schedule.step()


CYCLES: list[dict[str, Any]] = [
    {},
    {"three_phase": True, "pct_start": 0.4},
    {"anneal_strategy": "linear", "base_momentum": 0.5, "max_momentum": 0.75},
]


@pytest.mark.parametrize("options", CYCLES, ids=str)
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("SGD", {"momentum": 0.9}),
        ("SGD", {"momentum": 0.9, "nesterov": True}),
        ("SGD", {}),
        ("Adam", {}),
        ("AdamW", {"betas": (0.5, 0.99)}),
        ("RMSprop", {}),
    ],
    ids=str,
)
@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jitted"])
def test_a_cycle_moves_the_momentum_as_torchs_does(
    name: str, settings: dict[str, Any], options: dict[str, Any], jitted: bool
) -> None:
    w, other = Tensor([1.0, -2.0, 0.5]), torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
    mine = getattr(optim, name)([w], lr=0.1, **settings)
    right = getattr(torch.optim, name)([other], lr=0.1, **settings)
    schedule = OneCycleLR(mine, 0.05, 12, **options)
    expected = theirs.OneCycleLR(right, 0.05, 12, **options)

    def step() -> None:
        mine.zero_grad()
        (w * w).sum().backward()
        mine.step()

    run = jit(step) if jitted else step
    for _ in range(11):
        group = right.param_groups[0]
        momentum = group["betas"][0] if "betas" in group else group["momentum"]
        np.testing.assert_allclose(schedule.momenta(schedule._step), [momentum], rtol=1e-9)
        run()
        right.zero_grad()
        (other * other).sum().backward()
        right.step()
        np.testing.assert_allclose(w.numpy(), other.detach().numpy(), rtol=2e-5, atol=1e-6)
        schedule.step()
        expected.step()


def test_only_momentum_can_be_cycled() -> None:
    with pytest.raises(ArgumentError, match="Adagrad has no momentum that could vary"):
        OneCycleLR(optim.Adagrad([Tensor([1.0])]), 1.0, 5)
    OneCycleLR(optim.Adagrad([Tensor([1.0])]), 1.0, 5, cycle_momentum=False).step()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda o: StepLR(o, 0), "step_size=0"),
        (lambda o: CosineAnnealingLR(o, 0), "T_max=0"),
        (lambda o: CosineAnnealingWarmRestarts(o, 0), "T_0=0"),
        (lambda o: CosineAnnealingWarmRestarts(o, 1, 0), "T_mult=0"),
        (lambda o: ConstantLR(o, factor=2.0), "factor=2.0"),
        (lambda o: ConstantLR(o, total_iters=0), "total_iters=0"),
        (lambda o: PolynomialLR(o, total_iters=0), "total_iters=0"),
        (lambda o: LambdaLR(o, [float, float, float]), "3 functions, for 2 groups"),
        (lambda o: OneCycleLR(o, 1.0, epochs=3), "no total_steps"),
        (lambda o: LinearLR(o, start_factor=0.0), "start_factor=0.0"),
        (lambda o: LinearLR(o, end_factor=2.0), "end_factor=2.0"),
        (lambda o: LinearLR(o, total_iters=0), "total_iters=0"),
        (lambda o: OneCycleLR(o, 1.0, 0), "total_steps=0"),
        (lambda o: OneCycleLR(o, 1.0, 5, pct_start=2), "pct_start=2"),
        (lambda o: OneCycleLR(o, [1.0], 5), "1 rates in max_lr, for 2 groups"),
        (lambda o: OneCycleLR(o, 1.0, 5, anneal_strategy="step"), "anneal_strategy='step'"),
        (lambda o: OneCycleLR(o, 1.0, 5, max_momentum=[0.9]), "1 numbers in max_momentum, for 2 groups"),
        (lambda o: OneCycleLR(o, 1.0, 5, max_momentum=1.0), "momentum from 0.85 to 1.0"),
        (lambda o: SequentialLR(o, [StepLR(o, 1)], [1]), "1 milestones for 1 schedules"),
        (lambda o: ReduceLROnPlateau(o, "best"), "mode='best'"),
        (lambda o: ReduceLROnPlateau(o, factor=1.0), "factor=1.0"),
        (lambda o: ReduceLROnPlateau(o, min_lr=[0.0]), "1 rates in min_lr, for 2 groups"),
    ],
)
def test_wrong_settings_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=f"a schedule with {message}"):
        make(optimizers()[0])


def test_examples_show_what_happens() -> None:
    names = {"Tensor": Tensor, **{each: getattr(optim, each) for each in optim.__all__}}
    assert doctest.testmod(schedulers, extraglobs=names).failed == 0
