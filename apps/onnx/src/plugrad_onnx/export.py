"""Write functions of tensors as ONNX models."""

# functions of onnx take files that have no type
# pyright: reportUnknownMemberType=false

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx
import onnx.checker
import onnx.defs
import onnx.helper
from onnx import ModelProto

from plugrad import Tensor, UOp
from plugrad.events import TensorEvent, subscribe
from plugrad.nn.state import get_state_dict
from plugrad.tensor.shapes import is_static
from plugrad_onnx.errors import OnnxError
from plugrad_onnx.translate import Translation, Untranslated

OLDEST_OPSET = 18
#: largest size of a dynamic axis that is given by its name
LARGEST = 1 << 20


def export(
    function: Callable[..., Any],
    example_inputs: Sequence[Any],
    path: str | os.PathLike[str] | None = None,
    *,
    input_names: Sequence[str] | None = None,
    dynamic: Mapping[str, Mapping[int, str | UOp]] | None = None,
    opset: int | None = None,
) -> ModelProto:
    """Return a model that computes a function of tensors, for inputs of these shapes.

    The function is called once, and what it builds is written down; what it realizes inside is a constant.
    Tensors that are no inputs, such as parameters, become initializers. A module of `plugrad.nn` is such a
    function; `module.eval()` first leaves out what only training does.

    Args:
        function: takes tensors, returns a tensor, several, or a dict of them.
        example_inputs: arrays or tensors with the shapes and dtypes of the inputs.
        path: where to write the model as well.
        input_names: names of the inputs; None calls them x0, x1 and so on.
        dynamic: axes of inputs that may have any size, by input and axis: `{"x0": {0: "batch"}}`. A Variable
            in place of a name has bounds, which the function may need, as for a slice of a table. Inputs
            with Variables as sizes need no mention.
        opset: version of the standard, from 18 on, for runtimes that do not know the current one; None: the
            current one of the installed `onnx`.

    Raises:
        OnnxError: the graph holds what ONNX has no operator for, or does not depend on the inputs.

    Example:
        >>> proto = export(lambda x: x.relu() + 1, [np.zeros((2, 3), np.float32)])
        >>> [node.op_type for node in proto.graph.node][-1]
        'Add'
    """
    current = onnx.defs.onnx_opset_version()
    opset = current if opset is None else opset
    if not OLDEST_OPSET <= opset <= current:
        raise OnnxError(f"opset {opset} is none of {OLDEST_OPSET} to {current}")
    names = list(input_names or (f"x{i}" for i in range(len(example_inputs))))
    if len(names) != len(example_inputs) or len(set(names)) != len(names):
        raise OnnxError(f"{len(example_inputs)} inputs need as many different names, not {names}")
    if unknown := set(dynamic or ()) - set(names):
        raise OnnxError(f"dynamic axes are given for {sorted(unknown)}, and the inputs are {names}")
    wanted = [(dynamic or {}).get(name, {}) for name in names]
    # weights that were drawn and not needed yet: no operator of ONNX draws the same numbers
    if state := [value for value in get_state_dict(function).values() if value.is_floating_point()]:
        Tensor.realize(*state)
    # memory of their own, so that two inputs with equal values are two inputs
    inputs = [_placed(value, axes) for value, axes in zip(example_inputs, wanted, strict=True)]
    lines: list[TensorEvent] = []
    with subscribe(TensorEvent, lines.append):
        outputs = _results_by_name(function(*inputs))
    translation = Translation({x.uop: name for x, name in zip(inputs, names, strict=True)}, inputs[0].device)
    try:
        for name, out in outputs.items():
            translation.add_output(name, out.uop)
    except Untranslated as error:
        raise OnnxError(f"{_line_of(error.node, lines)}{error}") from error
    if not translation.used_inputs:
        raise OnnxError(
            "the outputs do not depend on the inputs: the function realizes values, or ignores them"
        )
    graph = onnx.helper.make_graph(
        translation.nodes,
        getattr(function, "__name__", type(function).__name__),
        [translation.port(name, x.uop) for name, x in zip(names, inputs, strict=True)],
        [translation.port(name, out.uop) for name, out in outputs.items()],
        translation.initializers,
    )
    imports = [onnx.helper.make_opsetid("", opset)]
    proto = onnx.helper.make_model(graph, opset_imports=imports, producer_name="plugrad")
    proto.ir_version = min(proto.ir_version, onnx.helper.find_min_ir_version_for(imports))
    onnx.checker.check_model(proto, full_check=True)
    if path is not None:
        onnx.save_model(proto, os.fspath(path))
    return proto


def _line_of(node: UOp, lines: Sequence[TensorEvent]) -> str:
    """Return the line of the user's program that made a node, or an empty string."""
    for event in lines:
        if event.line and isinstance(event.node, UOp) and node in event.node.toposort():
            return f"{event.line}: "
    return ""


def _placed(value: Any, axes: Mapping[int, str | UOp]) -> Tensor:
    """Return an example in its own memory, with Variables as sizes of dynamic axes."""
    if isinstance(value, Tensor) and not is_static(value.shape):
        return Tensor.empty(*value.shape, dtype=value.dtype)
    example = _copied(value)
    if not axes:
        return example
    sizes: list[Any] = list(example.shape)
    for axis, name in axes.items():
        variable = name if isinstance(name, UOp) else UOp.variable(name, 1, LARGEST)
        sizes[axis] = variable.bind(sizes[axis])
    return Tensor.empty(*sizes, dtype=example.dtype)


def _copied(value: Any) -> Tensor:
    array = value.numpy() if isinstance(value, Tensor) else np.asarray(value)
    out = Tensor(array)
    return (out.cast(value.dtype) if isinstance(value, Tensor) else out).contiguous().realize()


def _results_by_name(result: Any) -> dict[str, Tensor]:
    """Return the results of a function as tensors by name."""
    if isinstance(result, Tensor):
        return {"y": result}
    if isinstance(result, Mapping):
        named = {str(key): value for key, value in cast(Mapping[Any, Any], result).items()}
    elif isinstance(result, list | tuple):
        named = {f"y{i}": value for i, value in enumerate(cast(Sequence[Any], result))}
    else:
        named = {"y": result}
    for name, value in named.items():
        if not isinstance(value, Tensor):
            raise OnnxError(f"output {name!r} is a {type(value).__name__}, and no tensor")
    return named
