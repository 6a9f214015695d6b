"""Tensors from memory where strides say how far the elements of each axis lie apart."""

import math

from plugrad.dtype import dtypes
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import fixed_shape


def extent(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Return the number of memory elements that a strided tensor spans.

    Example:
        >>> extent((2, 3), (4, 1))
        7
    """
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def from_strides(memory: Tensor, shape: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
    """Return the strided view of `memory`.

    Args:
        memory: (n,), where n is the `extent` of the rest.
        shape: of the result.
        strides: elements from one index to the next, 0 or more, for each axis.

    Example:
        >>> from_strides(Tensor([1, 2, 3, 4, 5, 6]), (3, 2), (1, 3)).tolist()
        [[1, 4], [2, 5], [3, 6]]
    """
    if 0 in shape:
        return Tensor.zeros(*shape, dtype=memory.dtype, device=memory.device)
    # axes of one element, and those that repeat it, are added at the end
    axes = [axis for axis, size in enumerate(shape) if size > 1 and strides[axis]]
    axes.sort(key=lambda axis: (-strides[axis], -shape[axis]))
    sizes, steps = [shape[axis] for axis in axes], [strides[axis] for axis in axes]
    picked = _nested(memory, sizes, steps) if _is_nested(sizes, steps) else _gathered(memory, sizes, steps)
    order = sorted(range(len(axes)), key=lambda position: axes[position])
    ones = tuple(size if axis in axes else 1 for axis, size in enumerate(shape))
    return picked.permute(order).reshape(ones).expand(shape)


def _is_nested(sizes: list[int], steps: list[int]) -> bool:
    """Say whether each step is a multiple of the next, and spans the next axis."""
    inner = zip(sizes[1:], steps[1:], strict=True)
    return all(
        outer % step == 0 and outer >= size * step for outer, (size, step) in zip(steps, inner, strict=False)
    )


def _nested(memory: Tensor, sizes: list[int], steps: list[int]) -> Tensor:
    """Cut `memory` into steps of the first axis, and each step by the next."""
    out, front = memory, list[int]()
    for size, step in zip(sizes, steps, strict=True):
        out = _resized(out, size * step).reshape(*front, size, step)
        front.append(size)
    return _resized(out, 1).reshape(front)


def _resized(x: Tensor, size: int) -> Tensor:
    """Return `x` cut or padded with zeros to `size` elements on its last axis."""
    return x.pad((0, size - fixed_shape(x.shape, "strides")[-1]))


def _gathered(memory: Tensor, sizes: list[int], steps: list[int]) -> Tensor:
    dtype = dtypes.int32 if memory.numel() <= 1 << 31 else dtypes.int64
    place = Tensor.zeros(dtype=dtype, device=memory.device)
    for position, (size, step) in enumerate(zip(sizes, steps, strict=True)):
        along = Tensor.arange(size, dtype=dtype, device=memory.device) * step
        place = place + along.reshape(size, *(1,) * (len(sizes) - position - 1))
    return memory[place.reshape(math.prod(sizes))].reshape(sizes)
