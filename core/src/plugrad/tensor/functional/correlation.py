"""Sums over windows, with gradients that are sums over windows too.

What the chain rule makes of a sum over windows spreads every product back to where its element came from, in
kernels that neither reuse what they load nor write it in order. Two other sums give the same: the gradient of
the elements is a sum over windows of what flows in; that of the weight reads what flows in with the channels
side by side, as vectors want them.
"""

import math
from typing import Any

from plugrad._frozen import frozen
from plugrad.autodiff import compute_gradient, inputs_of, with_rule
from plugrad.tensor.shape.spatial import Widths
from plugrad.tensor.shape.windows import windows
from plugrad.tensor.shapes import is_static
from plugrad.uop import Ops, UOp

# Output channels of a group from which a copy with channels side by side pays: the lanes of a vector.
_CHANNELS = 16


def correlated(
    x: UOp, weight: UOp, groups: int, steps: tuple[int, ...], gaps: tuple[int, ...], widths: Widths
) -> UOp:
    """Return sums over windows: (N, C, *sizes), (O, C/groups, *kernel) -> (N, O, *counts).

    `widths` zeros are around the elements; where negative, so many elements less. Where a size is symbolic,
    gradients are those of the chain rule.
    """
    rule = _Gradients(groups, steps, gaps, widths)
    out = rule.sums(x, weight)
    return with_rule([out], [x, weight], rule)[0] if is_static((*x.shape, *weight.shape)) else out


@frozen
class _Gradients:
    """The gradient rule of sums over windows; rules are values, to share equal sums."""

    groups: int
    steps: tuple[int, ...]
    gaps: tuple[int, ...]
    widths: Widths

    def __call__(self, gradients: tuple[UOp | None, ...], function: UOp) -> tuple[UOp | None, ...]:
        (gradient,) = gradients
        if gradient is None:
            return None, None
        x, weight = inputs_of(function)
        return self._of_elements(gradient, x, weight), self._of_weight(gradient, x, weight)

    def sums(self, x: UOp, weight: UOp) -> UOp:
        kernel: Any = weight.shape[2:]
        view = windows(with_zeros(x, self.widths), kernel, self.steps, self.gaps)
        return _sum_of_products(view, weight, self.groups)

    def _of_elements(self, gradient: UOp, x: UOp, weight: UOp) -> UOp:
        """Return the gradient of the elements, as sums over the windows around each.

        Elements `step` apart have the same place in windows: each of the `step` phases is a channel, whose
        weights are every `step`-th tap of the kernel.
        """
        out_channels, in_group, *kernel = _sizes(weight)
        out_group = out_channels // self.groups
        if not self._has_phases(kernel):
            return self.by_chain_rule(gradient, x, weight, x)
        axes, lows = len(kernel), [low for low, _ in self.widths]
        n, channels, *sizes = _sizes(x)
        taps = [k // step for k, step in zip(kernel, self.steps, strict=True)]
        parts = [size for pair in zip(taps, self.steps, strict=True) for size in pair]
        phased = weight.reshape((self.groups, out_group, in_group, *parts))
        phased = phased.permute((0, 2, *range(4, 4 + 2 * axes, 2), 1, *range(3, 3 + 2 * axes, 2)))
        phased = phased.reshape((channels * math.prod(self.steps), out_group, *taps))
        # blocks of `step` elements, from the first to the last that has one inside of the zeros around
        first = [low // step for low, step in zip(lows, self.steps, strict=True)]
        end = [-(-(low + size) // step) for low, size, step in zip(lows, sizes, self.steps, strict=True)]
        ahead = [(tap - 1) * gap - begin for tap, gap, begin in zip(taps, self.gaps, first, strict=True)]
        behind = [last - count for last, count in zip(end, _sizes(gradient)[2:], strict=True)]
        widths = tuple(zip(ahead, behind, strict=True))
        back = _Gradients(self.groups, (1,) * axes, self.gaps, widths)
        found = back.sums(gradient, phased.flip(tuple(range(2, 2 + axes))))
        blocks = _sizes(found)[2:]
        found = found.reshape((n, channels, *self.steps, *blocks))
        found = found.permute((0, 1, *[at for axis in range(2, 2 + axes) for at in (axis + axes, axis)]))
        found = found.reshape((n, channels, *[b * step for b, step in zip(blocks, self.steps, strict=True)]))
        starts = [low % step for low, step in zip(lows, self.steps, strict=True)]
        inner = [(start, start + size) for start, size in zip(starts, sizes, strict=True)]
        return found.shrink([(0, n), (0, channels), *inner])

    def _has_phases(self, kernel: list[int]) -> bool:
        """Return whether all phases have as many taps, more than one and without gaps.

        One tap needs no sum over windows. With zeros for taps that some lack, an infinity that flows in would
        make NaN of their elements.
        """
        axes = zip(kernel, self.steps, self.gaps, strict=True)
        return all(step == 1 or (gap == 1 and k > step and k % step == 0) for k, step, gap in axes)

    def _of_weight(self, gradient: UOp, x: UOp, weight: UOp) -> UOp:
        out_channels: Any = weight.shape[0]
        counts: Any = gradient.shape[2:]
        found = self.by_chain_rule(gradient, x, weight, weight)
        if out_channels // self.groups < _CHANNELS or math.prod(counts) <= 1:
            return found
        return found.dispatch(_WeightGradient(self), gradient, x, weight)

    def by_chain_rule(self, gradient: UOp, x: UOp, weight: UOp, target: UOp) -> UOp:
        # stand-ins: one of them may be computed from the other
        own = {x: UOp(Ops.DETACH, x.dtype, (x,)), weight: UOp(Ops.DETACH, weight.dtype, (weight,))}
        out = self.sums(own[x], own[weight])
        found = compute_gradient(out, gradient, [own[target]])[own[target]]
        return found.substitute({stand_in: u for u, stand_in in own.items()})


@frozen
class _WeightGradient:
    """The rule of a weight's gradient on devices with loops, vectorised over channels."""

    sums: _Gradients

    def __call__(self, device: str, runs_loops: bool, inputs: tuple[UOp, ...]) -> UOp | None:
        if not runs_loops:
            return None
        gradient, x, weight = inputs
        last = len(gradient.shape) - 1
        aside = gradient.permute((0, *range(2, last + 1), 1)).contiguous()
        return self.sums.by_chain_rule(aside.permute((0, last, *range(1, last))), x, weight, weight)


def _sizes(u: UOp) -> list[int]:
    return [int(size) for size in u.shape if isinstance(size, int)]


def with_zeros(x: UOp, widths: Widths) -> UOp:
    """Return `x` with zeros around its last axes; where negative, without so many elements."""
    sizes: Any = x.shape
    pairs = [*[(0, 0)] * (len(sizes) - len(widths)), *widths]
    if any(low < 0 or high < 0 for low, high in pairs):
        ends = [(max(0, -low), min(0, high)) for low, high in pairs]
        x = x.shrink([(begin, size + end) for size, (begin, end) in zip(sizes, ends, strict=True)])
    return x.pad([(max(0, low), max(0, high)) for low, high in pairs])


def _sum_of_products(view: UOp, weight: UOp, groups: int) -> UOp:
    """Return the sums over windows (N, C, *counts, *kernel): -> (N, O, *counts)."""
    out_channels, in_group, *kernel = weight.shape
    axes = len(kernel)
    n, _, *rest = view.shape
    counts = rest[:axes]
    # the channels of several groups are numbers
    out_group: Any = out_channels if groups == 1 else out_channels // groups  # pyright: ignore[reportOperatorIssue]
    x = view.reshape((n, groups, 1, in_group, *counts, *kernel))
    # to the order (N, groups, O/groups, *counts, C/groups, *kernel)
    spatial = tuple(range(4, 4 + axes))
    x = x.permute((0, 1, 2, *spatial, 3, *range(4 + axes, 4 + 2 * axes)))
    full: Any = (n, groups, out_group, *counts, in_group, *kernel)
    w = weight.reshape((1, groups, out_group, *(1,) * axes, in_group, *kernel))
    product = x.expand(full) * w.expand(full)
    return product.reduce_axis(Ops.ADD, tuple(range(3 + axes, len(full)))).reshape((n, out_channels, *counts))
