"""Run the cases of the `onnx` package, and say for each whether it passes.

The cases are the standard's own judge: a model each, with inputs and the outputs that are right. A case is
refused where loading says that something is not supported; everything else that is not right has failed.
"""

# functions of onnx take files that have no type
# pyright: reportUnknownMemberType=false

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import onnx
import onnx.numpy_helper
from onnx import ModelProto
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.loader import load_model_tests

from plugrad import Tensor
from plugrad_onnx.errors import UnsupportedModel
from plugrad_onnx.model import load

KINDS = ("node", "simple", "real", "pytorch-converted", "pytorch-operator")
Verdict = Literal["passed", "refused", "failed"]

# operators whose outputs are drawn: shape and type are compared, and not the numbers
_RANDOM = {
    "Bernoulli",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Multinomial",
}
# the probability of a dropout that draws; one of 0 does not
_DRAWN = re.compile(r"test_training_dropout(?!_zero_ratio)")
# dtypes that hold NumPy's extension types
_EXPECTED_NAMES = {
    "float8_e4m3fn": "fp8e4m3",
    "float8_e4m3fnuz": "fp8e4m3fnuz",
    "float8_e5m2": "fp8e5m2",
    "float8_e5m2fnuz": "fp8e5m2fnuz",
    "float8_e8m0fnu": "float32",
    "float4_e2m1fn": "float32",
    "int4": "int8",
    "int2": "int8",
    "uint4": "uint8",
    "uint2": "uint8",
}


@dataclass(frozen=True)
class Case:
    """Hold one case.

    Attributes:
        name: as the package calls it.
        kind: one of `KINDS`.
        model: what runs.
        data_sets: inputs and outputs.
        rtol: relative tolerance of the outputs.
        atol: absolute tolerance of the outputs.
    """

    name: str
    kind: str
    model: ModelProto
    data_sets: list[tuple[list[Any], list[Any]]]
    rtol: float
    atol: float

    def operators(self) -> set[tuple[str, str]]:
        """Return the domains and names of the operators in the model's own graph."""
        nodes = [
            *self.model.graph.node,
            *(node for function in self.model.functions for node in function.node),
        ]
        return {(node.domain, node.op_type) for node in nodes}


@dataclass(frozen=True)
class Result:
    """The outcome of a case, and the reason."""

    case: str
    kind: str
    verdict: Verdict
    reason: str = ""


def read_cases(kinds: Sequence[str] = KINDS) -> Iterator[Case]:
    """Yield the cases of these kinds, in the order of the package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package overflows on purpose where it makes cases
        found = [(kind, case) for kind in kinds for case in load_model_tests(kind=kind)]
    for kind, case in found:
        yield _read(kind, case)


def _read(kind: str, case: TestCase) -> Case:
    if case.model is not None:
        return Case(case.name, kind, case.model, cast(Any, list(case.data_sets or ())), case.rtol, case.atol)
    if case.model_dir is not None:
        folder = Path(case.model_dir)
        model = onnx.load_model(str(folder / "model.onnx"))
        sets = [_read_data(model, data) for data in sorted(folder.glob("test_data_set_*"))]
        return Case(case.name, kind, model, sets, case.rtol, case.atol)
    model = onnx.load_model(str(Path(onnx.__file__).parent.parent / str(case.url)))
    return Case(case.name, kind, model, [_light_data(str(case.url), model)], case.rtol, case.atol)


def _read_data(model: ModelProto, folder: Path) -> tuple[list[Any], list[Any]]:
    initialized = {tensor.name for tensor in model.graph.initializer}
    count = len(list(folder.glob("input_*.pb")))
    inputs = list(model.graph.input)
    if count != len(inputs):
        inputs = [value for value in inputs if value.name not in initialized]
    return (
        [_read_value(folder / f"input_{i}.pb", value) for i, value in enumerate(inputs[:count])],
        [_read_value(folder / f"output_{i}.pb", value) for i, value in enumerate(model.graph.output)],
    )


def _read_value(file: Path, value: onnx.ValueInfoProto) -> Any:
    kind = value.type.WhichOneof("value")
    if kind == "sequence_type":
        return onnx.numpy_helper.to_list(onnx.SequenceProto.FromString(file.read_bytes()))
    if kind == "optional_type":
        return onnx.numpy_helper.to_optional(onnx.OptionalProto.FromString(file.read_bytes()))
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(file.read_bytes()))


def _light_data(url: str, model: ModelProto) -> tuple[list[Any], list[Any]]:
    """Return the input that the package invents for a light model, and the expected output."""
    initialized = {tensor.name for tensor in model.graph.initializer}
    (port,) = (value for value in model.graph.input if value.name not in initialized)
    shape = tuple(size.dim_value for size in port.type.tensor_type.shape.dim)
    count = int(np.prod(shape))
    ramp = np.arange(count).reshape(shape).astype(np.float32) / count
    stem = Path(onnx.__file__).parent.parent / url.removesuffix(".onnx")
    return [ramp], [_read_value(stem.with_name(f"{stem.name}_output_0.pb"), model.graph.output[0])]


def run_case(case: Case) -> Result:
    """Load and run a case, and compare its outputs."""
    try:
        model = load(case.model)
    except UnsupportedModel as error:
        return Result(case.name, case.kind, "refused", "; ".join(error.problems))
    except Exception as error:  # whatever goes wrong is a failure of the case, and is told
        return Result(case.name, case.kind, "failed", f"{type(error).__name__}: {error}")
    try:
        for given in case.data_sets:
            inputs, outputs = ([_as_array(value) for value in values] for values in given)
            every = len(inputs) == len(model.inputs)
            ports = [port for port in model.inputs if every or port.is_required]
            named = {port.name: value for port, value in zip(ports, inputs, strict=True)}
            with np.errstate(all="ignore"):
                got = model.run(named=named)
                for want, (name, value) in zip(outputs, got.items(), strict=True):
                    _compare(name, value, want, case)
    except Exception as error:
        return Result(case.name, case.kind, "failed", f"{type(error).__name__}: {error}")
    return Result(case.name, case.kind, "passed")


def _as_array(value: Any) -> Any:
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _compare(name: str, got: Any, want: Any, case: Case) -> None:
    if isinstance(want, list):
        given, wanted = cast(list[Any], got), cast(list[Any], want)
        if not isinstance(got, list) or len(given) != len(wanted):
            raise AssertionError(f"output {name!r} is no sequence of {len(wanted)}")
        for one, other in zip(given, wanted, strict=True):
            _compare(name, one, other, case)
    elif want is None or got is None:
        if got is not None or want is not None:
            raise AssertionError(f"output {name!r} is {got}, and {want} is right")
    else:
        _compare_arrays(name, got, np.asarray(want), case)


def _compare_arrays(name: str, got: Tensor, want: Any, case: Case) -> None:
    kind = want.dtype.name
    array = got.numpy()
    if array.shape != want.shape:
        raise AssertionError(f"output {name!r} has shape {array.shape}, and {want.shape} is right")
    if got.dtype.name != _EXPECTED_NAMES.get(kind, kind):
        raise AssertionError(f"output {name!r} is of {got.dtype}, and {kind} is right")
    if _RANDOM & {operator for _, operator in case.operators()} or _DRAWN.match(case.name):
        return
    atol = _atol(want, case)
    if kind not in ("bool", "int64", "uint64") and want.dtype.kind not in "iu":
        array, want = array.astype(np.float64), want.astype(np.float64)
    np.testing.assert_allclose(
        array, want.astype(array.dtype), rtol=_rtol(kind, case), atol=atol, err_msg=name
    )


def _atol(want: Any, case: Case) -> float:
    """Return the absolute tolerance: a unit in the last place of the largest element.

    Elements near 0 are what is left of sums of larger ones, in the standard's numbers as well.
    """
    if want.dtype.kind != "f" or want.dtype.itemsize < 2 or not np.isfinite(want).any():
        return case.atol
    largest = np.abs(want[np.isfinite(want)]).max()
    return max(case.atol, float(np.finfo(want.dtype).eps * largest))


def _rtol(kind: str, case: Case) -> float:
    """Return the package's relative tolerance: two units in the last place of bfloat16."""
    return max(case.rtol, 2**-6) if kind == "bfloat16" else case.rtol
