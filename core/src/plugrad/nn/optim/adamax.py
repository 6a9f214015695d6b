"""Adamax."""

from collections.abc import Iterable, Mapping
from typing import Any

from plugrad.nn.checks import NOT_NEGATIVE, check_numbers
from plugrad.nn.optim.adam import average_weight, decayed
from plugrad.nn.optim.flat_parameters import UpdateUnit
from plugrad.nn.optim.groups import ParamGroup, check_betas
from plugrad.nn.optim.optimizer import Optimizer
from plugrad.tensor import Tensor

__all__ = ["Adamax"]


class Adamax(Optimizer):
    """Adam with the greatest gradient of late in the place of the root of the average of squares.

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

    def __init__(
        self,
        params: "Iterable[Tensor] | Iterable[Mapping[str, Any]]",
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize)

    def _check(self, options: Mapping[str, Any]) -> None:
        check_betas(self, options["betas"])
        check_numbers(self, NOT_NEGATIVE, eps=options["eps"], weight_decay=options["weight_decay"])

    def _counts_steps(self, options: Mapping[str, Any]) -> bool:
        return True

    def _state(self, options: Mapping[str, Any]) -> dict[str, float]:
        return {"mean": 0.0, "most": 0.0}

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = decayed(unit, grad, group, is_decoupled=False)
        beta1, beta2 = group.momentum_beside(unit.target), group["betas"][1]
        mean = unit.average("mean", grad, beta1)
        most = unit.keep("most", (unit["most"] * beta2).maximum(grad.abs() + group["eps"]))
        return value - mean / (most * average_weight(beta1, steps)) * group.lr_beside(unit.target)
