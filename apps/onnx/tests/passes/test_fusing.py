"""Tests of plugrad_onnx.passes.fusing."""

from typing import Any

import numpy as np
import onnx
import onnx.reference
from models import model, node, value

from plugrad_onnx import load

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 3, 5, 5)).astype(np.float32)
NORM = {
    "scale": RNG.standard_normal(4).astype(np.float32),
    "bias": RNG.standard_normal(4).astype(np.float32),
    "mean": RNG.standard_normal(4).astype(np.float32),
    "var": RNG.random(4).astype(np.float32) + 0.5,
}


def kinds_of(proto: onnx.ModelProto) -> list[str]:
    return [step.operator.name for step in load(proto).graph.steps]


def network(
    *more: onnx.NodeProto, bias: bool = True, outputs: Any = ("y",), **attributes: Any
) -> onnx.ModelProto:
    weights: dict[str, Any] = {**NORM, "w": RNG.standard_normal((4, 3, 3, 3)).astype(np.float32)}
    if bias:
        weights["b"] = RNG.standard_normal(4).astype(np.float32)
    conv = node("Conv", ["x", "w", "b"] if bias else ["x", "w"], ["c"], pads=[1, 1, 1, 1])
    norm = node("BatchNormalization", ["c", *NORM], ["y"], **attributes)
    ports = [value(name, [2, 4, 5, 5]) for name in outputs]
    return model([conv, norm, *more], [value("x", X.shape)], ports, **weights)


def test_a_normalization_goes_into_the_weights_before_it() -> None:
    for bias in (True, False):
        proto = network(bias=bias, epsilon=0.01)
        assert kinds_of(proto) == ["Conv"]
        want = onnx.reference.ReferenceEvaluator(proto).run(None, {"x": X})[0]
        np.testing.assert_allclose(load(proto)(X)["y"].numpy(), want, rtol=1e-4, atol=1e-5)


def test_a_convolution_that_somebody_else_reads_stays() -> None:
    assert kinds_of(network(node("Neg", ["c"], ["z"]), outputs=("y", "z"))) == [
        "Conv",
        "BatchNormalization",
        "Neg",
    ]
    assert kinds_of(network(outputs=("y", "c"))) == ["Conv", "BatchNormalization"]


def test_statistics_of_the_batch_stay() -> None:
    assert kinds_of(network(training_mode=1)) == ["Conv", "BatchNormalization"]
