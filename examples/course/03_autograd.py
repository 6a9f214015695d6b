"""Project 3: autograd from scratch, on the forward operations of plugrad only.

    python examples/course/03_autograd.py

A `Value` is a tensor, the values that it was computed from, and a rule that turns its gradient into theirs.
That is all there is to reverse mode. The gradients are checked by finite differences, then learn XOR, and are
compared with plugrad's own for Huber's loss.
"""

from collections.abc import Callable, Sequence

import numpy as np

from plugrad import Tensor
from plugrad.jit import jit

Rule = Callable[[Tensor], Sequence[Tensor]]


class Value:
    """A node of the tape."""

    def __init__(self, data: Tensor, sources: "tuple[Value, ...]" = (), rule: Rule | None = None) -> None:
        self.data, self.sources, self.rule = data, sources, rule
        self.gradient: Tensor | None = None

    def __add__(self, other: "Value") -> "Value":
        return Value(
            self.data + other.data,
            (self, other),
            lambda g: (fitted(g, self.data), fitted(g, other.data)),
        )

    def __mul__(self, other: "Value") -> "Value":
        def rule(g: Tensor) -> Sequence[Tensor]:
            return fitted(g * other.data, self.data), fitted(g * self.data, other.data)

        return Value(self.data * other.data, (self, other), rule)

    def __matmul__(self, other: "Value") -> "Value":
        return Value(self.data @ other.data, (self, other), lambda g: (g @ other.data.T, self.data.T @ g))

    def tanh(self) -> "Value":
        """Return the hyperbolic tangent, whose derivative is one minus its square."""
        out = self.data.tanh()
        return Value(out, (self,), lambda g: (g * (1 - out * out),))

    def mean(self) -> "Value":
        """Return the mean of all elements."""
        return Value(self.data.mean(), (self,), lambda g: ((g / self.data.numel()).expand(*self.data.shape),))

    def huber(self) -> "Value":
        """Return x**2 / 2 within 1 of zero and |x| - 1/2 beyond, whose derivative is x cut to -1..1."""
        size = self.data.abs()
        out = (size <= 1).where(0.5 * self.data * self.data, size - 0.5)
        return Value(out, (self,), lambda g: (g * self.data.clip(-1, 1),))

    def backward(self) -> None:
        """Set `gradient` of everything that this scalar was computed from."""
        order: list[Value] = []
        seen: set[int] = set()

        def visit(value: Value) -> None:
            if id(value) not in seen:
                seen.add(id(value))
                for source in value.sources:
                    visit(source)
                order.append(value)

        visit(self)
        for value in order:
            value.gradient = None
        self.gradient = Tensor.ones(*self.data.shape, device=self.data.device)
        for value in reversed(order):
            if value.rule is not None and value.gradient is not None:
                for source, gradient in zip(value.sources, value.rule(value.gradient), strict=True):
                    source.gradient = gradient if source.gradient is None else source.gradient + gradient


def fitted(gradient: Tensor, to: Tensor) -> Tensor:
    """Sum a gradient over the axes along which its value was broadcast."""
    while gradient.ndim > to.ndim:
        gradient = gradient.sum(axis=0)
    stretched = tuple(i for i in range(to.ndim) if to.shape[i] == 1 and gradient.shape[i] != 1)
    return gradient.sum(axis=stretched, keepdim=True) if stretched else gradient


def finite_difference_error() -> float:
    """Return the largest difference between a gradient and that of finite differences, in float64."""
    values = np.random.default_rng(1).normal(size=(3, 2))
    weights = Tensor(np.random.default_rng(2).normal(size=(2, 4)))

    def loss(x: np.ndarray) -> tuple[Value, Value]:
        value = Value(Tensor(x))
        return (value @ Value(weights)).tanh().mean(), value

    out, value = loss(values)
    out.backward()
    assert value.gradient is not None
    found, step = value.gradient.numpy(), 1e-5
    expected = np.zeros_like(values)
    for place in np.ndindex(*values.shape):
        moved = [values.copy(), values.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        above, below = (loss(x)[0].data.item() for x in moved)
        expected[place] = (above - below) / (2 * step)
    return float(np.abs(found - expected).max())


def learn_xor(steps: int = 400) -> float:
    """Train a network of 8 hidden units on XOR and return its last loss."""
    draws = np.random.default_rng(3)
    shapes = ((2, 8), (1, 8), (8, 1), (1, 1))
    parameters = [Tensor(draws.normal(size=shape).astype(np.float32)) for shape in shapes]
    x = Value(Tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
    minus_y = Value(Tensor([[0.0], [-1.0], [-1.0], [0.0]]))

    @jit
    def step() -> Tensor:
        w1, b1, w2, b2 = values = [Value(parameter) for parameter in parameters]
        error = ((x @ w1 + b1).tanh() @ w2 + b2) + minus_y
        loss = (error * error).mean()
        loss.backward()
        moved = [value.data - 0.2 * value.gradient for value in values if value.gradient is not None]
        for parameter, new in zip(parameters, moved, strict=True):
            parameter.assign(new)
        return loss.data

    return [step() for _ in range(steps)][-1].item()


def huber_error() -> float:
    """Return the largest difference between this gradient of Huber's loss and plugrad's own."""
    x = Tensor([-3.0, -0.5, 0.0, 0.25, 2.0], requires_grad=True)
    value = Value(x.detach())
    value.huber().mean().backward()
    x.huber_loss(Tensor.zeros(5)).backward()
    assert value.gradient is not None
    assert x.grad is not None
    return float((value.gradient - x.grad).abs().max().item())


def main() -> None:
    """Print the three checks."""
    print(f"finite differences: {finite_difference_error():.1e}")
    print(f"loss of XOR: {learn_xor():.5f}")
    print(f"Huber, against plugrad's own: {huber_error():.1e}")


if __name__ == "__main__":
    main()
