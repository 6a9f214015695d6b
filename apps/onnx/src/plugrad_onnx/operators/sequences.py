"""Make, read and change sequences and optionals."""

from typing import Any

import numpy as np

from plugrad import Tensor
from plugrad_onnx.graph import Call, Graph
from plugrad_onnx.operators.control_flow import stack, tensor_of
from plugrad_onnx.registry import operator
from plugrad_onnx.sizes import as_number
from plugrad_onnx.values import Array, Value, sizes_of


def _sequence(value: Value) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a tensor stands where a sequence is needed")
    return value


def _checked_position(position: int | None, count: int, default: int) -> int:
    at = default if position is None else position
    if not -count <= at <= count:
        raise IndexError(f"a sequence of {count} has no place {at}")
    return at + count if at < 0 else at


@operator("SequenceEmpty", since=11)
def sequence_empty(*, dtype: int = 1) -> Value:
    """Return a sequence of nothing."""
    return []


@operator("SequenceConstruct", since=11)
def sequence_construct(*inputs: Value) -> Value:
    """Return the inputs as a sequence."""
    return list(inputs)


@operator("SequenceAt", since=11)
def sequence_at(sequence: Value, position: int) -> Value:
    """Return one element."""
    return _sequence(sequence)[position]


@operator("SequenceInsert", since=11)
def sequence_insert(sequence: Value, tensor: Value, position: int | None = None) -> Value:
    """Return the sequence with one element more."""
    elements = _sequence(sequence)
    at = _checked_position(position, len(elements), len(elements))
    return [*elements[:at], tensor, *elements[at:]]


@operator("SequenceErase", since=11)
def sequence_erase(sequence: Value, position: int | None = None) -> Value:
    """Return the sequence without one element."""
    elements = _sequence(sequence)
    at = _checked_position(position, len(elements), len(elements) - 1)
    return [*elements[:at], *elements[at + 1 :]]


@operator("SequenceLength", since=11)
def sequence_length(sequence: Value) -> Array:
    """Return the number of elements, on the host."""
    return np.array(len(_sequence(sequence)), np.int64)


@operator("SplitToSequence", since=11)
def split_to_sequence(x: Tensor, split: Array | None = None, *, axis: int = 0, keepdims: int = 1) -> Value:
    """Return parts along an axis as a sequence."""
    whole = as_number(sizes_of(x)[axis])
    if split is None:
        parts = x.split([1] * whole, axis)
        return [part if keepdims else part.squeeze(axis) for part in parts]
    if split.ndim:
        return list(x.split([int(size) for size in split], axis))
    size = int(split)
    return list(x.split([min(size, whole - first) for first in range(0, whole, size)], axis))


@operator("ConcatFromSequence", since=11)
def concat_from_sequence(sequence: Value, *, axis: int, new_axis: int = 0) -> Value:
    """Return the elements one after the other, or along a new axis."""
    elements = _sequence(sequence)
    if new_axis:
        return stack(elements, axis)
    tensors = [tensor_of(element) for element in elements]
    return Tensor.cat(*tensors, axis=axis) if len(tensors) > 1 else tensors[0]


@operator("SequenceMap", since=17)
def sequence_map(sequence: Value, *more: Value, body: Graph, call: Call) -> tuple[Value, ...]:
    """Return a graph's outputs for each element, as sequences."""
    elements = _sequence(sequence)
    results = [
        call.run(body, element, *(other[i] if isinstance(other, list) else other for other in more))
        for i, element in enumerate(elements)
    ]
    return tuple([result[i] for result in results] for i in range(len(body.outputs)))


@operator("Optional", since=15)
def optional(x: Value = None, *, type: Any = None) -> Value:
    """Return the input, or an empty optional."""
    return x


@operator("OptionalHasElement", since=15)
def optional_has_element(x: Value = None) -> Array:
    """Return whether there is something, on the host."""
    return np.array(x is not None)


@operator("OptionalGetElement", since=15)
def optional_get_element(x: Value) -> Value:
    """Return the value of an optional."""
    if x is None:
        raise ValueError("the optional is empty")
    return x
