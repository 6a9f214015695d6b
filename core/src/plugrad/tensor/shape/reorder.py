"""Orders of axes and elements, and pixels made of channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.argument_checks import check_tensors
from plugrad.tensor.base import Tensor
from plugrad.tensor.keywords import (
    REQUIRED,
    AxesNames,
    AxisNames,
    ExchangeNames,
    RepeatNames,
    ShiftNames,
    exchanged,
    renamed,
)
from plugrad.tensor.shape.joins import fix_size
from plugrad.tensor.shape.padding import interval, tile_interval, wrap_axis
from plugrad.tensor.shape.rearrange import parse_formula
from plugrad.tensor.shape.windows import windows
from plugrad.tensor.shapes import (
    Axes,
    Dim,
    as_dim,
    as_int,
    as_shape,
    check_sizes,
    one_axis,
    several,
    show,
    size_today,
)
from plugrad.uop import UOp


def swapaxes(
    self: Tensor,
    axis1: int = REQUIRED,
    axis2: int = REQUIRED,
    /,
    **names: Unpack[ExchangeNames],  # pyright: ignore[reportGeneralTypeIssues] - no overlap: by place only
) -> Tensor:
    """Return `transpose(axis1, axis2)`.

    Example:
        >>> Tensor.zeros(2, 3, 4).swapaxes(0, -1).shape
        (4, 3, 2)
    """
    if names or axis1 is REQUIRED or axis2 is REQUIRED:
        axis1, axis2 = exchanged(self.swapaxes, names, axis1, axis2)
    return self.transpose(axis1, axis2)


def movedim(self: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Return this with the axes `source` in the places `destination`; the others keep their order.

    Raises:
        AxisError: an axis does not exist.
        ShapeError: there are more of one than of the other, or an axis comes twice.

    Example:
        >>> Tensor.zeros(2, 3, 4).movedim(0, -1).shape
        (3, 4, 2)
    """
    given = [several(axes) for axes in (source, destination)]
    begin, end = ([one_axis(axis, self.ndim or 1) for axis in axes] for axes in given)
    if len(begin) != len(end) or len(set(begin)) != len(begin) or len(set(end)) != len(end):
        raise ShapeError(f"axes {given[0]} to places {given[1]}. Name as many places as axes, each once.")
    places = dict(zip(end, begin, strict=True))
    rest = iter([axis for axis in range(self.ndim) if axis not in begin])
    return self.permute([places[at] if at in places else next(rest) for at in range(self.ndim)])


def rot90(self: Tensor, k: int = 1, axes: Sequence[int] = (0, 1), **names: Unpack[AxesNames]) -> Tensor:
    """Rotate by `k` right angles in the plane of two axes, first towards second.

    Raises:
        ArgumentError: `k` is no integer.
        ShapeError: there are not two different axes.
        AxisError: an axis does not exist.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).rot90().tolist()
        [[2, 4], [1, 3]]
    """
    if names:
        (axes,) = renamed(self.rot90, names, axes=axes)
    plane = [one_axis(axis, self.ndim) for axis in several(axes)]
    if len(plane) != 2 or plane[0] == plane[1]:
        raise ShapeError(f"axes {several(axes)} span no plane. Name two different axes.")
    first, second = plane
    match as_int(k, "k") % 4:
        case 1:
            return self.flip(second).transpose(first, second)
        case 2:
            return self.flip(first, second)
        case 3:
            return self.transpose(first, second).flip(second)
        case _:
            return self


def roll(
    self: Tensor, shifts: int | Sequence[int] = REQUIRED, axis: Axes = None, **names: Unpack[ShiftNames]
) -> Tensor:
    """Move elements on by `shifts`; those that leave an axis come in at its beginning.

    Args:
        shifts: how far, for each of `axis`; one number goes for all of them.
        axis: along which axes; None rolls all elements in row-major order.

    Raises:
        ArgumentError: a shift is no integer.
        AxisError: an axis does not exist.
        ShapeError: there are more shifts than axes, or fewer.

    Example:
        >>> Tensor([1, 2, 3, 4]).roll(1).tolist()
        [4, 1, 2, 3]
    """
    if names or shifts is REQUIRED:
        shifts, axis = renamed(self.roll, names, shifts=shifts, axis=axis)
    steps = [as_int(step, "shifts") for step in several(shifts)]
    if axis is None:
        if len(steps) != 1:
            raise ShapeError(f"shifts {tuple(steps)} without axes. Name an axis for each.")
        return self.flatten().roll(steps[0], 0).reshape(self.shape)
    axes = several(axis)
    if len(steps) == 1:
        steps *= len(axes)
    if len(steps) != len(axes):
        raise ShapeError(f"{len(steps)} shifts for {len(axes)} axes. Give one for each axis.")
    out = self
    for step, at in zip(steps, [one_axis(a, self.ndim) for a in axes], strict=True):
        size = out.shape[at]
        if not isinstance(size, int):
            out = tile_interval(out, at, -step % size, size, 2)
        elif size and step % size:
            out = interval(wrap_axis(out, at, step % size, 0), at, 0, size)
    # rolling all the way round, too, gives a value of its own
    return self._like(out._graph)


def tile(self: Tensor, *repeats: int | Sequence[int], **names: Unpack[RepeatNames]) -> Tensor:
    """Return this repeated as in NumPy: like `repeat`, but numbers may be missing in front.

    Raises:
        ShapeError: a number is negative.

    Example:
        >>> Tensor([[1], [2]]).tile(2).tolist()
        [[1, 1], [2, 2]]
    """
    if names:
        (repeats,) = renamed(self.tile, names, repeats=repeats)
    times = check_sizes(as_shape(repeats))
    given: Any = (1,) * max(self.ndim - len(times), 0) + times
    return self.repeat(given)


def unfold(
    self: Tensor, axis: int = REQUIRED, size: Dim = REQUIRED, step: Dim = REQUIRED, **names: Unpack[AxisNames]
) -> Tensor:
    """Return windows that slide along an axis: (.., n, ..) -> (.., (n - size) // step + 1, .., size).

    Args:
        axis: where they slide.
        size: how many elements a window has; it may be symbolic.
        step: from one window to the next; it may be symbolic where it is the size.

    Raises:
        ArgumentError: `size` or `step` is no integer.
        AxisError: the axis does not exist.
        ShapeError: no window fits, `size` or `step` is not positive or a node that is no integer, or
            `step` is symbolic and not the size.

    Example:
        >>> Tensor([1, 2, 3, 4, 5]).unfold(0, 3, 2).tolist()
        [[1, 2, 3], [3, 4, 5]]
    """
    if names or axis is REQUIRED or size is REQUIRED or step is REQUIRED:
        axis, size, step = renamed(self.unfold, names, axis=axis, size=size, step=step)
    if not self.ndim:
        return self.unsqueeze(0).unfold(axis, size, step).squeeze(0)
    at = one_axis(axis, self.ndim)
    size, step = (
        as_dim(number) if isinstance(number, UOp) else as_int(number, f"unfold: {name}")
        for number, name in ((size, "size"), (step, "step"))
    )
    last = self.movedim(at, -1)
    out = last._like(windows(last._graph, (size,), (step,), (1,)))
    return out.movedim(-2, at)


def unbind(self: Tensor, axis: int = 0, **names: Unpack[AxisNames]) -> tuple[Tensor, ...]:
    """Return the slices along an axis, which goes.

    Of a symbolic axis, as many as it has today; a replay with another size is refused.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: a symbolic size has no value.

    Example:
        >>> [row.tolist() for row in Tensor([[1, 2], [3, 4]]).unbind(1)]
        [[1, 3], [2, 4]]
    """
    if names:
        (axis,) = renamed(self.unbind, names, axis=axis)
    at = one_axis(axis, self.ndim)
    x = fix_size(self, at)
    size: Any = x.shape[at]
    shape = (*x.shape[:at], *x.shape[at + 1 :])
    return tuple([interval(x, at, i, i + 1).reshape(shape) for i in range(size)])


def rearrange(self: Tensor, formula: str, /, **sizes: Dim) -> Tensor:
    """Return this with axes split, permuted and joined as a formula says (as in einops).

    Axes have names; `(a b)` is one axis made of two, `...` stands for any others,
    1 for an axis of size 1.

    Args:
        formula: `"names before -> names after"`.
        sizes: sizes of axes inside of parentheses; one of each group may be left out.

    Raises:
        ArgumentError: the formula is malformed, or names and sizes do not fit it.
        ShapeError: it does not fit this shape.

    Example:
        >>> Tensor.zeros(2, 12, 3).rearrange("b (h w) c -> b c h w", h=4).shape
        (2, 3, 4, 3)
    """
    plan = parse_formula(formula, tuple(sizes)).for_shape(self.shape, sizes)
    return self.reshape(plan.split).permute(plan.order).reshape(plan.joined)


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Return `expand(other.shape)`.

    Raises:
        DtypeError: `other` is no tensor.
        ShapeError: the shape does not expand to that.

    Example:
        >>> Tensor([1, 2]).expand_as(Tensor.zeros(3, 2)).shape
        (3, 2)
    """
    check_tensors([other])
    return self.expand(other.shape)


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Return `reshape(other.shape)`.

    Raises:
        DtypeError: `other` is no tensor.
        ShapeError: the number of elements differs.

    Example:
        >>> Tensor([1, 2, 3, 4]).reshape_as(Tensor.zeros(2, 2)).tolist()
        [[1, 2], [3, 4]]
    """
    check_tensors([other])
    return self.reshape(other.shape)


def pixel_shuffle(self: Tensor, upscale_factor: int) -> Tensor:
    """Return groups of channels spread over blocks of pixels: (..., C*r*r, H, W) -> (..., C, H*r, W*r).

    Source: Shi et al. 2016, equation 4.

    Raises:
        ArgumentError: the factor is not positive.
        ShapeError: there are fewer than 3 axes, or the factor's square does not divide the channels.

    Example:
        >>> Tensor.arange(4).reshape(4, 1, 1).pixel_shuffle(2).tolist()
        [[[0, 1], [2, 3]]]
    """
    r = _checked(self, upscale_factor)
    *lead, channels, height, width = self.shape
    if size_today(channels) % (r * r):
        raise ShapeError(
            f"pixel_shuffle of shape {show(self.shape)} by {r}: {r}*{r} must divide the "
            f"{size_today(channels)} channels."
        )
    n = len(lead)
    blocks = self.reshape(*lead, channels // (r * r), r, r, height, width)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return blocks.permute(order).reshape(*lead, channels // (r * r), height * r, width * r)


def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Tensor:
    """Return blocks of pixels as channels: (..., C, H*r, W*r) -> (..., C*r*r, H, W).

    Raises:
        ArgumentError: the factor is not positive.
        ShapeError: there are fewer than 3 axes, or the factor does not divide height and width.

    Example:
        >>> Tensor([[[0, 1], [2, 3]]]).pixel_unshuffle(2).flatten().tolist()
        [0, 1, 2, 3]
    """
    r = _checked(self, downscale_factor)
    *lead, channels, height, width = self.shape
    if size_today(height) % r or size_today(width) % r:
        raise ShapeError(
            f"pixel_unshuffle of shape {show(self.shape)} by {r}: it must divide {size_today(height)} "
            f"and {size_today(width)}."
        )
    n = len(lead)
    blocks = self.reshape(*lead, channels, height // r, r, width // r, r)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return blocks.permute(order).reshape(*lead, channels * r * r, height // r, width // r)


def _checked(x: Tensor, factor: int) -> int:
    if as_int(factor, "factor") < 1:
        raise ArgumentError(f"a factor of {factor}. Pass at least 1.")
    if x.ndim < 3:
        raise ShapeError(f"operation of shape {show(x.shape)}: it takes (..., C, H, W).")
    return int(factor)
