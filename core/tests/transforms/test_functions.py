"""Checkpoints and gradients of one's own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, events
from plugrad.errors import DeviceError, DtypeError, GradientError, ShapeError, TransformError
from plugrad.jit import jit
from plugrad.nn import TransformerEncoderLayer
from plugrad.nn.state import get_parameters
from plugrad.tensor.functional import attention
from plugrad.transforms import checkpoint, custom_gradient, grad, hessian, jvp, vmap

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 3))


def wave(x: Any) -> Any:
    return (x.exp() * x).sin()


def test_gradients_of_a_checkpoint_are_those_of_the_function() -> None:
    x = Tensor(X)
    again = checkpoint(wave)
    np.testing.assert_array_equal(again(x).numpy(), wave(x).numpy())
    for transform in (lambda f: grad(lambda x: f(x).sum()), lambda f: hessian(lambda x: f(x).sum())):
        np.testing.assert_allclose(transform(again)(x).numpy(), transform(wave)(x).numpy(), rtol=1e-9)
    moved, expected = (jvp(f, (x,), (x,))[1] for f in (again, wave))
    np.testing.assert_allclose(moved.numpy(), expected.numpy(), rtol=1e-9)
    each, expected = (vmap(grad(lambda x: f(x).sum()))(x) for f in (again, wave))  # noqa: B023
    np.testing.assert_allclose(each.numpy(), expected.numpy(), rtol=1e-9)
    of_batch, expected = (grad(lambda x: vmap(f)(x).sum())(x) for f in (again, wave))  # noqa: B023
    np.testing.assert_allclose(of_batch.numpy(), expected.numpy(), rtol=1e-9)
    nested = checkpoint(lambda x: again(again(x)))
    plain = grad(lambda x: wave(wave(x)).sum())(x)
    np.testing.assert_allclose(grad(lambda x: nested(x).sum())(x).numpy(), plain.numpy(), rtol=1e-9)


def test_tensors_outside_of_a_checkpoint_get_gradients() -> None:
    w, x = Tensor(X.T, requires_grad=True), Tensor(X)
    doubled = w * 2
    (two, mean) = checkpoint(lambda x: ((x @ doubled).exp(), (x @ w).mean()))(x)
    loss = two.sum() + mean
    by_w, by_doubled = loss.gradient(w, doubled)
    expected = ((x @ (w * 2)).exp().sum() + (x @ w).mean()).gradient(w)[0]
    np.testing.assert_allclose(by_w.numpy(), expected.numpy(), rtol=1e-9)
    expected = (x @ doubled).exp().sum().gradient(doubled)[0]
    np.testing.assert_allclose(by_doubled.numpy(), expected.numpy(), rtol=1e-9)
    loss.backward()
    assert w.grad is not None
    np.testing.assert_allclose(w.grad.numpy(), by_w.numpy(), rtol=1e-9)


def test_both_passes_of_a_checkpoint_draw_the_same_numbers() -> None:
    x = Tensor(np.ones((8, 64), np.float32), requires_grad=True)
    with Tensor.train():
        y = checkpoint(lambda x: (x * 2).dropout(0.5).exp())(x)
    y.sum().backward()
    assert x.grad is not None
    values, gradient = y.numpy(), x.grad.numpy()
    np.testing.assert_allclose(gradient, np.where(values > 1, values * 4, 0), rtol=1e-5)
    assert 0.3 < (values > 1).mean() < 0.7


def test_integers_and_lists_go_through_a_checkpoint() -> None:
    x = Tensor(X, requires_grad=True)

    @checkpoint
    def picked(pair: list[Tensor], scale: float) -> dict[str, Tensor]:
        rows = pair[0][pair[1]].exp() * scale
        return {"rows": rows, "which": pair[1] + 1}

    out = picked([x, Tensor([0, 2, 0])], scale=2.0)
    assert out["which"].tolist() == [1, 3, 1]
    out["rows"].sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), np.exp(X) * [[4.0], [0.0], [2.0], [0.0]], rtol=1e-9)


def trained(depth: int, wrap: Callable[[Any], Any]) -> tuple[int, list[np.ndarray]]:
    """Return the most bytes that training a deep network held beyond its data, and the gradients."""
    rng = np.random.default_rng(0)

    def parameter(*shape: int) -> Tensor:
        values = rng.standard_normal(shape).astype(np.float32) / 8
        return Tensor(values, requires_grad=True).realize()

    layers = [(parameter(16, 64), parameter(64, 16)) for _ in range(depth)]
    x = Tensor(rng.standard_normal((128, 16)).astype(np.float32)).realize()
    held: list[int] = []
    with events.subscribe(events.KernelEvent, lambda event: held.append(event.memory_used)), Tensor.train():
        Tensor.manual_seed(1)
        (x + 0).realize()
        y = x
        for w, v in layers:
            y = wrap(lambda y, w=w, v=v: y + (y @ w).tanh().dropout(0.1) @ v)(y)
        y.square().sum().backward()
        gradients = [p.grad for layer in layers for p in layer if p.grad is not None]
        Tensor.realize(*gradients)
    return max(held) - held[0], [g.numpy() for g in gradients]


def test_a_checkpoint_keeps_only_its_arguments(device: str) -> None:
    if device == "PYTHON":
        pytest.skip("memory is planned for all devices alike")
    (few, _), (many, expected) = (trained(n, lambda f: f) for n in (4, 12))
    (few_again, _), (many_again, found) = (trained(n, checkpoint) for n in (4, 12))
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-3, atol=1e-4)
    # a layer's inside, of 128 x 64, is kept for each layer only without a checkpoint
    inside = 128 * 64 * 4
    assert many - few > 8 * inside
    assert many_again - few_again < 8 * inside
    assert many_again < many / 2.5


def test_checkpoints_around_transformer_layers_halve_the_memory(device: str) -> None:
    if device == "PYTHON":
        pytest.skip("memory is planned for all devices alike")
    layers = [TransformerEncoderLayer(16, 2, 64) for _ in range(4)]
    parameters = get_parameters(layers)
    for parameter in parameters:
        parameter.requires_grad = True
    x = Tensor(RNG.standard_normal((4, 32, 16)).astype(np.float32))
    Tensor.realize(x, *parameters)

    def trained_with(wrap: Callable[[Any], Any]) -> tuple[int, list[np.ndarray]]:
        held: list[int] = []
        with events.subscribe(events.KernelEvent, lambda event: held.append(event.memory_used)):
            (x + 0).realize()
            y = x
            for layer in layers:
                y = wrap(layer)(y)
            y.square().sum().backward()
            gradients = [p.grad for p in parameters if p.grad is not None]
            Tensor.realize(*gradients)
        for parameter in parameters:
            parameter.grad = None
        return max(held) - held[0], [g.numpy() for g in gradients]

    plain, expected = trained_with(lambda layer: layer)
    again, found = trained_with(checkpoint)
    # what is computed again may be rounded as another kernel rounds it
    rounding = 1e-6 * max(np.abs(g).max() for g in expected)
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=rounding)
    assert again < plain / 1.8


def test_checkpoints_replay() -> None:
    @jit
    def step(x: Tensor) -> Tensor:
        return grad(lambda x: checkpoint(wave)(x).sum())(x)

    for n in range(4):
        expected = grad(lambda x: wave(x).sum())(Tensor(X + n))
        np.testing.assert_allclose(step(Tensor(X + n)).numpy(), expected.numpy(), rtol=1e-9)
    assert step.captures == 1


def test_an_argument_may_be_overwritten_before_the_gradient() -> None:
    x = Tensor(X).contiguous().realize()
    y = checkpoint(wave)(x)
    (gradient,) = y.sum().gradient(x)
    x.assign(x * 0).realize()
    expected = grad(lambda x: wave(x).sum())(Tensor(X))
    np.testing.assert_allclose(gradient.numpy(), expected.numpy(), rtol=1e-9)


def test_a_checkpoint_refuses_what_it_cannot_repeat() -> None:
    x = Tensor(X)
    with pytest.raises(TransformError, match=r"returned 3 \(int\)"):
        checkpoint(lambda x: 3)(x)

    def assigns(x: Tensor) -> Tensor:
        y = (x * 2).contiguous()
        y[0] = 0
        return y

    with pytest.raises(TransformError, match="may not assign"):
        checkpoint(assigns)(x)


@custom_gradient(lambda gradient, inputs, output: gradient * output * 3)
def tripled(x: Tensor) -> Tensor:
    """Return exp(x), whose gradient is called three times as large."""
    return x.exp()


def test_a_gradient_of_ones_own_takes_the_place_of_the_functions() -> None:
    x = Tensor(X, requires_grad=True)
    y = tripled(x)
    np.testing.assert_allclose(y.numpy(), np.exp(X), rtol=1e-12)
    y.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), 3 * np.exp(X), rtol=1e-12)
    # the output given to the backward function is differentiable as the function is
    second = grad(lambda x: grad(lambda x: tripled(x).sum())(x).sum())(Tensor(X))
    np.testing.assert_allclose(second.numpy(), 9 * np.exp(X), rtol=1e-12)
    moved = jvp(tripled, (Tensor(X),), (Tensor(X),))[1]
    np.testing.assert_allclose(moved.numpy(), 3 * np.exp(X) * X, rtol=1e-12)


def test_a_gradient_of_ones_own_in_batches() -> None:
    x = Tensor(X)
    each = vmap(grad(lambda x: tripled(x).sum()))(x)
    np.testing.assert_allclose(each.numpy(), 3 * np.exp(X), rtol=1e-12)
    total = grad(lambda x: vmap(tripled)(x).sum())(x)
    np.testing.assert_allclose(total.numpy(), 3 * np.exp(X), rtol=1e-12)
    second = vmap(hessian(lambda x: tripled(x).sum()))(x).numpy()
    np.testing.assert_allclose(second, [np.diag(9 * np.exp(row)) for row in X], rtol=1e-12)
    nested = grad(lambda x: vmap(vmap(tripled))(x).sum())(x)
    np.testing.assert_allclose(nested.numpy(), 3 * np.exp(X), rtol=1e-12)
    again = grad(lambda x: checkpoint(vmap(tripled))(x).sum())
    np.testing.assert_allclose(again(x).numpy(), 3 * np.exp(X), rtol=1e-12)
    np.testing.assert_allclose(grad(lambda x: again(x).sum())(x).numpy(), 9 * np.exp(X), rtol=1e-12)


def test_several_inputs_and_outputs_share_one_backward_function() -> None:
    calls: list[Any] = []

    def backward(gradient: Any, inputs: Any, output: Any) -> Any:
        calls.append(1)
        by_sum, (by_product, by_sign) = gradient["sum"], gradient["rest"]
        assert by_sign is None
        x, y, places = inputs
        assert places.tolist() == [0]
        return by_sum + by_product * y, by_sum + by_product * x, None

    @custom_gradient(backward)
    def f(x: Tensor, pair: tuple[Tensor, Tensor], note: str) -> dict[str, Any]:
        y, _ = pair
        return {"sum": x + y, "rest": [x * y, x > 0]}

    x, y = Tensor([2.0]), Tensor([5.0])
    out = f(x, (y, Tensor([0])), note="said")
    by_x, by_y = (out["sum"] * 10 + out["rest"][0]).sum().gradient(x, y)
    assert by_x.tolist() == [15.0]
    assert by_y.tolist() == [12.0]
    assert len(calls) == 1


def test_gradients_of_ones_own_replay() -> None:
    @jit
    def step(x: Tensor) -> Tensor:
        return grad(lambda x: tripled(x).sum())(x)

    for n in range(4):
        np.testing.assert_allclose(step(Tensor(X + n)).numpy(), 3 * np.exp(X + n), rtol=1e-9)
    assert step.captures == 1


def test_what_is_no_gradient_is_refused() -> None:
    x = Tensor(X, requires_grad=True)

    def gradient_by(backward: Callable[..., Any]) -> Tensor:
        return custom_gradient(backward)(lambda x: x * 2)(x).sum().gradient(x)[0]

    with pytest.raises(TransformError, match="2 gradients for 1 inputs"):
        gradient_by(lambda g, x, y: (g, g))
    with pytest.raises(ShapeError, match=r"a gradient of shape \(4,\) for input 0 of shape \(4, 3\)"):
        gradient_by(lambda g, x, y: g.sum(1))
    with pytest.raises(DtypeError, match="a gradient of float32 for input 0 of float64"):
        gradient_by(lambda g, x, y: g.float())
    with pytest.raises(DeviceError, match="gave a gradient on NULL for input 0 on"):
        gradient_by(lambda g, x, y: Tensor(X, device="NULL"))
    total = custom_gradient(lambda g, x, y: (g, g))(lambda x, i: x * i)(x, Tensor([1, 2, 3])).sum()
    with pytest.raises(DtypeError, match=r"gave a gradient of float64 for input 1 of int32\. Pass floats"):
        total.gradient(x)
    with pytest.raises(DtypeError, match=r"gave a gradient for input 0, 1.0 \(float\)"):
        gradient_by(lambda g, x, y: 1.0)
    with pytest.raises(GradientError, match="does not depend on"):
        gradient_by(lambda g, x, y: None)
    with pytest.raises(GradientError, match="not linear"):
        jvp(custom_gradient(lambda g, x, y: g * g)(lambda x: x * 2), (x,), (x,))
    with pytest.raises(GradientError, match="uses a tensor that requires one but is no argument"):
        custom_gradient(lambda g, x, y: g)(lambda y: y * x)(Tensor(X))
    with pytest.raises(TransformError, match="called without tensors"):
        custom_gradient(lambda g, x, y: g)(lambda y: x * y)(3)


def test_attention_in_blocks_is_transformed_as_any_function(monkeypatch: pytest.MonkeyPatch) -> None:
    x, t = Tensor(RNG.standard_normal((2, 5, 3))), Tensor(RNG.standard_normal((2, 5, 3)))

    def attend(x: Tensor) -> Tensor:
        return x.scaled_dot_product_attention(x, x)

    def results() -> list[np.ndarray]:
        loss = grad(lambda x: (checkpoint(attend)(x) ** 2).sum())
        each = vmap(grad(lambda x: (attend(x) ** 2).sum()))
        return [y.numpy() for y in (jvp(attend, (x,), (t,))[1], loss(x), each(x))]

    whole = results()
    monkeypatch.setattr(attention, "_WHOLE", 0)
    monkeypatch.setattr(attention, "_BLOCK", 2)
    for found, expected in zip(results(), whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
