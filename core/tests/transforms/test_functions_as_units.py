"""`function`, which makes units for the scheduler."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import plugrad
from plugrad import Tensor, Variable, nn
from plugrad.engine.schedule_cache import clear_schedules
from plugrad.errors import GradientError
from plugrad.jit import jit
from plugrad.nn.state import get_parameters
from plugrad.schedule import create
from plugrad.transforms import checkpoint, function, grad, hessian, jvp, vmap

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 3))


def wave(x: Any) -> Any:
    return (x.exp() * x).sin()


class Block:
    """A layer with a residual connection."""

    def __init__(self) -> None:
        self.norm = nn.LayerNorm(16)
        self.linear = nn.Linear(16, 16)

    def plain(self, x: Tensor) -> Tensor:
        return x + self.linear(self.norm(x)).gelu()

    __call__ = function(plain)


def train(blocks: list[Block], forward: Callable[[Block, Tensor], Tensor]) -> list[np.ndarray[Any, Any]]:
    """Return the loss and parameters after two steps."""
    parameters = get_parameters(blocks)
    optimizer = nn.optim.SGD(parameters, lr=0.1, momentum=0.9)
    x = Tensor(RNG.standard_normal((8, 16)).astype(np.float32))
    with Tensor.train():
        for _ in range(2):
            optimizer.zero_grad()
            y = x
            for block in blocks:
                y = forward(block, y)
            loss = y.square().mean().backward()
            optimizer.step()
    return [loss.numpy(), *[p.numpy() for p in parameters]]


def blocks_like(values: list[np.ndarray[Any, Any]]) -> list[Block]:
    blocks = [Block() for _ in range(len(values) // 4)]
    for p, value in zip(get_parameters(blocks), values, strict=True):
        p.assign(Tensor(value, device=p.device))
    return blocks


def test_derivatives_and_batches_are_those_of_the_function() -> None:
    x, unit = Tensor(X), plugrad.function(wave)
    np.testing.assert_array_equal(unit(x).numpy(), wave(x).numpy())
    for transform in (lambda f: grad(lambda x: f(x).sum()), lambda f: hessian(lambda x: f(x).sum())):
        np.testing.assert_allclose(transform(unit)(x).numpy(), transform(wave)(x).numpy(), rtol=1e-9)
    moved, expected = (jvp(f, (x,), (x,))[1] for f in (unit, wave))
    np.testing.assert_allclose(moved.numpy(), expected.numpy(), rtol=1e-9)
    each, expected = (vmap(grad(lambda x: f(x).sum()))(x) for f in (unit, wave))  # noqa: B023
    np.testing.assert_allclose(each.numpy(), expected.numpy(), rtol=1e-9)
    of_batch, expected = (grad(lambda x: vmap(f)(x).sum())(x) for f in (unit, wave))  # noqa: B023
    np.testing.assert_allclose(of_batch.numpy(), expected.numpy(), rtol=1e-9)
    for nested in (function(lambda x: unit(unit(x))), checkpoint(lambda x: unit(unit(x)))):
        got = grad(lambda x: nested(x).sum())(x)  # noqa: B023
        np.testing.assert_allclose(got.numpy(), grad(lambda x: wave(wave(x)).sum())(x).numpy(), rtol=1e-9)


def test_a_layer_is_scheduled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduled: list[Any] = []
    loops_of = create.loops_of

    def counted(*args: Any) -> Any:
        scheduled.append(args)
        return loops_of(*args)

    monkeypatch.setattr(create, "loops_of", counted)

    def parts(layers: int) -> int:
        clear_schedules()
        blocks = [Block() for _ in range(layers)]
        Tensor.realize(*get_parameters(blocks))
        scheduled.clear()
        train(blocks, Block.__call__)
        return len(scheduled)

    assert parts(3) == parts(6)


def test_training_computes_the_same_with_and_without_units() -> None:
    start = [p.numpy() for p in get_parameters([Block() for _ in range(3)])]
    state = RNG.bit_generator.state
    plain = train(blocks_like(start), Block.plain)
    RNG.bit_generator.state = state
    for got, expected in zip(train(blocks_like(start), Block.__call__), plain, strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-6)


def test_everything_that_a_function_does_happens_at_each_call() -> None:
    calls: list[int] = []
    norm = nn.BatchNorm(3)

    @function
    def step(x: Tensor, scale: float = 1.0) -> Tensor:
        calls.append(1)
        return norm(x * scale).dropout(0.5)

    with Tensor.train():
        x = Tensor(X.astype(np.float32))
        results = [step(x).numpy(), step(x, scale=2.0).numpy(), step(x, scale=2.0).numpy()]
    assert len(calls) == 3
    assert norm.num_batches_tracked.item() == 3
    expected = nn.BatchNorm(3)
    with Tensor.train():
        for scale in (1.0, 2.0, 2.0):
            expected(x * scale)
    np.testing.assert_allclose(norm.running_mean.numpy(), expected.running_mean.numpy(), rtol=1e-6)
    assert not np.array_equal(results[1] == 0, results[2] == 0)


class Pair(NamedTuple):
    first: Tensor
    rest: dict[str, Any]


def test_results_lie_in_trees_beside_other_values() -> None:
    @function
    def both(x: dict[str, Tensor], *, name: str) -> Pair:
        return Pair(x["a"] + 1, {name: [x["a"] * 2, 3], "none": None})

    got = both({"a": Tensor([1.0, 2.0])}, name="b")
    assert isinstance(got, Pair)
    assert got.first.tolist() == [2.0, 3.0]
    assert got.rest["b"][0].tolist() == [2.0, 4.0]
    assert (got.rest["b"][1], got.rest["none"]) == (3, None)


def test_what_has_memory_or_needs_none_is_returned_as_it_is() -> None:
    memory, lazy, weight = Tensor([1.0]), Tensor([1.0]) * 2, (Tensor([1.0]) * 2).requires_grad_()
    number = Tensor.ones(3) + 1
    given = memory, lazy, weight, number
    assert all(got is x for got, x in zip(function(lambda *xs: xs)(*given), given, strict=True))
    captured = memory, weight, number
    assert all(got is x for got, x in zip(function(lambda: captured)(), captured, strict=True))
    state = Tensor([1.0, 2.0])
    assert function(lambda x: state.assign(state + x))(Tensor([1.0])) is state
    assert state.tolist() == [2.0, 3.0]


def test_an_argument_may_be_written_to() -> None:
    @function
    def double(x: Tensor) -> Tensor:
        x *= 2
        return x.sum()

    for x in (Tensor([1.0, 2.0]), Tensor([1.0, 2.0]) + 0):
        total = double(x)
        assert (total.item(), x.tolist()) == (6.0, [2.0, 4.0])


def test_units_are_jitted_and_take_variables() -> None:
    unit = function(lambda x, w: (x * w).exp())
    w = Tensor(X)
    stepped = jit(lambda x: unit(unit(x, w), w).sum())
    for scale in (1.0, 2.0, 3.0, 4.0):
        x = Tensor(X * scale / 9)
        expected = np.exp(np.exp(X * X * scale / 9) * X).sum()
        np.testing.assert_allclose(stepped(x.realize()).item(), expected, rtol=1e-9)
    for n in (2, 3):
        bound = Variable("n", 1, 4).bind(n)
        some = unit(w[:bound], w[:bound]).sum()
        np.testing.assert_allclose(some.item(), np.exp(X[:n] ** 2).sum(), rtol=1e-9)


def test_a_result_that_nobody_uses_costs_nothing() -> None:
    used, _ = function(lambda x: (x + 1, x.exp()))(Tensor.empty(4, device="PYTHON"))
    assert len(used.schedule()) == 1


def test_an_argument_has_memory_inside_and_is_the_same_tensor() -> None:
    seen: list[Tensor] = []

    @function
    def twice(x: Tensor, mask: Tensor) -> Tensor:
        seen.append(x)
        return mask.where(x.exp() * x, 0.0)

    x, mask = Tensor.empty(4) * 3, Tensor.empty(4) > 0
    before = x.uop, mask.uop
    y = twice(twice(x, mask), mask)
    assert seen[0] is x
    assert (x.uop, mask.uop) == before
    # the mask that both calls read; and the argument and each call, which go over the same elements
    assert len(y.schedule()) == 2


def test_gradients_by_an_argument_count_all_its_uses() -> None:
    w = Tensor(X, requires_grad=True)
    x = w * 2
    outside = x.exp()

    def plain(x: Tensor) -> Tensor:
        return (x * x).sin()

    got = (function(plain)(x) + outside).sum().gradient(x, w)
    expected = (plain(x) + outside).sum().gradient(x, w)
    for g, e in zip(got, expected, strict=True):
        np.testing.assert_allclose(g.numpy(), e.numpy(), rtol=1e-9)

    inside = function(lambda x: plain(x).sum().gradient(x)[0])
    np.testing.assert_allclose(inside(x).numpy(), plain(x).sum().gradient(x)[0].numpy(), rtol=1e-9)
    with pytest.raises(GradientError, match="apart"):
        function(lambda x: (plain(x) + outside).sum().gradient(x)[0])(x)


def test_an_argument_that_is_realized_inside_has_its_value() -> None:
    x = Tensor([1.0, 2.0]) * 2
    assert function(lambda x: x.realize() + 1)(x).tolist() == [3.0, 5.0]
    assert x.tolist() == [2.0, 4.0]

    def fail(x: Tensor) -> Tensor:
        raise ValueError

    y = Tensor([1.0]) * 2
    before = y.uop
    with pytest.raises(ValueError, match=r"^$"):
        function(fail)(y)
    assert y.uop is before
