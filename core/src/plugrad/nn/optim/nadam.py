"""NAdam."""

from typing import ClassVar

from plugrad.nn.optim.adam import average_weight
from plugrad.nn.optim.flat_parameters import UpdateUnit
from plugrad.nn.optim.groups import ParamGroup, Params
from plugrad.nn.optim.optimizer import Optimizer, decayed
from plugrad.tensor import Tensor

# Source: Dozat 2016, section 3.2: the schedule of the momentum
_DECAY = 0.96


class NAdam(Optimizer):
    """Adam that looks one step of momentum ahead, as Nesterov's momentum does.

    Args:
        params: the tensors to train, or groups of them.
        lr: learning rate.
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
        super().__init__(
            params,
            lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
        )

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = decayed(unit, grad, group, group["decoupled_weight_decay"])
        beta1, beta2 = group.momentum_beside(unit.target), group["betas"][1]
        now, next_one = (_momentum(beta1, at, group["momentum_decay"]) for at in (steps, steps + 1))
        product = unit.keep("product", unit["product"] * now)
        mean = unit.average("mean", grad, beta1)
        square = unit.average("square", grad * grad, beta2)
        ahead = grad * ((1 - now) / (1 - product)) + mean * (next_one / (1 - product * next_one))
        root = (square / average_weight(beta2, steps)).sqrt()
        return value - ahead / (root + group["eps"]) * group.lr_beside(unit.target)


def _momentum(beta1: float | Tensor, steps: Tensor, decay: float) -> Tensor:
    return (1 - _DECAY ** (steps * decay) * 0.5) * beta1
