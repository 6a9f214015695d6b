"""Put batch normalization of the inference kind into the weights of the convolution before it."""

from collections import Counter
from dataclasses import replace
from typing import cast

from plugrad import Tensor, dtypes
from plugrad_onnx.graph import Graph, Step, find_last_uses, names_read
from plugrad_onnx.values import Value, from_array, to_array

_EPSILON = 1e-5  # of BatchNormalization, where the node has none


def fuse_normalizations(graph: Graph) -> Graph:
    """Return a graph in which convolutions contain the normalizations behind them.

    before: Conv(x, w, b), BatchNormalization(., scale, bias, mean, var)
    after:  Conv(x, w * factor, (b - mean) * factor + bias), factor = scale / sqrt(var + epsilon)
    """
    readers = Counter(name for step in graph.steps for name in names_read(step))
    readers.update(graph.outputs)
    fixed = {name: value for name, value in graph.constants.items() if name not in graph.inputs}
    made_by = {step.outputs[0]: i for i, step in enumerate(graph.steps) if step.outputs}
    steps: list[Step | None] = list(graph.steps)
    added: dict[str, Value] = {}
    for i, norm in enumerate(graph.steps):
        at = made_by.get(norm.inputs[0]) if norm.inputs else None
        conv = None if at is None else steps[at]
        if at is None or conv is None or not _fits(conv, norm, readers, fixed):
            continue
        weight, bias = _merged(conv, norm, fixed)
        names = (f"{norm.outputs[0]}.weight", f"{norm.outputs[0]}.bias")
        added.update(zip(names, (weight, bias), strict=True))
        steps[at] = None
        steps[i] = replace(conv, inputs=(conv.inputs[0], *names), outputs=norm.outputs[:1])
    if not added:
        return graph
    Tensor.realize(*(value for value in added.values() if isinstance(value, Tensor)))
    left = [replace(step, last_used=()) for step in steps if step is not None]
    read = set(graph.outputs).union(*map(names_read, left))
    kept = {n: v for n, v in {**graph.constants, **added}.items() if n in read or n in graph.inputs}
    uses = find_last_uses(left, graph.outputs)
    ready = tuple(replace(step, last_used=tuple(uses.get(i, ()))) for i, step in enumerate(left))
    return replace(graph, constants=kept, steps=ready)


def _fits(conv: Step, norm: Step, readers: Counter[str], fixed: dict[str, Value]) -> bool:
    """Say whether nothing but a normalization by constants reads a convolution with constant weights."""
    kinds = [(step.operator.domain, step.operator.name) for step in (conv, norm)]
    others = [name for name in norm.outputs[1:] if readers[name]]
    return (
        kinds == [("", "Conv"), ("", "BatchNormalization")]
        and readers[conv.outputs[0]] == 1
        and not others
        and not norm.attributes.get("training_mode")
        and norm.attributes.get("spatial", 1) == 1
        and all(name in fixed for name in (*conv.inputs[1:], *norm.inputs[1:]) if name)
    )


def _merged(conv: Step, norm: Step, fixed: dict[str, Value]) -> tuple[Tensor, Tensor]:
    """Return weights and bias with the scale and shift of a normalization."""
    weight = _tensor(fixed[conv.inputs[1]])
    wide = dtypes.float64 if weight.dtype == dtypes.float64 else dtypes.float32
    scale, shift, mean, var = (_tensor(fixed[name]).cast(wide) for name in norm.inputs[1:5])
    factor = scale / (var + float(norm.attributes.get("epsilon", _EPSILON))).sqrt()
    given = (*conv.inputs, "")[2]
    bias = _tensor(fixed[given]).cast(wide) if given else Tensor.zeros(1, dtype=wide)
    scaled = weight.cast(wide) * factor.reshape(-1, *(1,) * (weight.ndim - 1))
    return scaled.cast(weight.dtype), ((bias - mean) * factor + shift).cast(weight.dtype)


def _tensor(value: Value) -> Tensor:
    return value if isinstance(value, Tensor) else cast(Tensor, from_array(to_array(cast(Tensor, value))))
