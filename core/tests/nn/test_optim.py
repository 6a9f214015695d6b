"""Tests of plugrad.nn.optim: the path of parameters, step by step, beside torch's."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad import events
from plugrad.errors import ArgumentError, DtypeError, GradientError
from plugrad.nn.optim import SGD, Adam, AdamW
from plugrad.tensor import Tensor

CASES: list[tuple[Any, Any, dict[str, Any]]] = [
    (SGD, torch.optim.SGD, {}),
    (SGD, torch.optim.SGD, {"momentum": 0.9}),
    (SGD, torch.optim.SGD, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    (Adam, torch.optim.Adam, {}),
    (Adam, torch.optim.Adam, {"betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    (AdamW, torch.optim.AdamW, {}),
    (AdamW, torch.optim.AdamW, {"weight_decay": 0.5}),
]


def losses(w: Any, b: Any, x: Any, y: Any) -> Any:
    error = x @ w + b - y
    return (error * error).mean()


@pytest.mark.parametrize(("ours", "theirs", "options"), CASES, ids=str)
def test_parameters_take_the_same_steps_as_torchs(ours: Any, theirs: Any, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    start = rng.normal(size=(3, 2)).astype(np.float32), rng.normal(size=2).astype(np.float32)
    x, y = rng.normal(size=(5, 3)).astype(np.float32), rng.normal(size=(5, 2)).astype(np.float32)
    mine = [Tensor(a) for a in start]
    other = [torch.tensor(a, requires_grad=True) for a in start]
    ours, theirs = ours(mine, lr=0.05, **options), theirs(other, lr=0.05, **options)
    for step in range(6):
        if step == 3:
            ours.lr = 0.01
            theirs.param_groups[0]["lr"] = 0.01
        for optimizer in (ours, theirs):
            optimizer.zero_grad()
        losses(*mine, Tensor(x), Tensor(y)).backward()
        losses(*other, torch.tensor(x), torch.tensor(y)).backward()
        ours.step()
        theirs.step()
        for left, right in zip(mine, other, strict=True):
            np.testing.assert_allclose(left.numpy(), right.detach().numpy(), rtol=1e-4, atol=1e-6)


def test_gradients_add_up_until_zero_grad() -> None:
    w = Tensor([1.0], requires_grad=True)
    optimizer = SGD([w], lr=1.0)
    (w * 2).sum().backward()
    (w * 3).sum().backward()
    optimizer.step()
    assert w.tolist() == [-4.0]
    optimizer.zero_grad()
    assert w.grad is None


def test_a_parameter_without_gradient_stays() -> None:
    w, unused = Tensor([1.0]), Tensor([5.0])
    optimizer = Adam([w, unused, w], lr=0.5)
    (w * 2).sum().backward()
    optimizer.step()
    assert len(optimizer.params) == 2
    assert unused.tolist() == [5.0]


def test_narrow_and_wide_parameters_keep_their_dtype() -> None:
    for dtype in ("float16", "float64"):
        w = Tensor([1.0, 2.0], dtype=dtype)
        optimizer = Adam([w], lr=0.5)
        (w * w).sum().backward()
        optimizer.step()
        assert w.dtype.name == dtype
        np.testing.assert_allclose(w.numpy(), [0.5, 1.5], rtol=1e-3)


def test_a_step_without_gradients_is_an_error() -> None:
    with pytest.raises(GradientError, match=r"no parameter has a gradient. Call loss.backward\(\)"):
        SGD([Tensor([1.0])]).step()


def test_nothing_to_train_is_an_error() -> None:
    with pytest.raises(GradientError, match="got no parameters"):
        SGD([])


def test_integers_are_not_trained() -> None:
    with pytest.raises(DtypeError, match="cannot train a tensor of int32"):
        SGD([Tensor([1])])


def test_changing_the_learning_rate_compiles_nothing_new() -> None:
    optimizer = SGD([Tensor([1.0])], lr=0.5)
    optimizer.lr = 0.25
    names: list[str] = []
    with events.subscribe(events.CompileEvent, lambda event: names.append(event.name)):
        for lr in (0.1, 0.2, 0.3):
            optimizer.lr = lr
    assert names == []
    assert round(optimizer.lr.item(), 6) == 0.3


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda w: SGD([w], lr=-1.0), "lr=-1.0"),
        (lambda w: SGD([w], momentum=-0.5), "momentum=-0.5"),
        (lambda w: SGD([w], weight_decay=-1), "weight_decay=-1"),
        (lambda w: Adam([w], lr=float("nan")), "lr=nan"),
        (lambda w: Adam([w], betas=(0.9, -1)), "beta2=-1"),
        (lambda w: AdamW([w], eps=-1e-8), "eps=-1e-08"),
    ],
)
def test_negative_settings_are_refused(make: Any, what: str) -> None:
    w = Tensor([1.0])
    with pytest.raises(ArgumentError, match=f"an optimizer with {what}: pass a number that is 0 or more"):
        make(w)
    assert not w.requires_grad
    optimizer = SGD([w], lr=0.5)
    with pytest.raises(ArgumentError, match="lr=-2"):
        optimizer.lr = -2
