"""Normalization of each channel of each example by itself."""

from plugrad.errors import ShapeError
from plugrad.nn.checks import check_counts
from plugrad.nn.layers.norm import check_channels, move_average, running_averages, scale_and_shift
from plugrad.nn.module import UnaryModule
from plugrad.tensor import Tensor
from plugrad.tensor.base import DTypeLike

__all__ = ["InstanceNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class InstanceNorm(UnaryModule):
    """Normalize each channel of each example: (N, C, ...) -> (N, C, ...).

    Has learnt `weight` and `bias`, as in tinygrad; `InstanceNorm2d` and the like have PyTorch's arguments.

    Args:
        num_features: number of channels.
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
            scale = (self.running_var + self.eps).rsqrt()
            return x.batchnorm(self.weight, self.bias, self.running_mean, scale)
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
        num_features: number of channels.
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
