"""The transpose of convolution: elements that spread multiples of a kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from operator import ge
from typing import Any

from plugrad.errors import ShapeError
from plugrad.tensor.argument_checks import require_optional_tensors, require_tensors
from plugrad.tensor.base import Tensor
from plugrad.tensor.functional.convolution import check_axes, check_groups, cross_correlation
from plugrad.tensor.functional.correlation import spread
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shape.spatial import Padding, Sizes, not_negative, sizes_of, widths_of
from plugrad.tensor.shapes import as_int, is_static, show
from plugrad.uop import add_sizes

_CHANNELS = "C, O/groups"
# Results that phases of one reach compute and cut off, for each that stays, from which they are apart.
_MORE_RESULTS = 1.1
# Input channels for each output channel from which products with each tap are computed once and folded, where
# phases are unequal: a phase of few output channels loads each element for few products.
_NARROW = 4


def conv_transpose1d(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    groups: int = 1,
    stride: Sizes = 1,
    dilation: Sizes = 1,
    padding: Padding = 0,
    output_padding: Sizes = 0,
) -> Tensor:
    """Return `conv_transpose2d` of sequences: (N, C, L) with weight (C, O/groups, K) -> (N, O, L').

    Raises:
        ShapeError: shapes, groups or padding do not fit each other.

    Example:
        >>> Tensor([[[1.0, 2.0]]]).conv_transpose1d(Tensor([[[1.0, 10.0]]])).tolist()
        [[[1.0, 12.0, 20.0]]]
    """
    check_axes(self, weight, 1, _CHANNELS)
    options = (groups, stride, dilation, padding, output_padding)
    return _transpose_convolve(self, weight, bias, *options)


def conv_transpose2d(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    groups: int = 1,
    stride: Sizes = 1,
    dilation: Sizes = 1,
    padding: Padding = 0,
    output_padding: Sizes = 0,
) -> Tensor:
    """Return the transpose of `conv2d`: each element spreads its multiple of the kernel.

    (N, C, H, W) with weight (C, O/groups, KH, KW) and bias (O,) -> (N, O, H', W'), where
    `H' = (H-1)*stride - padding before and after + dilation*(KH-1) + 1 + output_padding`.

    The weight says how many axes there are, and one image needs no axis of a batch, as for `conv2d`.

    Args:
        weight: the kernels, whose sizes may be symbolic.
        bias: added to each output channel.
        groups: channels are split into this many groups that do not see each other. How many channels
            there are is symbolic for one group only.
        stride: step between the places that elements spread to.
        dilation: step between the elements of a kernel.
        padding: how much is cut from each side of the result, as `conv2d` takes it, without words.
        output_padding: how much longer than that the result is at its end; less than stride or dilation.

    Source: Dumoulin and Visin 2016, chapter 4.

    Raises:
        ShapeError: shapes, groups or padding do not fit each other.

    Example:
        >>> Tensor.ones(1, 1, 2, 2).conv_transpose2d(Tensor.ones(1, 1, 2, 2)).tolist()
        [[[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]]
    """
    require_tensors(weight=weight)
    check_axes(self, weight, weight.ndim - 2, _CHANNELS)
    options = (groups, stride, dilation, padding, output_padding)
    return _transpose_convolve(self, weight, bias, *options)


def conv_transpose3d(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    groups: int = 1,
    stride: Sizes = 1,
    dilation: Sizes = 1,
    padding: Padding = 0,
    output_padding: Sizes = 0,
) -> Tensor:
    """Return `conv_transpose2d` of volumes: (N, C, D, H, W), weight (C, O/groups, KD, KH, KW).

    Raises:
        ShapeError: shapes, groups or padding do not fit each other.

    Example:
        >>> Tensor.ones(1, 1, 1, 1, 1).conv_transpose3d(Tensor.ones(1, 2, 3, 3, 3)).shape
        (1, 2, 3, 3, 3)
    """
    check_axes(self, weight, 3, _CHANNELS)
    options = (groups, stride, dilation, padding, output_padding)
    return _transpose_convolve(self, weight, bias, *options)


def _transpose_convolve(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    groups: int,
    stride: Sizes,
    dilation: Sizes,
    padding: Padding,
    output_padding: Sizes,
) -> Tensor:
    axes = weight.ndim - 2
    groups = as_int(groups, "groups")
    check_groups(x, weight, groups, weight.shape[0])
    steps = sizes_of(stride, axes, "stride")
    gaps = sizes_of(dilation, axes, "dilation")
    extra = sizes_of(output_padding, axes, "output_padding")
    _check_extra(extra, steps, gaps)
    widths = not_negative(widths_of(padding, axes))
    require_optional_tensors(bias=bias)
    x._check_device(weight)
    kernel: Any = weight.shape[2:]
    for size, step, gap, k, more, cut in zip(
        x.shape[-axes:], steps, gaps, kernel, extra, widths, strict=True
    ):
        is_counted = is_static((size, k)) and size
        results: Any = (size - 1) * step + gap * (k - 1) + more + 1 if is_counted else None
        if results is not None and results <= sum(cut):
            raise ShapeError(
                f"operation of shape {show(x.shape)} with weight {show(weight.shape)}: padding {cut} takes "
                f"all {results} results of an axis of {size}. Pad less."
            )
    turned = _exchange_channels(weight, groups)
    is_known = is_static(kernel)
    has_phases = max(steps) > 1 and max(gaps) == 1 and is_known and all(map(ge, kernel, steps))
    if has_phases and is_static(x.shape[-axes:]):
        return _by_phases(x, turned, bias, groups, steps, widths, extra)
    # a forward convolution over the elements with zeros between them, by the flipped kernel
    spread = _insert_zeros(x, steps)
    cuts = widths if is_known else ((0, 0),) * axes
    around = tuple(
        (gap * (k - 1) - before, gap * (k - 1) - after + more)
        for k, gap, (before, after), more in zip(kernel, gaps, cuts, extra, strict=True)
    )
    turned = turned.flip(tuple(range(2, axes + 2)))
    out = cross_correlation(spread, turned, bias, groups, (1,) * axes, gaps, around)
    if is_known:
        return out
    # a width beside windows whose size varies might be negative
    for axis, (before, after) in enumerate(widths, out.ndim - axes):
        out = interval(out, axis, before, add_sizes(out.shape[axis], -after))
    return out


def _exchange_channels(weight: Tensor, groups: int) -> Tensor:
    """Return the weight (C, O/groups, *kernel) of each group as (O, C/groups, *kernel)."""
    if groups == 1:
        return weight.transpose(0, 1)
    shape: Any = weight.shape
    channels, out_group, *kernel = shape
    split = weight.reshape(groups, channels // groups, out_group, *kernel).transpose(1, 2)
    return split.reshape(groups * out_group, channels // groups, *kernel)


def _by_phases(
    x: Any,
    weight: Any,
    bias: Any,
    groups: int,
    steps: tuple[int, ...],
    cuts: Sequence[tuple[int, int]],
    extra: tuple[int, ...],
) -> Any:
    """Return the transpose of a convolution by (O, C/groups, K), with no zeros multiplied.

    Result `step*q + p` takes the elements `step*t + p` of the kernel: each of the `step` phases p is a
    convolution of its own, by a kernel of at most `ceil(K / step)`. Where all kernels are of one size, they
    are one convolution with more output channels. Where they are not, and output channels are few, products
    are folded instead.
    """
    axes = len(steps)
    sizes, kernel = x.shape[-axes:], weight.shape[2:]
    outputs, channels = weight.shape[:2]
    taps = [-(-k // step) for k, step in zip(kernel, steps, strict=True)]
    lengths = [
        (size - 1) * step + k - before - after + more
        for size, step, k, (before, after), more in zip(sizes, steps, kernel, cuts, extra, strict=True)
    ]
    firsts = [before // step for (before, _), step in zip(cuts, steps, strict=True)]
    lasts = [(cut[0] + n - 1) // step for cut, n, step in zip(cuts, lengths, steps, strict=True)]

    def convolve(kernels: Any, shifts: Any, firsts: Sequence[int], lasts: Sequence[int]) -> Any:
        reach = zip(kernels.shape[2:], firsts, lasts, sizes, strict=True)
        around = tuple([(t - 1 - q, r - size + 1) for t, q, r, size in reach])
        turned = kernels.flip(tuple(range(2, 2 + axes)))
        return cross_correlation(x, turned, shifts, groups, (1,) * axes, (1,) * axes, around)

    count, before_axes = math.prod(steps), (*x.shape[: -1 - axes], outputs)
    are_equal = not any(k % step for k, step in zip(kernel, steps, strict=True))
    is_narrow = channels >= _NARROW * (outputs // groups) and x.ndim == axes + 2
    if not are_equal and is_narrow and is_static((*x.shape, *weight.shape)):
        given = _exchange_channels(weight, groups)._graph
        folded = spread(x._graph, given, groups, steps, tuple(cuts), lengths)
        if folded is not None:
            out = x._like(folded, weight)
            return out if bias is None else out + bias.reshape(-1, *(1,) * axes)
    found = [last - first + 1 for first, last in zip(firsts, lasts, strict=True)]
    are_whole = not any(n % step for n, step in zip(lengths, steps, strict=True))
    if are_whole and (not are_equal or math.prod(found) * count > _MORE_RESULTS * math.prod(lengths)):
        return _side_by_side(
            _with_own_reach(weight, bias, steps, cuts, lengths, convolve), before_axes, steps
        )
    if not are_equal:
        # kernels of one size would have zeros, which make NaN of an infinity
        strided = product(*[[slice(phase, None, step) for phase in range(step)] for step in steps])
        first, *others = [convolve(weight[(..., *cut)], bias, firsts, lasts) for cut in strided]
        out = first.stack(*others, dim=-1 - axes)
    else:
        pairs = [size for pair in zip(taps, steps, strict=True) for size in pair]
        parts = weight.reshape(outputs, channels, *pairs)
        order = (0, *range(3, 3 + 2 * axes, 2), 1, *range(2, 2 + 2 * axes, 2))
        kernels = parts.permute(order).reshape(outputs * count, channels, *taps)
        shifts = None if bias is None else bias.reshape(outputs, 1).expand(outputs, count).flatten()
        out = convolve(kernels, shifts, firsts, lasts)
    # the phases are put side by side by who reads them: stores of the convolution stay together
    whole_phases = _side_by_side(out.contiguous(), before_axes, steps)
    for axis, (cut, step, first, n) in enumerate(zip(cuts, steps, firsts, lengths, strict=True), -axes):
        whole_phases = interval(whole_phases, axis, cut[0] - step * first, cut[0] - step * first + n)
    return whole_phases


def _with_own_reach(
    weight: Any,
    bias: Any,
    steps: tuple[int, ...],
    cuts: Sequence[tuple[int, int]],
    lengths: Sequence[int],
    convolve: Callable[..., Any],
) -> Any:
    """Return all phases (..., O, phases, *results / steps), each from its first result to its last."""
    are_equal = not any(k % step for k, step in zip(weight.shape[2:], steps, strict=True))
    parts: list[Any] = []
    for number in product(*map(range, steps)):
        # the first element under the kernel, and the phase, of the result with this number
        reach = [divmod(i + before, step) for i, (before, _), step in zip(number, cuts, steps, strict=True)]
        strided = [slice(phase, None, step) for (_, phase), step in zip(reach, steps, strict=True)]
        firsts = [first for first, _ in reach]
        lasts = [first + n // step - 1 for first, n, step in zip(firsts, lengths, steps, strict=True)]
        kernels = weight[(..., *strided)]
        # in memory all of one size are the kernels of one convolution, which is compiled once
        parts.append(convolve(kernels.contiguous() if are_equal else kernels, bias, firsts, lasts))
    return parts[0].stack(*parts[1:], dim=-1 - len(steps))


def _side_by_side(out: Any, before: Sequence[Any], steps: tuple[int, ...]) -> Any:
    """Return phases that lie apart (*before, phases, *found) side by side: (*before, *(found * step))."""
    axes, start = len(steps), len(before)
    found = out.shape[-axes:]
    apart = out.reshape(*before, *steps, *found)
    sides = [a for i in range(axes) for a in (start + axes + i, start + i)]
    joined = [n * step for n, step in zip(found, steps, strict=True)]
    return apart.permute((*range(start), *sides)).reshape(*before, *joined)


def _insert_zeros(x: Any, steps: tuple[int, ...]) -> Any:
    """Return the elements with `step - 1` zeros between them: (..., L) -> (..., (L-1)*step + 1)."""
    for axis, step in enumerate(steps, x.ndim - len(steps)):
        if step == 1:
            continue
        size = x.shape[axis]
        wide = x.unsqueeze(axis + 1).pad([(0, step - 1 if a == axis + 1 else 0) for a in range(x.ndim + 1)])
        end = (size - 1) * step + 1 if size else 0
        x = interval(wide.flatten(axis, axis + 1), axis, 0, end)
    return x


def _check_extra(extra: tuple[int, ...], steps: tuple[int, ...], gaps: tuple[int, ...]) -> None:
    for more, step, gap in zip(extra, steps, gaps, strict=True):
        if step < 1:
            raise ShapeError(f"stride {step} must be at least 1.")
        if not 0 <= more < max(step, gap):
            raise ShapeError(
                f"output_padding {more} with stride {step} and dilation {gap}: it must be less than "
                "one of them, and not negative."
            )
