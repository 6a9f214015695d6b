"""Random numbers of symbolic shape: those of the shape of today, from the same place of the stream."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_symbolic import bound, filled_up, shown

from plugrad import Tensor, context
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.jit import jit
from plugrad.tensor.create.random import stream
from plugrad.transforms import vmap

VALUES = (2, 8, 5)

DRAWS: dict[str, Callable[[Any], Tensor]] = {
    "rand": lambda n: Tensor.rand(n, 3),
    "randn": lambda n: Tensor.randn(3, n),
    "randn in float64": lambda n: Tensor.randn(n, dtype="float64"),
    "randint": lambda n: Tensor.randint(n, n, low=-5, high=100),
    "uniform": lambda n: Tensor.uniform(2, n, low=-1, high=3),
    "normal": lambda n: Tensor.normal(n * 2, mean=1.0, std=0.5),
    "rand_like": lambda n: Tensor.ones(n, 3).rand_like(),
    "randn_like": lambda n: Tensor.ones(n, 3).randn_like(),
    "randint_like": lambda n: Tensor.ones(n, 3, dtype="int32").randint_like(high=50),
    "bernoulli": lambda n: Tensor.ones(n, 3).bernoulli(0.4),
    "bernoulli of probabilities": lambda n: (Tensor.arange(n) / 8).bernoulli(),
    "randperm": lambda n: Tensor.randperm(n),
    "multinomial": lambda n: (Tensor.arange(n) + 1.0).multinomial(2),
    "multinomial with replacement": lambda n: Tensor.ones(n, 3).multinomial(4, replacement=True),
    "multinomial, a symbolic number": lambda n: Tensor.ones(9).multinomial(n),
    "dropout": lambda n: Tensor.ones(n, 3).dropout(0.5, training=True),
    "dropout1d": lambda n: Tensor.ones(n, 3, n).dropout1d(0.5, training=True),
    "dropout2d": lambda n: Tensor.ones(3, n, 2, 1).dropout2d(0.5, training=True),
    "dropout3d": lambda n: Tensor.ones(3, 2, n, 1, 1).dropout3d(0.5, training=True),
    "alpha_dropout": lambda n: Tensor.ones(3, n).alpha_dropout(0.5, training=True),
    "feature_alpha_dropout": lambda n: Tensor.ones(n, 3).feature_alpha_dropout(0.5, training=True),
    "a weight of a symbolic number of outputs": lambda n: Tensor.kaiming_normal(n, 3),
    "examples of a batch": lambda n: vmap(lambda x: x + Tensor.rand(3))(Tensor.ones(n, 3)),
    "a symbolic number for each example": lambda n: vmap(lambda x: x.rand_like())(Tensor.ones(3, n)),
}


def seeded(draw: Callable[[Any], Tensor], n: Any) -> Tensor:
    Tensor.manual_seed(7)
    return draw(n)


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_the_numbers_are_those_of_the_size_of_today(draw: Callable[[Any], Tensor]) -> None:
    programs: set[tuple[Any, ...]] = set()
    for value in VALUES:
        expected, end = seeded(draw, value).numpy(), (stream.seed, stream.counter)
        y = filled_up(seeded(draw, bound(value)))
        assert (stream.seed, stream.counter) == end
        programs.add(tuple(item.ast for item in y.schedule()))
        np.testing.assert_array_equal(shown(y, expected.shape), expected)
        assert not y.numpy().astype(float).sum() - expected.astype(float).sum(), "more than there are"
    assert len(programs) == 1


@pytest.mark.parametrize(
    "draw",
    [
        lambda n: Tensor.scaled_uniform(n, 3),
        lambda n: Tensor.glorot_uniform(n, 3),
        lambda n: Tensor.kaiming_uniform(3, n),
        lambda n: Tensor.kaiming_normal(3, n, 2),
    ],
)
def test_limits_that_depend_on_the_size_are_those_of_today_but_for_the_last_digit(draw: Any) -> None:
    programs: set[tuple[Any, ...]] = set()
    for value in VALUES:
        expected = seeded(draw, value).numpy()
        y = filled_up(seeded(draw, bound(value)))
        programs.add(tuple(item.ast for item in y.schedule()))
        np.testing.assert_allclose(shown(y, expected.shape), expected, rtol=3e-7, atol=3e-7)
    assert len(programs) == 1


def test_the_numbers_are_the_same_on_every_device() -> None:
    here = filled_up(seeded(DRAWS["randn"], bound(5))).numpy()
    with context(DEVICE="PYTHON"):
        there = filled_up(seeded(DRAWS["randn"], bound(5))).numpy()
    np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize("name", ["rand", "randperm", "dropout", "multinomial with replacement"])
def test_a_replay_draws_what_eager_calls_would(name: str) -> None:
    draw = DRAWS[name]

    @jit
    def step(n: Any) -> tuple[Tensor, Tensor]:
        return filled_up(draw(n)) + 0, Tensor.rand(2) + 0

    values = (*VALUES, 8, 3, 4)
    Tensor.manual_seed(7)
    expected = [(draw(value).numpy(), Tensor.rand(2).numpy()) for value in values]
    Tensor.manual_seed(7)
    for value, (first, second) in zip(values, expected, strict=True):
        found = step(bound(value))
        np.testing.assert_array_equal(shown(found[0], first.shape), first)
        np.testing.assert_array_equal(found[1].numpy(), second)
    assert step.captures == 1


def test_a_replay_that_is_refused_draws_nothing() -> None:
    @jit
    def step(x: Tensor, n: Any) -> Tensor:
        return (x[:, :n] * Tensor.rand(n)).sum(1) + 0

    x = Tensor.ones(2, 6).realize()
    for value in (3, 4, 5):
        step(x, bound(value))
    counter = stream.counter
    with pytest.raises(ShapeError, match="with n=7"):
        step(x, bound(7))
    assert stream.counter == counter


def test_a_gradient_flows_through_what_was_kept() -> None:
    x = Tensor.ones(8, 3).realize()
    kept = seeded(lambda n: x[:n].dropout(0.5, training=True), 5).numpy()
    y = seeded(lambda n: x[:n].dropout(0.5, training=True), bound(5))
    found = y.sum().gradient(x)[0].numpy()
    np.testing.assert_array_equal(found, np.concatenate([kept, np.zeros((3, 3))]))


def test_what_does_not_fit_today_is_refused_at_once() -> None:
    with pytest.raises(ArgumentError, match="multinomial: num_samples=5 of 4 weights"):
        Tensor.ones(bound(4)).multinomial(5)
    with pytest.raises(ArgumentError, match="multinomial: num_samples=5 of 4 weights"):
        Tensor.ones(4).multinomial(bound(5))
    with pytest.raises(DtypeError, match=r"randperm: bool does not hold all of 0\.\.7"):
        Tensor.randperm(bound(2), dtype="bool")
