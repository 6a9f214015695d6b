"""Make values out of attributes and sizes."""

import math
from typing import Any

import numpy as np

from plugrad import Tensor, dtypes
from plugrad.dtype import is_float
from plugrad_onnx.errors import OnnxError
from plugrad_onnx.registry import operator
from plugrad_onnx.sizes import is_symbolic
from plugrad_onnx.values import NARROW, Array, Narrow, Value, dtype_of, element_type_of, shape_of, to_array


@operator("Constant")
def constant(
    *,
    value: Any = None,
    sparse_value: Any = None,
    value_float: float | None = None,
    value_floats: tuple[float, ...] | None = None,
    value_int: int | None = None,
    value_ints: tuple[int, ...] | None = None,
) -> Array:
    """Return the attribute, on the host."""
    if value_float is not None or value_floats is not None:
        return np.array(value_floats if value_float is None else value_float, np.float32)
    if value_int is not None or value_ints is not None:
        return np.array(value_ints if value_int is None else value_int, np.int64)
    return value if sparse_value is None else sparse_value


@operator("ConstantOfShape")
def constant_of_shape(shape: tuple[int, ...], *, value: Any = None) -> Value:
    """Return one value in a shape; 0 where none is given."""
    if value is None:
        return Tensor.zeros(*shape, dtype=dtypes.float32)
    kind = element_type_of(value)
    if kind in NARROW:
        dtype = NARROW[kind][0]
        return Narrow(Tensor.full(shape, float(value.reshape(-1)[0]), dtype=dtype), kind)
    return Tensor.full(shape, value.reshape(-1)[0].item(), dtype=dtype_of(kind))


def _number(value: Value) -> Any:
    array = to_array(value) if isinstance(value, np.ndarray | Tensor) else np.empty(0)
    if array.size != 1:
        raise OnnxError("one number is needed")
    return array.item()


@operator("Range")
def arange(start: Value, limit: Value, delta: Value, *, stash_type: int = 1) -> Tensor:
    """Return the numbers from a start by steps up to a limit, without it."""
    first, last, step = (_number(value) for value in (start, limit, delta))
    dtype = dtype_of(element_type_of(start))
    if is_symbolic([first, last, step]):
        return Tensor.arange(first, last, step, dtype=dtype)
    count = max(math.ceil((last - first) / step), 0)
    steps = Tensor.arange(count, dtype=dtype if not is_float(dtype) else _computed_in(dtype, stash_type))
    return (steps * step + first).cast(dtype)


def _computed_in(dtype: Any, stash_type: int) -> Any:
    return dtype_of(stash_type) if dtype in (dtypes.float16, dtypes.bfloat16) else dtype


@operator("EyeLike")
def eye_like(x: Tensor, *, dtype: int | None = None, k: int = 0) -> Tensor:
    """Return a matrix of the input's shape with ones on a diagonal."""
    rows, columns = shape_of(x)
    row, column = Tensor.arange(int(rows)).reshape(-1, 1), Tensor.arange(int(columns)).reshape(1, -1)
    return (column - row == k).cast(x.dtype if dtype is None else dtype_of(dtype))


def _cosine_window(size: int, periodic: int, output_datatype: int, weights: tuple[float, ...]) -> Tensor:
    """Return a sum of cosines over one period."""
    angle = 2 * np.pi * np.arange(size) / max(size if periodic else size - 1, 1)
    window = sum(weight * np.cos(i * angle) for i, weight in enumerate(weights))
    return Tensor(np.asarray(window, np.float64)).cast(dtype_of(output_datatype))


@operator("HannWindow")
def hann_window(size: int, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
    """Return a window that falls to zero at its ends."""
    return _cosine_window(size, periodic, output_datatype, (0.5, -0.5))


@operator("HammingWindow")
def hamming_window(size: int, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
    """Return a window whose first side lobe is cancelled."""
    return _cosine_window(size, periodic, output_datatype, (25 / 46, -21 / 46))


@operator("BlackmanWindow")
def blackman_window(size: int, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
    """Return a window of three terms."""
    return _cosine_window(size, periodic, output_datatype, (0.42, -0.5, 0.08))
