"""Reductions of what is not NaN."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from typing import TYPE_CHECKING, Any, Unpack

from plugrad.dtype import dtypes, is_float
from plugrad.tensor.base import DTypeLike, TensorBase
from plugrad.tensor.keywords import ReduceNames, renamed
from plugrad.tensor.reduce.value_index import Ranked
from plugrad.tensor.shapes import Axes, axes_along, one_axis

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class NanMixin(TensorBase):
    """Sums, means and medians that leave NaN out. What holds no floats has none."""

    __slots__ = ()

    def nansum(
        self: Tensor,
        axis: Axes = None,
        keepdim: bool = False,
        dtype: DTypeLike | None = None,
        **names: Unpack[ReduceNames],
    ) -> Tensor:
        """Return sums of what is not NaN, in the dtypes of `sum`; 0 where there is nothing else.

        Raises:
            AxisError: an axis does not exist.

        Example:
            >>> Tensor([1.0, float("nan"), 2.0]).nansum().item()
            3.0
        """
        if names:
            axis, keepdim = renamed(self.nansum, names, axis=axis, keepdim=keepdim)
        return self._without_nan().sum(axes_along(axis, self.ndim, "nansum"), keepdim, dtype)

    def nanmean(
        self: Tensor, axis: Axes = None, keepdim: bool = False, **names: Unpack[ReduceNames]
    ) -> Tensor:
        """Return means of what is not NaN, in the dtypes of `mean`; NaN where there is nothing else.

        Raises:
            AxisError: an axis does not exist.

        Example:
            >>> Tensor([1.0, float("nan"), 2.0]).nanmean().item()
            1.5
        """
        if names:
            axis, keepdim = renamed(self.nanmean, names, axis=axis, keepdim=keepdim)
        axes = axes_along(axis, self.ndim, "nanmean")
        if not is_float(self.dtype):
            return self.mean(axes, keepdim)
        narrow, wide = self._float_dtypes()
        total = self._without_nan().cast(wide).sum(axes, keepdim)
        return (total / self.isnan().logical_not().sum(axes, keepdim).cast(wide)).cast(narrow)

    def nanmedian(
        self: Tensor, axis: int | None = None, keepdim: bool = False, **names: Unpack[ReduceNames]
    ) -> Any:
        """Return the middle one of what is not NaN, the lower one of two; NaN where there is nothing else.

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
            self._nonempty_axes(None, "nanmedian")
            middle = self.flatten().nanmedian(0)[0]
            return middle.reshape((1,) * self.ndim) if keepdim else middle
        self._nonempty_axes(axis, "nanmedian")
        if not self.ndim:
            return Ranked(self, self._like(self._graph.const_like(0).cast(dtypes.int32)))
        at = one_axis(axis, self.ndim, "nanmedian")
        # NaNs are sorted to the end
        count = self.isnan().logical_not().sum(at, keepdim=True)
        position = self._place_of_rank(at, ((count - 1) // 2).maximum(0))
        values = self.gather(at, position)
        return Ranked(values, position) if keepdim else Ranked(values.squeeze(at), position.squeeze(at))

    def _without_nan(self: Tensor) -> Tensor:
        return self.masked_fill(self.isnan(), 0) if is_float(self.dtype) else self
