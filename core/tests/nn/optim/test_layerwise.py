"""Tests of plugrad.nn.optim.layerwise: the steps of the papers, in NumPy."""

from typing import Any

import numpy as np

from plugrad.nn.optim import LAMB, LARS
from plugrad.tensor import Tensor


def start() -> list[Any]:
    rng = np.random.default_rng(5)
    return [rng.normal(size=(4, 3)), rng.normal(size=7) * 10, np.zeros(2)]


def gradients(values: list[Any]) -> list[Any]:
    return [np.sin(v) + 0.5 for v in values]


def ratio(wanted: float, found: float) -> float:
    return wanted / found if wanted > 0 and found > 0 else 1.0


def assert_same_path(optimizer: Any, params: list[Tensor], update: Any, steps: int = 5) -> None:
    """Compare with `update`, which changes float64 values by their gradients in place."""
    values = [p.numpy().astype(np.float64) for p in params]
    for step in range(1, steps + 1):
        grads = gradients(values)
        for p, grad in zip(params, gradients([p.numpy() for p in params]), strict=True):
            p.grad = Tensor(grad.astype(np.float32))
        for index, (value, grad) in enumerate(zip(values, grads, strict=True)):
            update(index, step, value, grad)
        optimizer.step()
        for p, value in zip(params, values, strict=True):
            np.testing.assert_allclose(p.numpy(), value, rtol=1e-4, atol=1e-5)


def test_lars_takes_the_steps_of_the_paper() -> None:
    params = [Tensor(a.astype(np.float32)) for a in start()]
    momenta = [np.zeros_like(a) for a in start()]

    def update(index: int, step: int, value: Any, grad: Any) -> None:
        local = ratio(0.02 * np.linalg.norm(value), np.linalg.norm(grad) + 0.1 * np.linalg.norm(value))
        momenta[index] = 0.9 * momenta[index] + 0.5 * local * (grad + 0.1 * value)
        value -= momenta[index]

    assert_same_path(LARS(params, lr=0.5, momentum=0.9, weight_decay=0.1, trust=0.02), params, update)


def test_lamb_takes_the_steps_of_the_paper() -> None:
    params = [Tensor(a.astype(np.float32)) for a in start()]
    means, squares = [np.zeros_like(a) for a in start()], [np.zeros_like(a) for a in start()]

    def update(index: int, step: int, value: Any, grad: Any) -> None:
        means[index] = 0.8 * means[index] + 0.2 * grad
        squares[index] = 0.9 * squares[index] + 0.1 * grad**2
        r = means[index] / (1 - 0.8**step) / (np.sqrt(squares[index] / (1 - 0.9**step)) + 1e-6)
        r = r + 0.1 * value
        value -= 0.05 * ratio(np.linalg.norm(value), np.linalg.norm(r)) * r

    assert_same_path(LAMB(params, lr=0.05, betas=(0.8, 0.9), weight_decay=0.1), params, update)


def test_a_gradient_of_zeros_does_no_harm() -> None:
    for make in (LARS, LAMB):
        w = Tensor([1.0, 2.0])
        optimizer = make([w], lr=0.5, weight_decay=0.0)
        w.grad = Tensor([0.0, 0.0])
        optimizer.step()
        assert w.tolist() == [1.0, 2.0]
