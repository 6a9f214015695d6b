"""Compute the padding of windows, and look through them."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from plugrad import Tensor
from plugrad_onnx.sizes import as_number
from plugrad_onnx.values import Array, sizes_of

Sides = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Windows:
    """Describe how a kernel goes over the spatial axes.

    Attributes:
        kernel: sizes of the kernel.
        strides: steps between windows.
        dilations: steps inside of a window.
        pads: elements added before and behind each axis.
        counts: number of windows along each axis.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: Sides
    counts: tuple[int, ...]

    def view(self, x: Tensor, fill: float | int) -> Tensor:
        """Return the windows of x: `(N, C, *counts, *kernel)`, where the padding holds `fill`."""
        first = x.ndim - len(self.kernel)
        sides = [(0, 0)] * first
        for i, (low, _) in enumerate(self.pads):
            reach = (self.counts[i] - 1) * self.strides[i] + (self.kernel[i] - 1) * self.dilations[i] + 1
            sides.append((low, max(0, reach - low - as_number(sizes_of(x)[first + i]))))
        out = x.pad(sides, value=fill) if any(map(any, sides)) else x
        for i, (size, step, gap) in enumerate(zip(self.kernel, self.strides, self.dilations, strict=True)):
            reach = (size - 1) * gap + 1
            out = out.unfold(first + i, reach, step).narrow(first + i, 0, self.counts[i])
            if gap > 1:
                out = out[..., ::gap]
        return out

    def positions(self, shape: tuple[int, ...]) -> tuple[Array, ...]:
        """Return where each element of each window lies on each axis: `(*counts, *kernel)`, -1 outside."""
        rank = len(self.kernel)
        grids: list[Array] = []
        for i, size in enumerate(shape):
            line = (
                np.arange(self.counts[i])[:, None] * self.strides[i]
                + np.arange(self.kernel[i])[None, :] * self.dilations[i]
                - self.pads[i][0]
            )
            line = np.where((line >= 0) & (line < size), line, -1)
            spread = [1] * (2 * rank)
            spread[i], spread[rank + i] = line.shape
            grids.append(np.broadcast_to(line.reshape(spread), (*self.counts, *self.kernel)))
        return tuple(grids)


def find_windows(
    spatial: tuple[Any, ...],
    kernel: tuple[int, ...],
    *,
    strides: tuple[int, ...] | None = None,
    dilations: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
) -> Windows:
    """Return the windows over axes of these sizes."""
    rank = len(kernel)
    steps, gaps = strides or (1,) * rank, dilations or (1,) * rank
    given = pads or (0,) * (2 * rank)
    if not len(spatial) == len(steps) == len(gaps) == len(given) // 2 == rank:
        raise ValueError(f"a kernel of {rank} axes does not fit {len(spatial)} spatial axes")
    if min((*steps, *gaps, *kernel)) < 1:
        raise ValueError("kernels, strides and dilations are at least 1")
    sides: list[tuple[int, int]] = []
    counts: list[int] = []
    for i, size in enumerate(map(int, spatial)):
        reach = (kernel[i] - 1) * gaps[i] + 1
        low, high = given[i], given[i + rank]
        if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            total = max((-(-size // steps[i]) - 1) * steps[i] + reach - size, 0)
            low = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
            high = total - low
        elif auto_pad == "VALID":
            low = high = 0
        room = size + low + high - reach
        count = (-(-room // steps[i]) if ceil_mode else room // steps[i]) + 1
        # a window that begins in the padding behind the axis is left out
        if ceil_mode and (count - 1) * steps[i] >= size + low:
            count -= 1
        if count < 1:
            raise ValueError(f"a kernel that reaches over {reach} elements does not fit an axis of {size}")
        sides.append((low, high))
        counts.append(count)
    return Windows(kernel, steps, gaps, tuple(sides), tuple(counts))


def flat_sides(sides: Sides) -> list[tuple[int, int]]:
    """Return the padding of a tensor with batch and channels."""
    return [(0, 0), (0, 0), *sides]


def kernel_offsets(kernel: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the positions inside of a kernel, the last axis fastest."""
    return list(itertools.product(*(range(size) for size in kernel)))
