"""Stochastic gradient descent."""

from collections.abc import Iterable, Mapping
from typing import Any

from plugrad.errors import ArgumentError
from plugrad.nn.checks import ANY_NUMBER, NOT_NEGATIVE, check_flags, check_numbers
from plugrad.nn.optim.flat_parameters import UpdateUnit
from plugrad.nn.optim.groups import ParamGroup
from plugrad.nn.optim.optimizer import Optimizer
from plugrad.tensor import Tensor

__all__ = ["SGD"]


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum if asked.

    Args:
        params: the tensors to train, or groups of them.
        lr: learning rate.
        momentum: weight of the previous direction in the new one.
        weight_decay: weight of the parameter itself in its gradient.
        nesterov: look one step of momentum ahead.
        dampening: the direction takes 1 minus this of the gradient, from the second step on.
        maximize: follow the gradient upwards.

    Raises:
        ArgumentError: a number is negative, or Nesterov's momentum has none, or dampening.

    Source: Sutskever et al. 2013, in the form that `torch.optim.SGD` documents.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> SGD([w], lr=0.5).step()
        >>> w.tolist()
        [0.0]
    """

    def __init__(
        self,
        params: "Iterable[Tensor] | Iterable[Mapping[str, Any]]",
        lr: float = 1e-3,
        momentum: float = 0.0,
        *,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        dampening: float = 0.0,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr,
            momentum=momentum,
            weight_decay=weight_decay,
            nesterov=nesterov,
            dampening=dampening,
            maximize=maximize,
        )

    def _check(self, options: Mapping[str, Any]) -> None:
        check_numbers(self, NOT_NEGATIVE, momentum=options["momentum"], weight_decay=options["weight_decay"])
        check_numbers(self, ANY_NUMBER, dampening=options["dampening"])
        check_flags(self, nesterov=options["nesterov"])
        if options["nesterov"] and (not options["momentum"] or options["dampening"]):
            raise ArgumentError(
                f"SGD: nesterov with momentum={options['momentum']} and dampening={options['dampening']}: it "
                "needs momentum, and no dampening."
            )

    def _counts_steps(self, options: Mapping[str, Any]) -> bool:
        return bool(options["dampening"])

    def _state(self, options: Mapping[str, Any]) -> dict[str, float]:
        return {"momentum": 0.0} if options["momentum"] else {}

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, momentum, dampening = unit.value(), group.momentum_beside(unit.target), group["dampening"]
        if group["weight_decay"]:
            grad = grad + value * group["weight_decay"]
        if "momentum" in unit.state:
            added = grad * (steps > 1).where(1 - dampening, 1.0) if dampening else grad
            direction = unit.keep("momentum", unit["momentum"] * momentum + added)
            grad = grad + direction * momentum if group["nesterov"] else direction
        return value - grad * group.lr_beside(unit.target)
