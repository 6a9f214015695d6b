"""Derivatives of matrix factors, which bypass the steps that computed them.

The JVP of the factors is made of products of the factors and a step of `A`. It is linear in the
step, so its transpose is the gradient, and as it consists of factors, it has derivatives of its own. These
products are computed only where a gradient is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from plugrad.autodiff import inputs_of, marked, outputs_of, pull_back, with_rule
from plugrad.tensor.base import Tensor
from plugrad.uop import Ops, UOp

#: Takes values, a tensor and a step of it; returns the step of each value.
Jvp = Callable[[Sequence[Any], Any, Any], Sequence[Any]]


def detached(x: Tensor) -> Tensor:
    """Return the same values without a gradient."""
    return x._make(x._graph.detach(), x.device)


def in_memory(x: Tensor) -> Tensor:
    """Return `x` written to memory once and read from there."""
    return x._like(x._graph.contiguous())


def with_jvp(x: Tensor, values: Sequence[Tensor], jvp: Jvp) -> list[Tensor]:
    """Return values that were computed from `x`, with derivatives given by their JVP.

    Args:
        x: what they were computed from.
        values: what was computed, without gradients.
        jvp: takes the values, `x`, and a small step of it; returns the step of each value, which is
            linear in the step. It is asked when a gradient is, with what has derivatives itself.
    """
    make, device, count = x._make, x.device, len(values)

    def rule(gradients: tuple[UOp | None, ...], function: UOp) -> Sequence[UOp | None]:
        (at,) = inputs_of(function)
        # whatever its value: in the gradient of what is linear in it, it does not appear
        step = marked(at.const_like(0.0).reshape((1,) * len(at.shape)).expand(at.shape))
        results = [UOp(Ops.OUTPUT, u.dtype, (function,), i) for i, u in enumerate(outputs_of(function))]
        moved = jvp([make(u, device) for u in results], make(at, device), make(step, device))
        pairs = zip([u._graph for u in moved], gradients, strict=True)
        return [pull_back({u: g for u, g in pairs if g is not None}, [step]).get(step)]

    nodes = with_rule([value._graph for value in values], (x._graph,), rule)
    return [x._like(u) for u in nodes[:count]]


def with_gradient_of(x: Tensor, tracked: Tensor) -> Tensor:
    """Return `x` with the gradient of `tracked`, an equal value."""
    (out,) = with_rule((x._graph,), (tracked._graph,), lambda gradients, function: gradients)
    return x._like(out, tracked)
