"""Reshape, permute, expand, shrink, flip and their kin: views, which cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Unpack, cast

from plugrad.dtype import find_dtype
from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.base import DTypeLike, Tensor
from plugrad.tensor.keywords import (
    REQUIRED,
    AxisNames,
    ExchangeNames,
    FlattenNames,
    FlipNames,
    PermuteNames,
    ShapeNames,
    exchanged,
    renamed,
)
from plugrad.tensor.shapes import (
    Axes,
    Dim,
    Shape,
    as_shape,
    axes_along,
    axes_in_order,
    check_sizes,
    expanded,
    is_sequence,
    is_static,
    one_axis,
    product,
    several,
    show,
    unpacked,
)
from plugrad.uop import UOp


def reshape(self: Tensor, *shape: Dim | Sequence[Dim | None] | None, **names: Unpack[ShapeNames]) -> Tensor:
    """Return the same elements, in row-major order, in another shape. One size may be -1.

    None keeps the size of the axis in its place, as in tinygrad.

    Raises:
        ShapeError: the number of elements differs; or None stands where there is no axis.

    Example:
        >>> Tensor.arange(6).reshape(2, -1).shape
        (2, 3)
    """
    if names:
        (shape,) = renamed(self.reshape, names, shape=shape)
    wanted = as_shape(_replace_none(shape, self.shape))
    sizes = _infer_size(self.shape, wanted, "reshape")
    return self._view(lambda u: u.reshape(sizes))


def view(
    self: Tensor, *shape: Dim | Sequence[Dim | None] | DTypeLike | None, **names: Unpack[ShapeNames]
) -> Tensor:
    """Return `reshape(*shape)`; or of a dtype, but for its name as text, `bitcast(dtype)`.

    Raises:
        ShapeError: as `reshape`, or as `bitcast`.
        DtypeError: as `bitcast`.

    Example:
        >>> Tensor([1, 2, 3, 4]).view(2, 2).tolist()
        [[1, 2], [3, 4]]
        >>> Tensor([1.0]).view(dtypes.int32).tolist()
        [1065353216]
    """
    if names:
        (shape,) = renamed(self.view, names, shape=shape)
    given: Any = shape
    return self.bitcast(given[0]) if len(given) == 1 and _is_dtype(given[0]) else self.reshape(*given)


def permute(self: Tensor, *axes: int | Sequence[int], **names: Unpack[PermuteNames]) -> Tensor:
    """Return this with axis `axes[i]` in place `i`.

    Raises:
        AxisError: an axis does not exist, or comes twice.
        ShapeError: not every axis is named.

    Example:
        >>> Tensor.zeros(2, 3, 4).permute(2, 0, 1).shape
        (4, 2, 3)
    """
    if names:
        (axes,) = renamed(self.permute, names, axes=axes)
    return _permute(self, unpacked(axes))


def transpose(
    self: Tensor,
    axis1: int | Sequence[int] | None = None,
    axis2: int | None = None,
    /,
    *others: int,
    **names: Unpack[ExchangeNames],  # pyright: ignore[reportGeneralTypeIssues] - no overlap: by place only
) -> Tensor:
    """Exchange two axes, by default those of a matrix, or permute all of them.

    One axis is exchanged with axis 0. More than two, or one sequence, are what NumPy's takes: the axes
    in their new order, as by `permute`. Two are PyTorch's and tinygrad's, which are exchanged:
    `x.transpose(0, 1)` is no copy of a matrix, as it is in NumPy.

    Raises:
        AxisError: one of them does not exist, or comes twice among all.
        ShapeError: no axis is named, and there are not two: NumPy reverses them all, tinygrad exchanges
            the first two; or several are named, and not all.

    Example:
        >>> x = Tensor.zeros(2, 3, 4)
        >>> x.transpose(1, 2).shape, x.transpose(2, 0, 1).shape, x.transpose((2, 0, 1)).shape
        ((2, 4, 3), (4, 2, 3), (4, 2, 3))
    """
    if names:
        axis1, axis2 = exchanged(self.transpose, names, axis1, axis2)
    if others:
        return _permute(self, (axis1, axis2, *others))
    if axis2 is None and is_sequence(axis1):
        return _permute(self, several(axis1))
    if axis1 is None:
        if self.ndim != 2:
            raise ShapeError(
                f"transpose of shape {show(self.shape)}: which axes? Name two, or use permute, or T to "
                "reverse them all."
            )
        axis1 = 1
    # without axes, a tensor's one element lies along axis 0
    order = list(range(self.ndim or 1))
    first = one_axis(cast("int", axis1), len(order))
    second = one_axis(0 if axis2 is None else axis2, len(order))
    order[first], order[second] = second, first
    return self._view(lambda u: u.permute(tuple(order[: self.ndim])))


def _permute(x: Tensor, axes: tuple[Any, ...]) -> Tensor:
    if len(axes) != x.ndim:
        raise ShapeError(
            f"{len(axes)} axes {axes} for shape {show(x.shape)}. Name each of its {x.ndim} axes once."
        )
    order = axes_in_order(axes, x.ndim)
    return x._view(lambda u: u.permute(order))


@property
def T(self: Tensor) -> Tensor:
    """This with all axes in reverse order.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).T.tolist()
        [[1, 3], [2, 4]]
    """
    return self._view(lambda u: u.permute(tuple(range(self.ndim))[::-1]))


@property
def mT(self: Tensor) -> Tensor:
    """This with the last two axes exchanged: each matrix transposed.

    Raises:
        ShapeError: there are fewer axes.

    Example:
        >>> Tensor([[[1, 2], [3, 4]]]).mT.tolist()
        [[[1, 3], [2, 4]]]
    """
    if self.ndim < 2:
        raise ShapeError(f"mT of shape {show(self.shape)}: a matrix has two axes. Unsqueeze it first.")
    return self.transpose(-2, -1)


def expand(self: Tensor, *shape: Dim | Sequence[Dim | None] | None, **names: Unpack[ShapeNames]) -> Tensor:
    """Broadcast to `shape`, repeating axes of size 1; -1 or None keeps a size.

    Raises:
        ShapeError: an axis has another size than 1 and the one asked for; or -1 stands for a new axis.

    Example:
        >>> Tensor([[1], [2]]).expand(2, 3).tolist()
        [[1, 1, 1], [2, 2, 2]]
    """
    if names:
        (shape,) = renamed(self.expand, names, shape=shape)
    wanted = as_shape([-1 if size is None else size for size in unpacked(shape)])
    missing = len(wanted) - self.ndim
    if missing < 0:
        raise ShapeError(
            f"cannot expand {show(self.shape)} to {show(wanted)}: that has fewer axes. Reshape or "
            "reduce first."
        )
    if any(isinstance(size, int) and size == -1 for size in wanted[:missing]):
        raise ShapeError(
            f"cannot expand {show(self.shape)} to {show(wanted)}: a new axis has no size that -1 could "
            "keep. Pass its size."
        )
    have = (1,) * missing + self.shape
    full = tuple(h if isinstance(w, int) and w == -1 else w for h, w in zip(have, wanted, strict=True))
    for h, w in zip(have, full, strict=True):
        if h is not w and h != w and not (isinstance(h, int) and h == 1):
            raise ShapeError(
                f"cannot expand {show(self.shape)} to {show(wanted)}: only axes of size 1 expand, "
                "counted from the last axis. Reshape so that those axes have size 1."
            )
    sizes = check_sizes(full)
    return self._view(lambda u: expanded(u, sizes))


def flip(self: Tensor, *axis: int | Sequence[int] | None, **names: Unpack[FlipNames]) -> Tensor:
    """Return this with the order of elements along the axes reversed; None means all axes.

    Raises:
        ArgumentError: no axis was passed.
        AxisError: an axis does not exist, or comes twice.

    Example:
        >>> Tensor([1, 2, 3]).flip(0).tolist()
        [3, 2, 1]
    """
    if names:
        (axis,) = renamed(self.flip, names, axis=axis)
    if not axis:
        raise ArgumentError("along which axes? Name them, or pass None for all.")
    given: Any = None if axis[0] is None else unpacked(axis)
    chosen = axes_along(given, self.ndim)
    return self._view(lambda u: u.flip(chosen))


def squeeze(self: Tensor, axis: Axes = None, **names: Unpack[AxisNames]) -> Tensor:
    """Remove the axes of size 1, all of them or those named.

    Raises:
        AxisError: an axis does not exist.

    Example:
        >>> Tensor.zeros(1, 3, 1).squeeze().shape
        (3,)
    """
    if names:
        (axis,) = renamed(self.squeeze, names, axis=axis)
    chosen = axes_along(axis, self.ndim)
    is_one = [isinstance(size, int) and size == 1 for size in self.shape]
    kept = [size for i, size in enumerate(self.shape) if i not in chosen or not is_one[i]]
    return self._view(lambda u: u.reshape(tuple(kept)))


def unsqueeze(self: Tensor, axis: int = REQUIRED, **names: Unpack[AxisNames]) -> Tensor:
    """Return this with a new axis of size 1 in place `axis`.

    Raises:
        AxisError: there is no such place.

    Example:
        >>> Tensor.zeros(3).unsqueeze(-1).shape
        (3, 1)
    """
    if names or axis is REQUIRED:
        (axis,) = renamed(self.unsqueeze, names, axis=axis)
    at = one_axis(axis, self.ndim + 1)
    return self._view(lambda u: u.reshape((*self.shape[:at], 1, *self.shape[at:])))


def flatten(self: Tensor, start_axis: int = 0, end_axis: int = -1, **names: Unpack[FlattenNames]) -> Tensor:
    """Return this with the axes from `start_axis` to `end_axis`, both included, joined into one.

    Raises:
        AxisError: an axis does not exist.
        ShapeError: the first comes after the last.

    Example:
        >>> Tensor.zeros(2, 3, 4).flatten(1).shape
        (2, 12)
    """
    if names:
        start_axis, end_axis = renamed(self.flatten, names, start_axis=start_axis, end_axis=end_axis)
    if not self.ndim:
        return self.reshape(1).flatten(start_axis, end_axis)
    first, last = one_axis(start_axis, self.ndim), one_axis(end_axis, self.ndim)
    if first > last:
        raise ShapeError(f"axis {start_axis} comes after axis {end_axis}. Exchange them.")
    joined = product(self.shape[first : last + 1])
    return self._view(lambda u: u.reshape((*self.shape[:first], joined, *self.shape[last + 1 :])))


def unflatten(
    self: Tensor, axis: int = REQUIRED, sizes: Sequence[Dim] = REQUIRED, **names: Unpack[AxisNames]
) -> Tensor:
    """Return this with one axis split into `sizes`, one of which may be -1.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: it does not have as many elements as `sizes`.

    Example:
        >>> Tensor.zeros(2, 12).unflatten(1, (3, -1)).shape
        (2, 3, 4)
    """
    if names or axis is REQUIRED or sizes is REQUIRED:
        axis, sizes = renamed(self.unflatten, names, axis=axis, sizes=sizes)
    at = one_axis(axis, self.ndim)
    wanted = as_shape((sizes,))
    # an axis at a time: -1 is what is left of this axis, also where another has no elements
    sizes = _infer_size((self.shape[at],), wanted, "unflatten")
    return self._view(lambda u: u.reshape((*self.shape[:at], *sizes, *self.shape[at + 1 :])))


def _is_dtype(given: Any) -> bool:
    """Say whether this is a dtype of any library, and neither a size nor text."""
    return not isinstance(given, (int, str, tuple, list)) and find_dtype(given) is not None


def _replace_none(shape: Sequence[Any], have: Shape) -> Sequence[Any]:
    """Return the requested sizes, with the present ones in place of None."""
    wanted = unpacked(shape)
    if not any([size is None for size in wanted]):
        return wanted
    if any(size is None for size in wanted[len(have) :]):
        raise ShapeError(f"reshape of shape {show(have)} to {wanted}: None stands where there is no axis.")
    return [have[axis] if size is None else size for axis, size in enumerate(wanted)]


def _infer_size(shape: Shape, wanted: Shape, what: str) -> Shape:
    """Return `wanted` with its -1 replaced, if it has as many elements as `shape`."""
    have: Any = shape
    sizes: Any = wanted
    if is_static(have) and is_static(sizes) and prod(have) == prod(sizes) and min(sizes, default=0) >= 0:
        return wanted
    unknown = [axis for axis, size in enumerate(wanted) if isinstance(size, int) and size == -1]
    if len(unknown) > 1:
        raise ShapeError(f"cannot {what} {show(shape)} to {show(wanted)}: only one size may be -1.")
    if any(isinstance(size, int) and size < -1 for size in wanted):
        raise ShapeError(f"{what}: {show(wanted)} has a negative size. Sizes are 0 or more, one may be -1.")
    known = product(size for axis, size in enumerate(wanted) if axis not in unknown)
    count = product(shape)
    if unknown:
        if isinstance(known, int) and (known == 0 or (isinstance(count, int) and count % known)):
            raise ShapeError(
                f"cannot {what} {show(shape)} to {show(wanted)}: {count} elements do not divide "
                f"into groups of {known}. Choose sizes whose product divides {count}."
            )
        axis = unknown[0]
        quotient = _quotient(count, known)
        wanted = (*wanted[:axis], quotient, *wanted[axis + 1 :])
        known = known * quotient
    # of symbolic sizes, what they are today; a replay with other values asks again
    missing = count - known
    least, most = (missing, missing) if isinstance(missing, int) else missing.bounds
    if least > 0 or most < 0:
        counts = [str(size if isinstance(size, int) else size.vmax) for size in (count, known)]
        raise ShapeError(
            f"cannot {what} {show(shape)} to {show(wanted)}: {counts[0]} elements do not fit {counts[1]}. "
            f"Pass -1 for one dimension or a shape with {counts[0]} elements."
        )
    return wanted


def _quotient(count: Any, known: Any) -> Any:
    if isinstance(count, UOp) and isinstance(known, UOp) and count is known:
        return 1
    # a node of its own would be another size than this one
    return count if isinstance(known, int) and known == 1 else count // known
