"""Tests of plugrad.nn.optim.together: each parameter takes the steps of its own optimizer."""

import pytest

from plugrad.errors import ArgumentError, GradientError
from plugrad.nn.optim import SGD, OptimizerGroup
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
