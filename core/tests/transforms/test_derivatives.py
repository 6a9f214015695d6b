"""Derivatives of functions, against torch.func and finite differences in float64."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import DeviceError, DtypeError, GradientError, ShapeError, TransformError
from plugrad.jit import jit
from plugrad.transforms import grad, jacobian, jvp, linearize, value_and_grad, vjp, vmap

# torch.func.jvp compiles its decompositions
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4))
T = RNG.standard_normal((3, 4))

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "product": lambda x: x * x * 2,
    "quotient": lambda x: 1 / (x * x + 1),
    "power": lambda x: (x * x + 0.5) ** 1.7,
    "waves": lambda x: x.cos() * x.sin() + x.tanh(),
    "roots": lambda x: (x * x + 1).sqrt() + (x * x + 1).log(),
    "softmax": lambda x: x.softmax(-1) ** 2,
    "deviation": lambda x: x.std(1) + x.var(0).sum(),
    "greatest": lambda x: x.amax(1) if isinstance(x, torch.Tensor) else x.max(1),
    "all_multiplied": lambda x: x.prod(1),
    "matrix": lambda x: x @ x.T,
    "moved": lambda x: x.permute(1, 0).reshape(2, 6)[:, 1:].flip(1) * 2,
    "picked": lambda x: x[:, [0, 2, 2]] * x[[0, 0, 1]][:, :3],
    "summed up": lambda x: x.cumsum(1),
}


def numbers(x: Any) -> np.ndarray:
    return x.detach().numpy() if isinstance(x, torch.Tensor) else x.numpy()


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_jvp_is_that_of_torch(f: Callable[[Any], Any]) -> None:
    y, moved = jvp(f, (Tensor(X),), (Tensor(T),))
    expected, tangent = torch.func.jvp(f, (torch.tensor(X),), (torch.tensor(T),))
    np.testing.assert_allclose(y.numpy(), expected.numpy(), rtol=1e-12)
    np.testing.assert_allclose(moved.numpy(), tangent.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["waves", "softmax", "roots", "matrix"])
def test_jvp_is_a_difference_of_values(name: str) -> None:
    f, step = FUNCTIONS[name], 1e-6
    _, moved = jvp(f, (Tensor(X),), (Tensor(T),))
    difference = (f(Tensor(X + step * T)) - f(Tensor(X - step * T))).numpy() / (2 * step)
    np.testing.assert_allclose(moved.numpy(), difference, rtol=1e-6, atol=1e-8)


def test_transforms_nest() -> None:
    def f(x: Any) -> Any:
        return (x.sin() * x * x).sum()

    x, t = Tensor(X), Tensor(T)
    theirs, along = torch.tensor(X), torch.tensor(T)

    forward_over_reverse = jvp(grad(f), (x,), (t,))[1]
    expected = torch.func.jvp(torch.func.grad(f), (theirs,), (along,))[1]
    np.testing.assert_allclose(forward_over_reverse.numpy(), expected.numpy(), rtol=1e-10)

    reverse_over_forward = grad(lambda x: jvp(f, (x,), (t,))[1])(x)
    np.testing.assert_allclose(reverse_over_forward.numpy(), expected.numpy(), rtol=1e-10)

    twice = jvp(lambda x: jvp(f, (x,), (t,))[1], (x,), (t,))[1]
    np.testing.assert_allclose(twice.numpy(), (expected * along).sum().numpy(), rtol=1e-10)


def test_only_uses_as_the_argument_count() -> None:
    x = Tensor([3.0])
    assert grad(lambda a: (a * x).sum())(x).tolist() == [3.0]
    assert jvp(lambda a: a * x, (x,), (Tensor([1.0]),))[1].tolist() == [3.0]
    assert jvp(lambda a, b: a * b * b, (x, x), (None, Tensor([1.0])))[1].tolist() == [18.0]
    inner = grad(lambda x: (x * grad(lambda y: (x + y).sum())(x)).sum())
    assert inner(x).tolist() == [1.0]


def test_several_arguments_and_trees() -> None:
    def f(p: dict[str, Tensor], x: Tensor) -> Tensor:
        return (p["w"] * x + p["b"]).square().sum()

    w, b, x = Tensor([1.0, 2.0]), Tensor([0.5, 0.5]), Tensor([3.0, 4.0])
    by_p, by_x = grad(f, (0, 1))({"w": w, "b": b}, x)
    assert by_p["b"].tolist() == [7.0, 17.0]
    assert by_p["w"].tolist() == [21.0, 68.0]
    assert by_x.tolist() == [7.0, 34.0]
    (y, z), moved = jvp(lambda p: (p["a"] * 2, [p["b"]]), ({"a": w, "b": b},), ({"a": x, "b": None},))
    assert moved[0].tolist() == [6.0, 8.0]
    assert moved[1][0].tolist() == [0.0, 0.0]
    assert y.tolist() == [2.0, 4.0]
    assert z[0].tolist() == [0.5, 0.5]
    value, extra = grad(lambda x: (x.sum(), x * 2), has_aux=True)(w)
    assert value.tolist() == [1.0, 1.0]
    assert extra.tolist() == [2.0, 4.0]


def test_what_is_returned_beside_the_result_comes_back() -> None:
    def f(x: Tensor, scale: float = 1.0) -> tuple[Tensor, dict[str, Any]]:
        return (x * x * scale).sum(), {"twice": x * 2, "note": "said"}

    x, one = Tensor([1.0, 2.0]), Tensor([1.0, 1.0])
    (value, aux), gradient = value_and_grad(f, has_aux=True)(x, scale=3.0)
    assert (value.item(), gradient.tolist()) == (15.0, [6.0, 12.0])
    assert (aux["twice"].tolist(), aux["note"]) == ([2.0, 4.0], "said")
    assert not aux["twice"].requires_grad
    y, pull, aux = vjp(f, x, has_aux=True)
    assert (y.item(), pull(Tensor(1.0))[0].tolist(), aux["note"]) == (5.0, [2.0, 4.0], "said")
    y, moved, aux = jvp(f, (x,), (one,), has_aux=True)
    assert (y.item(), moved.item(), aux["note"]) == (5.0, 6.0, "said")
    value, gradients = value_and_grad(lambda x, y: (x * y).sum(), (0, 1))(x, one)
    assert (value.item(), [g.tolist() for g in gradients]) == (3.0, [[1.0, 1.0], [1.0, 2.0]])


def test_a_function_is_linearized_once_for_many_tangents() -> None:
    calls: list[int] = []

    def f(x: Tensor, y: Tensor) -> dict[str, Tensor]:
        calls.append(1)
        return {"product": x * y, "sine": x.sin()}

    x, y = Tensor(X), Tensor(T)
    out, push = linearize(f, x, y)
    for tangents in ((x, y), (y, None), (None, x)):
        given = [t if t is not None else Tensor(X * 0) for t in tangents]
        expected = jvp(f, (x, y), given)
        found = push(*tangents)
        for name in ("product", "sine"):
            np.testing.assert_allclose(out[name].numpy(), expected[0][name].numpy())
            np.testing.assert_allclose(found[name].numpy(), expected[1][name].numpy(), rtol=1e-12)
    assert len(calls) == 4
    tracked = Tensor(X, requires_grad=True)
    assert push(tracked, None)["product"].requires_grad
    assert not push(x, None)["product"].requires_grad


def test_integers_and_bools_stand_still() -> None:
    x, i = Tensor([1.0, -2.0]), Tensor([1, 0])
    (y, places, signs), moved = jvp(
        lambda x, i: (x[i] * i, x.argmax(), x > 0), (x, i), (Tensor([10.0, 20.0]), None)
    )
    assert y.tolist() == [-2.0, 0.0]
    assert places.item() == 0
    assert signs.tolist() == [True, False]
    assert moved[0].tolist() == [20.0, 0.0]
    assert moved[1].item() == 0
    assert moved[2].tolist() == [False, False]
    _, pull = vjp(lambda x, i: x[i], x, i)
    found = pull(Tensor([5.0, 7.0]))
    assert found[0].tolist() == [7.0, 5.0]
    assert found[1] is None


def test_what_is_realized_inside_keeps_its_derivative() -> None:
    def f(x: Tensor) -> Tensor:
        y = (x * x).realize()
        return y * 2 if y.sum().item() > 0 else y

    assert jvp(f, (Tensor([3.0]),), (Tensor([1.0]),))[1].tolist() == [12.0]
    assert grad(lambda x: f(x).sum())(Tensor([3.0])).tolist() == [12.0]


def test_results_require_gradients_only_where_something_did_before() -> None:
    x, w = Tensor([3.0]), Tensor([2.0], requires_grad=True)
    assert not grad(lambda x: (x * x).sum())(x).requires_grad
    gradient = grad(lambda x: (x * x * w).sum())(x)
    assert gradient.requires_grad
    gradient.sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [6.0]


def test_derivatives_replay() -> None:
    @jit
    def step(x: Tensor, t: Tensor) -> list[Tensor]:
        f = FUNCTIONS["softmax"]
        return [jvp(f, (x,), (t,))[1], jacobian(f)(x), vmap(grad(lambda x: (x * x).sum()))(x)]

    for n in range(4):
        x, t = X + n, T - n
        moved, rows, each = step(Tensor(x), Tensor(t))
        f = FUNCTIONS["softmax"]
        expected = torch.func.jvp(f, (torch.tensor(x),), (torch.tensor(t),))[1]
        np.testing.assert_allclose(moved.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)
        expected = torch.func.jacrev(f)(torch.tensor(x))
        np.testing.assert_allclose(rows.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(each.numpy(), 2 * x)
    assert step.captures == 1


def test_what_has_no_derivative_is_refused() -> None:
    x = Tensor([1.0, 2.0])
    with pytest.raises(GradientError, match="has to return a float tensor of one element"):
        grad(lambda x: x * 2)(x)
    with pytest.raises(GradientError, match="has to return a float tensor of one element"):
        grad(lambda x: x.sum().cast("int32"))(x)
    for wrong in (Tensor([1, 2]), 3.0):
        with pytest.raises(GradientError, match=r"grad: the argument .* holds no float tensors"):
            grad(lambda x: x)(wrong)
    for argnums in ("a", 0.0, True, 2):
        with pytest.raises(TransformError, match=r"grad: argnums=.* for a call with 1 arguments"):
            grad(lambda x: x.sum(), argnums)(x)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TransformError, match=r"argnums=\(0, -1\) names an argument twice"):
        grad(lambda x: x.sum(), (0, -1))(x)
    for transform in (grad, value_and_grad):
        with pytest.raises(TransformError, match=f"{transform.__name__}: has_aux=True, and the function"):
            transform(lambda x: x.sum(), has_aux=True)(x)
    with pytest.raises(TransformError, match="argnums=1 for a call with 1 arguments"):
        grad(lambda x: x.sum(), 1)(x)
    with pytest.raises(TransformError, match=r"jvp: primals is .* \(Tensor\). Pass a tuple"):
        jvp(lambda x: x, x, x)  # pyright: ignore[reportArgumentType]
    elsewhere = Tensor([1.0, 2.0], device="NULL")
    with pytest.raises(DeviceError, match="jvp: a tangent on NULL for a primal on"):
        jvp(lambda x: x, (x,), (elsewhere,))
    with pytest.raises(DeviceError, match="vjp: a gradient on NULL for a result on"):
        vjp(lambda x: x, x)[1](elsewhere)
    with pytest.raises(ShapeError, match=r"linearize: a tangent of shape \(1,\)"):
        linearize(lambda x: x, x)[1](Tensor([1.0]))
    with pytest.raises(ShapeError, match=r"a tangent of shape \(1,\) for a primal of shape \(2,\)"):
        jvp(lambda x: x, (x,), (Tensor([1.0]),))
    with pytest.raises(DtypeError, match="a tangent of float64 for a primal of float32"):
        jvp(lambda x: x, (x,), (x.double(),))
    with pytest.raises(DtypeError, match="a tangent of int32 for a primal of int32"):
        jvp(lambda x: x, (Tensor([1]),), (Tensor([1]),))
    with pytest.raises(TransformError, match="0 tangents for 1 primals"):
        jvp(lambda x: x, (x,), ())
    with pytest.raises(DtypeError, match="pass a tensor or None"):
        jvp(lambda x: x, (x,), (1.0,))
    with pytest.raises(TransformError, match="vjp: 2 gradients for 1 results"):
        vjp(lambda x: x, x)[1](x, x)
