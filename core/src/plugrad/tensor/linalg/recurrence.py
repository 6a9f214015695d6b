"""Split sequences into steps, join steps, and differentiate by a weight that steps share.

Slicing step 37 out of a tensor is another kernel than slicing step 38, as its address is a constant. In two
levels of 16 parts, each in memory of its own, `n` steps take as many kernels as 32 do, and a computation on a
step is one kernel for all of them. Joining goes the same way back.

The gradient of a weight that each step multiplies its state by is a sum of as many products as there are
steps, by the chain rule. It is one product of all gradients with all states.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from plugrad._frozen import frozen
from plugrad.autodiff import inputs_of, outputs_of, pull_back, with_rule
from plugrad.tensor.base import Tensor
from plugrad.tensor.shape.padding import interval
from plugrad.uop import UOp

T = TypeVar("T", bound=Any)

_PARTS = 16


def steps_of(x: "Tensor", axis: int = 0) -> "list[Tensor]":
    """Return the slices of `x` along `axis`, each in memory of its own.

    Example:
        >>> [step.tolist() for step in steps_of(Tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    size: Any = x.shape[axis]
    if size <= _PARTS:
        return [interval(x, axis, i, i + 1).squeeze(axis).contiguous() for i in range(size)]
    width = _power(size)
    out: list[Tensor] = []
    for begin in range(0, size, width):
        out += steps_of(interval(x, axis, begin, min(begin + width, size)).contiguous(), axis)
    return out


def joined_steps(steps: Sequence[T], axis: int = 0) -> T:
    """Return equal tensors joined along a new axis.

    Example:
        >>> joined_steps([Tensor([1, 2]), Tensor([3, 4])]).tolist()
        [[1, 2], [3, 4]]
    """
    parts = [step.unsqueeze(axis) for step in steps]
    while len(parts) > _PARTS:
        groups = [parts[i : i + _PARTS] for i in range(0, len(parts), _PARTS)]
        parts = [group[0].cat(*group[1:], axis=axis).contiguous() for group in groups]
    return parts[0].cat(*parts[1:], axis=axis) if len(parts) > 1 else parts[0]


@frozen
class Recurrence:
    """A loop over the steps of a sequence, each of which multiplies by one weight.

    Attributes:
        inputs: (T, N, size) the numbers that the steps take.
        steps: its slices, as `steps_of` gives them.
        products: of each step, `state @ weight.T + bias`.
        states: (T, N, size) the states behind the steps.
        has_start: the first state is not zeros.
        is_backward: the loop begins with the last step.
    """

    inputs: Tensor
    steps: "Sequence[Tensor]"
    products: "Sequence[Tensor]"
    states: Tensor
    has_start: bool = False
    is_backward: bool = False

    def with_gradients(
        self, last: "Sequence[Tensor]", weight: Tensor, bias: "Tensor | None", others: "Sequence[Tensor]"
    ) -> "list[Tensor]":
        """Return the states and `last`, whose gradient of the weight is one product.

        Args:
            last: the states behind the loop.
            weight: what all steps multiply by.
            bias: what they add to the product, if anything.
            others: what else the steps depend on, a first state that is not zeros first.
        """
        shown = [self.states, *last]
        taken = [self.inputs, weight, *([] if bias is None else [bias]), *others]
        rule = _WeightGradient(
            type(weight), weight.device, len(self.steps), bias is not None, self.has_start, self.is_backward
        )
        outputs = [x._graph for x in (*shown, *self.steps, *self.products)]
        nodes = with_rule(outputs, [x._graph for x in taken], rule)
        return [x._like(u, *taken) for x, u in zip(shown, nodes, strict=False)]


@frozen
class _WeightGradient:
    """The gradient rule of a recurrence; it may hold no tensors."""

    kind: type[Tensor]
    device: str
    count: int
    has_bias: bool
    has_start: bool
    is_backward: bool

    def __call__(self, gradients: tuple[UOp | None, ...], function: UOp) -> tuple[UOp | None, ...]:
        outputs, (_, _, *others) = outputs_of(function), inputs_of(function)
        steps, products = outputs[-2 * self.count : -self.count], outputs[-self.count :]
        others = others[self.has_bias :]
        seeds: dict[UOp, UOp] = {}
        for u, gradient in zip(outputs, gradients, strict=True):
            if gradient is not None:
                seeds[u] = seeds[u] + gradient if u in seeds else gradient
        found = pull_back(seeds, (*steps, *products, *others))
        of_products = self._joined(products, found)
        own, rest = (slice(-1, None), slice(-1)) if self.is_backward else (slice(1), slice(1, None))
        before = self._tensor(outputs[0])[slice(1, None) if self.is_backward else slice(-1)]
        of_weight = _flat(of_products[rest]).transpose(0, 1) @ _flat(before)
        if self.has_start:
            of_weight = of_weight + _flat(of_products[own]).transpose(0, 1) @ self._tensor(others[0])
        of_bias = [of_products.sum((0, 1))._graph] if self.has_bias else []
        return (
            self._joined(steps, found)._graph,
            of_weight._graph,
            *of_bias,
            *[found.get(u) for u in others],
        )

    def _joined(self, nodes: "Sequence[UOp]", found: "dict[UOp, UOp]") -> Tensor:
        parts = [found.get(u, u.const_like(0.0).spread(u.shape)) for u in nodes]
        return joined_steps([self._tensor(u) for u in parts]).contiguous()

    def _tensor(self, u: UOp) -> Tensor:
        # tracked: what is realized on the way keeps the history that a second derivative needs
        return self.kind._make(u, self.device, True)


def _flat(x: Tensor) -> Tensor:
    return x.reshape(-1, x.shape[-1])


def _power(size: int) -> int:
    """Return the smallest power of 16 that divides `size` into at most 16 parts."""
    width = _PARTS
    while width * _PARTS < size:
        width *= _PARTS
    return width
