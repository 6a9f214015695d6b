"""Take gradients of the graph, and steps of optimizers."""

from typing import Literal

from plugrad import Tensor
from plugrad_onnx.graph import Call
from plugrad_onnx.operators.control_flow import tensor_of
from plugrad_onnx.registry import TRAINING, operator


def _groups(inputs: tuple[Tensor, ...], each: int) -> list[tuple[Tensor, ...]]:
    """Return inputs that stand in `each` rows as one tuple for each parameter."""
    count = len(inputs) // each
    return list(zip(*(inputs[i * count : (i + 1) * count] for i in range(each)), strict=True))


@operator("Gradient", domain=TRAINING)
def gradient(
    *inputs: Tensor, xs: tuple[str, ...], y: str, zs: tuple[str, ...] = (), call: Call
) -> tuple[Tensor, ...]:
    """Return the gradients of one value of the graph with respect to others."""
    return tuple(tensor_of(call.scope[y]).sum().gradient(*(tensor_of(call.scope[x]) for x in xs)))


@operator("Adagrad", domain=TRAINING)
def adagrad(
    rate: Tensor,
    step: Tensor,
    *inputs: Tensor,
    decay_factor: float = 0.0,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
) -> tuple[Tensor, ...]:
    """Return new parameters, and new sums of squares.

    Source: Duchi et al. 2011, "Adaptive subgradient methods for online learning", figure 1.
    """
    current = rate / (1 + step.cast(rate.dtype) * decay_factor)
    new: list[Tensor] = []
    sums: list[Tensor] = []
    for x, g, h in _groups(inputs, 3):
        slope = norm_coefficient * x + g
        squares = h + slope * slope
        new.append(x - current * slope / (squares.sqrt() + epsilon))
        sums.append(squares)
    return *new, *sums


@operator("Adam", domain=TRAINING)
def adam(
    rate: Tensor,
    step: Tensor,
    *inputs: Tensor,
    alpha: float = 0.9,
    beta: float = 0.999,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
) -> tuple[Tensor, ...]:
    """Return new parameters, means of gradients, and means of squares.

    Source: Kingma and Ba 2015, "Adam", algorithm 1.
    """
    count = step.cast(rate.dtype)
    corrected = (count > 0).where(rate * (1 - beta**count).sqrt() / (1 - alpha**count), rate)
    new: list[Tensor] = []
    means: list[Tensor] = []
    squares: list[Tensor] = []
    for x, g, v, h in _groups(inputs, 4):
        slope = norm_coefficient * x + g
        mean = alpha * v + (1 - alpha) * slope
        square = beta * h + (1 - beta) * slope * slope
        moved = x - corrected * mean / (square.sqrt() + epsilon)
        new.append((1 - norm_coefficient_post) * moved)
        means.append(mean)
        squares.append(square)
    return *new, *means, *squares


@operator("Momentum", domain=TRAINING)
def momentum(
    rate: Tensor,
    step: Tensor,
    *inputs: Tensor,
    alpha: float,
    beta: float,
    mode: Literal["standard", "nesterov"],
    norm_coefficient: float,
) -> tuple[Tensor, ...]:
    """Return new parameters, and new velocities.

    Source: Sutskever et al. 2013, "On the importance of initialization and momentum", equations 1 to 4.
    """
    grown = (step > 0).where(beta, 1.0).cast(rate.dtype)
    new: list[Tensor] = []
    velocities: list[Tensor] = []
    for x, g, v in _groups(inputs, 3):
        slope = norm_coefficient * x + g
        velocity = alpha * v + grown * slope
        new.append(x - rate * (velocity if mode == "standard" else slope + alpha * velocity))
        velocities.append(velocity)
    return *new, *velocities
