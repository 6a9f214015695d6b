"""Pooling: the greatest of each window."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from typing import TYPE_CHECKING, Any

from plugrad.dtype import dtype_min
from plugrad.tensor.base import TensorBase
from plugrad.tensor.functional.max_pool_indices import first_places, from_end_of, greatest_in
from plugrad.tensor.functional.pool import Pool, axes_of
from plugrad.tensor.shape.spatial import Dims, Padding, Sizes
from plugrad.tensor.shapes import product

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class MaxPoolingMixin(TensorBase):
    """Pooling over the last axes: `(..., *sizes) -> (..., *counts)`; what comes before them is not touched.

    A single number as `kernel_size` stands for the 1, 2 or 3 axes of the method's name. With
    a sequence the methods for images pool over as many axes as it has numbers.
    """

    __slots__ = ()

    def max_pool2d(
        self: Tensor,
        kernel_size: Dims = 2,
        stride: Dims | None = None,
        *,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Return the greatest value in each window; NaN where there is one.

        (..., H, W) -> (..., H', W'). Of equal values, the first one gets the gradient. What follows the
        stride is given by name: PyTorch and tinygrad have it in different orders.

        Args:
            kernel_size: size of the window, which may be symbolic.
            stride: step between windows; the window's size if left out.
            dilation: step between the elements of a window.
            padding: how far windows reach over the edge, at most half of their size; as for `conv2d`.
            ceil_mode: let a last window begin inside although it ends outside.
            return_indices: also return where in its image each value was, counted row by row, as
                `max_unpool2d` takes it: the first of equals, or of NaN (of which PyTorch names the last).

        Raises:
            ShapeError: the window does not fit, or the stride is symbolic and not the window's size.

        Example:
            >>> Tensor.arange(4).reshape(1, 1, 2, 2).max_pool2d().tolist()
            [[[[3]]]]
        """
        axes = axes_of(kernel_size, 2)
        pool = Pool(self, axes, kernel_size, stride, dilation, padding, ceil_mode, "max_pool2d")
        return self._max_pool(pool, return_indices)

    def max_pool1d(
        self: Tensor,
        kernel_size: Dims = 2,
        stride: Dims | None = None,
        *,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Return `max_pool2d` over the last axis: (..., L) -> (..., L').

        Raises:
            ShapeError: the window does not fit, or the stride is symbolic and not the window's size.

        Example:
            >>> Tensor([[1, 3, 2, 0]]).max_pool1d().tolist()
            [[3, 2]]
        """
        pool = Pool(self, 1, kernel_size, stride, dilation, padding, ceil_mode, "max_pool1d")
        return self._max_pool(pool, return_indices)

    def max_pool3d(
        self: Tensor,
        kernel_size: Dims = 2,
        stride: Dims | None = None,
        *,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Return `max_pool2d` over the last three axes: (..., D, H, W) -> (..., D', H', W').

        Raises:
            ShapeError: the window does not fit, or the stride is symbolic and not the window's size.

        Example:
            >>> Tensor.arange(8).reshape(1, 1, 2, 2, 2).max_pool3d().tolist()
            [[[[[7]]]]]
        """
        pool = Pool(self, 3, kernel_size, stride, dilation, padding, ceil_mode, "max_pool3d")
        return self._max_pool(pool, return_indices)

    def _max_pool(self: Tensor, pool: Pool, return_indices: bool) -> Any:
        view = pool.windows_of(self, dtype_min(self.dtype))
        from_end = from_end_of(pool.sizes)
        from_end_view = pool.windows_of(self._like(from_end), 0)
        values = self._like(greatest_in(pool, self._graph, view, from_end, from_end_view))
        if not return_indices:
            return values
        return values, self._like(first_places(view, from_end_view, product(pool.sizes)))
