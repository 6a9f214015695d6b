"""ASGD: stochastic gradient descent, and the average of where it was."""

from collections.abc import Iterable, Mapping
from typing import Any

from plugrad.nn.checks import NOT_NEGATIVE, check_numbers
from plugrad.nn.optim.flat_parameters import UpdateUnit
from plugrad.nn.optim.groups import ParamGroup
from plugrad.nn.optim.optimizer import Optimizer
from plugrad.tensor import Tensor

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Stochastic gradient descent with a falling rate, which keeps the average of the parameters.

    The average is in the state: `optimizer.state_dict()["params.0.average"]`, and so on.

    Args:
        params: the tensors to train, or groups of them.
        lr: the learning rate at the start. One that is set later counts from the next step on (in PyTorch
            from the one after it).
        lambd: how fast the rate falls, and the parameters with it. The rate of step t, counted from 0, is
            lr / (1 + lambd * lr * t)**alpha.
        alpha: the power of that.
        t0: from this step on the average is taken; before it is the parameters.
        weight_decay: weight of the parameter itself in its gradient.
        maximize: follow the gradient upwards.

    Raises:
        ArgumentError: a number is negative.

    Source: Polyak and Juditsky 1992, in the form of Bottou 2012, "Stochastic Gradient Descent Tricks",
    section 5.3, and of `torch.optim.ASGD`.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> ASGD([w], lr=0.25, lambd=0.0).step()
        >>> w.tolist()
        [0.5]
    """

    def __init__(
        self,
        params: "Iterable[Tensor] | Iterable[Mapping[str, Any]]",
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params, lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, maximize=maximize
        )

    def _check(self, options: Mapping[str, Any]) -> None:
        names = ("lambd", "alpha", "t0", "weight_decay")
        check_numbers(self, NOT_NEGATIVE, **{name: options[name] for name in names})

    def _counts_steps(self, options: Mapping[str, Any]) -> bool:
        return True

    def _state(self, options: Mapping[str, Any]) -> dict[str, float]:
        return {"average": 0.0}

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, lr, lambd, before = unit.value(), group.lr_beside(unit.target), group["lambd"], steps - 1
        if group["weight_decay"]:
            grad = grad + value * group["weight_decay"]
        rate = lr / (lr * before * lambd + 1) ** group["alpha"]
        new = value * (1 - rate * lambd) - grad * rate
        weight = 1 / (before - group["t0"]).maximum(1.0)
        average = unit["average"]
        # at the weight 1, where the average starts, it is not to have the rounding of a difference
        unit.keep("average", (weight == 1).where(new, average + (new - average) * weight))
        return new
