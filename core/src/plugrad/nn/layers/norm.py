"""Normalization to mean 0 and variance 1, with a learnt scale and shift."""

from collections.abc import Sequence
from typing import cast

from plugrad.dtype import dtypes
from plugrad.errors import ShapeError
from plugrad.nn.checks import check_counts
from plugrad.nn.init import parameter
from plugrad.nn.module import UnaryModule
from plugrad.tensor import Tensor
from plugrad.tensor.base import DTypeLike
from plugrad.tensor.functional.normalization import move_average

__all__ = [
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LayerNorm2d",
    "RMSNorm",
]


def scale_and_shift(
    shape: tuple[int, ...], has_weight: bool, has_bias: bool, device: str | None, dtype: DTypeLike | None
) -> tuple[Tensor | None, Tensor | None]:
    """Return a weight of ones and a bias of zeros, or None for either."""
    weight = parameter(Tensor.ones(*shape, device=device, dtype=dtype)) if has_weight else None
    return weight, parameter(Tensor.zeros(*shape, device=device, dtype=dtype)) if has_bias else None


def check_channels(layer: object, x: Tensor, channels: int, least_axes: int = 2) -> None:
    """Raise ShapeError unless `x` is a batch of so many channels, (N, channels, ...)."""
    if x.ndim < least_axes or x.shape[1] != channels:
        name = type(layer).__name__
        raise ShapeError(f"{name} of {channels} channels got shape {x.shape}; it takes (N, {channels}, ...).")


def running_averages(
    num_features: int, has_any: bool, device: str | None, dtype: DTypeLike | None
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Return averages of mean and variance, and a count of batches, or None for each."""
    if not has_any:
        return None, None, None
    mean = Tensor.zeros(num_features, device=device, dtype=dtype, requires_grad=False).contiguous()
    variance = Tensor.ones(num_features, device=device, dtype=dtype, requires_grad=False).contiguous()
    # a number of the host takes no kernel of its own
    batches = Tensor(memoryview(bytes(8)).cast("q", ()), device=device, dtype=dtypes.int64)
    return mean, variance, batches


class BatchNorm(UnaryModule):
    """Normalize each channel over the batch: (N, C, ...) -> (N, C, ...).

    While `Tensor.training` holds, mean and variance are the batch's, and running averages are kept by assigns
    to `running_mean` and `running_var`; otherwise those averages are used. All sizes but that of the channels
    may be symbolic.

    Args:
        eps: added to the variance, so that constant channels do not divide by zero.
        momentum: weight of the newest batch in the running averages; None makes them plain averages over all
            batches.
        affine: scale and shift by learnt `weight` and `bias`.
        track_running_stats: keep running averages; without them the batch's are always used.
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.
        bias: have a `bias` beside the `weight`.

    Source: Ioffe and Szegedy 2015, Algorithm 1. The running variance is the unbiased one, as in PyTorch.

    Example:
        >>> BatchNorm(3)(Tensor.ones(2, 3, 4, 4)).shape
        (2, 3, 4, 4)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: str | None = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        check_counts(self, 0, num_features=num_features)
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.weight, self.bias = scale_and_shift((num_features,), affine, affine and bias, device, dtype)
        self.running_mean, self.running_var, self.num_batches_tracked = running_averages(
            num_features, track_running_stats, device, dtype
        )

    def forward(self, x: Tensor) -> Tensor:
        check_channels(self, x, self.num_features)
        averages = self.running_mean, self.running_var
        if not Tensor.training or self.running_mean is None or self.num_batches_tracked is None:
            is_of_batch = Tensor.training or self.running_mean is None
            return x.batch_norm(*averages, self.weight, self.bias, is_of_batch, eps=self.eps)
        batches = self.num_batches_tracked + 1
        part = 1 / batches.cast(self.running_mean.dtype) if self.momentum is None else self.momentum
        out = x.batch_norm(*averages, self.weight, self.bias, True, part, self.eps)
        self.num_batches_tracked.assign(batches)
        return out


#: The names that PyTorch has for one axis behind the channels, for two and for three.
BatchNorm1d = BatchNorm2d = BatchNorm3d = BatchNorm


class LayerNorm(UnaryModule):
    """Normalize over the last axes: (..., *normalized_shape) -> (..., *normalized_shape).

    Args:
        normalized_shape: the last sizes, or the last one.
        eps: added to the variance.
        elementwise_affine: scale and shift by learnt `weight` and `bias`.
        bias: have a `bias` beside the `weight`.
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.

    Source: Ba, Kiros and Hinton 2016, equation 4.

    Example:
        >>> LayerNorm(4)(Tensor.ones(2, 3, 4)).shape
        (2, 3, 4)
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        self.normalized_shape = _axes_of(self, normalized_shape)
        self.eps = eps
        has_bias = elementwise_affine and bias
        self.weight, self.bias = scale_and_shift(
            self.normalized_shape, elementwise_affine, has_bias, device, dtype
        )

    def forward(self, x: Tensor) -> Tensor:
        return x.layer_norm(self.normalized_shape, self.weight, self.bias, self.eps)


class LayerNorm2d(LayerNorm):
    """Normalize the channels of each pixel: (N, C, H, W) -> (N, C, H, W).

    Example:
        >>> LayerNorm2d(3)(Tensor.ones(2, 3, 4, 4)).shape
        (2, 3, 4, 4)
    """

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class RMSNorm(UnaryModule):
    """Divide by the root mean square over the last axes: (..., *normalized_shape) -> the same.

    Args:
        normalized_shape: the last sizes, or the last one.
        eps: added to the mean square; by default the distance from 1 to the next number of the dtype.
        elementwise_affine: scale by learnt `weight`.
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.

    Source: Zhang and Sennrich 2019, equation 4.

    Example:
        >>> RMSNorm(4)(Tensor.ones(2, 3, 4)).shape
        (2, 3, 4)
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        self.normalized_shape = _axes_of(self, normalized_shape)
        self.eps = eps
        self.weight, _ = scale_and_shift(self.normalized_shape, elementwise_affine, False, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        return x.rms_norm(self.normalized_shape, self.weight, self.eps)


class GroupNorm(UnaryModule):
    """Normalize groups of channels of each example: (N, C, ...) -> (N, C, ...).

    Args:
        num_groups: number of groups, which divides the channels.
        eps: added to the variance.
        affine: scale and shift channels by learnt `weight` and `bias`.
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.
        bias: have a `bias` beside the `weight`.

    Source: Wu and He 2018, section 3.

    Raises:
        ShapeError: groups do not divide the channels.

    Example:
        >>> GroupNorm(2, 4)(Tensor.ones(2, 4, 3)).shape
        (2, 4, 3)
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: str | None = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        check_counts(self, 0, num_groups=num_groups, num_channels=num_channels)
        if num_groups < 1 or num_channels % num_groups:
            raise ShapeError(
                f"GroupNorm of {num_channels} channels does not divide into {num_groups} groups. Choose a "
                "number that divides them."
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.weight, self.bias = scale_and_shift((num_channels,), affine, affine and bias, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        check_channels(self, x, self.num_channels)
        return x.group_norm(self.num_groups, self.weight, self.bias, self.eps)


def _axes_of(layer: object, normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    if not isinstance(normalized_shape, (list, tuple)):
        check_counts(layer, 0, normalized_shape=normalized_shape)
        return (cast("int", normalized_shape),)
    for size in normalized_shape:
        check_counts(layer, 0, normalized_shape=size)
    return tuple(normalized_shape)


class InstanceNorm(UnaryModule):
    """Normalize each channel of each example: (N, C, ...) -> (N, C, ...).

    Has learnt `weight` and `bias`, as in tinygrad; `InstanceNorm2d` and the like have PyTorch's arguments.

    Args:
        eps: added to the variance.
        affine: scale and shift channels by learnt `weight` and `bias`.
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.
        bias: have a `bias` beside the `weight`.

    Source: Ulyanov, Vedaldi and Lempitsky 2016, equation 2.

    Example:
        >>> InstanceNorm(4)(Tensor.ones(2, 4, 3)).shape
        (2, 4, 3)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: str | None = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        check_counts(self, 0, num_features=num_features)
        self.num_features = num_features
        self.eps = eps
        self.weight, self.bias = scale_and_shift((num_features,), affine, affine and bias, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        check_channels(self, x, self.num_features, 3)
        return x.instance_norm(weight=self.weight, bias=self.bias, eps=self.eps)


class _FixedAxes(InstanceNorm):
    """Instance normalization over a fixed number of axes, with running averages."""

    axes = 2

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: str | None = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, affine, device, dtype, bias=bias)
        self.momentum = momentum
        # the count is in the state, and stays 0, as PyTorch has it
        self.running_mean, self.running_var, self.num_batches_tracked = running_averages(
            num_features, track_running_stats, device, dtype
        )

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim not in (self.axes + 1, self.axes + 2) or x.shape[-self.axes - 1] != self.num_features:
            sizes = f"{self.num_features}, {', '.join('DHW'[-self.axes :] if self.axes > 1 else 'L')}"
            raise ShapeError(
                f"{type(self).__name__} of {self.num_features} channels got shape {x.shape}; it takes "
                f"(N, {sizes}) or ({sizes})."
            )
        if x.ndim == self.axes + 1:
            return self(x.unsqueeze(0)).squeeze(0)
        if self.running_mean is None or self.running_var is None:
            return super().forward(x)
        if not Tensor.training:
            averages = self.running_mean, self.running_var
            return x.batch_norm(*averages, self.weight, self.bias, eps=self.eps)
        out = super().forward(x)
        axes = tuple(range(2, x.ndim))
        values = x.detach().cast(self.running_mean.dtype)
        move_average(self.running_mean, values.mean(axes).mean(0), self.momentum)
        move_average(self.running_var, values.var(axes).mean(0), self.momentum)
        return out


class InstanceNorm1d(_FixedAxes):
    """Normalize each channel of each sequence: (N, C, L) or (C, L), unchanged in shape.

    Takes the arguments of `InstanceNorm2d`.

    Example:
        >>> InstanceNorm1d(4)(Tensor.ones(2, 4, 3)).shape
        (2, 4, 3)
    """

    axes = 1


class InstanceNorm2d(_FixedAxes):
    """Normalize each channel of each image: (N, C, H, W) or (C, H, W), unchanged in shape.

    Args:
        eps: added to the variance.
        momentum: weight of the newest batch in the running averages.
        affine: scale and shift channels by learnt `weight` and `bias`.
        track_running_stats: keep running averages while `Tensor.training` holds, and use them otherwise.
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.
        bias: have a `bias` beside the `weight`.

    Source: Ulyanov, Vedaldi and Lempitsky 2016, equation 2.

    Example:
        >>> InstanceNorm2d(4)(Tensor.ones(2, 4, 3, 3)).shape
        (2, 4, 3, 3)
    """


class InstanceNorm3d(_FixedAxes):
    """Normalize each channel of each volume: (N, C, D, H, W) or (C, D, H, W).

    Takes the arguments of `InstanceNorm2d`.

    Example:
        >>> InstanceNorm3d(4)(Tensor.ones(2, 4, 3, 3, 3)).shape
        (2, 4, 3, 3, 3)
    """

    axes = 3
