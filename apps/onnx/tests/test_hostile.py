"""Files that are damaged or made to do harm: typed errors, no crash, no hang."""

import os
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import pytest
from models import INT64, model, node, value

from plugrad.errors import PlugradError
from plugrad_onnx import InvalidModel, NodeError, UnsupportedModel, load

MUTATIONS = 9000 if os.environ.get("EVERYTHING") else 1035


def seeds() -> list[onnx.ModelProto]:
    branch = onnx.helper.make_graph([node("Neg", ["x"], ["a"])], "then", [], [value("a", ["n", 4])])
    other = onnx.helper.make_graph([node("Abs", ["x"], ["a"])], "else", [], [value("a", ["n", 4])])
    return [
        model(
            [
                node("Shape", ["x"], ["s"], start=0, end=1),
                node("Concat", ["s", "rest"], ["to"], axis=0),
                node("Reshape", ["x", "to"], ["r"]),
                node("Gemm", ["r", "w", "b"], ["g"], transB=1, alpha=0.5),
                node("Softmax", ["g"], ["y"], axis=-1),
            ],
            [value("x", ["n", 2, 2])],
            [value("y", ["n", 3])],
            rest=np.int64([4]),
            w=np.arange(12, dtype=np.float32).reshape(3, 4),
            b=np.zeros(3, np.float32),
        ),
        model(
            [
                node("Conv", ["x", "k"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
                node("MaxPool", ["c"], ["p"], kernel_shape=[2, 2], ceil_mode=1),
                node("Transpose", ["p"], ["y"], perm=[0, 2, 3, 1]),
            ],
            [value("x", [1, 1, 4, 4])],
            [value("y", [1, "h", "w", 2])],
            k=np.ones((2, 1, 3, 3), np.float32),
        ),
        model(
            [
                node("ReduceSum", ["x"], ["t"], keepdims=0),
                node("Greater", ["t", "zero"], ["up"]),
                node("If", ["up"], ["y"], then_branch=branch, else_branch=other),
            ],
            [value("x", ["n", 4])],
            [value("y", ["n", 4])],
            zero=np.float32(0),
        ),
        model(
            [node("Slice", ["x", "from", "to", "axes"], ["s"]), node("Gather", ["s", "i"], ["y"], axis=1)],
            [value("x", [3, 4])],
            [value("y", [2, 2])],
            **{"from": np.int64([1]), "to": np.int64([9]), "axes": np.int64([0]), "i": np.int64([0, -1])},
        ),
        model(
            [
                node("LSTM", ["x", "w", "r", "b"], ["", "h"], hidden_size=2, direction="reverse"),
                node("Squeeze", ["h", "axis"], ["y"]),
            ],
            [value("x", [3, 1, 2])],
            [value("y", [1, 2])],
            w=np.ones((1, 8, 2), np.float32),
            r=np.ones((1, 8, 2), np.float32),
            b=np.zeros((1, 16), np.float32),
            axis=np.int64([0]),
        ),
        _with_a_loop(),
        _with_a_function(),
        model(
            [
                node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
                node("QLinearMatMul", ["q", "scale", "zero", "w", "scale", "zero", "scale", "zero"], ["p"]),
                node("DequantizeLinear", ["p", "scale", "zero"], ["y"]),
            ],
            [value("x", ["n", 3])],
            [value("y", ["n", 2])],
            scale=np.float32(0.1),
            zero=np.uint8(7),
            w=np.arange(6, dtype=np.uint8).reshape(3, 2),
        ),
        _with_trees(),
    ]


def _with_a_loop() -> onnx.ModelProto:
    body = onnx.helper.make_graph(
        [node("Identity", ["c"], ["again"]), node("Add", ["s", "x"], ["kept"]), node("Neg", ["s"], ["out"])],
        "body",
        [value("i", [], INT64), value("c", [], 9), value("s", [2])],
        [value("again", [], 9), value("kept", [2]), value("out", [2])],
    )
    return model(
        [node("Loop", ["n", "", "x"], ["last", "y"], body=body)],
        [value("x", [2])],
        [value("last", [2]), value("y", ["k", 2])],
        n=np.int64(3),
    )


def _with_a_function() -> onnx.ModelProto:
    proto = model(
        [onnx.helper.make_node("Twice", ["x"], ["y"], domain="own")], [value("x", ["n"])], [value("y", ["n"])]
    )
    imports = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("own", 1)]
    steps = [node("Exp", ["a"], ["e"]), node("Add", ["e", "e"], ["b"])]
    proto.functions.append(onnx.helper.make_function("own", "Twice", ["a"], ["b"], steps, imports))
    proto.opset_import.append(imports[1])
    return proto


def _with_trees() -> onnx.ModelProto:
    step = onnx.helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2],
        nodes_featureids=[1, 0, 0],
        nodes_values=[0.5, 0.0, 0.0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_truenodeids=[1, 0, 0],
        nodes_falsenodeids=[2, 0, 0],
        target_treeids=[0, 0],
        target_nodeids=[1, 2],
        target_ids=[0, 0],
        target_weights=[1.0, 2.0],
    )
    return model([step], [value("x", ["n", 2])], [value("y", ["n", 1])])


def call(data: bytes) -> None:
    """Load a model and call it on ones, in the sizes that it declares."""
    loaded = load(data)
    arrays: dict[str, Any] = {}
    for port in loaded.inputs:
        if port.is_required:
            sizes = [size if isinstance(size, int) else 2 for size in port.shape or ()]
            if np.prod(sizes) > 4096:
                return
            arrays[port.name] = np.ones(sizes, np.float32)
    for out in loaded.run(named=arrays).values():
        out.numpy()


def flip(data: bytearray, rng: random.Random) -> None:
    data[rng.randrange(len(data))] = rng.randrange(256)


def cut(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    del data[start : start + rng.randrange(1, 9)]


def double(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    data[start:start] = data[start : start + rng.randrange(1, 9)]


def change_attribute(proto: onnx.ModelProto, rng: random.Random) -> None:
    attributes = [a for n in proto.graph.node for a in n.attribute]
    if attributes:
        attribute = rng.choice(attributes)
        attribute.i, attribute.f = rng.choice([-9, -1, 0, 1, 3, 2**40]), rng.choice([0.0, -1.0, float("nan")])
        if attribute.ints:
            attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice([-9, -1, 0, 1, 3, 2**40])


def change_input(proto: onnx.ModelProto, rng: random.Random) -> None:
    names = ["", *(o for n in proto.graph.node for o in n.output), *(t.name for t in proto.graph.initializer)]
    target = rng.choice(proto.graph.node)
    if target.input:
        target.input[rng.randrange(len(target.input))] = rng.choice(names)


def change_operator(proto: onnx.ModelProto, rng: random.Random) -> None:
    kinds = [
        "Add",
        "MatMul",
        "Reshape",
        "Gather",
        "Concat",
        "Pad",
        "Resize",
        "TopK",
        "Tile",
        "Range",
        "Expand",
    ]
    rng.choice(proto.graph.node).op_type = rng.choice(kinds)


def change_weight(proto: onnx.ModelProto, rng: random.Random) -> None:
    if not proto.graph.initializer:
        return
    weight = rng.choice(proto.graph.initializer)
    array = onnx.numpy_helper.to_array(weight).copy()
    array.reshape(-1)[rng.randrange(array.size)] = np.int64(rng.choice([-7, -1, 0, 2, 100])).astype(
        array.dtype
    )
    other = array.astype(rng.choice([array.dtype, np.int64, np.float32, np.bool_]))
    weight.CopyFrom(
        onnx.numpy_helper.from_array(other.reshape(rng.choice([array.shape, (-1,)])), weight.name)
    )


def drop_node(proto: onnx.ModelProto, rng: random.Random) -> None:
    del proto.graph.node[rng.randrange(len(proto.graph.node))]


def change_opset(proto: onnx.ModelProto, rng: random.Random) -> None:
    proto.opset_import[0].version = rng.randrange(1, 30)


STRUCTURAL = (change_attribute, change_input, change_operator, change_weight, drop_node, change_opset)
CHANGES: tuple[Callable[[bytearray, random.Random], None], ...] = (flip, cut, double)


@pytest.mark.parametrize("which", range(len(seeds())))
def test_a_mutated_file_runs_or_is_a_typed_error(which: int) -> None:
    call(seeds()[which].SerializeToString())
    for seed in range(MUTATIONS // len(seeds())):
        rng = random.Random(seed)
        proto = seeds()[which]
        for _ in range(rng.randrange(3)):
            if proto.graph.node:
                rng.choice(STRUCTURAL)(proto, rng)
        data = bytearray(proto.SerializeToString())
        for _ in range(rng.randrange(3) if seed % 4 == 0 else 0):
            rng.choice(CHANGES)(data, rng)
        start = time.perf_counter()
        try:
            call(bytes(data))
        except PlugradError:
            pass
        except Exception as error:
            raise AssertionError(f"mutation {seed} of model {which}") from error
        assert time.perf_counter() - start < 20, f"mutation {seed} of model {which} takes too long"


def test_sizes_that_lie_are_refused() -> None:
    proto = model(
        [node("Add", ["x", "w"], ["y"])], [value("x", [2])], [value("y", [2])], w=np.float32([1, 2])
    )
    for dims in ([3], [2, 2], [-2], [2**40], [2**62, 2**62]):
        proto.graph.initializer[0].dims[:] = dims
        with pytest.raises((InvalidModel, UnsupportedModel)):
            load(proto)


def test_a_shape_that_no_memory_holds_is_an_error_of_the_node() -> None:
    proto = model([node("ConstantOfShape", ["s"], ["y"])], [value("s", [2], INT64)], [value("y", ["a", "b"])])
    with pytest.raises(PlugradError):
        load(proto)(np.int64([2**40, 2**40]))["y"].numpy()


def test_a_function_that_calls_itself_is_refused() -> None:
    proto = model(
        [onnx.helper.make_node("Again", ["x"], ["y"], domain="own")], [value("x", [1])], [value("y", [1])]
    )
    imports = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("own", 1)]
    inner = onnx.helper.make_node("Again", ["a"], ["b"], domain="own")
    proto.functions.append(onnx.helper.make_function("own", "Again", ["a"], ["b"], [inner], imports))
    proto.opset_import.append(imports[1])
    with pytest.raises((InvalidModel, UnsupportedModel)):
        load(proto)


def test_inputs_of_wrong_rank_inside_are_an_error_of_the_node() -> None:
    proto = model(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"], name="product")],
        [value("x", ["n", "m"])],
        [value("y", ["n", 2])],
        w=np.ones((3, 2), np.float32),
    )
    with pytest.raises(NodeError, match="node 'product' \\(MatMul, opset 20\\)"):
        load(proto)(np.ones((2, 5), np.float32))


@pytest.mark.parametrize("count", [2**62, None])
def test_a_loop_without_an_end_is_an_error_of_the_node(count: int | None) -> None:
    proto = _with_a_loop()
    if count is None:
        proto.graph.node[0].input[0] = ""
    else:
        proto.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.int64(count), "n"))
    with pytest.raises(NodeError, match="at most 100000 iterations"):
        load(proto)(np.ones(2, np.float32))


def test_an_input_that_is_left_out_is_an_error_of_the_node() -> None:
    proto = _with_a_function()
    proto.graph.node[0].input[0] = ""
    with pytest.raises(NodeError, match=r"node 'e' \(Exp, opset 20\): an input .* is left out"):
        load(proto)(np.ones(2, np.float32))
