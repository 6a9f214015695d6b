"""Rprop: steps whose length follows the signs of gradients alone."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from plugrad.errors import ArgumentError
from plugrad.nn.checks import ABOVE_ZERO, NOT_NEGATIVE, Range, check_numbers
from plugrad.nn.optim.flat_parameters import UpdateUnit
from plugrad.nn.optim.groups import ParamGroup
from plugrad.nn.optim.optimizer import Optimizer
from plugrad.tensor import Tensor

__all__ = ["Rprop"]

_SHRINKING = Range(0.0, False, 1.0, False, "a number between 0 and 1")
_GROWING = Range(1.0, False, math.inf, False, "a number above 1")


class Rprop(Optimizer):
    """Steps of each element that grow while its gradient keeps its sign, and shrink when it changes.

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

    def __init__(
        self,
        params: "Iterable[Tensor] | Iterable[Mapping[str, Any]]",
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, etas=etas, step_sizes=step_sizes, maximize=maximize)

    def _check(self, options: Mapping[str, Any]) -> None:
        shrinking, growing = _pair("etas", options["etas"])
        check_numbers(self, _SHRINKING, **{"etas[0]": shrinking})
        check_numbers(self, _GROWING, **{"etas[1]": growing})
        least, most = _pair("step_sizes", options["step_sizes"])
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


def _pair(name: str, given: Any) -> tuple[Any, Any]:
    pair = cast("Sequence[Any]", given) if isinstance(given, (tuple, list)) else ()
    if len(pair) != 2:
        raise ArgumentError(f"Rprop: {name}={given!r:.60}: pass two numbers.")
    return pair[0], pair[1]
