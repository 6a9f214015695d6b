"""Normalization: layers that give their input mean 0 and variance 1."""

from plugrad.dtype import dtypes
from plugrad.errors import ShapeError
from plugrad.nn.init import parameter
from plugrad.tensor import Tensor

__all__ = ["BatchNorm", "LayerNorm"]


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
        shape = (1, self.num_features, *(1,) * (x.ndim - 2))
        if Tensor.training or self.running_mean is None or self.running_var is None:
            mean, variance = self._batch_statistics(x)
        else:
            mean, variance = self.running_mean, self.running_var
        out = (x - mean.reshape(shape)) * (variance + self.eps).rsqrt().reshape(shape)
        if self.weight is None or self.bias is None:
            return out
        return out * self.weight.reshape(shape) + self.bias.reshape(shape)

    def _batch_statistics(self, x: Tensor) -> tuple[Tensor, Tensor]:
        axes = (0, *range(2, x.ndim))
        mean = x.mean(axes)
        shape = (1, self.num_features, *(1,) * (x.ndim - 2))
        variance = (x - mean.reshape(shape)).square().mean(axes)
        if Tensor.training:
            self._track(mean.detach(), variance.detach(), x)
        return mean, variance

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
        axes = tuple(range(x.ndim - count, x.ndim))
        centered = x - x.mean(axes, keepdim=True)
        out = centered * (centered.square().mean(axes, keepdim=True) + self.eps).rsqrt()
        return out if self.weight is None or self.bias is None else out * self.weight + self.bias
