"""Normalize by means and deviations."""

import math
from typing import Any

from plugrad import Tensor, dtypes
from plugrad_onnx.graph import Call
from plugrad_onnx.registry import operator
from plugrad_onnx.sizes import as_number
from plugrad_onnx.values import dtype_of, sizes_of


def _of_channels(parameter: Tensor, rank: int) -> Tensor:
    return parameter.reshape(1, -1, *(1,) * (rank - 2))


def _standardized(x: Tensor, axes: Any, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return x with mean 0 and deviation 1, the mean, and one over the deviation."""
    mean = x.mean(axes, keepdim=True)
    centred = x - mean
    scale = ((centred * centred).mean(axes, keepdim=True) + epsilon).rsqrt()
    return centred * scale, mean, scale


@operator("BatchNormalization")
def batch_normalization(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    mean: Tensor,
    var: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
    spatial: int = 1,
    is_test: int = 1,
    call: Call,
) -> tuple[Tensor, ...]:
    """Return x normalized by statistics of each channel: those given, or in training the batch's."""
    rank, wide = x.ndim, x.cast(dtypes.float32) if x.dtype.itemsize < 4 else x
    if not spatial:
        out = (wide - mean) / (var + epsilon).sqrt() * scale + bias
        return (out.cast(x.dtype), mean, var, mean, var)
    if not training_mode:
        factor = scale.cast(wide.dtype) / (var.cast(wide.dtype) + epsilon).sqrt()
        shift = bias.cast(wide.dtype) - mean.cast(wide.dtype) * factor
        out = wide * _of_channels(factor, rank) + _of_channels(shift, rank)
        return (out.cast(x.dtype), mean, var, mean, var)
    axes = (0, *range(2, rank))
    normal, _, _ = _standardized(wide, axes, epsilon)
    out = normal * _of_channels(scale, rank) + _of_channels(bias, rank)
    new_mean = mean * momentum + wide.mean(axes).cast(mean.dtype) * (1 - momentum)
    new_var = var * momentum + wide.var(axes, correction=0).cast(var.dtype) * (1 - momentum)
    return out.cast(x.dtype), new_mean, new_var


@operator("InstanceNormalization")
def instance_normalization(x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5) -> Tensor:
    """Return each channel of each sample with mean 0 and deviation 1, then scaled."""
    normal, _, _ = _standardized(x, tuple(range(2, x.ndim)), epsilon)
    return normal * _of_channels(scale, x.ndim) + _of_channels(bias, x.ndim)


@operator("LayerNormalization")
def layer_normalization(
    x: Tensor,
    scale: Tensor,
    bias: Tensor | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return x normalized over the axes from `axis` on, its means, and inverse deviations."""
    axes = tuple(range(axis % x.ndim, x.ndim))
    normal, mean, inverse = _standardized(x.cast(dtype_of(stash_type)), axes, epsilon)
    out = normal.cast(x.dtype) * scale
    return (out if bias is None else out + bias), mean, inverse


@operator("RMSNormalization")
def rms_normalization(
    x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Tensor:
    """Return x over its root mean square over all axes from `axis` on."""
    wide = x.cast(dtype_of(stash_type))
    square = (wide * wide).mean(tuple(range(axis % x.ndim, x.ndim)), keepdim=True)
    return (wide * (square + epsilon).rsqrt()).cast(x.dtype) * scale


@operator("GroupNormalization", since=18, until=20)
def group_normalization_by_groups(
    x: Tensor, scale: Tensor, bias: Tensor, *, num_groups: int, epsilon: float = 1e-5
) -> Tensor:
    """Return groups of channels normalized, with a scale and bias for each group."""
    each = as_number(sizes_of(x)[1]) // num_groups
    return group_normalization(
        x,
        scale.repeat_interleave(each, 0),
        bias.repeat_interleave(each, 0),
        num_groups=num_groups,
        epsilon=epsilon,
    )


@operator("GroupNormalization", since=21)
def group_normalization(
    x: Tensor, scale: Tensor, bias: Tensor, *, num_groups: int, epsilon: float = 1e-5, stash_type: int = 1
) -> Tensor:
    """Return groups of channels normalized, with a scale and bias for each channel."""
    groups = x.cast(dtype_of(stash_type)).reshape(
        sizes_of(x)[0], num_groups, math.prod(sizes_of(x)[1:]) // num_groups
    )
    normal, _, _ = _standardized(groups, 2, epsilon)
    out = normal.reshape(*sizes_of(x)).cast(x.dtype)
    return out * _of_channels(scale, x.ndim) + _of_channels(bias, x.ndim)


@operator("MeanVarianceNormalization")
def mean_variance_normalization(x: Tensor, *, axes: tuple[int, ...] = (0, 2, 3)) -> Tensor:
    """Return x with mean 0 and deviation 1 over axes."""
    centred = x - x.mean(axes, keepdim=True)
    return centred / ((centred * centred).mean(axes, keepdim=True).sqrt() + 1e-9)


@operator("LRN")
def local_response_normalization(
    x: Tensor, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
) -> Tensor:
    """Return x over a power of the squares of the channels around each."""
    low = (size - 1) // 2
    padded = (x * x).pad([(0, 0), (low, size - 1 - low), *[(0, 0)] * (x.ndim - 2)])
    around = padded.unfold(1, size, 1).sum(-1)
    return x / (bias + alpha / size * around) ** beta
