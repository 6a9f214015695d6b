"""Values of part of a tensor replaced, as a new tensor: gradients flow to both.

New values get the dtype of the tensor.
"""

from __future__ import annotations

from typing import Any, Unpack

from plugrad.dtype import dtypes, is_bool
from plugrad.errors import ArgumentError, AxisError, DtypeError, ShapeError
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.indexing.indexing import parse_index
from plugrad.tensor.keywords import REQUIRED, AxisNames, DiagonalNames, SpanNames, renamed
from plugrad.tensor.lookup import check_inside, position_dtype
from plugrad.tensor.shape.diagonals import right_of_diagonal
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import Dim, as_int, broadcast_shapes, one_axis, show, size_today
from plugrad.uop import UOp, add_sizes


def select_scatter(
    self: Tensor, src: Tensor, axis: int = REQUIRED, index: int = REQUIRED, **names: Unpack[AxisNames]
) -> Tensor:
    """Replace the part that `select(axis, index)` shows by `src`.

    Raises:
        ArgumentError: `index` is no integer.
        AxisError: the axis does not exist, or the place on it.
        DtypeError: `src` is no tensor.
        ShapeError: `src` has another shape than that part.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).select_scatter(Tensor([8, 9]), 0, 1).tolist()
        [[1, 2], [8, 9]]
    """
    if names or axis is REQUIRED or index is REQUIRED:
        axis, index = renamed(self.select_scatter, names, axis=axis, index=index)
    at = one_axis(axis, self.ndim)
    size, place = self.shape[at], as_int(index, "index")
    check_inside(place, at, size_today(size), "select_scatter")
    part = self.shape[:at] + self.shape[at + 1 :]
    new = _new_part(self, src, part).unsqueeze(at)
    return _replace_slices(self, new, at, add_sizes(size, place) if place < 0 else place, 1)


def slice_scatter(
    self: Tensor,
    src: Tensor,
    axis: int = 0,
    start: int | None = None,
    stop: int | None = None,
    step: int = 1,
    **names: Unpack[SpanNames],
) -> Tensor:
    """Return this with `src` in a slice of an axis, `start:stop:step`. PyTorch's `end` is `stop`.

    Raises:
        ArgumentError: a number is no integer, or `step` less than 1.
        AxisError: the axis does not exist, or the slice leaves a symbolic one.
        DtypeError: `src` is no tensor.
        ShapeError: `src` has another shape than that part.

    Example:
        >>> Tensor([1, 2, 3, 4]).slice_scatter(Tensor([8, 9]), start=1, step=2).tolist()
        [1, 8, 3, 9]
    """
    if names:
        axis, stop = renamed(self.slice_scatter, names, axis=axis, stop=stop)
    at = one_axis(axis, self.ndim)
    size = self.shape[at]
    numbers = {"start": start, "stop": stop, "step": step}
    given = [
        None if number is None else as_int(number, f"slice_scatter: {name}")
        for name, number in numbers.items()
    ]
    if given[2] is not None and given[2] < 1:
        raise ArgumentError(f"step={given[2]}. It is at least 1; flip before.")
    begin, count = _slice_bounds(given, at, size)
    part = (*self.shape[:at], count, *self.shape[at + 1 :])
    new = _new_part(self, src, part)
    if isinstance(count, int) and not count:
        return self._like(self._graph)
    return _replace_slices(self, new, at, begin, given[2] or 1)


def diagonal_scatter(
    self: Tensor, src: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, **names: Unpack[DiagonalNames]
) -> Tensor:
    """Replace the part that `diagonal(offset, axis1, axis2)` shows by `src`.

    Raises:
        ArgumentError: `offset` is no integer.
        AxisError: an axis does not exist, or both are the same.
        DtypeError: `src` is no tensor.
        ShapeError: `src` has another shape than that diagonal.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).diagonal_scatter(Tensor([8, 9])).tolist()
        [[8, 2], [3, 9]]
    """
    if names:
        axis1, axis2 = renamed(self.diagonal_scatter, names, axis1=axis1, axis2=axis2)
    first, second = (one_axis(axis, self.ndim) for axis in (axis1, axis2))
    if first == second:
        raise AxisError(f"axes {axis1} and {axis2} are the same. Name two axes.")
    rows = self.shape[first]
    offset = as_int(offset, "offset")
    new = _new_part(self, src, self.diagonal(offset, first, second).shape)
    x = self.movedim((first, second), (-2, -1))
    top = max(-offset, 0)
    count: Any = new.shape[-1]
    if isinstance(count, int) and not count:
        return self._like(self._graph)
    column: Any = new.pad((top, add_sizes(rows, -top, -count))).unsqueeze(-1).expand(x.shape)
    right = right_of_diagonal(x, offset) & ~right_of_diagonal(x, offset + 1)
    return self._like(right.where(column._graph, x._graph), src).movedim((-2, -1), (first, second))


def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return this with the elements of `source`, one after the other, where `mask` holds.

    Where it holds more often than `source` has elements, the rest is 0. Nothing is computed early.

    Raises:
        DtypeError: `mask` is no tensor of bools, or `source` no tensor of this dtype.
        ShapeError: `mask` does not broadcast with this tensor.

    Example:
        >>> mask = Tensor([True, False, True])
        >>> Tensor([1, 2, 3]).masked_scatter(mask, Tensor([8, 9])).tolist()
        [8, 2, 9]
    """
    given: tuple[Any, Any] = mask, source
    if not isinstance(given[0], TensorBase) or not is_bool(mask.dtype):
        raise DtypeError(f"{mask!r:.60} is no mask. Pass a Tensor of bools.")
    if not isinstance(given[1], TensorBase) or source.dtype is not self.dtype:
        raise DtypeError(f"source={source!r:.60} is no tensor of {self.dtype.name}. Cast it.")
    self._check_device(mask, source)
    shape = broadcast_shapes(self.shape, mask.shape)
    x, where = self.expand(shape), mask.expand(shape)
    place = where.flatten().cumsum(0, position_dtype(where.numel())) - 1
    new = source.flatten()
    if new.shape == (0,):
        new = new.pad((0, 1))
    return where.where(new.gather(0, place.maximum(0)).reshape(shape), x)


def take_along_dim(
    self: Tensor, indices: Tensor, axis: int | None = None, **names: Unpack[AxisNames]
) -> Tensor:
    """Return `take_along_axis(indices, axis)`; by default from all elements, as in PyTorch.

    Example:
        >>> Tensor([[3, 1], [2, 4]]).take_along_dim(Tensor([[1], [0]]), 1).tolist()
        [[1], [2]]
    """
    if names:
        (axis,) = renamed(self.take_along_dim, names, axis=axis)
    return self.take_along_axis(indices, axis)


def _new_part(x: Tensor, src: Any, shape: Any) -> Tensor:
    require_tensors(src=src)
    x._check_device(src)
    if src.shape != shape:
        raise ShapeError(f"src of shape {show(src.shape)} for a part of shape {show(shape)}. Expand it.")
    return src.cast(x.dtype)  # pyright: ignore


def _replace_slices(x: Tensor, new: Tensor, axis: int, start: Dim, step: int) -> Tensor:
    true = x._make(UOp.const(dtypes.bool, True), x._device).expand(new.shape)
    return _place_slices(x, true, axis, start, step).where(_place_slices(x, new, axis, start, step), x)


def _place_slices(x: Tensor, new: Tensor, axis: int, start: Dim, step: int) -> Tensor:
    count: Any = new.shape[axis]
    size: Any = x.shape[axis]
    none = [None] * axis
    behind = [None] * (new.ndim - axis - 1)
    wide = new.unsqueeze(axis + 1).pad((*none, None, (0, step - 1), *behind)).flatten(axis, axis + 1)
    wide = interval(wide, axis, 0, (count - 1) * step + 1)
    after = add_sizes(size, -start, -wide.shape[axis])
    return wide.pad((*none, (start, after), *behind))


def _slice_bounds(given: list[int | None], axis: int, size: Dim) -> tuple[Dim, Dim]:
    if isinstance(size, int):
        places = range(*slice(*given).indices(size))
        return places.start, len(places)
    (cut,) = parse_index((*[slice(None)] * axis, slice(*given)), (*[1] * axis, size)).axes[axis:]
    return cut.begin, cut.count
