"""Stochastic gradient descent: plain, averaged, and by the signs of gradients."""

from collections.abc import Mapping
from typing import Any, ClassVar

from plugrad.errors import ArgumentError
from plugrad.nn.checks import ABOVE_ONE, ABOVE_ZERO, ANY_NUMBER, BETWEEN, NOT_NEGATIVE, check_numbers
from plugrad.nn.optim.flat_parameters import UpdateUnit
from plugrad.nn.optim.groups import ParamGroup, Params, pair_of
from plugrad.nn.optim.optimizer import Optimizer, settings_of, with_weight_decay
from plugrad.tensor import Tensor


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum if asked.

    Args:
        params: the tensors to train, or groups of them.
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

    counts_steps = "dampening"
    ranges: ClassVar = {"dampening": ANY_NUMBER}

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0.0,
        *,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        dampening: float = 0.0,
        maximize: bool = False,
    ) -> None:
        super().__init__(**settings_of(locals()))

    def _check(self, options: Mapping[str, Any]) -> None:
        super()._check(options)
        if options["nesterov"] and (not options["momentum"] or options["dampening"]):
            raise ArgumentError(
                f"SGD: nesterov with momentum={options['momentum']} and dampening={options['dampening']}: it "
                "needs momentum, and no dampening."
            )

    def _state(self, options: Mapping[str, Any]) -> dict[str, float]:
        return {"momentum": 0.0} if options["momentum"] else {}

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = with_weight_decay(unit, grad, group)
        momentum, dampening = group.momentum_beside(unit.target), group["dampening"]
        if "momentum" in unit.state:
            added = grad * (steps > 1).where(1 - dampening, 1.0) if dampening else grad
            direction = unit.keep("momentum", unit["momentum"] * momentum + added)
            grad = grad + direction * momentum if group["nesterov"] else direction
        return value - grad * group.lr_beside(unit.target)


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

    counts_steps = True
    state: ClassVar = {"average": 0.0}

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(**settings_of(locals()))

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, grad = with_weight_decay(unit, grad, group)
        lr, lambd, before = group.lr_beside(unit.target), group["lambd"], steps - 1
        rate = lr / (lr * before * lambd + 1) ** group["alpha"]
        new = value * (1 - rate * lambd) - grad * rate
        weight = 1 / (before - group["t0"]).maximum(1.0)
        average = unit["average"]
        # at the weight 1, where the average starts, it is not to have the rounding of a difference
        unit.keep("average", (weight == 1).where(new, average + (new - average) * weight))
        return new


class Rprop(Optimizer):
    """Steps that grow while a gradient keeps its sign, and shrink otherwise.

    It is meant for gradients of all data at once: those of small batches change their signs by chance.

    Args:
        params: the tensors to train, or groups of them.
        lr: the length of the first steps. A rate that is set later changes nothing.
        etas: what the length is multiplied by after a change of sign, and otherwise.
        step_sizes: the least and the greatest length.
        maximize: follow the gradient upwards.

    Raises:
        ArgumentError: `etas` are not a number between 0 and 1 and one above 1, or `step_sizes` not two
            lengths.

    Source: Riedmiller and Braun 1993, in the form that `torch.optim.Rprop` documents: after a change of sign
    an element stays for one step.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * 2).sum().backward()
        >>> Rprop([w], lr=0.5, etas=(0.5, 1.5)).step()
        >>> w.tolist()
        [0.5]
    """

    ranges: ClassVar = {"etas": None, "step_sizes": None}

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(**settings_of(locals()))

    def _check(self, options: Mapping[str, Any]) -> None:
        super()._check(options)
        shrinking, growing = pair_of(self, "etas", options["etas"])
        check_numbers(self, BETWEEN, **{"etas[0]": shrinking})
        check_numbers(self, ABOVE_ONE, **{"etas[1]": growing})
        least, most = pair_of(self, "step_sizes", options["step_sizes"])
        check_numbers(self, NOT_NEGATIVE, **{"step_sizes[0]": least})
        check_numbers(self, ABOVE_ZERO, **{"step_sizes[1]": most})
        if least > most:
            raise ArgumentError(
                f"Rprop: step_sizes={options['step_sizes']}: the least is above the greatest."
            )

    def _state(self, options: Mapping[str, Any]) -> dict[str, float]:
        return {"previous": 0.0, "length": options["lr"]}

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        (shrinking, growing), (least, most) = group["etas"], group["step_sizes"]
        # signs, not their product: that of small gradients is 0
        sign = grad.sign() * unit["previous"].sign()
        factor = (sign > 0).where(growing, (sign < 0).where(shrinking, 1.0))
        length = unit.keep("length", (unit["length"] * factor).clamp(least, most))
        kept = unit.keep("previous", (sign < 0).where(0.0, grad))
        return unit.value() - kept.sign() * length
