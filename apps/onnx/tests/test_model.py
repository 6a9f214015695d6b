"""Tests of plugrad_onnx.model."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from models import INT64, model, node, value

from plugrad import Tensor, jit
from plugrad_onnx import InputError, InvalidModel, NodeError, UnsupportedModel, load

SUM = model(
    [node("Add", ["x", "y"], ["z"])], [value("x", [2, "n"]), value("y", [2, "n"])], [value("z", [2, "n"])]
)
ONES = np.ones((2, 3), np.float32)


def test_inputs_go_by_position_and_by_name() -> None:
    add = load(SUM)
    assert add(ONES, y=Tensor(ONES))["z"].tolist() == [[2.0] * 3] * 2
    assert str(add) == "<Model test(x: FLOAT[2, n], y: FLOAT[2, n])>"


def test_paths_bytes_and_protos_are_one_model(tmp_path: Path) -> None:
    onnx.save_model(SUM, str(tmp_path / "sum.onnx"))
    for source in (SUM, SUM.SerializeToString(), tmp_path / "sum.onnx", str(tmp_path / "sum.onnx")):
        assert load(source)(ONES, ONES)["z"].sum().item() == 12


def test_an_old_model_can_be_converted_first() -> None:
    old = model([node("Squeeze", ["x"], ["y"], axes=[0])], [value("x", [1, 3])], [value("y", [3])], opset=11)
    assert load(old)(ONES[:1])["y"].shape == (3,)
    assert load(old, opset=13)(ONES[:1])["y"].shape == (3,)


def test_an_initializer_that_is_an_input_may_be_given() -> None:
    proto = model(
        [node("Mul", ["x", "w"], ["y"])],
        [value("w", [1]), value("x", [1])],
        [value("y", [1])],
        w=np.float32([3]),
    )
    half = np.float32([0.5])
    assert load(proto)(half)["y"].item() == 1.5
    assert load(proto)(half, w=half)["y"].item() == 0.25


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((ONES,), {}, "inputs missing: y: FLOAT"),
        ((ONES, ONES, ONES), {}, "takes 2 inputs, not 3"),
        ((ONES,), {"x": ONES, "y": ONES}, "given twice: x"),
        ((ONES, ONES), {"q": ONES}, "unknown: q"),
        ((ONES, ONES.astype(np.float64)), {}, "'y' is of DOUBLE"),
        ((ONES, ONES[:1]), {}, r"'y' has shape \(1, 3\)"),
        ((ONES, ONES[0]), {}, r"'y' has shape \(3,\)"),
    ],
)
def test_inputs_that_do_not_fit_are_named(
    args: tuple[object, ...], named: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load(SUM).run(args, named)


def test_everything_that_is_missing_is_said_before_anything_runs() -> None:
    strange = onnx.helper.make_node("Fold", ["x"], ["a"], name="first", domain="nowhere")
    proto = model(
        [strange, node("StringSplit", ["x"], ["b", "c"], delimiter=",")],
        [value("x", [1])],
        [value("a", [1])],
    )
    proto.opset_import.append(onnx.helper.make_opsetid("nowhere", 7))
    with pytest.raises(UnsupportedModel) as caught:
        load(proto)
    assert "node 'first' (nowhere.Fold, opset 7): the operator" in caught.value.problems[0]
    assert "(StringSplit, opset 20)" in caught.value.problems[1]


def test_strings_are_refused_by_name() -> None:
    proto = model([node("Identity", ["x"], ["y"])], [value("x", [1], 8)], [value("y", [1], 8)])
    with pytest.raises(UnsupportedModel, match="'x' holds strings"):
        load(proto)


def test_a_value_of_an_attribute_that_is_not_there_is_named() -> None:
    proto = model([node("Gelu", ["x"], ["y"], approximate="rough")], [value("x", [1])], [value("y", [1])])
    with pytest.raises(
        UnsupportedModel, match=r"Gelu, opset 20\): attribute 'approximate' is 'rough', .*'tanh'"
    ):
        load(proto)


def test_a_node_that_cannot_compute_is_named() -> None:
    proto = model(
        [onnx.helper.make_node("Reshape", ["x", "s"], ["y"], name="flat")],
        [value("x", ["n"]), value("s", [1], INT64)],
        [value("y", ["m"])],
    )
    with pytest.raises(NodeError, match=r"node 'flat' \(Reshape, opset 20\)") as caught:
        load(proto)(np.ones(3, np.float32), np.array([2]))
    assert caught.value.operator == "Reshape"


@pytest.mark.parametrize("data", [b"", b"no model", SUM.SerializeToString()[:60]])
def test_bytes_that_are_no_model_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidModel):
        load(data)


def test_a_cycle_is_refused() -> None:
    loop = model(
        [node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"])], [value("x", [1])], [value("b", [1])]
    )
    with pytest.raises(InvalidModel, match="topological"):
        load(loop)


def test_a_model_runs_inside_of_a_jitted_function() -> None:
    add = load(SUM)
    calls = 0

    @jit
    def twice(x: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        return (add(x, x)["z"] * 2).realize()

    for i in range(4):
        assert twice(Tensor(ONES * i).realize()).tolist() == [[4.0 * i] * 3] * 2
    assert calls < 4


def test_shape_arithmetic_stays_on_the_host() -> None:
    proto = model(
        [
            node("Shape", ["x"], ["shape"]),
            node("Gather", ["shape", "zero"], ["rows"]),
            node("Mul", ["rows", "two"], ["twice"]),
            node("Unsqueeze", ["twice", "axis"], ["axes"]),
            node("Concat", ["axes", "rest"], ["wanted"], axis=0),
            node("Reshape", ["x", "wanted"], ["y"]),
        ],
        [value("x", ["n", 4])],
        [value("y", ["m", "k"]), value("wanted", [2], INT64)],
        zero=np.int64(0),
        two=np.int64(2),
        axis=np.int64([0]),
        rest=np.int64([-1]),
    )
    prepared = load(proto)
    (out, wanted) = prepared.graph.run({"x": Tensor.ones(3, 4)})
    assert isinstance(wanted, np.ndarray)
    assert isinstance(out, Tensor)
    assert out.shape == (6, 2)


def test_optional_inputs_at_the_end_may_be_left_out() -> None:
    proto = model(
        [node("Clip", ["x", "", "high"], ["y"])], [value("x", [3])], [value("y", [3])], high=np.float32(0.5)
    )
    assert load(proto)(np.float32([-1, 0, 1]))["y"].tolist() == [-1.0, 0.0, 0.5]
