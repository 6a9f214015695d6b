"""Tests of plugrad.nn.optim.optimizer: the path of parameters, step by step, beside torch's."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad import events
from plugrad.errors import ArgumentError, DtypeError, GradientError, ShapeError, StateError
from plugrad.jit import jit
from plugrad.nn.optim import (
    ASGD,
    LAMB,
    LARS,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Muon,
    NAdam,
    RAdam,
    RMSprop,
    Rprop,
)
from plugrad.nn.state import get_parameters, safe_load, safe_save
from plugrad.tensor import Tensor

CASES: list[tuple[Any, Any, dict[str, Any]]] = [
    (SGD, torch.optim.SGD, {}),
    (SGD, torch.optim.SGD, {"momentum": 0.9}),
    (SGD, torch.optim.SGD, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    (SGD, torch.optim.SGD, {"momentum": 0.9, "dampening": 0.5}),
    (RMSprop, torch.optim.RMSprop, {}),
    (RMSprop, torch.optim.RMSprop, {"alpha": 0.5, "momentum": 0.9, "weight_decay": 0.1}),
    (RMSprop, torch.optim.RMSprop, {"centered": True, "eps": 1e-3}),
    (Adagrad, torch.optim.Adagrad, {}),
    (Adagrad, torch.optim.Adagrad, {"lr_decay": 0.5, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
    (Adam, torch.optim.Adam, {}),
    (Adam, torch.optim.Adam, {"betas": (0.0, 0.9)}),
    (Adam, torch.optim.Adam, {"betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    (Adam, torch.optim.Adam, {"amsgrad": True, "betas": (0.5, 0.5), "maximize": True}),
    (SGD, torch.optim.SGD, {"maximize": True, "weight_decay": 0.1}),
    (RMSprop, torch.optim.RMSprop, {"maximize": True, "centered": True, "momentum": 0.5, "eps": 1e-3}),
    (Adagrad, torch.optim.Adagrad, {"maximize": True, "weight_decay": 0.1}),
    (AdamW, torch.optim.AdamW, {}),
    (AdamW, torch.optim.AdamW, {"amsgrad": True, "maximize": True}),
    (AdamW, torch.optim.AdamW, {"weight_decay": 0.5}),
    (NAdam, torch.optim.NAdam, {}),
    (NAdam, torch.optim.NAdam, {"weight_decay": 0.1, "momentum_decay": 0.5, "betas": (0.5, 0.9)}),
    (NAdam, torch.optim.NAdam, {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    (NAdam, torch.optim.NAdam, {"momentum_decay": 0.0, "betas": (0.0, 0.9)}),
    (RAdam, torch.optim.RAdam, {}),
    (RAdam, torch.optim.RAdam, {"weight_decay": 0.1, "betas": (0.9, 0.9999)}),
    (RAdam, torch.optim.RAdam, {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    (RAdam, torch.optim.RAdam, {"betas": (0.5, 0.5)}),
    (RAdam, torch.optim.RAdam, {"betas": (0.5, 0.9)}),
    (Adamax, torch.optim.Adamax, {}),
    (Adamax, torch.optim.Adamax, {"weight_decay": 0.1, "betas": (0.5, 0.5), "maximize": True, "eps": 1e-2}),
    (Adadelta, torch.optim.Adadelta, {}),
    (Adadelta, torch.optim.Adadelta, {"rho": 0.5, "eps": 1e-2, "weight_decay": 0.1, "maximize": True}),
    (Rprop, torch.optim.Rprop, {}),
    (Rprop, torch.optim.Rprop, {"etas": (0.25, 2.0), "step_sizes": (1e-2, 0.1), "maximize": True}),
    (ASGD, torch.optim.ASGD, {"t0": 3}),
    (ASGD, torch.optim.ASGD, {"lambd": 0.1, "alpha": 0.5, "t0": 2, "weight_decay": 0.1, "maximize": True}),
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
    theirs_class = theirs
    ours, theirs = ours(mine, lr=0.05, **options), theirs(other, lr=0.05, **options)
    for step in range(20):
        if step == 3 and theirs_class is not torch.optim.ASGD:
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
    if theirs_class is torch.optim.ASGD:
        average = ours.state_dict()["params.0.average"].numpy()
        np.testing.assert_allclose(average, theirs.state[other[0]]["ax"].numpy(), rtol=1e-4)


def test_a_parameter_left_out_of_some_steps_counts_its_own_steps_as_torchs() -> None:
    rng = np.random.default_rng(2)
    start = [rng.normal(size=3).astype(np.float32) for _ in range(3)]
    mine, other = [Tensor(a) for a in start], [torch.tensor(a, requires_grad=True) for a in start]
    pairs = list(zip(mine, other, strict=True))
    ours, theirs = Adam(mine, lr=0.1), torch.optim.Adam(other, lr=0.1)
    for active in ((0, 1, 2), (0, 2), (0, 1, 2), (1,), (0, 1, 2)):
        ours.zero_grad()
        theirs.zero_grad()
        for i in active:
            (mine[i] * mine[i]).sum().backward()
            (other[i] * other[i]).sum().backward()
        ours.step()
        theirs.step()
        for left, right in pairs:
            np.testing.assert_allclose(left.numpy(), right.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_groups_have_their_own_settings_as_torchs() -> None:
    rng = np.random.default_rng(3)
    start = [rng.normal(size=(4, 2)).astype(np.float32) for _ in range(4)]
    mine, other = [Tensor(a) for a in start], [torch.tensor(a, requires_grad=True) for a in start]

    def groups(params: list[Any]) -> list[dict[str, Any]]:
        return [{"params": params[:2], "lr": 0.5, "weight_decay": 0.1}, {"params": params[2:]}]

    ours, theirs = (
        SGD(groups(mine), lr=0.1, momentum=0.5),
        torch.optim.SGD(groups(other), lr=0.1, momentum=0.5),
    )
    for step in range(4):
        for optimizer in (ours, theirs):
            optimizer.zero_grad()
            optimizer.param_groups[1]["lr"] = 0.1 / (step + 1)
        sum(((p * p).sum() for p in mine), start=Tensor(0.0)).backward()
        sum((p * p).sum() for p in other).backward()
        ours.step()
        theirs.step()
        for left, right in zip(mine, other, strict=True):
            np.testing.assert_allclose(left.numpy(), right.detach().numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(ArgumentError, match="lr of an optimizer with 2 groups"):
        _ = ours.lr


@pytest.mark.parametrize("make", [SGD, Adam, Muon])
def test_the_name_that_other_libraries_have_for_the_rate_is_answered_with_ours(make: Any) -> None:
    with pytest.raises(TypeError, match=f"^{make.__name__}.* write lr="):
        make([Tensor([1.0])], learning_rate=0.5)


@pytest.mark.parametrize("make", [Adam, LAMB, LARS, Muon, RMSprop, Adagrad, SGD], ids=str)
def test_a_jitted_step_follows_the_learning_rate(make: Any) -> None:
    def path(wrap: Any) -> list[Any]:
        w, v = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[5.0, -6.0]])
        optimizer = make([w, v], lr=0.5)

        @wrap
        def step(x: Tensor) -> Tensor:
            optimizer.zero_grad()
            loss = ((w * x) * w).sum() + (v * v * v).sum()
            loss.backward()
            optimizer.step()
            return loss

        out: list[Any] = []
        for number in range(6):
            optimizer.lr = 0.5 / (number + 1)
            out.append((step(Tensor([1.0, float(number)])).item(), w.numpy(), v.numpy()))
        if wrap is jit:
            assert step.captures == 1
        return out

    for plain, jitted in zip(path(lambda f: f), path(jit), strict=True):
        for left, right in zip(plain, jitted, strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-5)


def train(optimizer: Any, params: list[Tensor], steps: int) -> list[Any]:
    for _ in range(steps):
        optimizer.zero_grad()
        sum((((p - 1) * p).square().sum() for p in params), start=Tensor(0.0)).backward()
        optimizer.step()
    return [p.numpy() for p in params]


@pytest.mark.parametrize(
    "make",
    [Adam, LAMB, LARS, RMSprop, NAdam, RAdam, Adamax, Adadelta, Rprop, ASGD, lambda p: SGD(p, momentum=0.9)],
    ids=["Adam", "LAMB", "LARS", "RMSprop", "NAdam", "RAdam", "Adamax", "Adadelta", "Rprop", "ASGD", "SGD"],
)
def test_training_goes_on_from_a_saved_state(make: Any, tmp_path: Any) -> None:
    start = [np.ones((2, 3), np.float32) * 3, np.ones(5, np.float32) * 2]
    params = [Tensor(a) for a in start]
    optimizer = make(params)
    train(optimizer, params, 3)
    file = tmp_path / "optimizer.safetensors"
    safe_save({**optimizer.state_dict(), "p0": params[0], "p1": params[1]}, file)
    wanted = train(optimizer, params, 3)
    saved = safe_load(file)
    again = [saved.pop("p0").realize(), saved.pop("p1").realize()]
    other = make(again)
    other.load_state_dict(saved)
    for left, right in zip(train(other, again, 3), wanted, strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_state_of_uneven_steps_is_loaded() -> None:
    def made() -> tuple[list[Tensor], Adam]:
        params = [Tensor([2.0, 3.0]), Tensor([4.0])]
        return params, Adam(params, lr=0.1)

    params, optimizer = made()
    (params[0] * 2).sum().backward()
    optimizer.step()
    again, other = made()
    other.load_state_dict(optimizer.state_dict())
    for p, q in zip(params, again, strict=True):
        q.assign(p)
    for left, right in zip(train(optimizer, params, 2), train(other, again, 2), strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_state_of_another_optimizer_is_refused() -> None:
    optimizer = SGD([Tensor([1.0])], momentum=0.5)
    with pytest.raises(StateError, match=r"does not fit this SGD: only one of both has params.0.mean"):
        optimizer.load_state_dict(Adam([Tensor([1.0])]).state_dict())
    with pytest.raises(ShapeError, match=r"'params\.0\.momentum' has shape"):
        optimizer.load_state_dict(SGD([Tensor([1.0, 2.0])], momentum=0.5).state_dict())


def test_a_step_that_is_skipped_changes_nothing() -> None:
    w = Tensor([1.0, 2.0])
    optimizer = Adam([w], lr=0.5)
    (w * float("inf")).sum().backward()
    optimizer.step(skip=Tensor(True))
    assert w.tolist() == [1.0, 2.0]
    assert all(np.isfinite(value.numpy()).all() for value in optimizer.state_dict().values())
    optimizer.zero_grad()
    (w * 3).sum().backward()
    optimizer.step(skip=Tensor(False))
    np.testing.assert_allclose(w.numpy(), [0.5, 1.5], rtol=1e-6)


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
    with pytest.raises(GradientError, match=r"SGD: no parameter has a gradient. Call loss.backward\(\)"):
        SGD([Tensor([1.0])]).step()


def test_nothing_to_train_is_an_error() -> None:
    with pytest.raises(GradientError, match="SGD: no parameters"):
        SGD([])
    # a model of tensors without gradients: tinygrad's get_parameters finds these
    with pytest.raises(GradientError, match="made with requires_grad=True, or the tensors themselves"):
        SGD(get_parameters({"weight": Tensor.ones(2, 3, requires_grad=False)}))


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
        (lambda w: AdamW([w], eps=-1e-8), "eps=-1e-08"),
        (lambda w: RMSprop([w], momentum=-1), "momentum=-1"),
        (lambda w: Adagrad([w], lr_decay=-1), "lr_decay=-1"),
        (lambda w: LAMB([w], weight_decay=-1), "weight_decay=-1"),
        (lambda w: LARS([w], trust=-1), "trust=-1"),
    ],
)
def test_negative_settings_are_refused(make: Any, what: str) -> None:
    w = Tensor([1.0])
    with pytest.raises(ArgumentError, match=f": {what}: pass a number that is 0 or more"):
        make(w)
    assert not w.requires_grad
    optimizer = SGD([w], lr=0.5)
    with pytest.raises(ArgumentError, match="lr=-2"):
        optimizer.lr = -2


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda w: Adam([w], betas=(1.0, 0.9)), r"betas\[0\]=1.0"),
        (lambda w: LAMB([w], betas=(0.9, 2)), r"betas\[1\]=2"),
        (lambda w: Adam([w], betas=(0.9, -1)), r"betas\[1\]=-1"),
        (lambda w: RMSprop([w], alpha=1), "alpha=1"),
        (lambda w: Muon([w], momentum=1), "momentum=1"),
    ],
)
def test_averages_that_keep_everything_are_refused(make: Any, what: str) -> None:
    with pytest.raises(ArgumentError, match=f": {what}: pass a number from 0 to below 1"):
        make(Tensor([[1.0]]))


def test_parameters_can_be_added_later() -> None:
    start = [np.array(values, np.float32) for values in ([1.0, 2.0], [3.0], [4.0, 5.0])]
    mine, other = [Tensor(a) for a in start], [torch.tensor(a, requires_grad=True) for a in start]
    ours, theirs = Adam(mine[:2], lr=0.1), torch.optim.Adam(other[:2], lr=0.1)
    for step in range(4):
        if step == 2:
            ours.add_param_group({"params": mine[2:], "lr": 0.5})
            theirs.add_param_group({"params": other[2:], "lr": 0.5})
        for p, q in zip(mine, other, strict=True):
            p.grad, q.grad = p.detach() * 2, q.detach() * 2
        ours.step()
        theirs.step()
    for p, q in zip(mine, other, strict=True):
        np.testing.assert_allclose(p.numpy(), q.detach().numpy(), rtol=1e-5)
    with pytest.raises(GradientError, match="is in two groups"):
        ours.add_param_group({"params": mine[:1]})
    assert len(ours.param_groups) == 2


@pytest.mark.parametrize("params", [Tensor([1.0, 2.0]), 3], ids=["a tensor", "a number"])
def test_what_is_no_list_of_parameters_is_refused(params: Any) -> None:
    with pytest.raises(ArgumentError, match=r"SGD: params=.* Pass a list"):
        SGD(params)


@pytest.mark.parametrize("betas", [0.9, (0.9,), (0.9, 0.99, 0.999), (0.9, "1")], ids=str)
def test_betas_are_two_numbers(betas: Any) -> None:
    with pytest.raises(ArgumentError, match="Adam: betas"):
        Adam([Tensor([1.0])], betas=betas)


def test_the_learning_rate_may_be_a_tensor_and_has_to_be_a_number() -> None:
    assert SGD([Tensor([1.0])], lr=Tensor(0.25)).lr.item() == 0.25
    with pytest.raises(ArgumentError, match="SGD: lr='fast'"):
        SGD([Tensor([1.0])], lr="fast")


def test_options_whose_order_differs_elsewhere_are_given_by_name() -> None:
    # PyTorch has dampening here, tinygrad the weight decay
    with pytest.raises(TypeError):
        SGD([Tensor([1.0])], 0.1, 0.9, 0.1)
    with pytest.raises(TypeError):
        Muon([Tensor([[1.0]])], 0.1, 0.9)


def test_a_schedule_written_for_tinygrad_finds_where_the_rate_lives_and_assigns_to_it() -> None:
    optimizer = SGD([Tensor([1.0], device="PYTHON"), Tensor([2.0], device="PYTHON:1")], lr=0.5)
    assert optimizer.device == optimizer.lr.device == "PYTHON"
    steps = Tensor([1], device=optimizer.device)
    optimizer.lr.assign(steps / 4).realize()
    assert optimizer.lr.tolist() == 0.25


def test_gradients_are_forgotten_or_made_zero() -> None:
    weights = [Tensor([1.0], requires_grad=True) for _ in range(2)]
    optimizer = SGD(weights)
    weights[0].sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert weights[0].grad is not None
    assert weights[0].grad.tolist() == [0.0]
    assert weights[1].grad is None
    optimizer.zero_grad()
    assert weights[0].grad is None


def test_an_optimizer_prints_its_groups() -> None:
    optimizer = SGD([Tensor([1.0, 2.0]), Tensor([3.0])], lr=0.5, momentum=0.9)
    assert repr(optimizer).startswith("SGD(2 parameters, lr=0.5, momentum=0.9")
