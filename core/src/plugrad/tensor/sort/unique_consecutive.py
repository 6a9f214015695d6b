"""Runs: equal elements, or slices, next to each other."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from typing import TYPE_CHECKING, Any, Unpack

from plugrad.dtype import dtypes
from plugrad.tensor.base import TensorBase
from plugrad.tensor.keywords import AxisNames, renamed
from plugrad.tensor.lookup import number_of, position_dtype
from plugrad.tensor.shapes import one_axis, product, size_today
from plugrad.tensor.sort.search import len_of
from plugrad.uop.shape import add_sizes
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class RunMixin(TensorBase):
    """What is asked about runs."""

    __slots__ = ()

    def unique_consecutive(
        self: Tensor,
        return_inverse: bool = False,
        return_counts: bool = False,
        axis: int | None = None,
        **names: Unpack[AxisNames],
    ) -> Any:
        """Return the first element of each run of equal ones: (...) -> (count,). NaN equals nothing.

        Computes this tensor at once, because the count depends on it.

        Args:
            return_inverse: also return the run of each element, in this shape; of each place on the axis.
            return_counts: also return how long the runs are.
            axis: compare the slices of this axis; None compares all elements in row-major order.

        Raises:
            AxisError: the axis does not exist.
            JitError: inside a jitted function.

        Example:
            >>> [x.tolist() for x in Tensor([1, 1, 2, 1]).unique_consecutive(return_counts=True)]
            [[1, 2, 1], [2, 1, 1]]
        """
        if names:
            (axis,) = renamed(self.unique_consecutive, names, axis=axis)
        shape = self.shape
        flat = self.flatten() if axis is None else self
        at = 0 if axis is None else one_axis(axis, self.ndim, "unique_consecutive")
        size: Any = flat.shape[at]
        places = shape if axis is None else (size,)
        if size_today(size) == 0:
            none = self._make(UOp.const(position_dtype(0), 0).reshape((1,)).expand((0,)), self._device)
            out = (flat, *[none.reshape(*places)] * return_inverse, *[none] * return_counts)
            return out if len(out) > 1 else flat
        values = self._make(flat._graph.detach(), self._device).movedim(at, 0)
        rows = values.reshape(size, product(values.shape[1:]))
        is_other = (rows._interval(0, 1, size) != rows._interval(0, 0, add_sizes(size, -1))).any(1)
        begins = self._make(UOp.const(dtypes.bool, True).reshape((1,)), self._device).cat(is_other)
        starts = begins._with_zeros_behind()._true_positions()
        results = [flat.index_select(at, starts)]
        if return_inverse:
            results.append((begins.cumsum(0) - 1).reshape(*places))
        if return_counts:
            end = self._make(number_of(size, starts.dtype).reshape((1,)), self._device)
            results.append(starts._interval(0, 1, len_of(starts)).cat(end) - starts)
        return results[0] if len(results) == 1 else tuple(results)
