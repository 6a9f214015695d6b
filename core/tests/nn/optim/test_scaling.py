"""Tests of plugrad.nn.optim.scaling: small gradients survive, steps that overflow are skipped."""

from typing import Any

import pytest

from plugrad.errors import ArgumentError, GradientError, StateError
from plugrad.jit import jit
from plugrad.nn.optim import SGD, Adam, GradScaler
from plugrad.tensor import Tensor


def test_gradients_that_half_would_lose_arrive() -> None:
    w = Tensor([1.0])
    optimizer, scaler = SGD([w], lr=2.0**30), GradScaler(init_scale=2.0**15)
    loss = (w.half() * Tensor([2.0**-14], dtype="float16")) * Tensor([2.0**-14], dtype="float16")
    scaler.scale(loss.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [1.0 - 4.0]


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
def test_overflow_skips_steps_and_halves_the_scale(wrap: Any) -> None:
    w = Tensor([0.0, 0.0])
    optimizer, scaler = Adam([w], lr=0.5), GradScaler(init_scale=8.0, growth_interval=2)

    @wrap
    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = (w * x).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss

    scales: list[float] = []
    for x in (1.0, 1.0, float("inf"), 1.0, float("nan"), 1.0, 1.0, 1.0):
        before = w.tolist()
        step(Tensor([x, 1.0]))
        scales.append(scaler.get_scale())
        assert (w.tolist() == before) is (x != 1.0)
    assert scales == [8.0, 16.0, 8.0, 8.0, 4.0, 4.0, 8.0, 8.0]
    assert [round(v, 4) for v in w.tolist()] == [-3.0, -3.0]


def test_unscaled_gradients_can_be_looked_at_before_the_step() -> None:
    w = Tensor([1.0])
    optimizer, scaler = SGD([w], lr=1.0), GradScaler()
    scaler.scale((w * 3).sum()).backward()
    scaler.unscale_(optimizer)
    assert w.grad is not None
    assert w.grad.tolist() == [3.0]
    with pytest.raises(GradientError, match="unscaled before"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [-2.0]


def test_a_disabled_scaler_only_steps() -> None:
    w = Tensor([1.0])
    optimizer, scaler = SGD([w], lr=1.0), GradScaler(enabled=False)
    scaler.scale((w * 3).sum()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [-2.0]
    assert scaler.get_scale() == 1.0


def test_the_state_is_that_of_another_scaler() -> None:
    scaler = GradScaler(init_scale=2.0)
    scaler.load_state_dict(GradScaler(init_scale=64.0).state_dict())
    assert scaler.get_scale() == 64.0
    with pytest.raises(StateError, match="the state does not fit this GradScaler"):
        scaler.load_state_dict({})


def test_wrong_uses_are_refused() -> None:
    with pytest.raises(ArgumentError, match="GradScaler: init_scale='cuda'"):
        GradScaler("cuda")
    for options, what in (
        ({"init_scale": 0}, "init_scale=0"),
        ({"growth_factor": 1.0}, "growth_factor=1.0"),
        ({"backoff_factor": 1.0}, "backoff_factor=1.0"),
        ({"growth_interval": 0}, "growth_interval=0"),
    ):
        with pytest.raises(ArgumentError, match=f"GradScaler: {what}"):
            GradScaler(**options)  # pyright: ignore[reportArgumentType]
    with pytest.raises(GradientError, match="without a step"):
        GradScaler().update()
    with pytest.raises(GradientError, match="no parameter has a gradient"):
        GradScaler().unscale_(SGD([Tensor([1.0])]))
    with pytest.raises(GradientError, match="holds no floats"):
        GradScaler().scale(Tensor([1]))
