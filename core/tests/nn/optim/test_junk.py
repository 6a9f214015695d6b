"""Tests that optimizers refuse what makes no sense, by their name and that of the setting."""

import inspect
import itertools
from typing import Any

import pytest

from plugrad.errors import ArgumentError, DtypeError, PlugradError, ShapeError, StateError
from plugrad.nn import optim
from plugrad.nn.optim import SGD, Adam, GradScaler, OptimizerGroup, clip_grad_norm_, clip_grad_value_
from plugrad.tensor import Tensor

JUNK: list[Any] = [
    None,
    "a",
    -1,
    -0.5,
    float("nan"),
    float("inf"),
    1j,
    [],
    [None],
    {},
    object(),
    Tensor([1.0, 2.0]),
    b"",
    (0.5,),
    {"params": 3},
]
# None is the default; a negative dampening adds to the gradient
TAKEN = [("adjust_lr_fn", None), ("b1", None), ("b2", None), ("dampening", -1), ("dampening", -0.5)]
CLASSES = [
    make
    for make in map(optim.__dict__.get, optim.__all__)
    if inspect.isclass(make) and issubclass(make, optim.Optimizer) and make is not optim.Optimizer
]


def kind(value: object) -> str:
    """Return an id that is the same in every process."""
    return type(value).__name__


def refusal(make: Any, *args: Any, **given: Any) -> str:
    """Return what an error of ours says, or nothing."""
    try:
        make(*args, **given)
    except PlugradError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("make", CLASSES, ids=[make.__name__ for make in CLASSES])
def test_junk_is_refused_by_the_name_of_the_class(make: Any) -> None:
    names = list(inspect.signature(make).parameters)
    for name, junk in itertools.product(names, JUNK):
        weight = Tensor([[1.0]])
        text = refusal(make, **{"params": [weight], name: junk})
        if any(name == taken and type(junk) is type(value) and junk == value for taken, value in TAKEN):
            assert not text
            continue
        assert text.startswith(f"{make.__name__}: "), (name, junk)
        assert not weight.requires_grad


@pytest.mark.parametrize("junk", [None, 3, "a", [], {"params": [3]}], ids=str)
def test_junk_is_no_further_group(junk: Any) -> None:
    optimizer = SGD([Tensor([1.0])])
    with pytest.raises((ArgumentError, DtypeError), match=r"^SGD"):
        optimizer.add_param_group(junk)
    assert len(optimizer.param_groups) == 1


@pytest.mark.parametrize("junk", [None, "a", -1.0, float("nan"), Tensor([1.0, 2.0]), []], ids=str)
def test_junk_is_no_rate(junk: Any) -> None:
    optimizer = SGD([Tensor([1.0])], lr=0.5)
    with pytest.raises(ArgumentError, match="lr="):
        optimizer.lr = junk
    assert optimizer.param_groups[0].rate == 0.5


def test_a_rate_may_be_a_tensor_of_one_element_in_any_shape() -> None:
    optimizer = SGD([Tensor([1.0])], lr=0.5)
    optimizer.lr = Tensor([0.25])
    assert (optimizer.lr.shape, optimizer.lr.item()) == ((), 0.25)


@pytest.mark.parametrize("junk", [3, "a", True, [True], lambda: 0.0, Tensor(1.0)], ids=kind)
def test_junk_does_not_skip_a_step(junk: Any) -> None:
    weight = Tensor([1.0])
    weight.grad = Tensor([1.0])
    for optimizer in (SGD([weight]), OptimizerGroup(SGD([weight]))):
        with pytest.raises(DtypeError, match=r"SGD\.step: skip="):
            optimizer.step(junk)
        with pytest.raises(ShapeError, match=r"SGD\.step: skip has shape \(1,\)"):
            optimizer.step(Tensor([True]))
    assert weight.tolist() == [1.0]


@pytest.mark.parametrize("junk", [None, 3, "a", [], {"step": 3}, {3: Tensor(1)}, {}], ids=str)
@pytest.mark.parametrize("make", [SGD, lambda p: OptimizerGroup(Adam(p)), lambda _: GradScaler()])
def test_junk_is_no_state(make: Any, junk: Any) -> None:
    with pytest.raises(StateError):
        make([Tensor([1.0])]).load_state_dict(junk)


def test_values_of_a_state_are_tensors() -> None:
    optimizer = SGD([Tensor([1.0])])
    with pytest.raises(StateError, match=r"SGD: 'groups\.0\.lr' is 0\.5 in the state, no tensor"):
        optimizer.load_state_dict({**optimizer.state_dict(), "groups.0.lr": 0.5})  # pyright: ignore[reportArgumentType]


def test_junk_is_refused_by_a_scaler() -> None:
    names = list(inspect.signature(GradScaler).parameters)
    for name, junk in itertools.product(names, JUNK):
        if name != "device":
            assert refusal(GradScaler, **{name: junk}).startswith(f"GradScaler: {name}="), (name, junk)


def test_junk_is_not_clipped() -> None:
    weight = Tensor([1.0])
    for junk in (None, "a", -1, float("nan"), [], 1j, Tensor([1.0])):
        assert refusal(clip_grad_norm_, [weight], junk).startswith("clip_grad_norm_: max_norm=")
        assert refusal(clip_grad_norm_, [weight], 1.0, junk).startswith("clip_grad_norm_: norm_type=")
        assert refusal(clip_grad_value_, [weight], junk).startswith("clip_grad_value_: clip_value=")
    for params in (None, 3, "a", [None], {"params": 3}):
        assert refusal(clip_grad_norm_, params, 1.0).startswith("clip_grad_norm_: ")
        assert refusal(clip_grad_value_, params, 1.0).startswith("clip_grad_value_: ")
