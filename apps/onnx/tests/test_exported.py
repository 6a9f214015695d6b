"""Networks that PyTorch exports, beside onnxruntime."""

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnxruntime = pytest.importorskip("onnxruntime")

from networks import NETWORKS  # noqa: E402 - needs torch

from plugrad_onnx import load  # noqa: E402


def exported(name: str, dynamo: bool) -> tuple[bytes, Any]:
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)  # one operation that the older exporter does not know
    network, example = NETWORKS[name]()
    network.eval()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        if dynamo:
            shapes = ({0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=32)},)
            program = torch.onnx.export(
                network,
                (example,),
                dynamo=True,
                verbose=False,
                dynamic_shapes=shapes if name == "encoder" else None,
            )
            return program.model_proto.SerializeToString(), example
        file = io.BytesIO()
        axes = {"x": {0: "batch", 1: "length"}} if name == "encoder" else None
        torch.onnx.export(network, (example,), file, dynamo=False, input_names=["x"], dynamic_axes=axes)
        return file.getvalue(), example


def assert_same(data: bytes, given: Any) -> None:
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    (port,) = session.get_inputs()
    wanted = session.run(None, {port.name: given})
    got = load(data)(given)
    for want, value in zip(wanted, got.values(), strict=True):
        np.testing.assert_allclose(value.numpy(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dynamo", [False, pytest.param(True, marks=pytest.mark.wide)])
@pytest.mark.parametrize("name", NETWORKS)
def test_an_exported_network_agrees_with_onnxruntime(name: str, dynamo: bool) -> None:
    data, example = exported(name, dynamo)
    assert_same(data, example.numpy())


@pytest.mark.wide
def test_an_encoder_takes_other_batches_and_lengths() -> None:
    data, _ = exported("encoder", True)
    for batch, length in ((1, 3), (3, 11)):
        assert_same(data, np.arange(batch * length).reshape(batch, length) % 50)


def test_a_network_quantized_by_onnxruntime_agrees_with_it(tmp_path: Path) -> None:
    quantization = pytest.importorskip("onnxruntime.quantization")
    data, example = exported("resnet", dynamo=False)
    (tmp_path / "float.onnx").write_bytes(data)

    class Examples(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self.left = [{"x": example.numpy()}]

        def get_next(self) -> dict[str, Any] | None:
            return self.left.pop() if self.left else None

    paths = str(tmp_path / "float.onnx"), str(tmp_path / "int8.onnx")
    quantization.quantize_static(*paths, Examples(), quant_format=quantization.QuantFormat.QDQ)
    quantized = (tmp_path / "int8.onnx").read_bytes()
    session = onnxruntime.InferenceSession(quantized, providers=["CPUExecutionProvider"])
    (want,) = session.run(None, {"x": example.numpy()})
    (got,) = load(quantized)(example.numpy()).values()
    # a step of the last quantization apart at most, where sums of floats round to the other side
    np.testing.assert_allclose(got.numpy(), want, atol=0.02)
