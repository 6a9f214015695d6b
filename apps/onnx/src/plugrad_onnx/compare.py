"""Run a model node by node beside another runtime, and find the first difference."""

# functions of onnx take files that have no type
# pyright: reportUnknownMemberType=false

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from plugrad import Tensor
from plugrad.plugin.hints import install_line
from plugrad_onnx.errors import OnnxError
from plugrad_onnx.graph import Scope
from plugrad_onnx.model import Model
from plugrad_onnx.values import Array, Value, from_array
from plugrad_onnx.weights import self_contained

Judge = Literal["reference", "onnxruntime"]
RunAll = Callable[[Mapping[str, Array], Sequence[str]], dict[str, Any]]


@dataclass(frozen=True)
class Difference:
    """The distance of one value of a model from the judge's.

    Attributes:
        node: the node that computes the value, with operator and opset.
        value: its name.
        largest: largest absolute difference; infinite where shapes or types differ.
        is_close: whether it is within the tolerance.
    """

    node: str
    value: str
    largest: float
    is_close: bool


def compare(
    model: Model,
    inputs: Mapping[str, Array],
    judge: Judge = "reference",
    *,
    rtol: float = 1e-3,
    atol: float = 1e-5,
) -> list[Difference]:
    """Return the difference of each value to the judge's, in the order of the nodes.

    Args:
        model: what is compared.
        inputs: arrays by name.
        judge: the evaluator of the `onnx` package, or onnxruntime where it is installed.
        rtol: relative tolerance.
        atol: absolute tolerance.

    Raises:
        OnnxError: the judge is not installed, or does not know the model's operators.

    Example:
        >>> compare(load("model.onnx"), {"x": x})[0].is_close  # doctest: +SKIP
        True
    """
    names = [name for step in model.graph.steps for name in step.outputs if name]
    wanted = (_reference if judge == "reference" else _onnxruntime)(
        self_contained(model.proto, model.folder), inputs, names
    )
    scope = Scope({**model.graph.constants, **{name: from_array(array) for name, array in inputs.items()}})
    out: list[Difference] = []
    for step in model.graph.steps:
        step.run(scope)
        out += [
            _difference(step.label, name, scope[name], wanted[name], rtol, atol)
            for name in step.outputs
            if name and isinstance(wanted.get(name), np.ndarray)
        ]
    return out


def _difference(label: str, name: str, got: Value, want: Array, rtol: float, atol: float) -> Difference:
    array = got.numpy() if isinstance(got, Tensor) else got
    if not isinstance(array, np.ndarray) or array.shape != want.shape:
        return Difference(label, name, float("inf"), False)
    ours, theirs = array.astype(np.float64), want.astype(np.float64)
    close = bool(np.allclose(ours, theirs, rtol=rtol, atol=atol, equal_nan=True))
    distance = np.abs(ours - theirs)
    return Difference(label, name, float(np.nanmax(distance, initial=0.0)), close)


def _reference(proto: ModelProto, inputs: Mapping[str, Array], names: Sequence[str]) -> dict[str, Any]:
    try:
        results = ReferenceEvaluator(with_outputs(proto, names)).run(list(names), dict(inputs))
    except Exception as error:  # whatever operators of the package raise
        raise OnnxError(f"the evaluator of onnx cannot run the model: {error}") from error
    return dict(zip(names, results, strict=True))


def _onnxruntime(proto: ModelProto, inputs: Mapping[str, Array], names: Sequence[str]) -> dict[str, Any]:
    session = open_session(with_outputs(proto, names))
    return dict(zip(names, session.run(list(names), dict(inputs)), strict=True))


def open_session(model: ModelProto | Path) -> Any:
    """Return a session of onnxruntime that runs a model or a file on the CPU.

    Raises:
        OnnxError: onnxruntime is not installed, or refuses the model.
    """
    if runtime is None:
        command = install_line("plugrad-onnx[runtime]", "apps/onnx")
        raise OnnxError(f"onnxruntime is not installed. Install it with: {command}")
    source = str(model) if isinstance(model, Path) else model.SerializeToString()
    try:
        return runtime.InferenceSession(source, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exceptions have no common class
        raise OnnxError(f"onnxruntime refuses the model: {error}") from error


def with_outputs(proto: ModelProto, names: Sequence[str]) -> ModelProto:
    """Return a model that puts out all values with these names."""
    out = ModelProto()
    out.CopyFrom(proto)
    known = {value.name for value in out.graph.output}
    inferred = {value.name: value for value in onnx.shape_inference.infer_shapes(proto).graph.value_info}
    for name in names:
        if name not in known:
            out.graph.output.append(inferred.get(name) or onnx.ValueInfoProto(name=name))
    return out


def _import_runtime() -> Any:
    try:
        return importlib.import_module("onnxruntime")
    except ImportError:
        return None


runtime: Any = _import_runtime()

__all__ = ["Difference", "Judge", "compare", "open_session", "with_outputs"]
