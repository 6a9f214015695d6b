"""RAdam."""

import math
from typing import ClassVar

from plugrad.nn.optim.adam import average_weight
from plugrad.nn.optim.flat_parameters import UpdateUnit
from plugrad.nn.optim.groups import ParamGroup, Params
from plugrad.nn.optim.optimizer import Optimizer, decayed
from plugrad.tensor import Tensor

# from this length of the average on, its variance can be told
_LEAST_LENGTH = 5.0


class RAdam(Optimizer):
    """Adam whose steps are not scaled, then shorter, while the scale is uncertain.

    Args:
        params: the tensors to train, or groups of them.
        lr: learning rate.
        betas: how much of the averages of gradient and squared gradient each step keeps.
        eps: added to the divisor.
        weight_decay: weight of the parameter itself in its gradient.
        decoupled_weight_decay: let `weight_decay` be the part of the parameter that each step takes away,
            times the learning rate, as AdamW does.
        maximize: follow the gradient upwards.

    Raises:
        ArgumentError: a number is negative, or `betas` are not two numbers below 1.

    Source: Liu et al. 2020, "On the Variance of the Adaptive Learning Rate and Beyond", Algorithm 2.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> RAdam([w], lr=0.25).step()
        >>> round(w.item(), 6)
        0.5
    """

    counts_steps = True
    state: ClassVar = {"mean": 0.0, "square": 0.0}

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
        )

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = decayed(unit, grad, group, group["decoupled_weight_decay"])
        beta1, beta2 = group.momentum_beside(unit.target), group["betas"][1]
        mean = unit.average("mean", grad, beta1)
        square = unit.average("square", grad * grad, beta2)
        step = mean / average_weight(beta1, steps) * group.lr_beside(unit.target)
        most = (1 + beta2) / (1 - beta2)
        if most <= _LEAST_LENGTH:
            return value - step
        length = average_length(beta2, steps)
        is_long = length > _LEAST_LENGTH
        known = is_long.where(length, most)
        scale = (known - 4) * (known - 2) / known * (most / ((most - 4) * (most - 2)))
        scale = (scale * average_weight(beta2, steps)).sqrt()
        return value - step * is_long.where(scale / (square.sqrt() + group["eps"]), 1.0)


def average_length(beta: float, steps: Tensor) -> Tensor:
    """Return the effective length of an average: `m - 2*t*beta**t / (1-beta**t)`.

    Here m is (1 + beta) / (1 - beta), which is near the rest of it in the first steps: float32 would keep
    three digits of the difference. With a = -log(beta) and L(y) = coth(y) - 1/y, Langevin's function, the
    same is t - t*L(t*a/2) + L(a/2), whose terms are small.

    Args:
        beta: how much each step keeps.
        steps: how many steps there were, of shape ().

    Source: Liu et al. 2020, equation 4.

    Example:
        >>> round(average_length(0.999, Tensor(6.0)).item(), 4)
        5.9942
    """
    rate = -math.log(beta)
    exponent = steps * rate
    early = steps - steps * _langevin(exponent * 0.5) + (1 / math.tanh(rate / 2) - 2 / rate)
    late = (1 + beta) / (1 - beta) - steps * 2 / exponent.expm1()
    return (exponent < 1).where(early, late)


def _langevin(y: Tensor) -> Tensor:
    """Return coth(y) - 1/y for y from 0 to 1/2, by its series."""
    square = y * y
    return y * (((square * (-1 / 4725) + 2 / 945) * square - 1 / 45) * square + 1 / 3)
