"""Compute once what every call of a graph would compute from constants alone."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from plugrad import Tensor
from plugrad_onnx.errors import NodeError
from plugrad_onnx.graph import Graph, Scope, Step, find_last_uses, is_small, names_read
from plugrad_onnx.values import Narrow, Value, from_array, shape_of

_DRAWING = {
    "Bernoulli",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Multinomial",
}
_SMALL = 4096  # elements that a constant may have grown to; what is larger would cost memory for no kernel


def on_device(value: Value) -> Value:
    """Return a constant as a Tensor, unless shape arithmetic reads its kind."""
    return value if not isinstance(value, np.ndarray) or is_small(value) else from_array(value)


def fold_constants(graph: Graph) -> Graph:
    """Return a graph whose constants hold the outputs of steps that read only constants.

    Steps that draw numbers, that ask about their node, or whose outputs outgrow their inputs stay.
    """
    constants = {name: value for name, value in graph.constants.items() if name not in graph.inputs}
    defaults = {name: value for name, value in graph.constants.items() if name in graph.inputs}
    left: list[Step] = []
    for step in graph.steps:
        found = _outputs_of(step, constants)
        if found is None:
            left.append(replace(step, last_used=()))
        else:
            constants.update(found)
    computed = [v for n, v in constants.items() if isinstance(v, Tensor) and n not in graph.constants]
    if computed:
        Tensor.realize(*computed)
    read = set(graph.outputs).union(*map(names_read, left))
    kept = {name: value for name, value in constants.items() if name in read}
    uses = find_last_uses(left, graph.outputs)
    steps = tuple(replace(step, last_used=tuple(uses.get(i, ()))) for i, step in enumerate(left))
    return replace(graph, constants={**defaults, **kept}, steps=steps)


def _outputs_of(step: Step, constants: Mapping[str, Value]) -> dict[str, Value] | None:
    """Return the outputs of a step that may be folded, by name."""
    if step.operator.takes_call or step.operator.name in _DRAWING:
        return None
    inputs = [name for name in step.inputs if name]
    if not all(name in constants for name in inputs):
        return None
    scope = Scope(dict(constants))
    try:
        step.run(scope)
    except NodeError:
        return None  # a call says it, if there is one
    out = {name: on_device(scope[name]) for name in step.outputs if name}
    given = sum(_count(constants[name]) for name in inputs)
    is_constant = step.operator.name == "Constant"
    fits = all(_count(value) <= max(given, _SMALL) for value in out.values())
    return out if is_constant or fits else None


def _count(value: Value) -> int:
    if isinstance(value, Narrow):
        value = value.data
    if isinstance(value, Tensor):
        return math.prod(shape_of(value))
    return value.size if isinstance(value, np.ndarray) else 1
