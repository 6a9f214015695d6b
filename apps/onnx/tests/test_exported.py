"""Networks that PyTorch exports, beside onnxruntime."""

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch")
onnxruntime = pytest.importorskip("onnxruntime")
quantization = pytest.importorskip("onnxruntime.quantization")

from networks import AXES, NETWORKS, resnet18  # noqa: E402 - needs torch

from plugrad import context  # noqa: E402
from plugrad_onnx import Model, load  # noqa: E402

Exporter = Callable[[Any, Any, dict[int, str]], bytes]


def by_tracing(network: Any, example: Any, axes: dict[int, str]) -> bytes:
    file = io.BytesIO()
    torch.onnx.export(network, (example,), file, dynamo=False, input_names=["x"], dynamic_axes={"x": axes})
    return file.getvalue()


def by_dynamo(network: Any, example: Any, axes: dict[int, str]) -> bytes:
    shapes = {axis: torch.export.Dim(name, max=32) for axis, name in axes.items()}
    program = torch.onnx.export(network, (example,), dynamo=True, verbose=False, dynamic_shapes=(shapes,))
    return program.model_proto.SerializeToString()


EXPORTERS = [by_tracing, pytest.param(by_dynamo, marks=pytest.mark.wide)]


def exported(name: str, exporter: Exporter) -> tuple[bytes, Any]:
    torch.manual_seed(0)
    with torch.no_grad():
        network, example = NETWORKS[name]()
    return quietly(exporter, network.eval(), example, AXES[name]), example.numpy()


def quietly(exporter: Exporter, network: Any, example: Any, axes: dict[int, str]) -> bytes:
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return exporter(network, example, axes)


def assert_same(data: bytes, loaded: Model, given: Any) -> None:
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    (port,) = session.get_inputs()
    wanted = session.run(None, {port.name: given})
    for want, value in zip(wanted, loaded(given).values(), strict=True):
        np.testing.assert_allclose(value.numpy(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("name", NETWORKS)
def test_an_exported_network_agrees_with_onnxruntime(name: str, exporter: Exporter) -> None:
    data, example = exported(name, exporter)
    assert_same(data, load(data), example)


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("name", NETWORKS)
def test_dynamic_axes_of_an_exported_network_are_variables(name: str, exporter: Exporter) -> None:
    data, example = exported(name, exporter)
    loaded = load(data, dynamic=True)
    assert loaded.specialized == {}
    assert len(loaded.axes) == len(AXES[name])
    assert_same(data, loaded, example)
    larger = np.concatenate([example, example[:, ::-1], example])
    assert_same(data, loaded, np.concatenate([larger, larger], 1) if 1 in AXES[name] else larger)


@pytest.mark.wide
@pytest.mark.parametrize("exporter", [by_tracing, by_dynamo])
def test_a_residual_network_of_18_layers_agrees_with_onnxruntime(exporter: Exporter) -> None:
    torch.manual_seed(0)
    with torch.no_grad():
        network, example = resnet18()
    data = quietly(exporter, network.eval(), example, {0: "batch"})
    with context(DEVICE="CPU"):
        assert_same(data, load(data, dynamic={"batch": (1, 2)}), example.numpy())


@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_a_network_quantized_by_onnxruntime_agrees_with_it(form: str, tmp_path: Path) -> None:
    data, example = exported("resnet", by_tracing)
    (tmp_path / "float.onnx").write_bytes(data)

    class Examples(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self.left = [{"x": example}]

        def get_next(self) -> dict[str, Any] | None:
            return self.left.pop() if self.left else None

    paths = str(tmp_path / "ready.onnx"), str(tmp_path / "int8.onnx")
    quantization.quant_pre_process(str(tmp_path / "float.onnx"), paths[0], skip_symbolic_shape=True)
    # operators of the standard only: without a list, those of onnxruntime come in
    kinds = ["Conv", "MatMul"] if form == "QOperator" else None
    options = {"quant_format": quantization.QuantFormat[form], "op_types_to_quantize": kinds}
    quantization.quantize_static(*paths, Examples(), **options)
    # a step of the last quantization apart at most, where sums of floats round to the other side
    assert_close((tmp_path / "int8.onnx").read_bytes(), example, 0.02)


def test_an_encoder_with_quantized_weights_agrees_with_onnxruntime(tmp_path: Path) -> None:
    data, example = exported("encoder", by_tracing)
    (tmp_path / "float.onnx").write_bytes(data)
    # weights of seven bits: on a processor with AVX2 and without VNNI, onnxruntime adds two products of
    # eight bits in sixteen and saturates; reduce_range is its setting for such processors
    quantization.quantize_dynamic(tmp_path / "float.onnx", tmp_path / "int8.onnx", reduce_range=True)
    quantized = (tmp_path / "int8.onnx").read_bytes()
    kinds = {node.op_type for node in onnx.load_model_from_string(quantized).graph.node}
    assert {"MatMulInteger", "DynamicQuantizeLinear"} <= kinds
    assert_close(quantized, example, 0.02)


def assert_close(data: bytes, example: Any, atol: float) -> None:
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    (want,) = session.run(None, {"x": example})
    (got,) = load(data, dynamic=True)(example).values()
    np.testing.assert_allclose(got.numpy(), want, atol=atol)
