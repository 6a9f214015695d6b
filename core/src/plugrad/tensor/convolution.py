"""Convolution and pooling over images: reductions over windows."""

from collections.abc import Sequence
from typing import Any, Self

from plugrad.dtype import dtype_min, dtypes, is_float, sum_acc_dtype
from plugrad.errors import ShapeError
from plugrad.tensor.base import DTypeLike, promoted, the_dtype
from plugrad.tensor.matmul import MatmulMixin
from plugrad.tensor.shapes import pair_of, show
from plugrad.tensor.windows import windows
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

Pair = int | Sequence[int]
Widths = tuple[tuple[int, int], tuple[int, int]]


class ConvolutionMixin(MatmulMixin):
    """Operations on images of shape `(N, C, H, W)`."""

    __slots__ = ()

    def conv2d(
        self,
        weight: Self,
        bias: Self | None = None,
        groups: int = 1,
        stride: Pair = 1,
        dilation: Pair = 1,
        padding: Pair = 0,
        dtype: DTypeLike | None = None,
    ) -> Self:
        """Return the cross-correlation of images with `weight`.

        (N, C, H, W) with weight (O, C/groups, KH, KW) and bias (O,) -> (N, O, H', W')

        Args:
            weight: the kernels.
            bias: added to each output channel.
            groups: channels are split into this many groups that do not see each other.
            stride: step between windows.
            dilation: step between the elements of a window.
            padding: zeros around the images: one width, one for each axis, or (left, right, top, bottom).
            dtype: accumulate in, and return, this dtype.

        Raises:
            ShapeError: shapes or groups do not fit each other.

        Example:
            >>> Tensor.ones(1, 1, 3, 3).conv2d(Tensor.ones(1, 1, 2, 2)).tolist()
            [[[[4.0, 4.0], [4.0, 4.0]]]]
        """
        n, _, _, _ = self._image("conv2d")
        out_channels, in_group, kh, kw = _conv_shapes(self, weight, groups)
        self._check_device(weight)
        narrow = the_dtype(dtype, promoted([self, weight]))
        wide = narrow if dtype is not None else sum_acc_dtype(narrow)
        x = self._graph.pad(((0, 0), (0, 0), *_widths(padding, "conv2d"))).cast(wide)
        steps = pair_of(stride, "stride"), pair_of(dilation, "dilation")
        # (N, C, H', W', KH, KW)
        x = windows(x, (kh, kw), *steps, "conv2d")
        _, _, oh, ow, _, _ = x.shape
        out_group = out_channels // groups
        x = x.reshape((n, groups, 1, in_group, oh, ow, kh, kw)).permute((0, 1, 2, 4, 5, 3, 6, 7))
        full: Any = (n, groups, out_group, oh, ow, in_group, kh, kw)
        w = weight._graph.cast(wide).reshape((1, groups, out_group, 1, 1, in_group, kh, kw))
        out = (x.expand(full) * w.expand(full)).reduce_axis(Ops.ADD, (5, 6, 7))
        result = self._with(out.reshape((n, out_channels, oh, ow)).cast(narrow), weight)
        return result if bias is None else result + bias.reshape(1, -1, 1, 1)

    def max_pool2d(
        self, kernel_size: Pair = 2, stride: Pair | None = None, dilation: Pair = 1, padding: Pair = 0
    ) -> Self:
        """Return the greatest value in each window; `stride` defaults to the window's size.

        (N, C, H, W) -> (N, C, H', W')

        Raises:
            ShapeError: the window does not fit.

        Example:
            >>> Tensor.arange(4).reshape(1, 1, 2, 2).max_pool2d().tolist()
            [[[[3]]]]
        """
        self._image("max_pool2d")
        lowest = dtype_min(self.dtype)
        widths = _widths(padding, "max_pool2d")
        x = self if not any(map(any, widths)) else self._padded_with(widths, lowest)
        view = x._pool(kernel_size, stride, dilation, "max_pool2d")
        return self._like(view.reduce_axis(Ops.MAX, (4, 5)).reshape(view.shape[:4]))

    def avg_pool2d(
        self,
        kernel_size: Pair = 2,
        stride: Pair | None = None,
        dilation: Pair = 1,
        padding: Pair = 0,
        count_include_pad: bool = True,
    ) -> Self:
        """Return the mean of each window; `stride` defaults to the window's size.

        (N, C, H, W) -> (N, C, H', W')

        Args:
            kernel_size: size of the window.
            stride: step between windows.
            dilation: step between the elements of a window.
            padding: zeros around the images.
            count_include_pad: count those zeros as elements.

        Raises:
            ShapeError: the window does not fit.

        Example:
            >>> Tensor.arange(4).reshape(1, 1, 2, 2).avg_pool2d().tolist()
            [[[[1.5]]]]
        """
        self._image("avg_pool2d")
        widths = _widths(padding, "avg_pool2d")
        narrow = self.dtype if is_float(self.dtype) else dtypes.default_float
        wide = sum_acc_dtype(narrow)
        padded = self._like(self._graph.pad(((0, 0), (0, 0), *widths)).cast(wide))
        total = _total(padded._pool(kernel_size, stride, dilation, "avg_pool2d"))
        kh, kw = pair_of(kernel_size, "kernel_size")
        if count_include_pad or not any(map(any, widths)):
            return self._like((total / float(kh * kw)).cast(narrow))
        ones = UOp.const(wide, 1).reshape((1,) * 4).expand(self.shape).pad(((0, 0), (0, 0), *widths))
        count = _total(self._like(ones)._pool(kernel_size, stride, dilation, "avg_pool2d"))
        return self._like((total / count).cast(narrow))

    def _pool(self, kernel_size: Pair, stride: Pair | None, dilation: Pair, what: str) -> UOp:
        """Return the windows (N, C, H', W', KH, KW): a view, which no kernel writes."""
        kernel = pair_of(kernel_size, "kernel_size")
        steps = kernel if stride is None else pair_of(stride, "stride")
        return windows(self._graph, kernel, steps, pair_of(dilation, "dilation"), what)

    def _padded_with(self, widths: Widths, value: Any) -> Self:
        return self.pad(((0, 0), (0, 0), *widths), value)

    def _image(self, what: str) -> tuple[int, int, int, int]:
        shape: Any = self.static_shape(what)
        if len(shape) != 4:
            raise ShapeError(
                f"{what} of shape {show(shape)}: it takes images (N, C, H, W). Unsqueeze what is missing."
            )
        return shape


def _total(view: UOp) -> UOp:
    return view.reduce_axis(Ops.ADD, (4, 5)).reshape(view.shape[:4])


def _widths(padding: Pair, what: str) -> Widths:
    """Return ((top, bottom), (left, right))."""
    if isinstance(padding, int):
        return (padding, padding), (padding, padding)
    if len(padding) == 4:
        left, right, top, bottom = padding
        return (top, bottom), (left, right)
    if len(padding) == 2:
        return (padding[0], padding[0]), (padding[1], padding[1])
    raise ShapeError(
        f"{what}: padding={tuple(padding)} has {len(padding)} numbers. Pass one width, one for each axis, or "
        "(left, right, top, bottom)."
    )


def _conv_shapes(x: ConvolutionMixin, weight: ConvolutionMixin, groups: int) -> tuple[int, int, int, int]:
    shape: Any = weight.static_shape("conv2d")
    if len(shape) != 4:
        raise ShapeError(f"conv2d: weight of shape {show(shape)}: it takes (O, C/groups, KH, KW).")
    channels: Any = x.shape[1]
    if groups < 1 or channels != shape[1] * groups or shape[0] % groups:
        raise ShapeError(
            f"conv2d: images of shape {show(x.shape)} and weight {show(shape)} with groups={groups}: the "
            f"images have {channels} channels, the weight takes {shape[1]} * {groups} and gives "
            f"{shape[0]}, which {groups} must divide."
        )
    return shape
