"""Tests of plugrad_onnx.operators.ml, beside onnxruntime."""

import itertools
from typing import Any

import numpy as np
import onnx.helper
import onnx.reference
import pytest
from models import INT64, model, value
from onnx import TensorProto

from plugrad_onnx import UnsupportedModel, load

onnxruntime = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((7, 4)).astype(np.float32)
DOUBLE = TensorProto.DOUBLE


def ml(kind: str, inputs: list[str], outputs: list[str], **attributes: Any) -> Any:
    return onnx.helper.make_node(kind, inputs, outputs, domain="ai.onnx.ml", **attributes)


def classifier(**attributes: Any) -> onnx.ModelProto:
    step = ml("SVMClassifier", ["x"], ["label", "scores"], **attributes)
    proto = model([step], [value("x", ["n", 4])], [value("label", ["n"], INT64), value("scores", ["n", "c"])])
    proto.ir_version = 8
    return proto


def assert_same(proto: onnx.ModelProto, x: Any = X, rtol: float = 1e-4) -> None:
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    for want, got in zip(session.run(None, {"x": x}), load(proto)(x).values(), strict=True):
        assert got.numpy().dtype == want.dtype
        np.testing.assert_allclose(got.numpy(), want, rtol=rtol, atol=1e-4)


def of_vectors(count: int, **more: Any) -> dict[str, Any]:
    """Return attributes of a classifier with random support vectors for classes."""
    per_class = [2, 3, 1, 2][:count]
    pairs = len(list(itertools.combinations(range(count), 2)))
    return {
        "classlabels_ints": [4, 7, 1, 9][:count],
        "coefficients": RNG.standard_normal((count - 1) * sum(per_class)).tolist(),
        "kernel_params": [0.3, 0.1, 2.0],
        "rho": RNG.standard_normal(pairs).tolist(),
        "support_vectors": RNG.standard_normal(4 * sum(per_class)).tolist(),
        "vectors_per_class": per_class,
        **more,
    }


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_support_vectors_that_vote(kernel: str, count: int) -> None:
    assert_same(classifier(**of_vectors(count, kernel_type=kernel)))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_support_vectors_with_probabilities(count: int) -> None:
    pairs = count * (count - 1) // 2
    sigmoids = {"prob_a": [-1.5 + 0.1 * i for i in range(pairs)], "prob_b": [0.1 * i for i in range(pairs)]}
    # onnxruntime stops near the solution
    assert_same(classifier(**of_vectors(count, kernel_type="RBF", **sigmoids)), rtol=0.02)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
def test_scores_of_support_vectors_are_transformed(transform: str) -> None:
    assert_same(classifier(**of_vectors(3, post_transform=transform)))
    # onnxruntime leaves some transforms of two classes out
    proto = classifier(**of_vectors(2, post_transform=transform))
    want = onnx.reference.ReferenceEvaluator(proto).run(None, {"x": X})
    for got, right in zip(load(proto)(X).values(), want, strict=True):
        np.testing.assert_allclose(got.numpy(), right, rtol=1e-4, atol=1e-5)


def test_a_classifier_without_support_vectors_is_linear() -> None:
    weights = RNG.standard_normal(12).tolist()
    linear = {"coefficients": weights, "rho": [0.1], "kernel_params": [0.0, 0.0, 0.0]}
    assert_same(classifier(classlabels_ints=[3, 4, 5], **linear))


def test_a_dict_for_each_sample() -> None:
    step = ml("ZipMap", ["x"], ["maps"], classlabels_int64s=[5, 6, 7, 8])
    kind = onnx.helper.make_map_type_proto(INT64, onnx.helper.make_tensor_type_proto(1, []))
    out = onnx.helper.make_value_info("maps", onnx.helper.make_sequence_type_proto(kind))
    maps = load(model([step], [value("x", ["n", 4])], [out]))(X)["maps"]
    assert [list(row) for row in maps] == [[5, 6, 7, 8]] * len(X)
    assert [list(row.values()) for row in maps] == X.tolist()


def test_dicts_become_rows() -> None:
    kind = onnx.helper.make_map_type_proto(INT64, onnx.helper.make_tensor_type_proto(1, []))
    port = onnx.helper.make_value_info("x", kind)
    rows = {3: 1.5, 1: -2.0, 9: 4.0}
    step = ml("DictVectorizer", ["x"], ["y"], int64_vocabulary=[1, 2, 3])
    assert load(model([step], [port], [value("y", [1, 3])]))(rows)["y"].tolist() == [[-2.0, 0.0, 1.5]]
    step = ml("CastMap", ["x"], ["y"], cast_to="TO_FLOAT", map_form="SPARSE", max_map=5)
    assert load(model([step], [port], [value("y", [1, 5])]))(rows)["y"].tolist() == [
        [0.0, -2.0, 0.0, 1.5, 0.0]
    ]
    step = ml("CastMap", ["x"], ["y"], cast_to="TO_INT64")
    assert load(model([step], [port], [value("y", [1, 3], INT64)]))(rows)["y"].tolist() == [[-2, 1, 4]]


def test_strings_are_refused_by_the_name_of_what_holds_them() -> None:
    step = ml("CategoryMapper", ["x"], ["y"], cats_int64s=[1], cats_strings=["a"])
    proto = model([step], [value("x", [1], INT64)], [value("y", [1], 8)])
    with pytest.raises(
        UnsupportedModel, match=r"CategoryMapper, opset 3\): the operator computes with strings"
    ):
        load(proto)
    attributes = of_vectors(2) | {"classlabels_strings": ["a", "b"]}
    del attributes["classlabels_ints"]
    with pytest.raises(UnsupportedModel, match="attribute 'classlabels_strings' holds strings"):
        load(classifier(**attributes))


def test_trees_whose_numbers_are_tensors_of_doubles() -> None:
    def doubles(name: str, numbers: list[float]) -> onnx.TensorProto:
        return onnx.helper.make_tensor(name, DOUBLE, [len(numbers)], numbers)

    step = ml(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        n_targets=1,
        nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2],
        nodes_featureids=[1, 0, 0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_truenodeids=[1, 0, 0],
        nodes_falsenodeids=[2, 0, 0],
        nodes_values_as_tensor=doubles("v", [0.1, 0.0, 0.0]),
        target_ids=[0, 0],
        target_nodeids=[1, 2],
        target_treeids=[0, 0],
        target_weights_as_tensor=doubles("w", [1.5, -2.25]),
        base_values_as_tensor=doubles("b", [0.5]),
    )
    proto = model([step], [value("x", ["n", 4], DOUBLE)], [value("y", ["n", 1])])
    proto.ir_version = 8
    assert_same(proto, X.astype(np.float64))


@pytest.mark.parametrize("aggregate", range(4))
@pytest.mark.parametrize("transform", range(4))
def test_trees_of_version_5(aggregate: int, transform: int) -> None:
    step = ml(
        "TreeEnsemble",
        ["x"],
        ["y"],
        n_targets=2,
        aggregate_function=aggregate,
        post_transform=transform,
        nodes_featureids=[0, 1, 2],
        nodes_splits=onnx.helper.make_tensor("s", 1, [3], [0.1, -0.3, 0.5]),
        nodes_modes=onnx.helper.make_tensor("m", 2, [3], [0, 2, 1]),
        nodes_truenodeids=[1, 1, 3],
        nodes_trueleafs=[0, 1, 1],
        nodes_falsenodeids=[0, 2, 4],
        nodes_falseleafs=[1, 1, 1],
        tree_roots=[0, 2],
        leaf_targetids=[0, 1, 0, 1, 0],
        leaf_weights=onnx.helper.make_tensor("w", 1, [5], [1.0, 2.5, -0.5, 0.75, -2.0]),
    )
    proto = model([step], [value("x", ["n", 4])], [value("y", ["n", 2])])
    proto.opset_import[1].version = 5
    proto.ir_version = 10
    theirs = onnx.ModelProto()
    theirs.CopyFrom(proto)
    (number,) = (a for a in theirs.graph.node[0].attribute if a.name == "post_transform")
    number.i = {1: 2, 2: 1}.get(
        transform, transform
    )  # onnxruntime takes 1 for LOGISTIC, the standard SOFTMAX
    session = onnxruntime.InferenceSession(theirs.SerializeToString(), providers=["CPUExecutionProvider"])
    (want,) = session.run(None, {"x": X})
    np.testing.assert_allclose(load(proto)(X)["y"].numpy(), want, rtol=1e-4, atol=1e-5)
