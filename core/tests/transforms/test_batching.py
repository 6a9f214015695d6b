"""`vmap` does for all examples what a loop over them would."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, Variable
from plugrad.errors import AxisError, ScheduleError, ShapeError, TransformError
from plugrad.jit import jit
from plugrad.nn import Linear
from plugrad.transforms import grad, jvp, vmap

RNG = np.random.default_rng(0)
X = RNG.standard_normal((5, 3, 4))
W = RNG.standard_normal((4, 2))

FUNCTIONS: dict[str, Any] = {
    "elementwise": lambda x: (x * 2 + x.sin()).exp(),
    "reduced": lambda x: x.softmax(-1).sum(0),
    "matrix": lambda x: x @ x.T,
    "outside": lambda x: x @ (Tensor(W) if isinstance(x, Tensor) else torch.tensor(W)),
    "moved": lambda x: x.permute(1, 0).reshape(2, 6)[:, 1:].flip(1),
    "picked": lambda x: x[[0, 2]][:, [1, 1, 3]],
    "summed up": lambda x: x.cumsum(1),
    "of a number": lambda x: x.sum() * x,
    "same for all": lambda x: (x * 0)[0, 0] + 1,
}


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_vmap_is_that_of_torch(f: Any) -> None:
    expected = torch.func.vmap(f)(torch.tensor(X))
    np.testing.assert_allclose(vmap(f)(Tensor(X)).numpy(), expected.numpy(), rtol=1e-10)


def test_axes_of_arguments_and_results() -> None:
    x, y = Tensor(X), Tensor(X[:, 0])
    found = vmap(lambda a, b: a * b, in_axes=(2, None), out_axes=1)(x, Tensor(X[:, :, 0]))
    expected = torch.func.vmap(lambda a, b: a * b, in_dims=(2, None), out_dims=1)
    np.testing.assert_array_equal(found.numpy(), expected(torch.tensor(X), torch.tensor(X[:, :, 0])).numpy())
    sums, (first, last) = vmap(
        lambda p: (p["x"].sum() + p["y"].sum(), [p["y"], p["x"]]),
        in_axes=({"x": 0, "y": -2},),
        out_axes=(0, [0, -1]),
    )({"x": x, "y": y})
    np.testing.assert_allclose(sums.numpy(), X.sum((1, 2)) + X[:, 0].sum(1))
    np.testing.assert_array_equal(first.numpy(), X[:, 0])
    np.testing.assert_array_equal(last.numpy(), np.moveaxis(X, 0, -1))
    constant = vmap(lambda a: (a, Tensor([7])), out_axes=(0, None))(x)[1]
    assert constant.tolist() == [7]


def test_keywords_are_the_same_for_all_examples() -> None:
    found = vmap(lambda a, scale: a * scale, in_axes=np.int64(1))(Tensor(X), scale=Tensor(X[:, 0]))
    np.testing.assert_allclose(found.numpy(), np.moveaxis(X, 1, 0) * X[:, 0])


def test_vmap_nests() -> None:
    pairs = vmap(vmap(lambda a, b: (a * b).sum(), in_axes=(None, 0)), in_axes=(0, None))
    a, b = Tensor(X[0]), Tensor(X[1])
    np.testing.assert_allclose(pairs(a, b).numpy(), X[0] @ X[1].T, rtol=1e-10)


def test_gradients_of_each_example() -> None:
    def loss(w: Any, x: Any) -> Any:
        return ((x @ w).tanh() ** 2).sum()

    each = vmap(grad(loss), in_axes=(None, 0))(Tensor(W), Tensor(X))
    theirs = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))
    np.testing.assert_allclose(each.numpy(), theirs(torch.tensor(W), torch.tensor(X)).numpy(), rtol=1e-9)
    total = grad(lambda w: vmap(loss, in_axes=(None, 0))(w, Tensor(X)).sum())(Tensor(W))
    np.testing.assert_allclose(total.numpy(), each.numpy().sum(0), rtol=1e-9)
    y, moved = jvp(vmap(lambda x: x.sin()), (Tensor(X),), (Tensor(X),))
    np.testing.assert_allclose(moved.numpy(), np.cos(X) * X, rtol=1e-9)
    np.testing.assert_allclose(y.numpy(), np.sin(X), rtol=1e-9)
    inside = vmap(lambda x: jvp(lambda x: x.sin(), (x,), (x,))[1])(Tensor(X))
    np.testing.assert_allclose(inside.numpy(), np.cos(X) * X, rtol=1e-9)


def test_gradients_flow_to_tensors_outside() -> None:
    layer, x = Linear(4, 2), Tensor(X.astype(np.float32))
    vmap(lambda x: layer(x).square().sum())(x).sum().backward()
    found = [p.grad.numpy() for p in (layer.weight, layer.bias)]  # pyright: ignore
    layer.weight.grad = None
    layer(x).square().sum().backward()
    assert layer.weight.grad is not None
    np.testing.assert_allclose(found[0], layer.weight.grad.numpy(), rtol=1e-5)


def test_gradient_inside_of_the_function() -> None:
    def f(x: Tensor) -> Tensor:
        return (x * x * x).sum().gradient(x)[0]

    np.testing.assert_allclose(vmap(f)(Tensor(X)).numpy(), 3 * X * X, rtol=1e-10)


@pytest.mark.parametrize("count", [0, 1])
def test_few_examples(count: int) -> None:
    assert vmap(lambda x: x.sum(0) * 2)(Tensor(X[:count])).shape == (count, 4)


def test_a_symbolic_number_of_examples() -> None:
    for n in (2, 4):
        x = Tensor(X)[: Variable("n", 1, 5).bind(n)]
        assert vmap(lambda x: x.sum())(x).sum().item() == pytest.approx(X[:n].sum())


def test_each_example_draws_what_a_loop_would() -> None:
    x = Tensor(np.zeros((3, 4), np.float32))
    Tensor.manual_seed(3)
    drawn = vmap(lambda x: x + Tensor.rand(4))(x).numpy()
    Tensor.manual_seed(3)
    assert drawn.tolist() == [(row + Tensor.rand(4)).tolist() for row in x]
    nested = vmap(vmap(lambda x: x + Tensor.rand()))(x).numpy()
    assert len(np.unique(nested)) == 12
    same = vmap(lambda x: x + Tensor.rand(4), randomness="same")(x).numpy()
    assert (same == same[0]).all()
    with Tensor.train():
        kept = vmap(lambda x: (x + 1).dropout(0.5))(Tensor(np.zeros((8, 32), np.float32))).numpy()
    assert len({tuple(row) for row in kept}) == 8


def test_vmap_replays_with_new_numbers() -> None:
    @jit
    def step(x: Tensor) -> Tensor:
        return vmap(lambda x: (x * 2).sum() + 0 * Tensor.rand())(x)

    @jit
    def draw(x: Tensor) -> Tensor:
        return vmap(lambda x: x + Tensor.rand())(x)

    for n in range(4):
        np.testing.assert_allclose(step(Tensor(X + n)).numpy(), 2 * (X + n).sum((1, 2)), rtol=1e-6)
    zeros = Tensor(np.zeros(4, np.float32))
    drawn = [tuple(draw(zeros).tolist()) for _ in range(4)]
    assert len({x for row in drawn for x in row}) == 16
    assert step.captures == draw.captures == 1


def test_assigns_inside_are_refused() -> None:
    x = Tensor(X)
    memory = Tensor.zeros(3, 4, dtype="float64").contiguous()

    def sets(x: Tensor) -> Tensor:
        x[0] = 0
        return x

    def made(x: Tensor) -> Tensor:
        y = (x * 2).contiguous()
        y[0] = x[1]
        return y

    for f in (sets, made, lambda x: x.assign(x * 2), lambda x: memory.assign(x)):
        with pytest.raises(TransformError, match="Do not assign inside of the function"):
            vmap(f)(x)


def test_values_of_examples_cannot_be_read() -> None:
    with pytest.raises(ScheduleError, match="argument of vmap"):
        vmap(lambda x: x * x.sum().item())(Tensor(X))


def test_what_does_not_fit_is_refused() -> None:
    x = Tensor(X)
    with pytest.raises(ShapeError, match=r"arguments have 5 and 3 examples"):
        vmap(lambda a, b: a, in_axes=(0, 1))(x, x)
    with pytest.raises(AxisError, match=r"vmap: in_axes 3 is out of range\. .* run from -3 to 2"):
        vmap(lambda a: a, in_axes=3)(x)
    for wrong in (True, 0.0, "a"):
        with pytest.raises(AxisError, match=r"vmap: in_axes=.* is no axis"):
            vmap(lambda a: a, in_axes=wrong)(x)
    with pytest.raises(AxisError, match=r"vmap: out_axes 3 is out of range\. .* run from -3 to 2"):
        vmap(lambda a: a, out_axes=3)(x)
    with pytest.raises(TransformError, match="no argument has examples"):
        vmap(lambda a: a, in_axes=None)(x)
    with pytest.raises(TransformError, match="out_axes is None for a result"):
        vmap(lambda a: a, out_axes=None)(x)
    with pytest.raises(TransformError, match="randomness='error'"):
        vmap(lambda a: a, randomness="error")  # pyright: ignore[reportArgumentType]
    w = Tensor(W, requires_grad=True)
    with pytest.raises(TransformError, match="left a gradient of one example"):
        vmap(lambda a: (a @ w).sum().backward())(x)
    assert w.grad is None


def test_axes_may_be_given_by_the_names_of_pytorch() -> None:
    x, y = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), Tensor([1.0, 10.0])
    ours = vmap(lambda a, b: a * b, in_dims=(0, None), out_dims=1)(x, y)
    np.testing.assert_array_equal(ours.numpy(), (x.numpy() * y.numpy()).T)
