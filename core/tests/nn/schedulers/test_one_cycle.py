"""Tests of plugrad.nn.schedulers.one_cycle beside torch."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.optim import lr_scheduler as theirs

from plugrad.errors import ArgumentError
from plugrad.jit import jit
from plugrad.nn import optim
from plugrad.nn.optim import SGD
from plugrad.nn.schedulers import OneCycleLR
from plugrad.tensor import Tensor


def test_a_cycle_ends() -> None:
    schedule = OneCycleLR(SGD([Tensor([1.0])]), 1.0, total_steps=2)
    schedule.step()
    schedule.step()
    with pytest.raises(ArgumentError, match="step 3 of a cycle of 2"):
        schedule.step()


@pytest.mark.parametrize("options", [{}, {"three_phase": True}, {"anneal_strategy": "linear"}], ids=str)
def test_the_step_after_the_last_batch_keeps_the_last_rate_and_momentum(options: dict[str, Any]) -> None:
    schedule = OneCycleLR(SGD([Tensor([1.0])], momentum=0.9), 1.0, total_steps=5, **options)
    for _ in range(5):
        schedule.step()
    assert schedule.rates(5) == schedule.rates(4)
    assert schedule.momenta(5) == schedule.momenta(4)


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
