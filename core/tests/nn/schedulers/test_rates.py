"""Tests of plugrad.nn.schedulers.rates: settings that schedules refuse."""

from typing import Any

import pytest

from plugrad.errors import ArgumentError
from plugrad.nn.optim import SGD
from plugrad.nn.schedulers import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    LambdaLR,
    LinearLR,
    OneCycleLR,
    PolynomialLR,
    ReduceLROnPlateau,
    SequentialLR,
    StepLR,
)
from plugrad.tensor import Tensor


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
        make(SGD([{"params": [Tensor([1.0])]}, {"params": [Tensor([1.0])]}]))
