"""Tests of plugrad_onnx.packing."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.reference
from models import model, node, value

from plugrad import Tensor
from plugrad_onnx import load

RNG = np.random.default_rng(0)
W = RNG.standard_normal((32, 16, 3, 3)).astype(np.float32)


def network(size: int, *more: onnx.NodeProto, **attributes: Any) -> onnx.ModelProto:
    conv = node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1], **attributes)
    channels = 16 * attributes.get("group", 1)
    ports = [value("y", [1, 32, size, size])]
    return model([conv, *more], [value("x", [1, channels, size, size])], ports, w=W)


def is_packed(proto: onnx.ModelProto) -> bool:
    """Say whether output channels lie side by side in the memory of the weights."""
    weight = load(proto).graph.constants["w"]
    assert isinstance(weight, Tensor)
    return "PERMUTE" in str(weight.uop)


def test_weights_of_short_rows_have_output_channels_innermost() -> None:
    assert is_packed(network(7))
    assert is_packed(network(14))
    assert not is_packed(network(28))


def test_groups_and_weights_with_other_readers_stay() -> None:
    assert not is_packed(network(7, group=2))
    assert not is_packed(network(7, node("Conv", ["x", "w"], ["z"])))


def test_weights_in_a_file_are_not_read_for_it(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    onnx.save_model(network(7), str(file), save_as_external_data=True, location="w.bin", size_threshold=10)
    loaded = load(file)
    (tmp_path / "w.bin").write_bytes(np.ones_like(W).tobytes())
    x = np.ones((1, 16, 7, 7), np.float32)
    assert loaded(x)["y"].numpy()[0, :, 3, 3].tolist() == [16.0 * 9] * 32


def test_results_are_those_of_the_standards_own_evaluator() -> None:
    proto = network(7)
    x = RNG.standard_normal((1, 16, 7, 7)).astype(np.float32)
    (expected,) = onnx.reference.ReferenceEvaluator(proto).run(None, {"x": x})
    np.testing.assert_allclose(load(proto)(x)["y"].numpy(), expected, rtol=1e-4, atol=1e-4)
