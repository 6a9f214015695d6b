"""Gradients, optimizers and random numbers inside of jitted functions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.errors import GradientError, JitError
from plugrad.jit import jit
from plugrad.nn import BatchNorm, Linear
from plugrad.nn.optim import SGD, Adam
from plugrad.nn.state import get_parameters, get_state_dict
from plugrad_conformance.testing.replays import counted

CALLS = 6


def repeat(call: Callable[[int], None]) -> None:
    for n in range(CALLS):
        call(n)


class Net:
    def __init__(self) -> None:
        # a bias before a norm has no gradient but rounding errors, which Adam makes large
        self.first, self.norm, self.second = Linear(4, 8, bias=False), BatchNorm(8), Linear(8, 3)

    def __call__(self, x: Tensor) -> Tensor:
        return self.second(self.norm(self.first(x)).relu())


@pytest.mark.parametrize("make", [lambda p: SGD(p, lr=0.1, momentum=0.9), lambda p: Adam(p, lr=0.1)])
@pytest.mark.parametrize("zero_first", [True, False])
def test_a_training_step_takes_the_same_path_as_without_jit(make: Any, zero_first: bool) -> None:
    def train(jitted: bool) -> tuple[list[float], dict[str, Any], int]:
        Tensor.manual_seed(3)
        net = Net()
        optimizer = make(get_parameters(net))
        runs: list[int] = []

        def step(x: Tensor, y: Tensor) -> Tensor:
            runs.append(1)
            if zero_first:
                optimizer.zero_grad()
            loss = net(x).sparse_categorical_crossentropy(y)
            loss.backward()
            optimizer.step()
            if not zero_first:
                optimizer.zero_grad()
            return loss

        function = jit(step) if jitted else step
        rng = np.random.default_rng(1)
        losses: list[float] = []
        with Tensor.train():
            for n in range(8):
                if n == 6:
                    optimizer.lr = 0.01
                x, y = rng.normal(size=(5, 4)).astype(np.float32), rng.integers(0, 3, 5)
                losses.append(function(Tensor(x), Tensor(y)).item())
        return losses, {name: t.numpy() for name, t in get_state_dict(net).items()}, len(runs)

    expected, state, _ = train(False)
    losses, replayed, runs = train(True)
    assert runs < 6
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    for name, value in state.items():
        np.testing.assert_allclose(replayed[name], value, rtol=1e-3, atol=1e-5)


def test_a_rate_that_changes_in_each_step_is_no_new_trace() -> None:
    w = Tensor([1.0], requires_grad=True).realize()
    optimizer = SGD([w], lr=0.5)

    @jit
    def step() -> Tensor:
        optimizer.zero_grad()
        loss = (w * 3).sum()
        loss.backward()
        optimizer.step()
        return loss

    expected = 1.0
    for number in range(40):
        optimizer.lr = rate = 1 / (number + 2)
        step().realize()
        expected -= 3 * rate
    assert step.captures == 1
    assert w.item() == pytest.approx(expected, rel=1e-5)


def test_a_rate_that_the_function_reads_as_a_number_is_guarded() -> None:
    w = Tensor([1.0], requires_grad=True).realize()
    optimizer = SGD([w], lr=0.5)

    @jit
    def read(x: Tensor) -> Tensor:
        return x * (optimizer.param_groups[0].rate or 0.0)

    for rate in (0.5, 0.5, 0.5, 0.25, 0.125):
        optimizer.lr = rate
        assert read(Tensor([2.0])).item() == 2 * rate


def test_gradients_are_left_on_tensors_outside_and_on_arguments() -> None:
    w = Tensor([2.0], requires_grad=True).realize()

    def function(x: Tensor) -> Tensor:
        w.grad = None
        loss = (x * w * w).sum()
        loss.backward()
        return loss

    jitted, runs = counted(function)
    kept: list[tuple[float, Tensor]] = []
    for n in range(CALLS):
        x = Tensor([float(n)], requires_grad=True)
        assert jitted(x).item() == 4.0 * n
        assert w.grad is not None
        assert x.grad is not None
        assert x.grad.tolist() == [4.0]
        kept.append((4.0 * n, w.grad))
    assert [grad.tolist() for _, grad in kept] == [[expected] for expected, _ in kept]
    assert len(runs) < CALLS


def test_gradients_that_add_up_across_calls_are_refused() -> None:
    w = Tensor([2.0], requires_grad=True).realize()

    @jit
    def function(x: Tensor) -> Tensor:
        return (x * w).sum().backward()

    def check(n: int) -> None:
        function(Tensor([1.0]))
        assert w.grad is not None
        assert w.grad.tolist() == [n + 1.0]

    with pytest.raises(JitError, match="zero_grad"):
        repeat(check)


def test_a_gradient_is_taken_away_also_where_there_was_none_when_that_was_recorded() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True).realize()

    @jit
    def forget(x: Tensor) -> Tensor:
        w.grad = None
        return x * 2

    for n in range(6):
        if n > 2:
            w.sum().backward()
        forget(Tensor([1.0]))
        assert w.grad is None


def test_a_gradient_that_is_returned_is_the_one_of_today() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True).realize()
    function = jit(lambda x: (x * 2, w.grad))
    kept: list[Tensor | None] = []
    for n in range(8):
        assert function(Tensor([1.0]))[1] is None or n > 2
        if n > 1:
            kept.append(w.grad)
            w.grad = Tensor([n, 1.0]).realize()
            assert function(Tensor([1.0]))[1].tolist() == [n, 1.0]


def test_gradients_cleared_outside_are_noticed() -> None:
    w = Tensor([2.0], requires_grad=True).realize()
    function = jit(lambda x: (x * w).sum().backward())
    for n in range(CALLS):
        w.grad = None
        function(Tensor([float(n)]))
        assert w.grad is not None
        assert w.grad.tolist() == [float(n)]
    function(Tensor([1.0]))
    assert w.grad.tolist() == [CALLS - 1 + 1.0]


def test_random_numbers_are_drawn_as_without_jit() -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        return x + Tensor.rand(4), Tensor.randn(3)

    def drawn(call: Callable[..., Any]) -> list[Any]:
        Tensor.manual_seed(5)
        return [[t.tolist() for t in call(Tensor.zeros(4))] for _ in range(CALLS)]

    jitted, runs = counted(function)
    assert drawn(jitted) == drawn(function)
    assert len(runs) == 2


def test_seeding_and_unused_draws_are_refused() -> None:
    def seeds(x: Tensor) -> Tensor:
        Tensor.manual_seed(7)
        return x + Tensor.rand(2)

    def wastes(x: Tensor) -> Tensor:
        Tensor.rand(2)
        return x + 1

    for function in (jit(seeds), jit(wastes)):
        with pytest.raises(JitError, match="random numbers"):
            repeat(lambda n, function=function: function(Tensor([0.0, 0.0])))


def test_a_result_that_shows_a_parameter_passes_no_gradient_on() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    function = jit(lambda: (w.detach(), w[1:]))
    for _ in range(CALLS):
        w.grad = None
        whole, part = function()
        (w * whole).sum().backward()
        assert w.grad is not None
        assert w.grad.tolist() == w.tolist()
        part.assign(part + 1)
        assert w.tolist() == whole.tolist()
    assert w.tolist() == [1.0, 2.0 + CALLS]


def test_no_gradient_flows_through_what_a_jitted_function_returned_and_the_error_says_so() -> None:
    weight = Tensor([1.0, 2.0], requires_grad=True)
    scaled = jit(lambda x: x * weight)
    for _ in range(CALLS):
        with pytest.raises(GradientError, match="call backward\\(\\) inside of a jitted function"):
            scaled(Tensor([3.0, 4.0])).sum().backward()
    assert weight.grad is None


def test_what_a_jitted_function_computed_of_parameters_is_no_end_of_a_gradient_unless_detached() -> None:
    weight, scale = (Tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    scaled = jit(lambda x: x * weight)
    for _ in range(CALLS):
        out = scaled(Tensor([3.0, 4.0]))
        with pytest.raises(GradientError, match=r"a jitted function returned the tensor of shape \(2,\)"):
            (out[:1] * scale).sum().backward()
        assert scale.grad is None
        (out.detach() * scale).sum().backward()
        assert (scale.grad.tolist(), weight.grad) == ([3.0, 8.0], None)
        scale.grad = None
    assert scaled.captures == 1


def test_what_a_jitted_function_computed_of_constants_is_an_end_of_a_gradient() -> None:
    weight, scale = Tensor([1.0, 2.0]), Tensor([1.0, 2.0], requires_grad=True)
    scaled = jit(lambda x: x * weight)
    for _ in range(CALLS):
        (scaled(Tensor([3.0, 4.0])) * scale).sum().backward()
        assert scale.grad.tolist() == [3.0, 8.0]
        scale.grad = None
