"""Tests of plugrad.nn.optim.groups: what groups take and refuse."""

from typing import Any

import pytest

from plugrad.errors import ArgumentError, DtypeError, GradientError
from plugrad.nn.optim import LAMB, SGD, Adam, AdamW, Optimizer
from plugrad.tensor import Tensor


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ([{"params": [Tensor([1.0])], "momentun": 0.5}], ArgumentError, "Did you mean 'momentum'?"),
        ([{"params": []}], GradientError, "SGD: no parameters"),
        ([{"params": [Tensor([1.0])], "lr": -1}], ArgumentError, "lr=-1"),
        ([{"params": [Tensor([1.0])], "momentum": -1}], ArgumentError, "momentum=-1"),
        ([{"params": [3]}], DtypeError, "cannot train 3"),
        ([Tensor([1.0]), {"params": [Tensor([1.0])]}], DtypeError, "cannot train {'params'"),
    ],
)
def test_wrong_groups_are_refused(params: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        SGD(params)


def test_a_parameter_is_in_one_group() -> None:
    w = Tensor([1.0])
    with pytest.raises(GradientError, match="is in two groups"):
        SGD([{"params": [w]}, {"params": w}])


def test_a_group_of_one_tensor_needs_no_list() -> None:
    w = Tensor([1.0])
    assert SGD([{"params": w}]).param_groups[0]["params"] == [w]


def test_only_the_learning_rate_of_a_group_changes() -> None:
    group = Adam([Tensor([1.0])]).param_groups[0]
    group["lr"] = 0.5
    assert group["lr"].item() == 0.5
    with pytest.raises(ArgumentError, match="cannot set 'eps' of a group"):
        group["eps"] = 1.0
    with pytest.raises(ArgumentError, match="a group has no option 'momentum'"):
        _ = group["momentum"]


@pytest.mark.parametrize("optimizer", [Adam, AdamW, LAMB])
def test_averages_may_be_given_by_the_names_of_tinygrad(optimizer: Any) -> None:
    found: list[list[float]] = []
    for options in ({"betas": (0.5, 0.75)}, {"b1": 0.5, "b2": 0.75}, {"betas": (0.5, 0.999), "b2": 0.75}):
        w = Tensor([1.0, 2.0], requires_grad=True)
        optimize = optimizer([w], lr=0.1, **options)
        for _ in range(2):
            optimize.zero_grad()
            (w * w).sum().backward()
            optimize.step()
        found.append(w.tolist())
    assert found[0] == found[1] == found[2]
    with pytest.raises(ArgumentError, match=r"betas\[0\]=1"):
        optimizer([Tensor([1.0], requires_grad=True)], b1=1)


def test_settings_of_a_new_optimizer_keep_their_names() -> None:
    group = Optimizer([Tensor([1.0], requires_grad=True)], 0.1, b1=0.5, b2=0.75).param_groups[0]
    assert (group["b1"], group["b2"]) == (0.5, 0.75)
