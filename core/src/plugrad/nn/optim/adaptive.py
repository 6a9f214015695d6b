"""Steps scaled by sums or averages of squared gradients."""

from collections.abc import Mapping
from typing import Any, ClassVar

from plugrad.nn.checks import BELOW_ONE
from plugrad.nn.optim.flat_parameters import UpdateUnit
from plugrad.nn.optim.groups import ParamGroup, Params
from plugrad.nn.optim.optimizer import Optimizer, settings_of, with_weight_decay
from plugrad.tensor import Tensor


class RMSprop(Optimizer):
    """Gradients divided by the root of a running average of their squares.

    Args:
        params: the tensors to train, or groups of them.
        alpha: how much of the average each step keeps.
        eps: added to the divisor.
        weight_decay: weight of the parameter itself in its gradient.
        momentum: weight of the previous direction in the new one.
        centered: divide by an estimate of the standard deviation, which a running mean is taken from.
        maximize: follow the gradient upwards.

    Raises:
        ArgumentError: a number is negative, or alpha not below 1.

    Source: Tieleman and Hinton 2012, Lecture 6.5; centered: Graves 2013, equations 38 to 45.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> RMSprop([w], lr=0.05).step()
        >>> round(w.item(), 6)
        0.5
    """

    ranges: ClassVar = {"alpha": BELOW_ONE}

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(**settings_of(locals()))

    def _state(self, options: Mapping[str, Any]) -> dict[str, float]:
        names = ("square", *(["mean"] * options["centered"]), *(["momentum"] * bool(options["momentum"])))
        return dict.fromkeys(names, 0.0)

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = with_weight_decay(unit, grad, group)
        alpha = group["alpha"]
        spread = unit.average("square", grad * grad, alpha)
        if group["centered"]:
            mean = unit.average("mean", grad, alpha)
            spread = spread - mean * mean
        step = grad / (spread.sqrt() + group["eps"])
        if "momentum" in unit.state:
            step = unit.keep("momentum", unit["momentum"] * group.momentum_beside(unit.target) + step)
        return value - step * group.lr_beside(unit.target)


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of all their squares so far.

    Args:
        params: the tensors to train, or groups of them.
        lr_decay: the rate of step t (from 0 on) is divided by 1 + t times this.
        weight_decay: weight of the parameter itself in its gradient.
        initial_accumulator_value: where the sums start.
        eps: added to the divisor.
        maximize: follow the gradient upwards.

    Raises:
        ArgumentError: a number is negative.

    Source: Duchi et al. 2011, in the form that `torch.optim.Adagrad` documents.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> Adagrad([w], lr=0.5).step()
        >>> w.tolist()
        [0.5]
    """

    counts_steps = "lr_decay"

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(**settings_of(locals()))

    def _state(self, options: Mapping[str, Any]) -> dict[str, float]:
        return {"squares": options["initial_accumulator_value"]}

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = with_weight_decay(unit, grad, group)
        lr = group.lr_beside(unit.target)
        if group["lr_decay"]:
            lr = lr / ((steps - 1) * group["lr_decay"] + 1)
        squares = unit.keep("squares", unit["squares"] + grad * grad)
        return value - grad / (squares.sqrt() + group["eps"]) * lr


class Adadelta(Optimizer):
    """Gradients divided by their average magnitude, times that of the steps.

    Args:
        params: the tensors to train, or groups of them.
        lr: learning rate: what steps are multiplied by.
        rho: how much of the averages each step keeps.
        eps: added to both averages of squares.
        weight_decay: weight of the parameter itself in its gradient.
        maximize: follow the gradient upwards.

    Raises:
        ArgumentError: a number is negative, or `rho` not below 1.

    Source: Zeiler 2012, "ADADELTA: An Adaptive Learning Rate Method", Algorithm 1.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> Adadelta([w], rho=0.75, eps=1.0).step()
        >>> round(w.item(), 4)
        -0.4142
    """

    ranges: ClassVar = {"rho": BELOW_ONE}
    state: ClassVar = {"square": 0.0, "steps": 0.0}

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(**settings_of(locals()))

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = with_weight_decay(unit, grad, group)
        rho, eps = group["rho"], group["eps"]
        square = unit.average("square", grad * grad, rho)
        step = grad * (unit["steps"] + eps).sqrt() / (square + eps).sqrt()
        unit.average("steps", step * step, rho)
        return value - step * group.lr_beside(unit.target)
