"""Build small models."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name: str, shape: Sequence[int | str | None] | None, kind: int = FLOAT) -> ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, kind, shape)


def node(kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> NodeProto:
    return onnx.helper.make_node(kind, inputs, outputs, **attributes)


def model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    opset: int = 20,
    **initializers: Any,
) -> ModelProto:
    weights = [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in initializers.items()]
    graph = onnx.helper.make_graph(nodes, "test", inputs, outputs, weights)
    imports = [onnx.helper.make_opsetid("", opset), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    return onnx.helper.make_model(graph, opset_imports=imports)
