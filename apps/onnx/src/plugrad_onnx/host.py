"""Compute on the host what shapes are made of, so that no kernel runs for it.

Sizes, axes and the like are NumPy arrays as long as everything they come from is. The functions here are
those that exporters write between `Shape` and `Reshape`.
"""

import functools
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from plugrad_onnx.registry import Operator
from plugrad_onnx.values import Array, Value

LARGEST = 4096  # elements; what is larger is computed on the device

_NUMPY_TYPES = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_, 11: np.float64, 2: np.uint8, 3: np.int8}


def fold(
    operator: Operator, inputs: list[Value], attributes: dict[str, Any]
) -> Array | tuple[Array, ...] | None:
    """Return the outputs of a node whose inputs are on the host; None where the device is to compute them."""
    function = _FUNCTIONS.get(operator.name) if not operator.domain else None
    if function is None or not inputs or not all(_is_foldable(value) for value in inputs):
        return None
    with np.errstate(all="ignore"):
        result = function(*inputs, **attributes)
    if result is None or isinstance(result, tuple):
        return cast(tuple[Array, ...] | None, result)
    return np.asarray(result)


def _is_foldable(value: Value) -> bool:
    return value is None or (
        isinstance(value, np.ndarray) and value.size <= LARGEST and value.dtype.kind in "biuf"
    )


def _arithmetic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that keeps the dtype of its first input."""

    def compute(*inputs: Array | None, **attributes: Any) -> Array | None:
        if attributes or any(value is None for value in inputs):
            return None
        first = inputs[0]
        assert first is not None, "checked above"
        return np.asarray(function(*inputs)).astype(first.dtype)

    return compute


def _predicate(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *inputs, **attributes: None if attributes else np.asarray(function(*inputs))


def _divide(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return a / b
    quotient = np.abs(a) // np.maximum(np.abs(b), 1)
    return np.where(b == 0, 0, quotient * np.sign(a) * np.sign(b))


def _cast(x: Array, *, to: int, **_other: Any) -> Array | None:
    if to not in _NUMPY_TYPES or (x.dtype.kind == "f" and not np.isfinite(x).all()):
        return None
    return x.astype(_NUMPY_TYPES[to])


def _axes(axes: Any) -> tuple[int, ...] | None:
    return None if axes is None else tuple(int(axis) for axis in np.reshape(axes, -1))


def _gather(data: Array, indices: Array, *, axis: int = 0) -> Array:
    return np.take(data, indices, axis=axis)


def _squeeze(data: Array, axes: Any = None) -> Array:
    return np.squeeze(data, _axes(axes))


def _unsqueeze(data: Array, axes: Any) -> Array:
    return np.expand_dims(data, _axes(axes) or ())


def _concat(*inputs: Array, axis: int = 1) -> Array | None:
    return np.concatenate(inputs, axis)


def _reshape(data: Array, shape: Any, *, allowzero: int = 0) -> Array:
    wanted = [int(size) for size in np.reshape(shape, -1)]
    if not allowzero:
        wanted = [data.shape[i] if size == 0 else size for i, size in enumerate(wanted)]
    return data.reshape(wanted)


def _slice(data: Array, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Array:
    first, last = _axes(starts) or (), _axes(ends) or ()
    at = _axes(axes) or tuple(range(len(first)))
    step = _axes(steps) or (1,) * len(first)
    index = [slice(None)] * data.ndim
    for axis, start, end, stride in zip(at, first, last, step, strict=True):
        end = None if stride < 0 and end < -data.shape[axis] else end
        index[axis] = slice(start, end, stride)
    return data[tuple(index)]


def _range(start: Array, limit: Array, delta: Array, **_other: Any) -> Array | None:
    if start.dtype.kind == "f" or delta.item() == 0 or (limit - start).item() // delta.item() > LARGEST:
        return None
    return np.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(data: Array, axes: Any = None, *, keepdims: int = 1, **other: Any) -> Array | None:
        if data.size == 0 or other or data.dtype.kind == "b":
            return None
        return function(data, axis=_axes(axes) or None, keepdims=bool(keepdims)).astype(data.dtype)

    return reduce


def _expand(data: Array, shape: Array) -> Array | None:
    sizes = np.broadcast_shapes(data.shape, tuple(int(size) for size in shape))
    return np.broadcast_to(data, sizes).copy() if int(np.prod(sizes)) <= LARGEST else None


def _fill(shape: Array, *, value: Array | None = None) -> Array | None:
    sizes = tuple(int(size) for size in shape)
    if value is None or value.dtype.kind not in "biu" or not 0 <= np.prod(sizes) <= LARGEST:
        return None
    return np.full(sizes, value.reshape(-1)[0], value.dtype)


def _same(x: Array) -> Array:
    return x


def _largest(*inputs: Array) -> Array:
    return functools.reduce(np.maximum, inputs)


def _smallest(*inputs: Array) -> Array:
    return functools.reduce(np.minimum, inputs)


def _transpose(x: Array, *, perm: tuple[int, ...] | None = None) -> Array:
    return np.transpose(x, perm)


def _where(condition: Array, x: Array, y: Array) -> Array:
    return np.where(condition, x, y)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Abs": _arithmetic(np.abs),
    "Add": _arithmetic(np.add),
    "And": _predicate(np.logical_and),
    "Cast": _cast,
    "Ceil": _arithmetic(np.ceil),
    "Concat": _concat,
    "ConstantOfShape": _fill,
    "Div": _arithmetic(_divide),
    "Equal": _predicate(np.equal),
    "Expand": _expand,
    "Floor": _arithmetic(np.floor),
    "Gather": _gather,
    "Greater": _predicate(np.greater),
    "GreaterOrEqual": _predicate(np.greater_equal),
    "Identity": _same,
    "Less": _predicate(np.less),
    "LessOrEqual": _predicate(np.less_equal),
    "Max": _arithmetic(_largest),
    "Min": _arithmetic(_smallest),
    "Mod": _arithmetic(np.mod),
    "Mul": _arithmetic(np.multiply),
    "Neg": _arithmetic(np.negative),
    "Not": _predicate(np.logical_not),
    "Or": _predicate(np.logical_or),
    "Range": _range,
    "ReduceMax": _reduction(np.max),
    "ReduceMin": _reduction(np.min),
    "ReduceProd": _reduction(np.prod),
    "ReduceSum": _reduction(np.sum),
    "Reshape": _reshape,
    "Slice": _slice,
    "Sqrt": _arithmetic(np.sqrt),
    "Squeeze": _squeeze,
    "Sub": _arithmetic(np.subtract),
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": _where,
}
