"""Convolution: products with a kernel, summed over windows.

Batches of channels have any number of spatial axes behind: `(N, C, *sizes)`.
"""

from __future__ import annotations

from typing import Any

from plugrad.dtype import sum_acc_dtype
from plugrad.errors import ShapeError
from plugrad.settings import settings
from plugrad.tensor.argument_checks import require_optional_tensors, require_tensors
from plugrad.tensor.base import DTypeLike, Tensor, promoted, the_dtype
from plugrad.tensor.functional.correlation import correlated, with_zeros
from plugrad.tensor.functional.winograd import fits_winograd, pays_winograd, winograd
from plugrad.tensor.shape.spatial import Padding, Sizes, Widths, not_negative, sizes_of, widths_of_words
from plugrad.tensor.shapes import as_int, is_static, show

_AXES = {1: "(N, C, L)", 2: "(N, C, H, W)", 3: "(N, C, D, H, W)"}
_SIZES = {1: "K", 2: "KH, KW", 3: "KD, KH, KW"}


def conv1d(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    *,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return `conv2d` of sequences: (N, C, L) with weight (O, C/groups, K) -> (N, O, L').

    Raises:
        ShapeError: shapes, groups or padding do not fit each other.

    Example:
        >>> Tensor([[[1.0, 2.0, 4.0]]]).conv1d(Tensor([[[1.0, -1.0]]])).tolist()
        [[[-1.0, -2.0]]]
    """
    check_axes(self, weight, 1)
    return _convolve(self, weight, bias, groups, stride, dilation, padding, dtype)


def conv2d(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    *,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return the cross-correlation of images with `weight`.

    (N, C, H, W) with weight (O, C/groups, KH, KW) and bias (O,) -> (N, O, H', W')

    The weight says how many axes there are: with (O, C/groups, K) this is `conv1d`, and so on. One image
    (C, H, W) gives (O, H', W'). The order of parameters is PyTorch's; tinygrad has `groups` before `stride`.
    With `WINO=1`, windows of 3x3 with steps of 1 are computed by fewer multiplications and more
    rounding: float32 results within 1e-4 of the greatest of them, gradients within 1e-3.

    Args:
        weight: the kernels, whose sizes may be symbolic.
        bias: added to each output channel.
        groups: channels are split into this many groups that do not see each other. How many channels
            there are is symbolic for one group only.
        stride: step between windows.
        dilation: step between the elements of a window.
        padding: zeros around the images: one width, one for each axis, (left, right, top, bottom),
            ((top, bottom), (left, right)), "valid" (none) or "same" (as many windows as elements).
        dtype: accumulate in, and return, this dtype.

    Raises:
        ShapeError: shapes, groups or padding do not fit each other.

    Example:
        >>> Tensor.ones(1, 1, 3, 3).conv2d(Tensor.ones(1, 1, 2, 2)).tolist()
        [[[[4.0, 4.0], [4.0, 4.0]]]]
    """
    require_tensors(weight=weight)
    check_axes(self, weight, weight.ndim - 2)
    return _convolve(self, weight, bias, groups, stride, dilation, padding, dtype)


def conv3d(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    *,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return `conv2d` of volumes.

    (N, C, D, H, W) with weight (O, C/groups, KD, KH, KW) -> (N, O, ...).

    Raises:
        ShapeError: shapes, groups or padding do not fit each other.

    Example:
        >>> Tensor.ones(1, 1, 2, 2, 2).conv3d(Tensor.ones(1, 1, 2, 2, 2)).item()
        8.0
    """
    check_axes(self, weight, 3)
    return _convolve(self, weight, bias, groups, stride, dilation, padding, dtype)


def _convolve(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    groups: int,
    stride: Sizes,
    dilation: Sizes,
    padding: Padding,
    dtype: DTypeLike | None,
) -> Tensor:
    axes = weight.ndim - 2
    require_optional_tensors(bias=bias)
    groups = as_int(groups, "groups")
    _, inner, *kernel = weight.shape
    # n * 1 would be another size than n
    check_groups(x, weight, groups, inner if groups == 1 else inner * groups)
    x._check_device(weight)
    steps = sizes_of(stride, axes, "stride")
    gaps = sizes_of(dilation, axes, "dilation")
    widths = not_negative(widths_of_words(padding, tuple(kernel), steps, gaps))
    return cross_correlation(x, weight, bias, groups, steps, gaps, widths, dtype)


def cross_correlation(
    tensor: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    groups: int,
    steps: tuple[int, ...],
    gaps: tuple[int, ...],
    widths: Widths,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return the convolution with `widths` zeros around; where negative, of so many elements less."""
    if tensor.ndim < weight.ndim:
        batch = tensor.unsqueeze(0)
        return cross_correlation(batch, weight, bias, groups, steps, gaps, widths, dtype).squeeze(0)
    if not is_static([width for pair in widths for width in pair]):
        padded = tensor.pad(((0, 0), (0, 0), *widths))
        return cross_correlation(padded, weight, bias, groups, steps, gaps, ((0, 0),) * len(gaps), dtype)
    kernel: Any = weight.shape[2:]
    narrow = the_dtype(dtype, promoted([tensor, weight]))
    wide = narrow if dtype is not None else sum_acc_dtype(narrow)
    x, w = tensor.cast(wide)._graph, weight._graph.cast(wide)
    is_known = is_static((*x.shape, *w.shape))
    fits = settings.WINO and is_known and fits_winograd(kernel, steps, gaps, wide)
    if fits and pays_winograd(around := with_zeros(x, widths), w, groups):
        out = winograd(around, w, groups)
    else:
        out = correlated(x, w, groups, steps, gaps, widths)
    result = tensor._like(out.cast(narrow), weight)
    return result if bias is None else result + bias.reshape(1, -1, *(1,) * len(kernel))


def check_axes(x: Tensor, weight: Tensor, axes: int, channels: str = "O, C/groups") -> None:
    """Refuse a weight or images that have not `axes` axes behind the channels."""
    require_tensors(weight=weight)
    if weight.ndim != axes + 2 or weight.ndim < max(x.ndim, 3):
        sizes = _SIZES.get(max(axes, x.ndim - 2), "*sizes")
        raise ShapeError(f"weight of shape {show(weight.shape)}: it takes ({channels}, {sizes}).")
    if x.ndim not in (axes + 1, axes + 2):
        kind = {1: "sequences", 3: "volumes"}.get(axes, "images")
        raise ShapeError(
            f"operation of shape {show(x.shape)}: it takes {kind} {_AXES.get(axes, '(N, C, *sizes)')} "
            f"with a weight of shape {show(weight.shape)}. Unsqueeze what is missing."
        )


def check_groups(x: Tensor, weight: Tensor, groups: int, expected: Any) -> None:
    """Refuse other channels than `expected`, and groups that do not divide the weight."""
    shape: Any = weight.shape
    channels: Any = x.shape[1 - len(shape)]
    given = f"operation of shape {show(x.shape)} with weight {show(shape)} and groups={groups}"
    if groups != 1 and not is_static((channels, *shape[:2])):
        raise ShapeError(
            f"{given}: channels in several groups are symbolic. Take a slice of fixed size, or one "
            "convolution a group."
        )
    if groups < 1 or channels != expected or (groups > 1 and shape[0] % groups):
        have, takes, first = (show((size,))[1:-2] for size in (channels, expected, shape[0]))
        raise ShapeError(
            f"{given}: there are {have} channels, the weight takes {takes}, and groups must divide {first}."
        )
