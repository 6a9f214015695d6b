"""Sums over windows, with gradients that are sums over windows too.

What the chain rule makes of a sum over windows spreads every product back to where its element came from, in
kernels that neither reuse what they load nor write it in order. Two other sums give the same: the gradient of
the elements is a sum over windows of what flows in; that of the weight reads what flows in with the channels
side by side, as vectors want them.
"""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from plugrad._frozen import frozen
from plugrad.autodiff import compute_gradient, inputs_of, with_rule
from plugrad.tensor.dispatch import InLoops
from plugrad.tensor.shape.spatial import Widths
from plugrad.tensor.shape.windows import windows
from plugrad.tensor.shapes import int_shape, is_static
from plugrad.uop import Ops, UOp

# Output channels of a group from which a copy with channels side by side pays: the lanes of a vector.
_CHANNELS = 16
# Products that the gradient of an element is the sum of, up to which they are written out.
_MOST_TERMS = 16


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


def spread(
    x: UOp, weight: UOp, groups: int, steps: tuple[int, ...], widths: Widths, sizes: Sequence[int]
) -> UOp | None:
    """Return the transpose of sums over windows: (N, C, *counts) -> (N, O, *sizes).

    `weight` is (C, O/groups, *kernel). None where elements are no sums of a few products each.
    """
    sums = _Gradients(groups, steps, (1,) * len(steps), widths)
    out = sums.spread(x, weight, sizes)
    return None if out is None else with_rule([out], [x, weight], _SpreadGradients(sums))[0]


@frozen
class _Gradients:
    """The gradient rule of sums over windows; rules are values, to share equal sums."""

    groups: int
    steps: tuple[int, ...]
    gaps: tuple[int, ...]
    widths: Widths

    def __call__(self, gradients: tuple[UOp], function: UOp) -> tuple[UOp | None, ...]:
        (gradient,) = gradients
        x, weight = inputs_of(function)
        return self._of_elements(gradient, x, weight), self.of_weight(gradient, x, weight)

    def sums(self, x: UOp, weight: UOp) -> UOp:
        kernel: Any = weight.shape[2:]
        view = windows(with_zeros(x, self.widths), kernel, self.steps, self.gaps)
        return _sum_of_products(view, weight, self.groups)

    def _of_elements(self, gradient: UOp, x: UOp, weight: UOp) -> UOp:
        found = self.spread(gradient, weight, int_shape(x)[2:])
        return self.by_chain_rule(gradient, x, weight, x) if found is None else found

    def spread(self, gradient: UOp, weight: UOp, sizes: Sequence[int]) -> UOp | None:
        """Return the gradient of elements of these sizes, or None for the chain rule.

        Elements `step` apart have the same place in windows.
        """
        _, in_group, *kernel = int_shape(weight)
        axes, lows = len(kernel), [low for low, _ in self.widths]
        n, channels = int_shape(gradient)[0], in_group * self.groups
        # blocks of `step` elements, from the first to the last that has one inside of the zeros around
        first = [low // step for low, step in zip(lows, self.steps, strict=True)]
        end = [-(-(low + size) // step) for low, size, step in zip(lows, sizes, self.steps, strict=True)]
        if self._has_phases(kernel):
            found = self._in_phases(gradient, weight, first, end)
        elif self._is_folded(kernel, first, end, int_shape(gradient)[2:]):
            found = self._folded(gradient, weight, first, end)
        else:
            return None
        found = found.permute((0, 1, *[at for axis in range(2, 2 + axes) for at in (axis + axes, axis)]))
        blocks = [(e - f) * step for f, e, step in zip(first, end, self.steps, strict=True)]
        found = found.reshape((n, channels, *blocks))
        starts = [low % step for low, step in zip(lows, self.steps, strict=True)]
        inner = [(start, start + size) for start, size in zip(starts, sizes, strict=True)]
        return found.shrink([(0, n), (0, channels), *inner])

    def _in_phases(self, gradient: UOp, weight: UOp, first: list[int], end: list[int]) -> UOp:
        """Return elements (N, C, *steps, *blocks) as sums over the windows around each.

        Each of the `step` phases is a channel, whose weights are every `step`-th tap of the kernel.
        """
        out_channels, in_group, *kernel = int_shape(weight)
        out_group, axes = out_channels // self.groups, len(kernel)
        channels = self.groups * in_group
        taps = [k // step for k, step in zip(kernel, self.steps, strict=True)]
        parts = [size for pair in zip(taps, self.steps, strict=True) for size in pair]
        phased = weight.reshape((self.groups, out_group, in_group, *parts))
        phased = phased.permute((0, 2, *range(4, 4 + 2 * axes, 2), 1, *range(3, 3 + 2 * axes, 2)))
        phased = phased.reshape((channels * math.prod(self.steps), out_group, *taps))
        n, _, *counts = int_shape(gradient)
        ahead = [(tap - 1) * gap - begin for tap, gap, begin in zip(taps, self.gaps, first, strict=True)]
        behind = [last - count for last, count in zip(end, counts, strict=True)]
        back = _Gradients(self.groups, (1,) * axes, self.gaps, tuple(zip(ahead, behind, strict=True)))
        found = back.sums(gradient, phased.flip(tuple(range(2, 2 + axes))))
        return found.reshape((n, channels, *self.steps, *int_shape(found)[2:]))

    def _folded(self, gradient: UOp, weight: UOp, first: list[int], end: list[int]) -> UOp:
        """Return elements (N, C, *steps, *blocks) as sums of products with each tap.

        Products lie side by side as what flows in does: of a phase, those with each `step`-th tap are as many
        blocks apart as there are taps between.
        """
        out_channels, in_group, *kernel = int_shape(weight)
        n, _, *counts = int_shape(gradient)
        axes, out_group = len(kernel), out_channels // self.groups
        full = (n, self.groups, out_group, in_group, *kernel, *counts)
        flow = gradient.reshape((n, self.groups, out_group, 1, *(1,) * axes, *counts)).expand(full)
        each = weight.reshape((1, self.groups, out_group, in_group, *kernel, *(1,) * axes)).expand(full)
        products = (flow * each).reduce_axis(Ops.ADD, (2,))
        taps = [-(-k // step) for k, step in zip(kernel, self.steps, strict=True)]
        filled = [(0, t * step - k) for t, step, k in zip(taps, self.steps, kernel, strict=True)]
        channels = self.groups * in_group
        products = products.reshape((n, channels, *kernel, *counts))
        products = products.pad([(0, 0), (0, 0), *filled, *[(0, 0)] * axes])
        parts = [size for pair in zip(taps, self.steps, strict=True) for size in pair]
        products = products.reshape((n, channels, *parts, *counts))
        found: list[UOp] = []
        for tap in product(*map(range, taps)):
            chosen = [at for t, step in zip(tap, self.steps, strict=True) for at in ((t, t + 1), (0, step))]
            one = products.shrink([(0, n), (0, channels), *chosen, *[(0, c) for c in counts]])
            one = one.reshape((n, channels, *self.steps, *counts))
            moved = zip(tap, self.gaps, first, end, counts, strict=True)
            widths = tuple([(t * gap - f, e - t * gap - c) for t, gap, f, e, c in moved])
            found.append(with_zeros(one, widths))
        return sum(found[1:], start=found[0])

    def _is_folded(self, kernel: list[int], first: list[int], end: list[int], counts: Sequence[int]) -> bool:
        """Return whether each element is the sum of few products.

        Every tap has some of them. Windows beside each other give each element one product, which is no sum.
        """
        taps = [-(-k // step) for k, step in zip(kernel, self.steps, strict=True)]
        if kernel == list(self.steps) or math.prod(taps) > _MOST_TERMS:
            return False
        axes = zip(taps, self.steps, self.gaps, first, end, counts, strict=True)
        return all(min(s, gap) == 1 and f <= c and e >= (t - 1) * gap for t, s, gap, f, e, c in axes)

    def _has_phases(self, kernel: list[int]) -> bool:
        """Return whether all phases have as many taps, more than one and without gaps.

        One tap needs no sum over windows. With zeros for taps that some lack, an infinity that flows in would
        make NaN of their elements.
        """
        axes = zip(kernel, self.steps, self.gaps, strict=True)
        return all(step == 1 or (gap == 1 and k > step and k % step == 0) for k, step, gap in axes)

    def of_weight(self, gradient: UOp, x: UOp, weight: UOp) -> UOp:
        out_channels: Any = weight.shape[0]
        counts: Any = gradient.shape[2:]
        found = self.by_chain_rule(gradient, x, weight, weight)
        if out_channels // self.groups < _CHANNELS or math.prod(counts) <= 1:
            return found
        return found.dispatch(InLoops(_of_weight_in_lanes, (self,)), gradient, x, weight)

    def by_chain_rule(self, gradient: UOp, x: UOp, weight: UOp, target: UOp) -> UOp:
        # stand-ins: one of them may be computed from the other
        own = {x: UOp(Ops.DETACH, x.dtype, (x,)), weight: UOp(Ops.DETACH, weight.dtype, (weight,))}
        out = self.sums(own[x], own[weight])
        found = compute_gradient(out, gradient, [own[target]])[own[target]]
        return found.substitute({stand_in: u for u, stand_in in own.items()})


@frozen
class _SpreadGradients:
    """The gradient rule of the transpose of sums over windows."""

    sums: _Gradients

    def __call__(self, gradients: tuple[UOp], function: UOp) -> tuple[UOp | None, ...]:
        (gradient,) = gradients
        x, weight = inputs_of(function)
        rule = self.sums
        back = correlated(gradient, weight, rule.groups, rule.steps, rule.gaps, rule.widths)
        return back, rule.of_weight(x, gradient, weight)


def _of_weight_in_lanes(_device: str, gradient: UOp, x: UOp, weight: UOp, sums: _Gradients) -> UOp:
    """Return a weight's gradient, vectorised over channels."""
    last = len(gradient.shape) - 1
    aside = gradient.permute((0, *range(2, last + 1), 1)).contiguous()
    return sums.by_chain_rule(aside.permute((0, last, *range(1, last))), x, weight, weight)


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
    products = x.expand(full) * w.expand(full)
    return products.reduce_axis(Ops.ADD, tuple(range(3 + axes, len(full)))).reshape(
        (n, out_channels, *counts)
    )
