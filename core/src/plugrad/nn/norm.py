"""Normalization: layers that give their input mean 0 and variance 1, and what they learn beside."""

from plugrad.dtype import dtypes
from plugrad.errors import ShapeError
from plugrad.nn.init import parameter
from plugrad.tensor import Tensor

__all__ = [
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm",
    "LayerNorm",
    "LayerNorm2d",
    "RMSNorm",
]


class BatchNorm:
    """Normalize each channel over the batch: (N, C, ...) -> (N, C, ...).

    While `Tensor.training` holds, mean and variance are the batch's, and running averages are kept by assigns
    to `running_mean` and `running_var`; otherwise those averages are used.

    Args:
        num_features: number of channels.
        eps: added to the variance, so that constant channels do not divide by zero.
        momentum: weight of the newest batch in the running averages.
        affine: scale and shift by learnt `weight` and `bias`.
        track_running_stats: keep running averages; without them the batch's are always used.

    Source: Ioffe and Szegedy 2015, Algorithm 1. The running variance is the unbiased one, as in PyTorch.

    Example:
        >>> BatchNorm(3)(Tensor.ones(2, 3, 4, 4)).shape
        (2, 3, 4, 4)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.weight = parameter(Tensor.ones(num_features)) if affine else None
        self.bias = parameter(Tensor.zeros(num_features)) if affine else None
        self.running_mean: Tensor | None = None
        self.running_var: Tensor | None = None
        self.num_batches_tracked: Tensor | None = None
        if track_running_stats:
            self.running_mean = Tensor.zeros(num_features).contiguous()
            self.running_var = Tensor.ones(num_features).contiguous()
            self.num_batches_tracked = Tensor.zeros(dtype=dtypes.int64).contiguous()

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        if x.ndim < 2 or x.shape[1] != self.num_features:
            raise ShapeError(
                f"BatchNorm of {self.num_features} channels got shape {x.shape}; it takes "
                f"(N, {self.num_features}, ...)."
            )
        if Tensor.training or self.running_mean is None or self.running_var is None:
            mean, variance = x.batch_statistics()
        else:
            mean, variance = self.running_mean, self.running_var
        if Tensor.training:
            self._track(mean.detach(), variance.detach(), x)
        return x.batchnorm(self.weight, self.bias, mean, (variance + self.eps).rsqrt())

    def _track(self, mean: Tensor, variance: Tensor, x: Tensor) -> None:
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        numel = x.numel()
        if not isinstance(numel, int):
            raise ShapeError("BatchNorm trains on batches of one size: the batch's shape is symbolic.")
        count = numel // self.num_features
        keep, unbiased = 1 - self.momentum, count / max(count - 1, 1)
        self.running_mean.assign(self.running_mean * keep + mean * self.momentum)
        self.running_var.assign(self.running_var * keep + variance * (self.momentum * unbiased))
        self.num_batches_tracked.assign(self.num_batches_tracked + 1)


#: The names that PyTorch has for one axis behind the channels, for two and for three.
BatchNorm1d = BatchNorm2d = BatchNorm3d = BatchNorm


class LayerNorm:
    """Normalize over the last axes: (..., *normalized_shape) -> (..., *normalized_shape).

    Source: Ba, Kiros and Hinton 2016, equation 4.

    Example:
        >>> LayerNorm(4)(Tensor.ones(2, 3, 4)).shape
        (2, 3, 4)
    """

    def __init__(
        self, normalized_shape: int | tuple[int, ...], eps: float = 1e-5, elementwise_affine: bool = True
    ) -> None:
        single = isinstance(normalized_shape, int)
        self.normalized_shape = (normalized_shape,) if single else tuple(normalized_shape)
        self.eps = eps
        self.weight = parameter(Tensor.ones(*self.normalized_shape)) if elementwise_affine else None
        self.bias = parameter(Tensor.zeros(*self.normalized_shape)) if elementwise_affine else None

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        count = len(self.normalized_shape)
        if x.shape[-count:] != self.normalized_shape:
            raise ShapeError(
                f"LayerNorm over {self.normalized_shape} got shape {x.shape}, which does not end in it."
            )
        return x.layer_norm(self.normalized_shape, self.weight, self.bias, self.eps)


class LayerNorm2d(LayerNorm):
    """Normalize the channels of each pixel: (N, C, H, W) -> (N, C, H, W).

    Example:
        >>> LayerNorm2d(3)(Tensor.ones(2, 3, 4, 4)).shape
        (2, 3, 4, 4)
    """

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        return super().__call__(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class RMSNorm:
    """Divide by the root of the mean square over the last axes: (..., *normalized_shape), unchanged in shape.

    Args:
        normalized_shape: the last sizes, or the last one.
        eps: added to the mean square; by default the distance from 1 to the next number of the dtype.
        elementwise_affine: scale by learnt `weight`.

    Source: Zhang and Sennrich 2019, equation 4.

    Example:
        >>> RMSNorm(4)(Tensor.ones(2, 3, 4)).shape
        (2, 3, 4)
    """

    def __init__(
        self,
        normalized_shape: int | tuple[int, ...],
        eps: float | None = None,
        elementwise_affine: bool = True,
    ) -> None:
        single = isinstance(normalized_shape, int)
        self.normalized_shape = (normalized_shape,) if single else tuple(normalized_shape)
        self.eps = eps
        self.weight = parameter(Tensor.ones(*self.normalized_shape)) if elementwise_affine else None

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        return x.rms_norm(self.normalized_shape, self.weight, self.eps)


class GroupNorm:
    """Normalize groups of channels of each example: (N, C, ...) -> (N, C, ...).

    Args:
        num_groups: number of groups, which divides the channels.
        num_channels: number of channels.
        eps: added to the variance.
        affine: scale and shift channels by learnt `weight` and `bias`.

    Source: Wu and He 2018, section 3.

    Raises:
        ShapeError: groups do not divide the channels.

    Example:
        >>> GroupNorm(2, 4)(Tensor.ones(2, 4, 3)).shape
        (2, 4, 3)
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True) -> None:
        if num_groups < 1 or num_channels % num_groups:
            raise ShapeError(
                f"GroupNorm of {num_channels} channels does not divide into {num_groups} groups. Choose a "
                "number that divides them."
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.weight = parameter(Tensor.ones(num_channels)) if affine else None
        self.bias = parameter(Tensor.zeros(num_channels)) if affine else None

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        if x.ndim < 2 or x.shape[1] != self.num_channels:
            raise ShapeError(
                f"GroupNorm of {self.num_channels} channels got shape {x.shape}; it takes "
                f"(N, {self.num_channels}, ...)."
            )
        return x.group_norm(self.num_groups, self.weight, self.bias, self.eps)


class InstanceNorm:
    """Normalize each channel of each example: (N, C, ...) -> (N, C, ...).

    Has learnt `weight` and `bias`, as in tinygrad; PyTorch's layers have none unless `affine=True`.

    Source: Ulyanov, Vedaldi and Lempitsky 2016, equation 2.

    Example:
        >>> InstanceNorm(4)(Tensor.ones(2, 4, 3)).shape
        (2, 4, 3)
    """

    def __init__(self, num_features: int, eps: float = 1e-5, affine: bool = True) -> None:
        self.num_features = num_features
        self.eps = eps
        self.weight = parameter(Tensor.ones(num_features)) if affine else None
        self.bias = parameter(Tensor.zeros(num_features)) if affine else None

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        if x.ndim < 3 or x.shape[1] != self.num_features:
            raise ShapeError(
                f"InstanceNorm of {self.num_features} channels got shape {x.shape}; it takes "
                f"(N, {self.num_features}, ...)."
            )
        return x.instance_norm(self.weight, self.bias, self.eps)
