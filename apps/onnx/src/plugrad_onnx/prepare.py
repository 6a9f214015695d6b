"""Turn a checked model into steps, and collect everything that is missing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, TensorProto, TypeProto

from plugrad_onnx import operators as _operators  # enters all operators into the table
from plugrad_onnx.graph import Call, Graph, Step, find_last_uses
from plugrad_onnx.passes.folding import on_device
from plugrad_onnx.registry import Operator, find
from plugrad_onnx.values import Array, Value
from plugrad_onnx.weights import Weights

del _operators

_OF_STRINGS = {"CategoryMapper", "RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"}
_NOT_THERE = "is not supported in this opset"

_VALUES: dict[int, Callable[[Any], Any]] = {
    AttributeProto.FLOAT: lambda a: a.f,
    AttributeProto.INT: lambda a: a.i,
    AttributeProto.STRING: lambda a: a.s.decode(),
    AttributeProto.FLOATS: lambda a: tuple(a.floats),
    AttributeProto.INTS: lambda a: tuple(a.ints),
    AttributeProto.STRINGS: lambda a: tuple(s.decode() for s in a.strings),
    AttributeProto.TYPE_PROTO: lambda a: a.tp,
}


@dataclass
class Preparation:
    """Prepare the graphs of one model.

    Attributes:
        opsets: version of each domain.
        functions: the model's own, by domain, name and overload.
        weights: reads the elements of tensors.
        problems: what is missing, filled while graphs are prepared.
    """

    opsets: Mapping[str, int]
    functions: Mapping[tuple[str, str, str], FunctionProto]
    weights: Weights
    problems: list[str] = field(default_factory=list[str])
    calls: tuple[tuple[str, str, str], ...] = ()

    def graph(self, proto: GraphProto, given: Mapping[str, AttributeProto] | None = None) -> Graph:
        """Return a graph of a model, or of an attribute."""
        constants: dict[str, Value] = {}
        for tensor in proto.initializer:
            if tensor.data_type == TensorProto.STRING:
                self._report(f"initializer {tensor.name!r} holds strings, which tensors do not")
            else:
                constants[tensor.name] = on_device(self.weights.value(tensor))
        for sparse in proto.sparse_initializer:
            self._sparse(sparse, lambda a, n=sparse.values.name: constants.update({n: on_device(a)}))
        for value in (*proto.input, *proto.output):
            if _element_type(value.type) == TensorProto.STRING:
                self._report(f"{value.name!r} holds strings, which tensors do not")
        steps = self._steps(proto.node, given or {}, [o.name for o in proto.output])
        inputs = tuple(value.name for value in proto.input)
        declared = tuple(_declared(output.type) for output in proto.output)
        return Graph(proto.name, inputs, tuple(o.name for o in proto.output), constants, steps, declared)

    def _steps(
        self, nodes: Iterable[NodeProto], given: Mapping[str, AttributeProto], kept: list[str]
    ) -> tuple[Step, ...]:
        steps = [step for node in nodes if (step := self._step(node, given))]
        uses = find_last_uses(steps, kept)
        return tuple(replace(step, last_used=tuple(uses.get(i, ()))) for i, step in enumerate(steps))

    def _step(self, node: NodeProto, given: Mapping[str, AttributeProto]) -> Step | None:
        domain = "" if node.domain == "ai.onnx" else node.domain
        opset = self.opsets.get(domain, 1)
        kind = f"{domain}.{node.op_type}" if domain else node.op_type
        label = f"node {node.name or next(iter(node.output), '')!r} ({kind}, opset {opset})"
        key = (node.domain, node.op_type, node.overload)
        attributes = dict(self._attributes(node.attribute, given, label))
        if key in self.functions:
            entry = self._function(self.functions[key], attributes, node, given)
            attributes = {}
        else:
            entry = find(domain, node.op_type, opset)
            if entry is None:
                has_strings = node.op_type in _OF_STRINGS
                reason = "computes with strings, which tensors do not hold" if has_strings else _NOT_THERE
                self._report(f"{label}: the operator {reason}")
                return None
        for problem in entry.check(attributes, len(node.input)):
            self._report(f"{label}: {problem}")
        return Step(label, entry, opset, tuple(node.input), tuple(node.output), attributes)

    def _attributes(
        self, protos: Iterable[AttributeProto], given: Mapping[str, AttributeProto], label: str
    ) -> Iterable[tuple[str, Any]]:
        """Yield the attributes of a node by name, with those of its function filled in."""
        for proto in protos:
            source = given.get(proto.ref_attr_name) if proto.ref_attr_name else proto
            if source is None or proto.name == "consumed_inputs":
                continue
            found: list[Any] = []
            if source.type == AttributeProto.GRAPH:
                found.append(self.graph(source.g, given))
            elif source.type == AttributeProto.TENSOR:
                self._tensor(source.t, f"{label}: attribute {proto.name!r}", found.append)
            elif source.type == AttributeProto.SPARSE_TENSOR:
                self._sparse(source.sparse_tensor, found.append)
            elif source.type in _VALUES:
                found.append(_VALUES[source.type](source))
            else:
                self._report(f"{label}: attribute {proto.name!r} is a list of graphs, tensors or types")
            yield from ((proto.name, value) for value in found)

    def _function(
        self,
        function: FunctionProto,
        attributes: dict[str, Any],
        node: NodeProto,
        given: Mapping[str, AttributeProto],
    ) -> Operator:
        """Return a function of the model as an operator, with this call's attributes."""
        key = (function.domain, function.name, function.overload)
        if key in self.calls:
            self._report(f"function {function.name!r} calls itself")
            return _as_operator(function, Graph(function.name, (), (), {}, ()))
        bound = {proto.name: proto for proto in function.attribute_proto}
        for proto in node.attribute:
            source = given.get(proto.ref_attr_name) if proto.ref_attr_name else proto
            if source is not None:
                bound[proto.name] = source
        inside = Preparation(
            {**self.opsets, **opsets_of(function.opset_import)},
            self.functions,
            self.weights,
            self.problems,
            (*self.calls, key),
        )
        steps = inside._steps(function.node, bound, list(function.output))
        return _as_operator(
            function, Graph(function.name, tuple(function.input), tuple(function.output), {}, steps)
        )

    def _tensor(self, tensor: TensorProto, what: str, keep: Callable[[Array], object]) -> None:
        if tensor.data_type == TensorProto.STRING:
            self._report(f"{what} holds strings, which tensors do not")
        else:
            keep(self.weights.array(tensor))

    def _sparse(self, sparse: onnx.SparseTensorProto, keep: Callable[[Array], object]) -> None:
        values, indices = self.weights.array(sparse.values), self.weights.array(sparse.indices)
        dense = np.zeros(tuple(sparse.dims), values.dtype)
        if indices.ndim == 1:
            dense.reshape(-1)[indices] = values
        else:
            dense[tuple(indices.T)] = values
        keep(dense)

    def _report(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def opsets_of(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Return the version of each domain that a model or function imports."""
    return {("" if entry.domain == "ai.onnx" else entry.domain): entry.version for entry in imports}


def _as_operator(function: FunctionProto, graph: Graph) -> Operator:
    def call_function(*inputs: Value, call: Call) -> tuple[Value, ...]:
        missing = (None,) * (len(graph.inputs) - len(inputs))
        return tuple(graph.run(dict(zip(graph.inputs, (*inputs, *missing), strict=True))))

    return Operator(
        function.domain,
        function.name,
        since=1,
        until=None,
        function=call_function,
        keeps_type=False,
        inputs=(),
        rest=lambda value: value,
        choices={},
        attributes=frozenset(),
        takes_call=True,
    )


def _declared(kind: TypeProto) -> tuple[int, tuple[int, ...]] | None:
    """Return element type and sizes of a tensor whose rank is declared."""
    tensor = kind.tensor_type
    if not kind.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    return tensor.elem_type, tuple(size.dim_value for size in tensor.shape.dim)


def _element_type(kind: TypeProto) -> int:
    """Return the element type inside of sequences and optionals."""
    while True:
        which = kind.WhichOneof("value")
        if which in ("sequence_type", "optional_type"):
            kind = getattr(kind, which).elem_type
        elif which in ("tensor_type", "sparse_tensor_type"):
            return int(getattr(kind, which).elem_type)
        else:
            return 0
