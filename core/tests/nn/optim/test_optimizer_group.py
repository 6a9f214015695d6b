"""Tests of plugrad.nn.optim.optimizer_group: each parameter takes the steps of its own optimizer."""

import pytest

from plugrad.errors import ArgumentError, GradientError, StateError
from plugrad.nn.optim import SGD, Adam, OptimizerGroup
from plugrad.nn.schedulers import OneCycleLR, StepLR
from plugrad.tensor import Tensor


def test_optimizers_step_as_they_step_alone() -> None:
    values = [1.0, 2.0], [3.0]
    together, apart = [Tensor(v) for v in values], [Tensor(v) for v in values]
    group = OptimizerGroup(SGD(together[:1], lr=0.5), SGD(together[1:], lr=0.25, momentum=0.9))
    alone = SGD(apart[:1], lr=0.5), SGD(apart[1:], lr=0.25, momentum=0.9)
    for _ in range(2):
        for p in (*together, *apart):
            p.grad = p.detach() * 2
        group.step()
        for optimizer in alone:
            optimizer.step()
    assert [p.tolist() for p in together] == [p.tolist() for p in apart]
    before = [p.tolist() for p in together]
    group.step(skip=Tensor(True))
    assert [p.tolist() for p in together] == before
    group.zero_grad()
    assert all(p.grad is None for p in group.params)


def test_a_tensor_has_one_optimizer() -> None:
    w = Tensor([1.0])
    with pytest.raises(GradientError, match="train one tensor"):
        OptimizerGroup(SGD([w]), SGD([w]))
    with pytest.raises(ArgumentError, match="an OptimizerGroup of nothing"):
        OptimizerGroup()


def test_a_schedule_sets_the_rates_of_all() -> None:
    both = OptimizerGroup(SGD([Tensor([1.0])], lr=0.5), Adam([Tensor([1.0])], lr=0.25))
    schedule = StepLR(both, step_size=1, gamma=0.5)
    schedule.step()
    assert [group.lr.item() for group in both.param_groups] == [0.25, 0.125]
    OneCycleLR(both, 0.5, total_steps=4)


def test_the_state_of_all_is_saved_together() -> None:
    def made() -> OptimizerGroup:
        return OptimizerGroup(SGD([Tensor([1.0])], momentum=0.5), Adam([Tensor([1.0])]))

    first, second = made(), made()
    for p in first.params:
        p.grad = Tensor([3.0])
    first.step()
    second.load_state_dict(first.state_dict())
    for name, value in first.state_dict().items():
        assert second.state_dict()[name].tolist() == value.tolist()
    assert "1.params.0.mean" in first.state_dict()
    with pytest.raises(StateError, match="does not fit this OptimizerGroup"):
        second.load_state_dict({})
