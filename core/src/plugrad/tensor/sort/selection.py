"""Selection of one element of each row, by rank or by frequency.

NaN counts as greater than every number.
"""

from __future__ import annotations

from typing import Any, Unpack

from plugrad.dtype import dtypes
from plugrad.errors import ArgumentError
from plugrad.tensor.base import Tensor
from plugrad.tensor.keywords import ReduceNames, renamed
from plugrad.tensor.lookup import counted, moved_back, moved_last, pick_last, position_dtype
from plugrad.tensor.reduce.value_index import Ranked
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import as_int, nonempty_axes, one_axis, size_today
from plugrad.tensor.sort.order import positions_of_rank, ranked_at
from plugrad.tensor.sort.sorting import sort_keys
from plugrad.uop import UOp, least


def msort(self: Tensor) -> Tensor:
    """Return this sorted along its first axis.

    Example:
        >>> Tensor([[3, 1], [2, 4]]).msort().tolist()
        [[2, 1], [3, 4]]
    """
    return self.sort(0)[0]


def kthvalue(
    self: Tensor, k: int, axis: int = -1, keepdim: bool = False, **names: Unpack[ReduceNames]
) -> Ranked[Tensor]:
    """Return the `k`-th least elements along an axis, counted from 1, and their positions.

    Of equal elements the first is the lesser one. The tuple has the two as `.values` and `.indices` too.

    Raises:
        ArgumentError: there are fewer than `k` elements, or `k` is no integer or less than 1.
        AxisError: the axis does not exist.

    Example:
        >>> [x.tolist() for x in Tensor([[3, 1, 2], [9, 9, 8]]).kthvalue(2)]
        [[2, 9], [2, 0]]
    """
    if names:
        axis, keepdim = renamed(self.kthvalue, names, axis=axis, keepdim=keepdim)
    k = as_int(k, "k")
    at = one_axis(axis, max(self.ndim, 1))
    size: Any = size_today(self.shape[at]) if self.ndim else 1
    if not 1 <= k <= size:
        raise ArgumentError(f"k={k} of {size} elements on axis {axis}. Ask for 1 to {size}.")
    if not self.ndim:
        return Ranked(self._like(self._graph), _first_place(self))
    if k > least(self.shape[at]):
        # a replay asks again whether there are as many
        return ranked_at(self, at, interval(self.argsort(at), at, k - 1, k), keepdim)
    position = positions_of_rank(self, at, k - 1)
    return ranked_at(self, at, position, keepdim)


def nanmedian(
    self: Tensor, axis: int | None = None, keepdim: bool = False, **names: Unpack[ReduceNames]
) -> Any:
    """Return the median without NaN, the lower of two; NaN where all is NaN.

    With an axis, also the position of that element: `.values` and `.indices` of a tuple.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: there are no elements.

    Example:
        >>> Tensor([4.0, float("nan"), 1.0, 3.0]).nanmedian().item()
        3.0
    """
    if names:
        axis, keepdim = renamed(self.nanmedian, names, axis=axis, keepdim=keepdim)
    if axis is None:
        nonempty_axes(self.shape, None)
        middle = self.flatten().nanmedian(0)[0]
        return middle.reshape((1,) * self.ndim) if keepdim else middle
    nonempty_axes(self.shape, axis)
    if not self.ndim:
        return Ranked(self, self._like(self._graph.const_like(0).cast(dtypes.int32)))
    at = one_axis(axis, self.ndim)
    # NaNs are sorted to the end
    dtype = position_dtype(self.shape[at])
    count = self.isnan().logical_not().sum(at, True, dtype)
    position = positions_of_rank(self, at, ((count - 1) // 2).maximum(0))
    return ranked_at(self, at, position, keepdim)


def mode(self: Tensor, axis: int = -1, keepdim: bool = False, **names: Unpack[ReduceNames]) -> Ranked[Tensor]:
    """Return the most frequent value along an axis and its last position.

    All NaNs are one. The tuple has the two as `.values` and `.indices` too.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: there are no elements.

    Example:
        >>> [x.tolist() for x in Tensor([[1, 2, 2, 3], [5, 4, 5, 4]]).mode()]
        [[2, 4], [2, 3]]
    """
    if names:
        axis, keepdim = renamed(self.mode, names, axis=axis, keepdim=keepdim)
    at = one_axis(axis, max(self.ndim, 1))
    if not self.ndim:
        return Ranked(self._like(self._graph), _first_place(self))
    nonempty_axes(self.shape, at)
    size: Any = self.shape[at]
    order = moved_last(self.argsort(at)._graph, at)
    keys = pick_last(sort_keys(moved_last(self._graph.detach(), at), False), order).contiguous()
    ordered, places = self._make(keys, self._device), self._make(order, self._device)
    last = ordered.ndim - 1
    step = self._make(counted(size, dtypes.int32, ordered.shape, last), self._device)
    is_same = interval(ordered, last, 1, size) == interval(ordered, last, 0, size - 1)
    # where the run began that each element belongs to
    is_same = is_same.pad((1, 0))
    begin = is_same.where(0, step).cummax(last)[0]
    end = (step - begin).argmax(last, keepdim=True)
    position = self._make(moved_back(places.gather(last, end)._graph, at), self._device)
    return ranked_at(self, at, position, keepdim)


def _first_place(x: Tensor) -> Tensor:
    return x._make(UOp.const(position_dtype(1), 0), x._device)
