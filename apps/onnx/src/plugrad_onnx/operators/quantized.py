"""Quantize, dequantize, and compute with quantized numbers."""

import numpy as np
from onnx import TensorProto

from plugrad import Tensor, dtypes
from plugrad.dtype import DType, dtype_max, dtype_min, is_int
from plugrad_onnx.operators.casts import convert
from plugrad_onnx.operators.neural.convolution import AutoPad, conv
from plugrad_onnx.registry import operator
from plugrad_onnx.values import (
    NARROW,
    Narrow,
    Value,
    dtype_of,
    element_type_of,
    from_array,
    shape_of,
    sizes_of,
)

_SMALL_RANGES: dict[int, tuple[int, int]] = {
    TensorProto.INT4: (-8, 7),
    TensorProto.UINT4: (0, 15),
    TensorProto.INT2: (-2, 1),
    TensorProto.UINT2: (0, 3),
}


def _numbers(value: Value) -> Tensor:
    """Return the elements in a dtype that is computed with."""
    value = from_array(value) if isinstance(value, np.ndarray) else value
    if isinstance(value, Narrow):
        return value.data
    if not isinstance(value, Tensor):
        raise TypeError("a sequence stands where a tensor is needed")
    return value


def _broadcastable(parameter: Tensor, x: Tensor, axis: int, block_size: int) -> Tensor:
    """Reshape scales or zero points to broadcast with x: per tensor, axis or block."""
    if parameter.ndim == 0 or parameter.numel() == 1:
        return parameter.reshape(())
    at = axis % x.ndim
    if block_size:
        repeated = parameter.repeat_interleave(block_size, at)
        return repeated.narrow(at, 0, sizes_of(x)[at])
    return parameter.reshape(*(-1 if i == at else 1 for i in range(x.ndim)))


@operator("DequantizeLinear")
def dequantize_linear(
    x: Value,
    x_scale: Value,
    x_zero_point: Value = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Tensor:
    """Return (x - zero point) * scale."""
    numbers, scale = _numbers(x), _numbers(x_scale)
    wide = numbers.cast(dtypes.int32 if is_int(numbers.dtype) else dtypes.float32)
    if x_zero_point is not None:
        wide = wide - _broadcastable(_numbers(x_zero_point).cast(wide.dtype), numbers, axis, block_size)
    factor = _broadcastable(scale, numbers, axis, block_size)
    out = dtype_of(output_dtype or element_type_of(x_scale))
    return (wide.cast(dtypes.float32) * factor.cast(dtypes.float32)).cast(out)


@operator("QuantizeLinear")
def quantize_linear(
    x: Value,
    y_scale: Value,
    y_zero_point: Value = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    saturate: int = 1,
    precision: int = 0,
) -> Value:
    """Return x / scale rounded to even, plus the zero point, in the type's range."""
    numbers, scale = _numbers(x), _numbers(y_scale)
    to = output_dtype or (TensorProto.UINT8 if y_zero_point is None else element_type_of(y_zero_point))
    computed = dtype_of(precision) if precision else dtypes.float32
    steps = numbers.cast(computed) / _broadcastable(scale, numbers, axis, block_size).cast(computed)
    zero = None if y_zero_point is None else _broadcastable(_numbers(y_zero_point), numbers, axis, block_size)
    if to in _SMALL_RANGES or is_int(dtype_of(to) if to not in NARROW else dtypes.float32):
        return _quantized(steps, zero, to)
    shifted = steps if zero is None else steps + zero.cast(computed)
    return convert(shifted, to, saturate)


def _quantized(steps: Tensor, zero: Tensor | None, to: int) -> Value:
    low, high = _SMALL_RANGES[to] if to in _SMALL_RANGES else _range(dtype_of(to))
    whole = steps.cast(dtypes.float32).round()
    if zero is not None:
        whole = whole + zero.cast(dtypes.float32)
    kept = whole.clip(low, high)
    return Narrow(kept.cast(NARROW[to][0]), to) if to in NARROW else kept.cast(dtype_of(to))


def _range(dtype: DType) -> tuple[int, int]:
    return int(dtype_min(dtype)), int(dtype_max(dtype))


@operator("DynamicQuantizeLinear")
def dynamic_quantize_linear(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return x as uint8, with the scale and zero point that fit its range."""
    low, high = x.min().minimum(0), x.max().maximum(0)
    scale = (high - low) / 255
    zero = (-low / scale).round().clip(0, 255)
    out = ((x / scale).round() + zero).clip(0, 255)
    return out.cast(dtypes.uint8), scale.cast(dtypes.float32), zero.cast(dtypes.uint8)


@operator("MatMulInteger")
def matmul_integer(
    a: Tensor, b: Tensor, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None
) -> Tensor:
    """Return the matrix product of differences to the zero points, in int32."""
    return _centred(a, a_zero_point, -2).matmul(_centred(b, b_zero_point, -1)).cast(dtypes.int32)


def _centred(x: Tensor, zero_point: Tensor | None, axis: int) -> Tensor:
    """Return the differences to the zero point of all, or of each row or column."""
    wide = x.cast(dtypes.int32)
    if zero_point is None:
        return wide
    zero = zero_point.cast(dtypes.int32)
    if zero.ndim == 1 and shape_of(zero)[0] > 1 and axis == -2:
        zero = zero.unsqueeze(-1)
    return wide - zero


@operator("QLinearMatMul")
def qlinear_matmul(
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
) -> Tensor:
    """Return the quantized matrix product of two quantized matrices."""
    product = matmul_integer(a, b, a_zero_point, b_zero_point)
    scale_a = a_scale.unsqueeze(-1) if a_scale.ndim == 1 and shape_of(a_scale)[0] > 1 else a_scale
    factor = scale_a.cast(dtypes.float32) * b_scale.cast(dtypes.float32) / y_scale.cast(dtypes.float32)
    return _requantized(product, factor, y_zero_point)


def _requantized(accumulated: Tensor, factor: Tensor, zero_point: Tensor) -> Tensor:
    low, high = _range(zero_point.dtype)
    steps = (accumulated.cast(dtypes.float32) * factor).round() + zero_point.cast(dtypes.float32)
    return steps.clip(low, high).cast(zero_point.dtype)


@operator("ConvInteger")
def conv_integer(
    x: Tensor,
    w: Tensor,
    x_zero_point: Tensor | None = None,
    w_zero_point: Tensor | None = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """Return the convolution of differences to the zero points, in int32."""
    wide_x = x.cast(dtypes.int32) - (
        0 if x_zero_point is None else x_zero_point.cast(dtypes.int32).reshape(())
    )
    wide_w = w.cast(dtypes.int32)
    if w_zero_point is not None:
        wide_w = wide_w - w_zero_point.cast(dtypes.int32).reshape(-1, *(1,) * (w.ndim - 1))
    out = conv(
        wide_x, wide_w, auto_pad=auto_pad, dilations=dilations, group=group, pads=pads, strides=strides
    )
    return out.cast(dtypes.int32)


@operator("QLinearConv")
def qlinear_conv(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    bias: Tensor | None = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """Return the quantized convolution of a quantized input."""
    out = conv_integer(
        x,
        w,
        x_zero_point,
        w_zero_point,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        pads=pads,
        strides=strides,
    )
    channels = (1, -1, *(1,) * (x.ndim - 2))
    if bias is not None:
        out = out + bias.reshape(channels)
    factor = x_scale.reshape(()) * w_scale.reshape(channels) / y_scale.reshape(())
    return _requantized(out, factor, y_zero_point.reshape(()))
