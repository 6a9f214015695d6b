"""Load models, and call them."""

# functions of onnx take files that have no type
# pyright: reportUnknownMemberType=false

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import onnx.checker
import onnx.version_converter
from google.protobuf.message import DecodeError
from onnx import ModelProto

from plugrad import Tensor
from plugrad.tensor.shapes import is_static
from plugrad_onnx.dynamic import Axis, Dynamic, example_of, find_axes, with_variables
from plugrad_onnx.errors import InputError, InvalidModel, OnnxError, UnsupportedModel
from plugrad_onnx.graph import Graph
from plugrad_onnx.passes.folding import fold_constants
from plugrad_onnx.passes.fusing import fuse_normalizations
from plugrad_onnx.ports import Port, port_of
from plugrad_onnx.prepare import Preparation, opsets_of
from plugrad_onnx.values import Narrow, Value, element_type_of, from_array, type_name
from plugrad_onnx.weights import Weights


class Model:
    """Compute the outputs of an ONNX model.

    Made by `load`. Calling it takes arrays or Tensors, by position or by name, and returns Tensors by name.
    The graph is lazy like any of Tensors, so a call can stand in a function under `@jit`. Types that plugrad
    has no dtype for come back as their numbers: integers below a byte as int8 or uint8, FLOAT4E2M1 and
    FLOAT8E8M0 as float32.

    Attributes:
        proto: the model as the `onnx` package reads it, without external data.
        folder: where external data lies; None for a model that is no file.
        graph: what runs.
        inputs: what a call takes.
        outputs: what a call returns.
        axes: dynamic axes whose sizes are Variables, by name.
        specialized: dynamic axes for which a Variable was asked, and why each has kernels for each size.

    Example:
        >>> model = load("model.onnx")  # doctest: +SKIP
        >>> model(np.zeros((1, 3, 224, 224), np.float32))["probabilities"].argmax().item()  # doctest: +SKIP
        207
    """

    def __init__(
        self, proto: ModelProto, graph: Graph, dynamic: Dynamic = None, folder: Path | None = None
    ) -> None:
        self.proto = proto
        self.folder = folder
        self.graph = graph
        initialized = set(graph.constants)
        self.inputs = tuple(port_of(value, value.name not in initialized) for value in proto.graph.input)
        self.outputs = tuple(port_of(value, True) for value in proto.graph.output)
        self.axes = find_axes(self.inputs, dynamic)
        self.specialized: dict[str, str] = {}
        if self.axes:
            self._keep_axes_that_work()

    def __repr__(self) -> str:
        return f"<Model {self.graph.name}({', '.join(map(str, self.inputs))})>"

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the outputs by name.

        Args:
            args: inputs in the order of the model, those with a default value last.
            kwargs: inputs by name.

        Raises:
            InputError: an input is missing, unknown, or has another type or shape than the model says.
            NodeError: a node cannot compute with what it got.
        """
        return self.run(args, kwargs)

    def run(self, args: tuple[Any, ...] = (), named: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the outputs by name, from inputs by position and in a mapping."""
        inputs = self._checked_inputs(args, dict(named or {}))
        results = self.graph.run(with_variables(self.inputs, inputs, self.axes))
        return {port.name: _exported(value) for port, value in zip(self.outputs, results, strict=True)}

    def bind(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return inputs by name, in memory for the largest sizes, with Variables as dynamic sizes.

        One trace of `jit(model)`, and one set of kernels, serves all of them.

        Args:
            args: arrays or Tensors in the order of the model.
            kwargs: inputs by name.

        Raises:
            InputError: an input does not fit the model, or a size lies outside of its bounds.

        Example:
            >>> model = load("encoder.onnx", dynamic={"batch": (1, 8), "length": (1, 128)})  # doctest: +SKIP
            >>> encode = jit(model)  # doctest: +SKIP
            >>> encode(**model.bind(tokens))["embeddings"].numpy()  # doctest: +SKIP
        """
        given = {
            name: value.numpy() if isinstance(value, Tensor) and is_static(value.shape) else value
            for name, value in self._checked_inputs(args, kwargs).items()
        }
        return {
            name: _exported(value) for name, value in with_variables(self.inputs, given, self.axes).items()
        }

    def _keep_axes_that_work(self) -> None:
        """Leave out those axes whose sizes some operator needs as numbers, and keep the reason."""
        wanted = self.axes
        if self._problem_with(wanted) is None:
            return
        self.axes = kept = dict[str, Axis]()
        for name, axis in wanted.items():
            reason = self._problem_with({**kept, name: axis})
            if reason is None:
                kept[name] = axis
            else:
                self.specialized[name] = reason
        said = "; ".join(f"{name!r}: {reason}" for name, reason in self.specialized.items())
        warnings.warn(f"these sizes stay numbers, each with kernels of its own: {said}", stacklevel=5)

    def _problem_with(self, axes: Mapping[str, Axis]) -> str | None:
        """Return the reason that a graph refuses Variables as sizes, or None."""
        ports = [port for port in self.inputs if port.is_required]
        examples = {port.name: example_of(port, axes) for port in ports}
        try:
            self.graph.run(with_variables(ports, examples, axes))
        except OnnxError as error:
            return str(error)
        return None

    def _checked_inputs(self, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """Return inputs by name: arrays and Tensors with the model's types and shapes."""
        return {name: self._checked(name, value) for name, value in self._inputs_by_name(args, named).items()}

    def _inputs_by_name(self, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        order = sorted(self.inputs, key=lambda port: not port.is_required)
        if len(args) > len(order):
            raise InputError(f"the model takes {len(order)} inputs, not {len(args)}: {_ports(self.inputs)}")
        given = {port.name: value for port, value in zip(order, args, strict=False)}
        twice, unknown = given.keys() & named.keys(), named.keys() - {port.name for port in order}
        given.update(named)
        missing = [str(port) for port in order if port.is_required and port.name not in given]
        for names, what in ((twice, "given twice"), (unknown, "unknown"), (missing, "missing")):
            if names:
                raise InputError(
                    f"inputs {what}: {', '.join(sorted(names))}. The model takes {_ports(self.inputs)}"
                )
        return given

    def _checked(self, name: str, value: Any) -> Value:
        port = next(port for port in self.inputs if port.name == name)
        out = _imported(value)
        if not isinstance(out, Tensor | np.ndarray):
            return out
        kind = element_type_of(out)
        if port.element_type and port.element_type != kind:
            raise InputError(f"input {name!r} is of {type_name(kind)}, and the model takes {port}. Cast it.")
        fixed = port.shape
        if fixed is not None and (
            len(fixed) != out.ndim
            or any(isinstance(want, int) and want != got for want, got in zip(fixed, out.shape, strict=True))
        ):
            raise InputError(f"input {name!r} has shape {out.shape}, and the model takes {port}")
        return out


# the checker passes on what the file system says as a RuntimeError
_REFUSALS = (
    onnx.checker.ValidationError,
    onnx.version_converter.ConvertError,
    ValueError,
    RuntimeError,
    OSError,
)


def load(
    source: str | os.PathLike[str] | bytes | ModelProto, *, opset: int | None = None, dynamic: Dynamic = None
) -> Model:
    """Return the model in a file, in bytes, or in the `onnx` package's own form.

    Args:
        source: path of a model, its bytes, or a `ModelProto`. External data is read for a path only, from
            files in the folder of the model, each tensor when it is first used: those that constants are
            computed from, or that a normalization goes into, when the model is loaded.
        opset: version of the standard to convert the model to first; None runs it as it is.
        dynamic: smallest and largest size of dynamic axes, by the names that the model has for them:
            `{"batch": (1, 32)}`. These become Variables, so that one set of kernels serves all sizes. True
            takes all dynamic axes, up to the next power of two of each size. None has kernels for each.

    Raises:
        InputError: `dynamic` names what is no dynamic axis.
        InvalidModel: the bytes are no model, or break a rule of the standard.
        UnsupportedModel: the model needs what plugrad-onnx does not have; lists all of it.

    Example:
        >>> load("model.onnx")  # doctest: +SKIP
        <Model main_graph(x: FLOAT[batch, 3, 224, 224])>
    """
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    proto = read_model(source)
    folder = path.resolve().parent if path else None
    name = str(path or "")
    try:
        onnx.checker.check_model(str(path) if path else proto, check_custom_domain=False)
        if opset is not None:
            proto = onnx.version_converter.convert_version(proto, opset)
    except _REFUSALS as error:
        raise InvalidModel(f"{name or 'the model'}: {error}", path=name) from error
    return prepare(proto, folder, dynamic)


def read_model(source: str | os.PathLike[str] | bytes | ModelProto) -> ModelProto:
    """Return a model as the `onnx` package reads it, unchecked and without external data.

    Raises:
        InvalidModel: the bytes are no model.
    """
    if isinstance(source, ModelProto):
        return source
    try:
        if isinstance(source, bytes):
            return onnx.load_model_from_string(source)
        return onnx.load_model(os.fspath(source), load_external_data=False)
    except (DecodeError, ValueError) as error:
        name = "" if isinstance(source, bytes) else os.fspath(source)
        raise InvalidModel(f"{name or 'the bytes'}: no ONNX model: {error}", path=name) from error


def prepare(proto: ModelProto, folder: Path | None = None, dynamic: Dynamic = None) -> Model:
    """Return a checked model with its graph ready to run.

    Args:
        proto: the model.
        folder: where external data may lie; None allows none.
        dynamic: bounds of dynamic axes, as for `load`.

    Raises:
        InvalidModel: an initializer cannot be read.
        UnsupportedModel: lists everything that is missing.
    """
    functions = {(f.domain, f.name, f.overload): f for f in proto.functions}
    preparation = Preparation(opsets_of(proto.opset_import), functions, Weights(folder))
    graph = preparation.graph(proto.graph)
    if preparation.problems:
        raise UnsupportedModel(preparation.problems)
    return Model(proto, fuse_normalizations(fold_constants(graph)), dynamic, folder)


def _imported(value: Any) -> Value:
    """Return a caller's value as one that nodes take."""
    if value is None or isinstance(value, Tensor | Narrow | dict):
        return cast(Value, value)
    if isinstance(value, list | tuple):
        return [_imported(element) for element in cast(list[Any], value)]
    return np.asarray(value)


def _exported(value: Value) -> Any:
    """Return a value of a node as a caller's."""
    if isinstance(value, list):
        return [_exported(element) for element in value]
    if isinstance(value, np.ndarray):
        value = from_array(value)
    return value.data if isinstance(value, Narrow) else value


def _ports(ports: tuple[Port, ...]) -> str:
    return "; ".join(map(str, ports)) or "none"


__all__ = ["Model", "Port", "load", "prepare", "read_model"]
