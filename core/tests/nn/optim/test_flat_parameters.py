"""Tests of plugrad.nn.optim.flat_parameters: one kernel updates small parameters, which stay tensors."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import events
from plugrad.engine import storage
from plugrad.nn.optim import (
    ASGD,
    LAMB,
    LARS,
    SGD,
    Adadelta,
    Adam,
    Adamax,
    AdamW,
    Muon,
    NAdam,
    RAdam,
    RMSprop,
    Rprop,
)
from plugrad.tensor import Tensor


def many(count: int, dtype: str = "float32") -> list[Tensor]:
    rng = np.random.default_rng(4)
    return [Tensor(rng.normal(size=(3, 1 + i % 5)), dtype=dtype).realize() for i in range(count)]


def set_gradients(params: list[Tensor]) -> None:
    for p in params:
        p.grad = (p.detach() * 2 + 1).realize()


def kernels(function: Callable[[], object]) -> int:
    found: list[str] = []
    with events.subscribe(events.KernelEvent, lambda event: found.append(event.name)):
        function()
    return len(found)


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda p: SGD(p, lr=0.1), 2),
        (lambda p: SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1), 2),
        (lambda p: RMSprop(p, lr=0.1), 2),
        (lambda p: AdamW(p, lr=0.1), 3),
        (lambda p: LARS(p, lr=0.1), 6),
        (lambda p: LAMB(p, lr=0.1), 7),
    ],
)
@pytest.mark.parametrize("device", ["CPU"], indirect=True)
def test_fifty_small_parameters_take_few_kernels(make: Any, wanted: int) -> None:
    params = many(50)
    optimizer = make(params)
    for _ in range(2):
        set_gradients(params)
        assert kernels(optimizer.step) == wanted


def test_muon_takes_the_same_kernels_for_each_shape() -> None:
    def count(shapes: list[tuple[int, int]]) -> int:
        params = [Tensor(np.random.default_rng(4).normal(size=shape)).float().realize() for shape in shapes]
        optimizer = Muon(params, lr=0.1)
        set_gradients(params)
        optimizer.step()
        set_gradients(params)
        return kernels(optimizer.step)

    few = count([(3, 5), (3, 5)])
    assert count([(3, 5)] * 30) == few
    assert count([(3, 5)] * 4 + [(5, 5)] * 4) == 2 * few


def test_packed_parameters_take_the_same_steps_as_large_ones() -> None:
    small, large = many(5), [Tensor.zeros(5000).contiguous() for _ in range(5)]
    for p, q in zip(small, large, strict=True):
        q[: p.numel()] = p.flatten()
    together, apart = Adam(small, lr=0.1), Adam(large, lr=0.1)
    for _ in range(3):
        set_gradients(small)
        set_gradients(large)
        together.step()
        apart.step()
    for p, q in zip(small, large, strict=True):
        np.testing.assert_allclose(p.numpy().ravel(), q.numpy()[: p.numel()], rtol=1e-6)


def test_norms_of_packed_parameters_are_their_own() -> None:
    params = [Tensor([[3.0, 0.0], [0.0, 4.0]]), Tensor([5.0]), Tensor.ones(100) * 2]
    (pack,) = LAMB(params)._units[0]
    found = pack.length(pack.target).numpy()
    # what lies behind a parameter is no part of it
    nans = (pack.target == 0).where(float("nan"), pack.target)
    np.testing.assert_allclose(found[[0, 3, 32, 64, 163]], [5.0, 5.0, 5.0, 20.0, 20.0])
    assert pack.length(nans).numpy()[[32, 64]].tolist() == [5.0, 20.0]


def test_dtypes_do_not_share_memory() -> None:
    params = [*many(2), *many(2, "float16")]
    optimizer = SGD(params, lr=0.5)
    set_gradients(params)
    wanted = [p.numpy() - 0.5 * (p.numpy() * 2 + 1) for p in params]
    optimizer.step()
    for p, value in zip(params, wanted, strict=True):
        np.testing.assert_allclose(p.numpy(), value, rtol=1e-2, atol=1e-2)
    assert [p.dtype.name for p in params] == ["float32", "float32", "float16", "float16"]


def test_packs_hold_a_bounded_number_of_elements() -> None:
    params = [Tensor.ones(4096).contiguous() for _ in range(9)]
    optimizer = SGD(params, lr=0.5)
    assert len({storage.viewed(p.uop) for p in params}) == 3
    set_gradients(params)
    optimizer.step()
    assert all((p.numpy() == -0.5).all() for p in params)


def test_a_tensor_that_shows_a_parameter_sees_updates() -> None:
    first, second = many(2)
    row = first[1]
    optimizer = SGD([first, second], lr=0.5)
    set_gradients([first, second])
    optimizer.step()
    later = second[0]
    set_gradients([first, second])
    optimizer.step()
    assert row.tolist() == first[1].tolist()
    assert later.tolist() == second[0].tolist()


def test_a_loss_written_before_the_optimizer_finds_its_parameters() -> None:
    first, second = many(2)
    first.requires_grad = second.requires_grad = True
    loss = (first * first).sum() + (second * 3).sum()
    optimizer = SGD([first, second], lr=0.5)
    loss.backward()
    optimizer.step()
    assert np.abs(first.numpy()).max() == 0


def test_what_was_computed_from_old_values_keeps_them() -> None:
    params = many(3)
    optimizer = SGD(params, lr=0.5)
    before = params[1].numpy()
    doubled = params[1] * 2
    set_gradients(params)
    optimizer.step()
    np.testing.assert_array_equal(doubled.numpy(), before * 2)


def test_values_assigned_between_steps_are_updated() -> None:
    params = many(3)
    optimizer = SGD(params, lr=0.5)
    for value in (4.0, 6.0):
        params[1].assign(value)
        set_gradients(params)
        params[1].assign(params[1] + 1)
        optimizer.step()
        np.testing.assert_array_equal(params[1].numpy(), value + 1 - 0.5 * (value * 2 + 1))


def test_a_copy_of_model_and_optimizer_trains_by_itself() -> None:
    params = many(3)
    optimizer = Adam(params, lr=0.5)
    set_gradients(params)
    optimizer.step()
    others, other = copy.deepcopy((params, optimizer))
    before = [p.numpy() for p in params]
    wanted = [p.numpy() for p in others]
    for p, value in zip(before, wanted, strict=True):
        np.testing.assert_array_equal(p, value)
    others[0].assign(1.0)
    params_again = [p.numpy() for p in params]
    set_gradients(others)
    other.step()
    set_gradients(params)
    optimizer.step()
    for p, q, value in zip(params[1:], others[1:], params_again[1:], strict=True):
        np.testing.assert_array_equal(p.numpy(), q.numpy())
        assert (p.numpy() != value).all()
    assert others[0].tolist() != params[0].tolist()


def test_two_optimizers_take_turns() -> None:
    params = many(3)
    first, second = SGD(params, lr=0.5), SGD(params, lr=0.25)
    for optimizer in (first, second, second, first):
        wanted = [p.numpy() - optimizer.lr.item() * (p.numpy() * 2 + 1) for p in params]
        set_gradients(params)
        optimizer.step()
        for p, value in zip(params, wanted, strict=True):
            np.testing.assert_allclose(p.numpy(), value, rtol=1e-5, atol=1e-6)


def test_an_array_of_a_parameter_keeps_its_values() -> None:
    params = [Tensor.ones(4000).contiguous(), Tensor.ones(4000).contiguous()]
    optimizer = SGD(params, lr=0.5)
    array = np.asarray(params[1])
    set_gradients(params)
    optimizer.step()
    assert (array == 1).all()
    assert (params[1].numpy() == -0.5).all()


@pytest.mark.parametrize("make", [NAdam, RAdam, Adamax, Adadelta, Rprop, ASGD], ids=str)
def test_more_small_parameters_take_no_more_kernels(make: Any) -> None:
    def count(params: list[Tensor]) -> int:
        optimizer = make(params)
        set_gradients(params)
        return kernels(optimizer.step)

    assert count(many(20)) == count(many(10)) < 12


def test_a_number_of_each_parameter_stays_with_it_when_gradients_part() -> None:
    together, apart = many(4), many(4)
    packed, single = NAdam(together, lr=0.1), [NAdam([p], lr=0.1) for p in apart]
    assert packed.state_dict()["params.3.product"].shape == (1,)
    for active in ((0, 1, 2, 3), (0, 2), (0, 1, 2, 3)):
        packed.zero_grad()
        for i in active:
            set_gradients([together[i], apart[i]])
            single[i].step()
        packed.step()
    for p, q in zip(together, apart, strict=True):
        np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-6)
