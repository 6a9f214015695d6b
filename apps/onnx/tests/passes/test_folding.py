"""Tests of plugrad_onnx.passes.folding."""

import numpy as np
from models import model, node, value

from plugrad import Tensor
from plugrad_onnx import load


def test_what_reads_only_constants_is_computed_once() -> None:
    weight = np.arange(6, dtype=np.float32).reshape(2, 3)
    proto = model(
        [node("Transpose", ["w"], ["t"]), node("Neg", ["t"], ["n"]), node("MatMul", ["x", "n"], ["y"])],
        [value("x", [1, 3])],
        [value("y", [1, 2])],
        w=weight,
    )
    loaded = load(proto)
    assert [step.operator.name for step in loaded.graph.steps] == ["MatMul"]
    assert list(loaded.graph.constants) == ["n"]
    assert loaded(np.ones((1, 3), np.float32))["y"].tolist() == (-weight.sum(1)).reshape(1, 2).tolist()


def test_a_default_of_an_input_is_no_constant() -> None:
    proto = model(
        [node("Neg", ["w"], ["n"]), node("Add", ["x", "n"], ["y"])],
        [value("x", [2]), value("w", [2])],
        [value("y", [2])],
        w=np.float32([1, 2]),
    )
    loaded, x = load(proto), np.float32([5, 5])
    assert loaded(x)["y"].tolist() == [4.0, 3.0]
    assert loaded(x, w=x)["y"].tolist() == [0.0, 0.0]


def test_random_numbers_are_drawn_in_each_call() -> None:
    drawing = load(model([node("RandomUniform", [], ["y"], shape=[8])], [], [value("y", [8])]))
    assert drawing()["y"].tolist() != drawing()["y"].tolist()


def test_a_constant_that_would_grow_is_computed_in_the_call() -> None:
    proto = model(
        [node("ConstantOfShape", ["s"], ["y"])], [], [value("y", [100, 100])], s=np.int64([100, 100])
    )
    loaded = load(proto)
    assert len(loaded.graph.steps) == 1
    assert loaded()["y"].shape == (100, 100)


def test_large_weights_are_tensors_once() -> None:
    proto = model(
        [node("Add", ["x", "w"], ["y"])], [value("x", [9])], [value("y", [9])], w=np.ones(9, np.float32)
    )
    assert isinstance(load(proto).graph.constants["w"], Tensor)
