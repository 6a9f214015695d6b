"""Tests of plugrad.nn.schedulers.scheduler: settings that schedules refuse."""

import inspect
import itertools
from typing import Any

import pytest

from plugrad.errors import ArgumentError, PlugradError, StateError
from plugrad.nn.optim import SGD
from plugrad.nn.schedulers import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiStepLR,
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
        (lambda o: LambdaLR(o, [float, float, float]), "lr_lambda=.* or 2 of them"),
        (lambda o: OneCycleLR(o, 1.0, epochs=3), "no total_steps"),
        (lambda o: LinearLR(o, start_factor=0.0), "start_factor=0.0"),
        (lambda o: LinearLR(o, end_factor=2.0), "end_factor=2.0"),
        (lambda o: LinearLR(o, total_iters=0), "total_iters=0"),
        (lambda o: OneCycleLR(o, 1.0, 0), "total_steps=0"),
        (lambda o: OneCycleLR(o, 1.0, 5, pct_start=2), "pct_start=2"),
        (lambda o: OneCycleLR(o, [1.0], 5), r"max_lr=\[1.0\] is of 1 groups, and there are 2"),
        (lambda o: OneCycleLR(o, 1.0, 5, anneal_strategy="step"), "anneal_strategy='step'"),
        (lambda o: OneCycleLR(o, 1.0, 5, max_momentum=[0.9]), r"max_momentum=\[0.9\] is of 1 groups"),
        (lambda o: OneCycleLR(o, 1.0, 5, max_momentum=1.0), "max_momentum=1.0"),
        (lambda o: SequentialLR(o, [StepLR(o, 1)], [1]), r"milestones=\[1\] for 1 schedules"),
        (lambda o: SequentialLR(o, [StepLR(o, 1)] * 2, [0.5]), "milestones=0.5"),
        (lambda o: SequentialLR(o, [StepLR(o, 1)] * 3, [2, 1]), r"milestones=\[2, 1\]. Let them rise"),
        (lambda o: SequentialLR(o, [StepLR(other(), 1)], []), ".* sets the rates of another optimizer"),
        (lambda o: LambdaLR(o, lambda step: "a"), r"lr_lambda\[0\]\(0\)='a'"),
        (lambda o: OneCycleLR(o, 1.0, 5, base_momentum=0.9, max_momentum=0.5), "base_momentum=0.9 is above"),
        (lambda o: StepLR(o, 1).rates(-1), "step=-1"),
        (lambda o: OneCycleLR(o, 1.0, 5, cycle_momentum=False).rates("a"), "step='a'"),
        (lambda o: ReduceLROnPlateau(o, "best"), "mode='best'"),
        (lambda o: ReduceLROnPlateau(o, factor=1.0), "factor=1.0"),
        (lambda o: ReduceLROnPlateau(o, min_lr=[0.0]), r"min_lr=\[0.0\] is of 1 groups"),
    ],
)
def test_wrong_settings_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=rf"^\w+: {message}"):
        make(SGD([{"params": [Tensor([1.0])]}, {"params": [Tensor([1.0])]}]))


def refusal(make: Any, given: dict[str, Any]) -> str:
    """Return what an error of ours says, or nothing."""
    try:
        make(given)
    except PlugradError as error:
        return str(error)
    return ""


SCHEDULES: list[tuple[Any, dict[str, Any]]] = [
    (StepLR, {"step_size": 1}),
    (MultiStepLR, {"milestones": [1]}),
    (LinearLR, {}),
    (ConstantLR, {}),
    (ExponentialLR, {"gamma": 0.5}),
    (PolynomialLR, {}),
    (CosineAnnealingLR, {"T_max": 2}),
    (CosineAnnealingWarmRestarts, {"T_0": 2}),
    (OneCycleLR, {"max_lr": 1.0, "total_steps": 3}),
    (ReduceLROnPlateau, {}),
]
# of a wrong type, Python says enough
OBJECTS = {"optimizer", "schedulers", "milestones", "lr_lambda"}
JUNK: list[Any] = [
    None,
    "a",
    -1,
    -0.5,
    2.5,
    float("nan"),
    1j,
    True,
    [],
    [None],
    {},
    object(),
    Tensor([1.0, 2.0]),
    b"",
]


@pytest.mark.parametrize(("make", "settings"), SCHEDULES, ids=[make.__name__ for make, _ in SCHEDULES])
def test_junk_is_refused_by_the_name_of_the_class(make: Any, settings: dict[str, Any]) -> None:
    names = inspect.signature(make).parameters.keys() - OBJECTS
    refusals = [
        refusal(lambda given: make(**given), {"optimizer": SGD([Tensor([1.0])]), **settings, name: junk})
        for name, junk in itertools.product(names, JUNK)
    ]
    assert len(list(filter(None, refusals))) >= len(refusals) // 2
    assert [text for text in refusals if text and not text.startswith(f"{make.__name__}: ")] == []


@pytest.mark.parametrize("make", [lambda o: StepLR(o, 1), ReduceLROnPlateau], ids=["StepLR", "plateau"])
@pytest.mark.parametrize("junk", [None, 3, "a", [], {"step": 3}, {3: Tensor(1)}, {}], ids=str)
def test_junk_is_no_state(make: Any, junk: Any) -> None:
    schedule = make(SGD([Tensor([1.0])]))
    before = schedule.get_last_lr()
    with pytest.raises(StateError):
        schedule.load_state_dict(junk)
    assert schedule.get_last_lr() == before


def test_groups_that_come_later_need_a_schedule_of_their_own() -> None:
    optimizer = SGD([Tensor([1.0])])
    schedule = StepLR(optimizer, 1)
    optimizer.add_param_group({"params": [Tensor([1.0])]})
    with pytest.raises(StateError, match="StepLR: it was made for 1 groups of an optimizer that has 2 now"):
        schedule.step()


def other() -> SGD:
    return SGD([Tensor([1.0])])
