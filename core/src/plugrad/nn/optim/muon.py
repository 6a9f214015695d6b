"""Muon: momentum whose matrices are made orthogonal."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, cast

from plugrad.errors import ArgumentError, ShapeError
from plugrad.nn.checks import ANY_NUMBER, BELOW_ONE, check_counts, check_numbers
from plugrad.nn.optim.flat_parameters import MATRICES, UpdateUnit
from plugrad.nn.optim.groups import ParamGroup, Params
from plugrad.nn.optim.optimizer import Optimizer, settings_of
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import check_choice, fixed_shape

# a, b, c of a*x + b*x**3 + c*x**5, which brings singular values near 1 in few steps.
# Source: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks".
_COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def _orthogonal(matrices: Tensor, steps: int, coefficients: tuple[float, float, float], eps: float) -> Tensor:
    """Return the nearest orthogonal matrices (n, r, c), by Newton and Schulz's iteration.

    Source: Jordan et al. 2024.
    """
    a, b, c = coefficients
    rows, columns = fixed_shape(matrices.shape, "Muon")[1:]
    x = matrices.transpose(1, 2) if rows > columns else matrices
    x = x / (x * x).sum((1, 2), keepdim=True).sqrt().maximum(eps)
    for _ in range(steps):
        # each product is read twice
        gram = (x @ x.transpose(1, 2)).contiguous()
        x = (x * a + (gram * b + (gram @ gram) * c) @ x).contiguous()
    return x.transpose(1, 2) if rows > columns else x


class Muon(Optimizer):
    """Momentum of matrices, made orthogonal: each direction is learned at the same rate.

    It is meant for the matrices of hidden layers; train all else with another optimizer.

    Args:
        params: the matrices to train, or groups of them.
        weight_decay: part of the parameter that each step takes away, times the learning rate.
        momentum: weight of the previous direction in the new one.
        nesterov: look one step of momentum ahead.
        ns_coefficients: the polynomial of the iteration.
        eps: least norm that a matrix is divided by.
        ns_steps: iterations.
        adjust_lr_fn: "original", the default, makes the steps of tall matrices longer, by the root of the
            ratio of their sides; "match_rms_adamw" makes steps as long as AdamW's usually are, by 0.2 times
            the root of the longer side.

    Raises:
        ShapeError: a parameter is no matrix.
        ArgumentError: a number is negative, momentum not below 1, there is no such `adjust_lr_fn`, or
            `ns_coefficients` are not three.

    Source: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks"; `adjust_lr_fn`: Liu
    et al. 2025, "Muon is Scalable for LLM Training", equation 4.

    Example:
        >>> w = Tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
        >>> _ = (w * w).sum().backward()
        >>> Muon([w], lr=0.5, weight_decay=0.0).step()
        >>> [round(x, 1) for x in w.flatten().tolist()]
        [0.4, 0.0, 0.0, 0.4]
    """

    flattening = MATRICES
    ranges: ClassVar = {
        "momentum": BELOW_ONE,
        "ns_coefficients": None,
        "ns_steps": None,
        "adjust_lr_fn": None,
    }
    state: ClassVar = {"momentum": 0.0}

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        *,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = _COEFFICIENTS,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: Literal["original", "match_rms_adamw"] | None = None,
    ) -> None:
        super().__init__(**settings_of(locals()))

    def _check(self, options: Mapping[str, Any]) -> None:
        super()._check(options)
        check_counts(self, 0, ns_steps=options["ns_steps"])
        if options["adjust_lr_fn"] is not None:
            check_choice(options["adjust_lr_fn"], ("original", "match_rms_adamw"), "Muon: adjust_lr_fn")
        given = options["ns_coefficients"]
        if not isinstance(given, (tuple, list)) or len(cast("Sequence[Any]", given)) != 3:
            raise ArgumentError(f"Muon: ns_coefficients={given!r:.60}: pass three numbers.")
        for number, each in enumerate(cast("Sequence[Any]", given)):
            check_numbers(self, ANY_NUMBER, **{f"ns_coefficients[{number}]": each})

    def _check_member(self, p: Tensor) -> None:
        if p.ndim != 2:
            raise ShapeError(
                f"Muon: a parameter of shape {p.shape}: it trains matrices. Give others to "
                "another optimizer, such as AdamW."
            )

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        value, keep, lr = unit.value(), group.momentum_beside(unit.target), group.lr_beside(unit.target)
        average = unit.average("momentum", grad, keep)
        direction = grad * (1 - keep) + average * keep if group["nesterov"] else average
        together = unit.stacked(direction)
        rows, columns = fixed_shape(together.shape, "Muon")[1:]
        step = _orthogonal(together, group["ns_steps"], group["ns_coefficients"], group["eps"])
        scale = math.sqrt(max(1, rows / columns))
        if group["adjust_lr_fn"] == "match_rms_adamw":
            scale = 0.2 * math.sqrt(max(rows, columns))
        return value * (1 - lr * group["weight_decay"]) - unit.unstacked(step) * scale * lr
