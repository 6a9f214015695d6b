"""Split sequences into steps and join steps, for loops that run step by step.

Slicing step 37 out of a tensor is another kernel than slicing step 38, as its address is a constant. In two
levels of 16 parts, each in memory of its own, `n` steps take as many kernels as 32 do, and a computation on a
step is one kernel for all of them. Joining goes the same way back.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from plugrad.tensor.base import Tensor
from plugrad.tensor.shape.padding import interval

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


def _power(size: int) -> int:
    """Return the smallest power of 16 that divides `size` into at most 16 parts."""
    width = _PARTS
    while width * _PARTS < size:
        width *= _PARTS
    return width
