"""Normalization: values brought to mean 0 and variance 1, over channels, groups or last axes.

All of it is computed in at least float32, and narrow dtypes are rounded once, at the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Unpack

from plugrad.dtype import is_float, sum_acc_dtype
from plugrad.errors import ShapeError
from plugrad.tensor.argument_checks import real_number, require_optional_tensors, require_tensors
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.elementwise.operands import dtype_refusal
from plugrad.tensor.keywords import AxisNames, renamed
from plugrad.tensor.lookup import size_beside
from plugrad.tensor.shapes import Axes, as_int, product, several, show, some_axes

Shapes = int | Sequence[int]

# the distance from 1 to the next number
_EPSILONS = {"float32": 2.0**-23, "float64": 2.0**-52}


def layernorm(self: Tensor, axis: Axes = -1, eps: float = 1e-5, **names: Unpack[AxisNames]) -> Tensor:
    """Return this less its mean over `axis`, divided by the root of variance + `eps`.

    Raises:
        AxisError: an axis does not exist.
        DtypeError: this tensor holds no floats.

    Example:
        >>> Tensor([[1.0, 3.0]]).layernorm(eps=0.0).tolist()
        [[-1.0, 1.0]]
    """
    if names:
        (axis,) = renamed(self.layernorm, names, axis=axis)
    axes = some_axes(axis, self.ndim)
    return _standardize(_as_wide(self), axes, eps).cast(self.dtype)


def layer_norm(
    self: Tensor,
    normalized_shape: Shapes,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return `layernorm` over the last axes, which have `normalized_shape`, times `weight` plus `bias`.

    (..., *normalized_shape) -> (..., *normalized_shape)

    Source: Ba, Kiros and Hinton 2016, equation 4.

    Raises:
        ShapeError: the shape does not end in `normalized_shape`, or factors have another one.
        DtypeError: this tensor holds no floats.

    Example:
        >>> Tensor([[1.0, 3.0]]).layer_norm(2, weight=Tensor([2.0, 2.0]), eps=0.0).tolist()
        [[-2.0, 2.0]]
    """
    axes = _last_axes(self, normalized_shape)
    out = _standardize(_as_wide(self), axes, eps)
    sizes = self.shape[axes[0] :]
    return _scale_and_shift(out, weight, bias, sizes, sizes).cast(self.dtype)


def rms_norm(
    self: Tensor, normalized_shape: Shapes, weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Divide by the root mean square over the last axes, then multiply by `weight`.

    (..., *normalized_shape) -> (..., *normalized_shape)

    Args:
        normalized_shape: the last sizes of this tensor.
        weight: factors of that shape.
        eps: added to the mean square; by default the distance from 1 to the next number of the dtype that
            is computed in, float32 for narrower ones.

    Source: Zhang and Sennrich 2019, equation 4.

    Raises:
        ShapeError: the shape does not end in `normalized_shape`, or factors have another one.
        DtypeError: this tensor holds no floats.

    Example:
        >>> Tensor([[3.0, 3.0]]).rms_norm(2, eps=0.0).tolist()
        [[1.0, 1.0]]
    """
    axes = _last_axes(self, normalized_shape)
    x = _as_wide(self)
    small = _EPSILONS[x.dtype.name] if eps is None else eps
    out = x * x.square().mean(axes, keepdim=True).add(small).rsqrt()
    sizes = self.shape[axes[0] :]
    return _scale_and_shift(out, weight, None, sizes, sizes).cast(self.dtype)


def group_norm(
    self: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalise each group of channels to mean 0 and variance 1.

    (N, C, ...) with weight and bias (C,) -> (N, C, ...)

    Source: Wu and He 2018, section 3.

    Raises:
        ShapeError: groups do not divide the channels, or there are no channels.
        DtypeError: this tensor holds no floats.

    Example:
        >>> Tensor([[1.0, 3.0, 5.0, 9.0]]).group_norm(2, eps=0.0).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]
    """
    channels: Any = self.shape[1] if self.ndim > 1 else 0
    num_groups = as_int(num_groups, "num_groups")
    if self.ndim < 2 or num_groups < 1 or channels % num_groups:
        raise ShapeError(
            f"group_norm of shape {show(self.shape)} in {num_groups} groups: it takes (N, C, ...) with a "
            "number of channels that the groups divide."
        )
    per_group = math.prod(self.shape[2:], start=channels // num_groups)
    groups = _as_wide(self).reshape(self.shape[0], num_groups, per_group)
    out = _standardize(groups, (2,), eps).reshape(self.shape)
    return _by_channel(self, out, weight, bias).cast(self.dtype)


def instance_norm(
    self: Tensor, *, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Return each channel of each example normalized over its own elements: (N, C, ...) -> (N, C, ...).

    Everything is given by name: what comes first in PyTorch are the means of `nn.InstanceNorm`.

    Source: Ulyanov, Vedaldi and Lempitsky 2016, equation 2.

    Raises:
        ShapeError: there is nothing behind the channels.
        DtypeError: this tensor holds no floats.

    Example:
        >>> Tensor([[[1.0, 3.0], [5.0, 9.0]]]).instance_norm(eps=0.0).tolist()
        [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
    if self.ndim < 3:
        raise ShapeError(f"instance_norm of shape {show(self.shape)}: it takes (N, C, *sizes).")
    out = _standardize(_as_wide(self), tuple(range(2, self.ndim)), eps)
    return _by_channel(self, out, weight, bias).cast(self.dtype)


def batchnorm(
    self: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    invstd: Tensor,
    axis: Axes = 1,
    **names: Unpack[AxisNames],
) -> Tensor:
    """Return `(self - mean) * invstd * weight + bias`, all of which lie along `axis`.

    Args:
        weight: factors, or None.
        bias: what is added, or None.
        mean: means of the channels.
        invstd: 1 / the standard deviations of the channels.
        axis: the axis, or axes, of the channels.

    Raises:
        AxisError: an axis does not exist.
        ShapeError: one of them has another number of elements than there are channels.
        DtypeError: this tensor holds no floats.

    Source: Ioffe and Szegedy 2015, Algorithm 1.

    Example:
        >>> Tensor([[1.0, 5.0]]).batchnorm(None, None, Tensor([0.0, 1.0]), Tensor([1.0, 0.5])).tolist()
        [[1.0, 2.0]]
    """
    if names:
        (axis,) = renamed(self.batchnorm, names, axis=axis)
    axes = some_axes(axis, self.ndim)
    require_tensors(mean=mean, invstd=invstd)
    shape = tuple(size if at in axes else 1 for at, size in enumerate(self.shape))
    out = _as_wide(self) - _channel_view(shape, mean, "mean")
    # tinygrad's may have the shape that they are used in
    out = out * (_channel_view(shape, invstd, "invstd") if invstd.ndim == len(axes) else invstd)
    if weight is not None:
        out = out * _channel_view(shape, weight, "weight")
    return (out if bias is None else out + _channel_view(shape, bias, "bias")).cast(self.dtype)


def batch_norm(
    self: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float | Tensor = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return each channel normalized over the batch, or, unless `training`, by the running statistics.

    (N, C, ...) with all others (C,) -> (N, C, ...)

    Args:
        running_mean: means of the channels; in training, those of the batch become a part of them.
        running_var: variances of the channels, likewise; they are the unbiased ones, as in PyTorch.
        weight: factors, or None.
        bias: what is added, or None.
        training: normalize by the batch's own statistics.
        momentum: how much of the running statistics the batch's become in training, a number or a tensor of
            shape ().
        eps: added to variances.

    Raises:
        ShapeError: there are no channels, no statistics outside of training, or shapes do not fit.
        DtypeError: this tensor holds no floats.

    Example:
        >>> Tensor([[1.0], [3.0]]).batch_norm(training=True, eps=0.0).tolist()
        [[-1.0], [1.0]]
    """
    require_optional_tensors(running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if not isinstance(momentum, TensorBase):
        real_number(momentum, "momentum")
    if self.ndim < 2:
        raise ShapeError(f"batch_norm of shape {show(self.shape)}: it takes (N, C, ...).")
    if training:
        mean, variance = self.batch_statistics()
        if running_mean is not None:
            move_average(running_mean, mean, momentum)
        if running_var is not None:
            move_average(running_var, variance * _unbiasing_factor(self), momentum)
    elif running_mean is None or running_var is None:
        raise ShapeError(
            "batch_norm without training normalizes by running_mean and running_var, which are missing. "
            "Pass both, or training=True."
        )
    else:
        mean, variance = running_mean, running_var
    return self.batchnorm(weight, bias, mean, variance.add(eps).rsqrt())


def move_average(average: Tensor, newest: Tensor, part: float | Tensor) -> None:
    """Move a running average towards `newest` by `part`."""
    average.assign((average * (1 - part) + newest.detach() * part).detach().cast(average.dtype))


def _unbiasing_factor(x: Tensor) -> float | Tensor:
    """Return n/(n-1) for the n elements of a channel, 1 for one."""
    count = product((x.shape[0], *x.shape[2:]))
    if isinstance(count, int):
        return count / max(count - 1, 1)
    wide = sum_acc_dtype(x.dtype)
    return size_beside(x, count, wide) / size_beside(x, (count - 1).maximum(1), wide)


def batch_statistics(self: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and (biased) variance of each channel over a batch: (N, C, ...) -> (C,), (C,).

    Narrow floats give float32.

    Raises:
        ShapeError: there are no channels.
        DtypeError: this tensor holds no floats.

    Example:
        >>> [x.tolist() for x in Tensor([[1.0], [3.0]]).batch_statistics()]
        [[2.0], [1.0]]
    """
    if self.ndim < 2:
        raise ShapeError(f"batch_statistics of shape {show(self.shape)}: it takes (N, C, ...).")
    x = _as_wide(self)
    axes = (0, *range(2, self.ndim))
    mean = x.mean(axes, keepdim=True)
    return mean.flatten(), (x - mean).square().mean(axes)


def _standardize(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    centered = x - x.mean(axes, keepdim=True)
    return centered * centered.square().mean(axes, keepdim=True).add(eps).rsqrt()


def _as_wide(x: Tensor) -> Tensor:
    if not is_float(x.dtype):
        raise dtype_refusal(x, "floats")
    return x.cast(sum_acc_dtype(x.dtype))


def _last_axes(x: Tensor, normalized_shape: Shapes) -> tuple[int, ...]:
    wanted = tuple([as_int(size, "normalized_shape") for size in several(normalized_shape)])
    if not wanted or x.shape[-len(wanted) :] != wanted:
        raise ShapeError(f"operation over {wanted} of shape {show(x.shape)}, which does not end in it.")
    return tuple(range(x.ndim - len(wanted), x.ndim))


def _by_channel(x: Tensor, out: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    channels = (x.shape[1],)
    return _scale_and_shift(out, weight, bias, channels, (*channels, *(1,) * (x.ndim - 2)))


def _channel_view(shape: tuple[Any, ...], x: Any, name: str) -> Any:
    """Reshape a value of each channel to `shape`, with size 1 elsewhere."""
    require_tensors(**{name: x})
    if x.numel() != product(shape):
        raise ShapeError(
            f"{name} of shape {show(x.shape)} for {show((product(shape),))[1:-2]} channels. Pass "
            "one number for each."
        )
    return x.reshape(shape)


def _scale_and_shift(
    out: Any, weight: Any, bias: Any, sizes: tuple[Any, ...], broadcast: tuple[Any, ...]
) -> Any:
    require_optional_tensors(weight=weight, bias=bias)
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and given.shape != sizes:
            raise ShapeError(
                f"operation of shape {show(out.shape)} with a {name} of shape {show(given.shape)}: it must "
                f"have shape {show(sizes)}."
            )
    if weight is not None:
        out = out * weight.reshape(broadcast)
    return out if bias is None else out + bias.reshape(broadcast)
