"""Pooling: the greatest or the mean of each window."""

from typing import Any, Self

from plugrad.dtype import dtype_min, dtypes, is_float, is_int, sum_acc_dtype
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.adaptive import AdaptivePoolingMixin
from plugrad.tensor.arguments import real, tensors
from plugrad.tensor.greatest import first_places, from_end_of, greatest_in
from plugrad.tensor.pool import Pool, axes_of, behind, checked_shape
from plugrad.tensor.shapes import product, show
from plugrad.tensor.spatial import Padding, Sizes, sizes_of
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


class PoolingMixin(AdaptivePoolingMixin):
    """Pooling over the last axes: `(..., *sizes) -> (..., *counts)`; what comes before them is not touched.

    A single number as `kernel_size` stands for the 1, 2 or 3 axes of the method's name. With
    a sequence the methods for images pool over as many axes as it has numbers.
    """

    __slots__ = ()

    # --- the greatest ---

    def max_pool2d(
        self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Return the greatest value in each window; NaN where there is one.

        (..., H, W) -> (..., H', W'). Of equal values, the first one gets the gradient.

        Args:
            kernel_size: size of the window.
            stride: step between windows; the window's size if left out.
            dilation: step between the elements of a window.
            padding: how far windows reach over the edge, at most half of their size; as for `conv2d`.
            ceil_mode: let a last window begin inside although it ends outside.
            return_indices: also return where in its image each value was, counted row by row, as
                `max_unpool2d` takes it: the first of equals, or of NaN (of which PyTorch names the last).

        Raises:
            ShapeError: the window does not fit.

        Example:
            >>> Tensor.arange(4).reshape(1, 1, 2, 2).max_pool2d().tolist()
            [[[[3]]]]
        """
        axes = axes_of(kernel_size, 2)
        pool = Pool(self, axes, kernel_size, stride, dilation, padding, ceil_mode, "max_pool2d")
        return self._max_pool(pool, return_indices)

    def max_pool1d(
        self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Return `max_pool2d` over the last axis: (..., L) -> (..., L').

        Raises:
            ShapeError: the window does not fit.

        Example:
            >>> Tensor([[1, 3, 2, 0]]).max_pool1d().tolist()
            [[3, 2]]
        """
        pool = Pool(self, 1, kernel_size, stride, dilation, padding, ceil_mode, "max_pool1d")
        return self._max_pool(pool, return_indices)

    def max_pool3d(
        self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Return `max_pool2d` over the last three axes: (..., D, H, W) -> (..., D', H', W').

        Raises:
            ShapeError: the window does not fit.

        Example:
            >>> Tensor.arange(8).reshape(1, 1, 2, 2, 2).max_pool3d().tolist()
            [[[[[7]]]]]
        """
        pool = Pool(self, 3, kernel_size, stride, dilation, padding, ceil_mode, "max_pool3d")
        return self._max_pool(pool, return_indices)

    def _max_pool(self, pool: Pool, return_indices: bool) -> Any:
        view = pool.windows_of(self, dtype_min(self.dtype))
        from_end = from_end_of(pool.sizes)
        from_end_view = pool.windows_of(self._like(from_end), 0)
        values = self._like(greatest_in(pool, self._graph, view, from_end, from_end_view))
        if not return_indices:
            return values
        return values, self._like(first_places(view, from_end_view, product(pool.sizes)))

    def max_unpool2d(
        self,
        indices: Self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        output_size: Sizes | None = None,
    ) -> Self:
        """Return zeros with the values of `max_pool2d` where they were; of several at one place, the last.

        (..., H', W') with indices of the same shape -> (..., H, W)

        Args:
            indices: what `max_pool2d(return_indices=True)` returned.
            kernel_size: that call's.
            stride: that call's.
            dilation: that call's.
            padding: that call's.
            output_size: H and W (or one number for both), where several sizes give the same number of
                windows. May have leading sizes.

        Raises:
            ShapeError: shapes do not fit.
            DtypeError: `indices` holds no integers.

        Example:
            >>> best, where = Tensor([[[[1, 5], [2, 3]]]]).max_pool2d(return_indices=True)
            >>> best.max_unpool2d(where).tolist()
            [[[[0, 5], [0, 0]]]]
        """
        axes = axes_of(kernel_size, 2)
        return self._max_unpool(
            axes, indices, kernel_size, stride, dilation, padding, output_size, "max_unpool2d"
        )

    def max_unpool1d(
        self,
        indices: Self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        output_size: Sizes | None = None,
    ) -> Self:
        """Return zeros with the values of `max_pool1d` where they were, as `max_unpool2d`.

        Example:
            >>> Tensor([[[3, 4]]]).max_unpool1d(Tensor([[[1, 2]]])).tolist()
            [[[0, 3, 4, 0]]]
        """
        return self._max_unpool(
            1, indices, kernel_size, stride, dilation, padding, output_size, "max_unpool1d"
        )

    def max_unpool3d(
        self,
        indices: Self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        output_size: Sizes | None = None,
    ) -> Self:
        """Return zeros with the values of `max_pool3d` where they were, as `max_unpool2d`.

        Example:
            >>> Tensor([[[[[3]]]]]).max_unpool3d(Tensor([[[[[7]]]]])).flatten().tolist()
            [0, 0, 0, 0, 0, 0, 0, 3]
        """
        return self._max_unpool(
            3, indices, kernel_size, stride, dilation, padding, output_size, "max_unpool3d"
        )

    def _max_unpool(
        self,
        axes: int,
        indices: Self,
        kernel_size: Sizes,
        stride: Sizes | None,
        dilation: Sizes,
        padding: Sizes,
        output_size: Sizes | None,
        what: str,
    ) -> Self:
        shape = checked_shape(self, axes, what)
        tensors(indices=indices)
        if indices.shape != shape or not is_int(indices.dtype):
            raise (ShapeError if is_int(indices.dtype) else DtypeError)(
                f"{what} of shape {show(shape)} with indices {show(indices.shape)} of {indices.dtype.name}. "
                "Pass the integers that pooling returned, one for each value."
            )
        lead, counts = shape[: len(shape) - axes], shape[len(shape) - axes :]
        kernel = sizes_of(kernel_size, axes, "kernel_size")
        steps = kernel if stride is None else sizes_of(stride, axes, "stride")
        gaps, widths = sizes_of(dilation, axes, "dilation"), sizes_of(padding, axes, "padding")
        sizes = tuple(
            (count - 1) * step - 2 * width + gap * (k - 1) + 1
            for count, step, width, gap, k in zip(counts, steps, widths, gaps, kernel, strict=True)
        )
        if output_size is not None:
            given = output_size[-axes:] if isinstance(output_size, (list, tuple)) else output_size
            sizes = sizes_of(given, axes, "output_size")
        total: int = product(sizes)
        empty = self._like(self._graph.const_like(0).reshape((1,) * self.ndim).expand((*lead, *(1,) * axes)))
        flat = empty.reshape(*lead, 1).expand(*lead, total)
        rows = indices.reshape(*lead, product(counts))
        return flat.scatter(-1, rows, self.reshape(*lead, product(counts))).reshape(*lead, *sizes)

    # --- the mean ---

    def avg_pool2d(
        self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:
        """Return the mean of each window.

        (..., H, W) -> (..., H', W'), floats; integers give the default float.

        Args:
            kernel_size: size of the window.
            stride: step between windows; the window's size if left out.
            dilation: step between the elements of a window.
            padding: zeros around the images, at most half of the window's size; as for `conv2d`.
            ceil_mode: let a last window begin inside although it ends outside.
            count_include_pad: count the zeros of `padding` as elements.
            divisor_override: divide the sums by this number, not by that of the elements.

        Raises:
            ShapeError: the window does not fit.
            ArgumentError: `divisor_override` is 0.

        Example:
            >>> Tensor.arange(4).reshape(1, 1, 2, 2).avg_pool2d().tolist()
            [[[[1.5]]]]
        """
        axes = axes_of(kernel_size, 2)
        pool = Pool(self, axes, kernel_size, stride, dilation, padding, ceil_mode, "avg_pool2d")
        return self._avg_pool(pool, count_include_pad, divisor_override)

    def avg_pool1d(
        self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:
        """Return `avg_pool2d` over the last axis: (..., L) -> (..., L').

        Raises:
            ShapeError: the window does not fit.
            ArgumentError: `divisor_override` is 0.

        Example:
            >>> Tensor([[1, 3, 2, 0]]).avg_pool1d().tolist()
            [[2.0, 1.0]]
        """
        pool = Pool(self, 1, kernel_size, stride, dilation, padding, ceil_mode, "avg_pool1d")
        return self._avg_pool(pool, count_include_pad, divisor_override)

    def avg_pool3d(
        self,
        kernel_size: Sizes = 2,
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Padding = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:
        """Return `avg_pool2d` over the last three axes: (..., D, H, W) -> (..., D', H', W').

        Raises:
            ShapeError: the window does not fit.
            ArgumentError: `divisor_override` is 0.

        Example:
            >>> Tensor.arange(8).reshape(1, 1, 2, 2, 2).avg_pool3d().item()
            3.5
        """
        pool = Pool(self, 3, kernel_size, stride, dilation, padding, ceil_mode, "avg_pool3d")
        return self._avg_pool(pool, count_include_pad, divisor_override)

    def _avg_pool(self, pool: Pool, count_include_pad: bool, divisor_override: int | None) -> Self:
        narrow = self.dtype if is_float(self.dtype) else dtypes.default_float
        wide = sum_acc_dtype(narrow)
        total = pool.windows_of(self.cast(wide), 0).reduce_axis(Ops.ADD, pool.window_axes)
        total = total.reshape(pool.shape)
        if divisor_override is not None:
            if not real(divisor_override, "divisor_override"):
                raise ArgumentError(f"{pool.what}: divisor_override=0. Pass another number, or None.")
            return self._like((total / float(divisor_override)).cast(narrow))
        is_padding_one = count_include_pad and not any(pool.extra)
        if is_padding_one or not any(map(any, pool.widths)):
            return self._like((total / float(product(pool.kernel))).cast(narrow))
        axes = len(pool.sizes)
        ones = UOp.const(wide, 1).reshape((1,) * axes).expand(pool.sizes)
        counts = pool.windows_of(self._like(ones), 0, counted_padding=count_include_pad)
        count = counts.reduce_axis(Ops.ADD, tuple(range(axes, 2 * axes))).reshape(pool.counts)
        return self._like((total / behind(count, pool.shape)).cast(narrow))
