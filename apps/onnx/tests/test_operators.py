"""Operators that the standard's own cases leave out, beside onnxruntime."""

from typing import Any

import numpy as np
import onnx.helper
import pytest
from models import INT64, model, node, value

from plugrad import GlobalCounters
from plugrad_onnx import load

onnxruntime = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 4)).astype(np.float32)
IMAGE = RNG.standard_normal((1, 2, 8, 8)).astype(np.float32)

# two trees: x[0] <= 0 ? (x[1] > 1 ? a : b) : c, and x[2] < 0.5 ? d : e
NODES = {
    "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1],
    "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
    "nodes_featureids": [0, 1, 0, 0, 0, 2, 0, 0],
    "nodes_values": [0.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 3, 0, 0, 0, 1, 0, 0],
    "nodes_falsenodeids": [2, 4, 0, 0, 0, 2, 0, 0],
}
LEAVES = {"treeids": [0, 0, 0, 1, 1], "nodeids": [2, 3, 4, 1, 2], "weights": [1.0, 2.5, -1.0, 0.25, -0.75]}


def ml(kind: str, inputs: list[str], outputs: list[str], **attributes: Any) -> Any:
    return onnx.helper.make_node(kind, inputs, outputs, domain="ai.onnx.ml", **attributes)


def assert_same(
    step: Any, *arrays: Any, opset: int = 20, outputs: tuple[int, ...] = (1,), rank: int = 2
) -> None:
    """Compare the outputs of one node; `outputs` are their element types."""
    kinds = {np.dtype(np.float32): 1, np.dtype(np.int64): 7, np.dtype(np.int32): 6}
    names = [name for name in step.input if name]
    ports = [value(n, a.shape, kinds[a.dtype]) for n, a in zip(names, arrays, strict=True)]
    wanted = [
        value(n, ["?"] * (rank if kind == 1 else 1), kind)
        for n, kind in zip(step.output, outputs, strict=True)
    ]
    for port in wanted:
        port.type.tensor_type.ClearField("shape") if rank < 0 else None
    proto = model([step], ports, wanted, opset=opset)
    proto.ir_version = 8
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = dict(zip(names, arrays, strict=True))
    for want, got in zip(session.run(None, feeds), load(proto).run(named=feeds).values(), strict=True):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_trees_that_predict_numbers(aggregate: str) -> None:
    votes = {f"target_{key}": numbers for key, numbers in LEAVES.items()} | {"target_ids": [0, 0, 0, 0, 0]}
    step = ml(
        "TreeEnsembleRegressor", ["x"], ["y"], n_targets=1, aggregate_function=aggregate, **NODES, **votes
    )
    assert_same(step, X)


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC"])
def test_trees_that_predict_one_of_three_classes(transform: str) -> None:
    votes = {f"class_{key}": numbers for key, numbers in LEAVES.items()} | {"class_ids": [0, 1, 2, 1, 2]}
    step = ml(
        "TreeEnsembleClassifier",
        ["x"],
        ["label", "y"],
        classlabels_int64s=[5, 6, 7],
        post_transform=transform,
        **NODES,
        **votes,
    )
    assert_same(step, X, outputs=(INT64, 1))


def test_linear_models() -> None:
    weights, bias = RNG.standard_normal(8).tolist(), [0.5, -0.25]
    assert_same(ml("LinearRegressor", ["x"], ["y"], coefficients=weights, intercepts=bias, targets=2), X)
    weights, bias = RNG.standard_normal(12).tolist(), [0.5, -0.25, 0.1]
    step = ml(
        "LinearClassifier",
        ["x"],
        ["label", "y"],
        coefficients=weights,
        intercepts=bias,
        classlabels_ints=[3, 4, 5],
        post_transform="SOFTMAX",
    )
    assert_same(step, X, outputs=(INT64, 1))


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_support_vectors(kernel: str) -> None:
    vectors = RNG.standard_normal(12).tolist()
    step = ml(
        "SVMRegressor",
        ["x"],
        ["y"],
        coefficients=[0.5, -1.0, 2.0],
        support_vectors=vectors,
        n_supports=3,
        rho=[0.25],
        kernel_type=kernel,
        kernel_params=[0.3, 0.1, 2.0],
    )
    assert_same(step, X)


def test_features_are_prepared() -> None:
    assert_same(ml("Scaler", ["x"], ["y"], offset=[1.0, 0.0, 2.0, 3.0], scale=[2.0, 1.0, 0.5, 1.0]), X)
    for norm in ("MAX", "L1", "L2"):
        assert_same(ml("Normalizer", ["x"], ["y"], norm=norm), np.abs(X))
    assert_same(ml("Binarizer", ["x"], ["y"], threshold=0.25), X)
    missing = X.copy()
    missing[::2, 1] = np.nan
    assert_same(
        ml("Imputer", ["x"], ["y"], imputed_value_floats=[1.0, 2.0, 3.0, 4.0], replaced_value_float=np.nan),
        missing,
    )
    assert_same(ml("FeatureVectorizer", ["a", "b"], ["y"], inputdimensions=[4, 4]), X, X + 1)
    labels = np.array([3, 1, 8, 2])
    assert_same(ml("OneHotEncoder", ["x"], ["y"], cats_int64s=[1, 2, 3]), labels)
    step = ml("LabelEncoder", ["x"], ["y"], keys_int64s=[1, 2], values_floats=[0.5, 1.5], default_float=-1.0)
    assert_same(step, labels, rank=1)


def test_norms_of_whole_channels() -> None:
    assert_same(node("GlobalLpPool", ["x"], ["y"], p=3), IMAGE, rank=4)


def test_the_largest_of_regions() -> None:
    regions = np.array([[0, 0, 0, 5, 5], [0, 2, 1, 7, 6]], np.float32)
    assert_same(
        node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[2, 3], spatial_scale=1.0), IMAGE, regions, rank=4
    )


def test_upsample_of_old_opsets() -> None:
    step = node("Upsample", ["x"], ["y"], mode="nearest", scales=[1.0, 1.0, 2.0, 3.0])
    assert_same(step, IMAGE, opset=8, rank=4)
    step = node("Upsample", ["x"], ["y"], mode="linear", scales=[1.0, 1.0, 2.0, 2.0])
    assert_same(step, IMAGE, opset=8, rank=4)


def test_random_numbers_have_their_mean_and_their_spread() -> None:
    step = node("RandomNormal", [], ["y"], shape=[4000], mean=2.0, scale=0.5, seed=3.0)
    drawn = load(model([step], [], [value("y", [4000])]))()["y"].numpy()
    assert abs(drawn.mean() - 2) < 0.05
    assert abs(drawn.std() - 0.5) < 0.05
    step = node("Multinomial", ["x"], ["y"], sample_size=200, seed=1.0)
    odds = np.log(np.float32([[0.25, 0.75, 1e-9]]))
    classes = load(model([step], [value("x", [1, 3])], [value("y", [1, 200], 6)]))(odds)["y"].numpy()
    assert 20 < (classes == 0).sum() < 80
    assert (classes == 2).sum() == 0


def test_second_operands_of_old_arithmetic_stand_at_an_axis() -> None:
    step = node("Add", ["x", "b"], ["y"], axis=1, broadcast=1)
    proto = model([step], [value("x", [1, 2, 8, 8]), value("b", [2])], [value("y", [1, 2, 8, 8])], opset=6)
    got = load(proto)(IMAGE, np.float32([1, 2]))["y"].numpy()
    np.testing.assert_allclose(got, IMAGE + np.float32([1, 2])[:, None, None])


def test_a_loop_without_iterations_has_empty_outputs() -> None:
    body = onnx.helper.make_graph(
        [node("Identity", ["c"], ["again"]), node("Identity", ["s"], ["kept"]), node("Neg", ["s"], ["out"])],
        "body",
        [value("i", [], INT64), value("c", [], 9), value("s", [3])],
        [value("again", [], 9), value("kept", [3]), value("out", [3])],
    )
    proto = model(
        [node("Loop", ["n", "", "x"], ["last", "all"], body=body)],
        [value("n", [], INT64), value("x", [3])],
        [value("last", [3]), value("all", ["k", 3])],
    )
    loaded, x = load(proto), np.float32([1, 2, 3])
    assert loaded(np.int64(2), x)["all"].tolist() == [[-1.0, -2.0, -3.0]] * 2
    assert loaded(np.int64(0), x)["all"].shape == (0, 3)
    assert loaded(np.int64(0), x)["last"].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("length", [None, 7, 12])
@pytest.mark.parametrize("onesided", [0, 1])
def test_fourier_transforms_agree_with_numpy(length: int | None, onesided: int) -> None:
    x = RNG.standard_normal((2, 9, 3, 1)).astype(np.float32)
    given = {} if length is None else {"n": np.int64(length)}
    step = node("DFT", ["x", "n" if given else "", "axis"], ["y"], onesided=onesided)
    proto = model([step], [value("x", x.shape)], [value("y", ["a", "b", "c", 2])], axis=np.int64(1), **given)
    want = (np.fft.rfft if onesided else np.fft.fft)(x[..., 0], length, axis=1)
    got = load(proto)(x)["y"].numpy()
    np.testing.assert_allclose(got[..., 0] + 1j * got[..., 1], want, rtol=1e-4, atol=1e-4)


def test_work_of_a_fourier_transform_grows_little_faster_than_its_length() -> None:
    proto = model(
        [node("DFT", ["x", "", "axis"], ["y"])],
        [value("x", [1, "n", 1])],
        [value("y", [1, "n", 2])],
        axis=np.int64(1),
    )
    loaded, work = load(proto), list[int]()
    for count in (256, 2048):
        GlobalCounters.reset()
        loaded(np.ones((1, count, 1), np.float32))["y"].realize()
        work.append(GlobalCounters.global_ops)
    GlobalCounters.close()
    assert 0 < work[1] < 16 * work[0]
