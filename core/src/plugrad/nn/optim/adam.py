"""Adam and its variants: AdamW, Adamax, NAdam, RAdam."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from plugrad.nn.optim.flat_parameters import UpdateUnit
from plugrad.nn.optim.groups import ParamGroup, Params
from plugrad.nn.optim.optimizer import Optimizer, settings_of, with_weight_decay
from plugrad.tensor import Tensor

# Source: Dozat 2016, section 3.2: the schedule of the momentum
_DECAY = 0.96
# from this length of the average on, its variance can be told
_LEAST_LENGTH = 5.0


def adam_direction(unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
    """Return the unbiased mean of gradients over the root of their mean square.

    Source: Kingma and Ba 2015, Algorithm 1; with the state "most": Reddi et al. 2018, Algorithm 2.
    """
    beta1, beta2 = group.momentum_beside(unit.target), group["betas"][1]
    mean = unit.average("mean", grad, beta1)
    square = unit.average("square", grad * grad, beta2)
    if "most" in unit.state:
        square = unit.keep("most", unit["most"].maximum(square))
    root = (square / average_weight(beta2, steps)).sqrt()
    return mean / average_weight(beta1, steps) / (root + group["eps"])


def average_weight(beta: float | Tensor, steps: Tensor) -> Tensor:
    """Return 1 - beta**steps, the total weight in an average that started at 0."""
    if isinstance(beta, Tensor):
        return -(steps * beta.log()).expm1()
    # 1 - 0.999 would have few digits
    return -(steps * math.log(beta)).expm1() if beta else Tensor.ones_like(steps)


class Adam(Optimizer):
    """Adam: steps scaled by running averages of the gradient and of its square.

    Args:
        params: the tensors to train, or groups of them.
        betas: how much of the averages of gradient and squared gradient each step keeps.
        eps: added to the divisor.
        weight_decay: weight of the parameter itself in its gradient.
        amsgrad: divide by the largest average of the squared gradient so far.
        maximize: follow the gradient upwards.
        b1: tinygrad's name of the first of `betas`.
        b2: and of the second.

    Raises:
        ArgumentError: a number is negative, or `betas` are not two numbers below 1.

    Source: Kingma and Ba 2015, Algorithm 1; amsgrad: Reddi et al. 2018, Algorithm 2.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> Adam([w], lr=0.5).step()
        >>> round(w.item(), 6)
        0.5
    """

    counts_steps = True

    #: Whether the weight decay is beside the averages, not in the gradient.
    _is_decoupled: ClassVar[bool] = False

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        b1: float | None = None,
        b2: float | None = None,
    ) -> None:
        super().__init__(**settings_of(locals()))

    def _state(self, options: Mapping[str, Any]) -> dict[str, float]:
        return {"mean": 0.0, "square": 0.0, **({"most": 0.0} if options["amsgrad"] else {})}

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = with_weight_decay(unit, grad, group, self._is_decoupled)
        return value - adam_direction(unit, grad, group, steps) * group.lr_beside(unit.target)


class AdamW(Adam):
    """Adam with a weight decay that is not scaled by the averages.

    Takes the arguments of `Adam`; `weight_decay` is the part of the parameter that each step takes away,
    times the learning rate.

    Source: Loshchilov and Hutter 2019, Algorithm 2.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> AdamW([w], lr=0.5, weight_decay=0.5).step()
        >>> round(w.item(), 6)
        0.25
    """

    _is_decoupled = True

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        b1: float | None = None,
        b2: float | None = None,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, b1=b1, b2=b2)


class Adamax(Optimizer):
    """Adam that divides by the greatest recent gradient instead of a mean square.

    Args:
        params: the tensors to train, or groups of them.
        betas: how much of the average of the gradient and of its greatest magnitude each step keeps.
        eps: added to the magnitude of each gradient.
        weight_decay: weight of the parameter itself in its gradient.
        maximize: follow the gradient upwards.

    Raises:
        ArgumentError: a number is negative, or `betas` are not two numbers below 1.

    Source: Kingma and Ba 2015, Algorithm 2.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> Adamax([w], lr=0.5).step()
        >>> round(w.item(), 6)
        0.5
    """

    counts_steps = True
    state: ClassVar = {"mean": 0.0, "most": 0.0}

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(**settings_of(locals()))

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = with_weight_decay(unit, grad, group)
        beta1, beta2 = group.momentum_beside(unit.target), group["betas"][1]
        mean = unit.average("mean", grad, beta1)
        most = unit.keep("most", (unit["most"] * beta2).maximum(grad.abs() + group["eps"]))
        return value - mean / (most * average_weight(beta1, steps)) * group.lr_beside(unit.target)


class NAdam(Optimizer):
    """Adam that looks one step of momentum ahead, as Nesterov's momentum does.

    Args:
        params: the tensors to train, or groups of them.
        betas: how much of the averages of gradient and squared gradient each step keeps.
        eps: added to the divisor.
        weight_decay: weight of the parameter itself in its gradient.
        momentum_decay: how fast the momentum grows to the first beta, from half of it.
        decoupled_weight_decay: let `weight_decay` be the part of the parameter that each step takes away,
            times the learning rate, as AdamW does.
        maximize: follow the gradient upwards.

    Raises:
        ArgumentError: a number is negative, or `betas` are not two numbers below 1.

    Source: Dozat 2016, "Incorporating Nesterov Momentum into Adam", in the form that `torch.optim.NAdam`
    documents.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> NAdam([w], lr=0.5).step()
        >>> round(w.item(), 3)
        0.472
    """

    counts_steps = True
    state: ClassVar = {"mean": 0.0, "square": 0.0}
    numbers: ClassVar = {"product": 1.0}

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(**settings_of(locals()))

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = with_weight_decay(unit, grad, group, group["decoupled_weight_decay"])
        beta1, beta2 = group.momentum_beside(unit.target), group["betas"][1]
        decay = group["momentum_decay"]
        now, next_one = ((1 - _DECAY ** (at * decay) * 0.5) * beta1 for at in (steps, steps + 1))
        product = unit.keep("product", unit["product"] * now)
        mean = unit.average("mean", grad, beta1)
        square = unit.average("square", grad * grad, beta2)
        ahead = grad * ((1 - now) / (1 - product)) + mean * (next_one / (1 - product * next_one))
        root = (square / average_weight(beta2, steps)).sqrt()
        return value - ahead / (root + group["eps"]) * group.lr_beside(unit.target)


class RAdam(Optimizer):
    """Adam whose steps are not scaled, then shorter, while the scale is uncertain.

    Args:
        params: the tensors to train, or groups of them.
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
        super().__init__(**settings_of(locals()))

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = with_weight_decay(unit, grad, group, group["decoupled_weight_decay"])
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
