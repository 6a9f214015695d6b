"""Adam, AdamW and Adamax."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from plugrad.nn.optim.flat_parameters import UpdateUnit
from plugrad.nn.optim.groups import ParamGroup, Params, betas_of
from plugrad.nn.optim.optimizer import Optimizer, decayed
from plugrad.tensor import Tensor


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
        lr: learning rate.
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
        betas = betas_of(betas, b1, b2)
        super().__init__(
            params, lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize
        )

    def _state(self, options: Mapping[str, Any]) -> dict[str, float]:
        return {"mean": 0.0, "square": 0.0, **({"most": 0.0} if options["amsgrad"] else {})}

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = decayed(unit, grad, group, self._is_decoupled)
        return value - adam_direction(unit, grad, group, steps) * group.lr_beside(unit.target)


class AdamW(Adam):
    """Adam with a weight decay that is not scaled by the averages.

    Args:
        params: the tensors to train, or groups of them.
        lr: learning rate.
        betas: how much of the averages of gradient and squared gradient each step keeps.
        eps: added to the divisor.
        weight_decay: part of the parameter that each step takes away, times the learning rate.
        amsgrad: divide by the largest average of the squared gradient so far.
        maximize: follow the gradient upwards.
        b1: tinygrad's name of the first of `betas`.
        b2: and of the second.

    Raises:
        ArgumentError: a number is negative, or `betas` are not two numbers below 1.

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
        lr: learning rate.
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
        super().__init__(params, lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize)

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = decayed(unit, grad, group)
        beta1, beta2 = group.momentum_beside(unit.target), group["betas"][1]
        mean = unit.average("mean", grad, beta1)
        most = unit.keep("most", (unit["most"] * beta2).maximum(grad.abs() + group["eps"]))
        return value - mean / (most * average_weight(beta1, steps)) * group.lr_beside(unit.target)
