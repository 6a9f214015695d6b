"""Steps whose length is in proportion to that of the parameter: LARS and LAMB."""

from typing import ClassVar

from plugrad.nn.optim.adam import adam_direction
from plugrad.nn.optim.flat_parameters import UpdateUnit
from plugrad.nn.optim.groups import ParamGroup, Params
from plugrad.nn.optim.optimizer import Optimizer, settings_of
from plugrad.tensor import Tensor


def _ratio(wanted: Tensor, found: Tensor) -> Tensor:
    """Return `wanted` / `found`, and 1 where either is 0.

    A parameter of zeros could never leave it otherwise.
    """
    return ((wanted > 0) & (found > 0)).where(wanted / (found > 0).where(found, 1.0), 1.0)


class LARS(Optimizer):
    """Stochastic gradient descent with a learning rate for each tensor, in proportion to its norm.

    Args:
        params: the tensors to train, or groups of them.
        lr: learning rate of all of them.
        momentum: weight of the previous step in the new one.
        weight_decay: weight of the parameter itself in its gradient.
        trust: length of a step, as part of the parameter's.

    Raises:
        ArgumentError: a number is negative.

    Source: You et al. 2017, "Large Batch Training of Convolutional Networks", Algorithm 1. A tensor or
    gradient of zeros has the ratio 1.

    Example:
        >>> w = Tensor([4.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> LARS([w], lr=1.0, weight_decay=0.0, trust=0.25).step()
        >>> w.tolist()
        [3.0]
    """

    state: ClassVar = {"momentum": 0.0}

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0.9,
        weight_decay: float = 1e-4,
        trust: float = 1e-3,
    ) -> None:
        super().__init__(**settings_of(locals()))

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, decay = unit.value(), group["weight_decay"]
        size, slope = unit.length(value), unit.length(grad)
        rate = _ratio(size * group["trust"], slope + size * decay) * group.lr_beside(unit.target)
        momentum = group.momentum_beside(unit.target)
        step = unit.keep("momentum", unit["momentum"] * momentum + (grad + value * decay) * rate)
        return value - step


class LAMB(Optimizer):
    """AdamW with steps of each tensor in proportion to its norm.

    Args:
        params: the tensors to train, or groups of them.
        lr: learning rate: length of a step, as part of the parameter's.
        betas: how much of the averages of gradient and squared gradient each step keeps.
        eps: added to the divisor.
        weight_decay: weight of the parameter itself in the step.
        b1: tinygrad's name of the first of `betas`.
        b2: and of the second.

    Raises:
        ArgumentError: a number is negative, or `betas` are not two numbers below 1.

    Source: You et al. 2020, "Large Batch Optimization for Deep Learning", Algorithm 2, with the identity as
    its function phi. A tensor or step of zeros has the ratio 1.

    Example:
        >>> w = Tensor([4.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> LAMB([w], lr=0.25).step()
        >>> w.tolist()
        [3.0]
    """

    counts_steps = True
    state: ClassVar = {"mean": 0.0, "square": 0.0}

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        b1: float | None = None,
        b2: float | None = None,
    ) -> None:
        super().__init__(**settings_of(locals()))

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value = unit.value()
        step = adam_direction(unit, grad, group, steps) + value * group["weight_decay"]
        return value - step * _ratio(unit.length(value), unit.length(step)) * group.lr_beside(unit.target)
