"""Lay the weights of convolutions out as their kernels read them, once for a model's life."""

# functions of onnx take files that have no type
# pyright: reportUnknownMemberType=false

from dataclasses import replace

import onnx.shape_inference
from onnx import ModelProto

from plugrad import Ops, Tensor
from plugrad_onnx.graph import Graph
from plugrad_onnx.ports import port_of
from plugrad_onnx.values import Value

# Rows of results that leave much of a vector of 512 bits empty: output channels are its lanes instead, and
# weights are packed for them in each call unless they lie side by side. 3x3 convolutions of 7 and 14 columns
# take 0.73 to 0.91 of the time then; of 28 columns, whose rows are lanes, 1.15.
_SHORT_ROW = 16
_OF_IMAGES = 4


def pack_weights(graph: Graph, proto: ModelProto) -> Graph:
    """Return a graph in which the weights of convolutions to short rows have output channels innermost.

    Shapes stay as they are: the memory is in another order. Weights that several steps read, or that are not
    read from a file yet, stay.
    """
    rows = _rows_of_results(proto)
    readers = [name for step in graph.steps for name in step.inputs]
    packed: dict[str, Value] = {}
    for step in graph.steps:
        name = (*step.inputs, "", "")[1]
        weight = graph.constants.get(name)
        if (
            (step.operator.domain, step.operator.name) == ("", "Conv")
            and isinstance(weight, Tensor)
            and weight.ndim == _OF_IMAGES
            and step.attributes.get("group", 1) == 1
            and 0 < rows.get(step.outputs[0], 0) < _SHORT_ROW
            and readers.count(name) == 1
            and name not in graph.inputs
            # what lies in a file is read when it is first used
            and weight.uop.op is Ops.BUFFER
        ):
            packed[name] = weight.permute(1, 2, 3, 0).contiguous().permute(3, 0, 1, 2)
    if not packed:
        return graph
    Tensor.realize(*(value for value in packed.values() if isinstance(value, Tensor)))
    return replace(graph, constants={**graph.constants, **packed})


def _rows_of_results(proto: ModelProto) -> dict[str, int]:
    """Return the length of the last axis of each value, where the standard's inference knows it."""
    inferred = onnx.shape_inference.infer_shapes(proto).graph
    shapes = {v.name: port_of(v, True).shape for v in (*inferred.value_info, *inferred.output)}
    lasts = {name: shape[-1] for name, shape in shapes.items() if shape}
    return {name: size for name, size in lasts.items() if isinstance(size, int)}
