"""Compute on the host the values that shapes need, so that no kernel runs.

Sizes, axes and the like are NumPy arrays as long as everything they come from is; those that depend on
Variables are arrays of objects. The functions are those that exporters write between `Shape` and `Reshape`.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from plugrad_onnx.registry import Operator
from plugrad_onnx.sizes import equal, is_symbolic, larger, less, simplified, smaller
from plugrad_onnx.values import Array, Value

LARGEST = 4096  # elements; what is larger is computed on the device

_NUMPY_TYPES = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_, 11: np.float64, 2: np.uint8, 3: np.int8}


def fold(operator: Operator, inputs: list[Value], attributes: dict[str, Any]) -> Array | None:
    """Compute a node whose inputs are on the host, or return None."""
    function = _FUNCTIONS.get(operator.name) if not operator.domain else None
    if function is None or not inputs or not all(_is_foldable(value) for value in inputs):
        return None
    if any(map(_has_variables, inputs)):
        function = _FUNCTIONS_OF_SIZES.get(operator.name)
        if function is None:
            return None
    with np.errstate(all="ignore"):
        result = function(*inputs, **attributes)
    return None if result is None else _in_numbers(np.asarray(result))


def _has_variables(value: Value) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "O"


def _in_numbers(array: Array) -> Array:
    """Return sizes in their shortest form, as int64 where no Variable is left."""
    if array.dtype.kind != "O":
        return array
    out = np.empty(array.shape, object)
    out.reshape(-1)[:] = [simplified(size) for size in array.reshape(-1)]
    return out if is_symbolic(out) else out.astype(np.int64)


def _is_foldable(value: Value) -> bool:
    return value is None or (
        isinstance(value, np.ndarray) and value.size <= LARGEST and value.dtype.kind in "biufO"
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


def _identity(x: Array) -> Array:
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
    "Identity": _identity,
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


def _elementwise(function: Callable[[Any, Any], Any], kind: Any = object) -> Callable[..., Any]:
    """Return a function of arrays of sizes from one of sizes."""
    apply = np.frompyfunc(function, 2, 1)

    def compute(a: Any, b: Any, **attributes: Any) -> Array | None:
        return None if attributes else np.asarray(apply(a, b)).astype(kind)

    return compute


def _of_axis(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(data: Array, axes: Any = None, *, keepdims: int = 1) -> Array:
        return np.asarray(function(data, axis=_axes(axes) or None, keepdims=bool(keepdims)), object)

    return reduce


def _quotient(a: Any, b: Any) -> Any:
    return None if less(a, 0) or less(b, 1) else a // b


def _divide_sizes(a: Array, b: Array) -> Array | None:
    out = np.asarray(np.frompyfunc(_quotient, 2, 1)(a, b), object)
    return None if any(part is None for part in out.reshape(-1)) else out


def _cast_sizes(x: Array, *, to: int, **_other: Any) -> Array | None:
    return x if to in (6, 7) else None


def _move(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that moves sizes to places that are numbers."""

    def move(data: Array, *places: Any, **attributes: Any) -> Array | None:
        if any(_has_variables(place) for place in places):
            return None
        return function(data, *places, **attributes)

    return move


_JOINS = ("Concat", "Identity", "Transpose", "Where")
_MOVES = ("Expand", "Gather", "Reshape", "Slice", "Squeeze", "Unsqueeze")
# what sizes that depend on Variables go through; all else is computed on the device
_FUNCTIONS_OF_SIZES: dict[str, Callable[..., Any]] = {
    **{name: _FUNCTIONS[name] for name in _JOINS},
    **{name: _move(_FUNCTIONS[name]) for name in _MOVES},
    "Add": _elementwise(lambda a, b: a + b),
    "Cast": _cast_sizes,
    "Div": _divide_sizes,
    "Equal": _elementwise(equal, bool),
    "Greater": _elementwise(lambda a, b: less(b, a), bool),
    "GreaterOrEqual": _elementwise(lambda a, b: not less(a, b), bool),
    "Less": _elementwise(less, bool),
    "LessOrEqual": _elementwise(lambda a, b: not less(b, a), bool),
    "Max": _elementwise(larger),
    "Min": _elementwise(smaller),
    "Mul": _elementwise(lambda a, b: a * b),
    "ReduceProd": _of_axis(np.prod),
    "ReduceSum": _of_axis(np.sum),
    "Sub": _elementwise(lambda a, b: a - b),
}
