"""Convert between element types, with the saturation and rounding that the standard asks for."""

import ml_dtypes
import numpy as np
from onnx import TensorProto

from plugrad import Tensor, dtypes
from plugrad.dtype import DType, is_float
from plugrad_onnx.errors import OnnxError
from plugrad_onnx.registry import operator
from plugrad_onnx.values import (
    DTYPES,
    NARROW,
    Narrow,
    Value,
    dtype_of,
    element_type_of,
    from_array,
    type_name,
)

_LARGEST_BYTE = {  # of the floats of one byte
    dtypes.fp8e4m3: 448.0,
    dtypes.fp8e4m3fnuz: 240.0,
    dtypes.fp8e5m2: 57344.0,
    dtypes.fp8e5m2fnuz: 57344.0,
}
_INTEGER_RANGES: dict[int, tuple[int, int]] = {
    TensorProto.INT4: (-8, 7),
    TensorProto.UINT4: (0, 15),
    TensorProto.INT2: (-2, 1),
    TensorProto.UINT2: (0, 3),
}
_OLD_NAMES = {"UNDEFINED": 0, **{name: number for name, number in TensorProto.DataType.items()}}


@operator("Cast", until=5)
def cast_by_name(x: Value, *, to: str) -> Value:
    """Return the elements in the type of this name."""
    return convert(x, _OLD_NAMES[to.upper()])


@operator("Cast", since=6)
def cast(x: Value, *, to: int, saturate: int = 1, round_mode: str = "up") -> Value:
    """Return the elements in another type."""
    return convert(x, to, saturate, round_mode)


@operator("CastLike")
def cast_like(x: Value, target_type: Value, *, saturate: int = 1, round_mode: str = "up") -> Value:
    """Return the elements in the type of another value."""
    return convert(x, element_type_of(target_type), saturate, round_mode)


@operator("BitCast")
def bit_cast(x: Value, *, to: int) -> Value:
    """Return the bits of the elements as elements of another type of the same size."""
    if not isinstance(x := from_array(x) if isinstance(x, np.ndarray) else x, Tensor):
        raise OnnxError("the bits of this type have no plugrad dtype")
    dtype = dtype_of(to)
    if x.dtype == dtypes.bool:  # a bool is a byte of 0 or 1
        x = x.cast(dtypes.uint8)
    return x.bitcast(dtypes.uint8) != 0 if dtype == dtypes.bool else x.bitcast(dtype)


def convert(x: Value, to: int, saturate: int = 1, round_mode: str = "up") -> Value:
    """Return a value's elements as another element type."""
    value = from_array(x) if isinstance(x, np.ndarray) else x
    if isinstance(value, Narrow):
        value = value.data
    if not isinstance(value, Tensor):
        raise OnnxError("a sequence or missing optional cannot be cast")
    if to in _INTEGER_RANGES:
        return Narrow(_to_small_integer(value, to), to)
    if to == TensorProto.FLOAT4E2M1:
        return Narrow(round_to_float4(value.cast(dtypes.float32)), to)
    if to == TensorProto.FLOAT8E8M0:
        return Narrow(_to_power_of_two(value.cast(dtypes.float32), saturate, round_mode), to)
    if to not in DTYPES:
        raise OnnxError(f"elements cannot become {type_name(to)}")
    dtype = DTYPES[to]
    if dtype in _LARGEST_BYTE:
        return _to_byte_float(value, dtype, saturate)
    if dtype == dtypes.bool:
        return value != 0
    return value.cast(dtype)


def _to_small_integer(x: Tensor, to: int) -> Tensor:
    """Return x in the range of a type below a byte, wrapped as bits are."""
    low, high = _INTEGER_RANGES[to]
    whole = x.cast(dtypes.int32)
    return ((whole - low) % (high - low + 1) + low).cast(NARROW[to][0])


def _to_byte_float(x: Tensor, dtype: DType, saturate: int) -> Tensor:
    """Round x to a float of one byte; larger values saturate or overflow."""
    wide = x if is_float(x.dtype) and x.dtype.itemsize > 1 else x.cast(dtypes.float32)
    largest = _LARGEST_BYTE[dtype]
    if saturate:
        return wide.isnan().where(wide, wide.clip(-largest, largest)).cast(dtype)
    # half a step beyond the largest number rounds to a number that does not exist
    step = largest / (7 if dtype in (dtypes.fp8e5m2, dtypes.fp8e5m2fnuz) else 15)
    too_large = wide.abs() >= largest + step / 2 if dtype != dtypes.fp8e4m3 else wide.abs() > 464.0
    overflow = wide * float("inf") if dtype == dtypes.fp8e5m2 else wide * float("nan")
    return too_large.where(overflow, wide.clip(-largest, largest)).cast(dtype)


def round_to_float4(x: Tensor) -> Tensor:
    """Round to the nearest float4, ties to the even code; NaN becomes -0."""
    size = x.abs().minimum(6.0)
    step = (size < 2).where(0.5, (size < 4).where(1.0, 2.0))
    rounded = (size / step).round() * step
    return x.isnan().where(-0.0, x.signbit().where(-rounded, rounded))


def _to_power_of_two(x: Tensor, saturate: int, round_mode: str) -> Tensor:
    """Return the power of two that FLOAT8E8M0 keeps for x."""
    array = x.numpy().astype(np.float32)
    bits = array.view(np.uint32)
    exponent = ((bits >> 23) & 0xFF).astype(np.int32)
    mantissa = bits & 0x7FFFFF
    up = {"up": mantissa > 0, "down": np.zeros_like(mantissa, bool), "nearest": mantissa >= 0x400000}
    out = exponent + np.where(exponent == 255, 0, up[round_mode])
    if saturate:
        out = np.minimum(out, np.where(np.isnan(array), 255, 254))
    return Tensor(out.astype(np.uint8).view(ml_dtypes.float8_e8m0fnu).astype(np.float32))
