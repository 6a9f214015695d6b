"""Tests of plugrad_onnx.export, beside onnxruntime where it is installed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx.defs
import pytest

from plugrad import Tensor, UOp, nn
from plugrad_onnx import OnnxError, export, load

onnxruntime = pytest.importorskip("onnxruntime")

X = np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)
M = X[0, 0]


def assert_same(function: Callable[..., Any], *inputs: Any) -> None:
    proto = export(function, inputs)
    want = function(*map(Tensor, inputs)).numpy()
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    (got,) = session.run(None, {f"x{i}": value for i, value in enumerate(inputs)})
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(load(proto)(*inputs)["y"].numpy(), want, rtol=1e-4, atol=1e-5)


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "arithmetic": (lambda x, y: (x * 2 - y) / (y.abs() + 1), (M, M + 1)),
    "activations": (lambda x: x.gelu() + x.silu() + x.softplus() + x.relu(), (M,)),
    "softmax": (lambda x: x.softmax(-1).log(), (M,)),
    "matmul": (lambda x, y: x.matmul(y), (M, M[:, :5])),
    "batched_matmul": (lambda x: x.matmul(x.transpose(-1, -2)), (X,)),
    "statistics": (lambda x: x.var(1) + x.mean(1) + x.max(1), (M,)),
    "positions": (lambda x: x.argmax(1), (M,)),
    "movement": (lambda x: x.flip(0)[1:, ::2].pad(((1, 2), (0, 1))).transpose(0, 1), (M,)),
    "comparisons": (lambda x, y: (x > y) & (x != 0) | (y <= 0.5), (M, M.T.copy())),
    "whole_numbers": (lambda x: (x // 3 + x % 3) * -1, (np.arange(-5, 7, dtype=np.int64),)),
    "rounding": (lambda x: x.trunc() + x.floor() + x.round(), (M * 3,)),
    "gather": (lambda x, i: x[i], (M, np.array([3, 1, 1]))),
    "cumulative": (lambda x: x.cumsum(1), (M,)),
    "pooling": (lambda x: x.max_pool2d(2) + x.avg_pool2d(2), (X,)),
    "any_and_all": (lambda x: (x > 0).any(1) & (x > -9).all(1), (M,)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_function_is_the_same_in_onnxruntime(name: str) -> None:
    function, inputs = CASES[name]
    assert_same(function, *inputs)


def test_a_network_is_the_same_in_onnxruntime() -> None:
    Tensor.manual_seed(0)
    conv, norm, linear = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Linear(4, 2)
    norm.train(False)
    Tensor.realize(*(p for layer in (conv, norm, linear) for p in nn.state.get_state_dict(layer).values()))
    assert_same(lambda x: linear(norm(conv(x)).relu().mean((2, 3))), X)


def test_a_narrow_type_rounds_where_it_did() -> None:
    # onnxruntime leaves such pairs of casts out
    def through_half(x: Tensor) -> Tensor:
        return (x.cast("float16") + 1).cast("float32")

    got = load(export(through_half, [M]))(M)["y"]
    assert got.tolist() == through_half(Tensor(M)).tolist()


@pytest.mark.parametrize("opset", [18, onnx.defs.onnx_opset_version()])
def test_the_oldest_and_the_current_opset_are_the_same_in_onnxruntime(opset: int) -> None:
    def function(x: Tensor) -> Tensor:
        return (x.softmax(-1) @ x).relu().pad(((1, 0), (0, 2))).sum(0)

    proto = export(function, [M], opset=opset)
    assert proto.opset_import[0].version == opset
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"x0": M})[0], function(Tensor(M)).numpy(), rtol=1e-5)


def test_attention_is_the_same_in_onnxruntime() -> None:
    assert_same(lambda x: x.scaled_dot_product_attention(x, x, is_causal=True), X)


def test_parameters_are_initializers_and_outputs_have_names(tmp_path: Path) -> None:
    weight = Tensor(M).realize()
    proto = export(
        lambda a: {"out": a @ weight, "twice": a * 2}, [M], tmp_path / "model.onnx", input_names=["a"]
    )
    assert [port.name for port in proto.graph.output] == ["out", "twice"]
    assert any(tuple(tensor.dims) == M.shape for tensor in proto.graph.initializer)
    assert load(tmp_path / "model.onnx")(a=M)["twice"].tolist() == (M * 2).tolist()


def test_a_function_that_ignores_its_inputs_is_refused() -> None:
    with pytest.raises(OnnxError, match="do not depend on the inputs"):
        export(lambda x: Tensor([1.0, 2.0]), [M])


def test_random_numbers_are_refused_by_the_name_of_the_operation() -> None:
    with pytest.raises(OnnxError, match="THREEFRY"):
        export(lambda x: x + Tensor.rand(8, 8), [M])


def test_what_is_no_tensor_is_refused() -> None:
    with pytest.raises(OnnxError, match="output 'y1' is a int"):
        export(lambda x: (x, 3), [M])


def assert_same_sizes(function: Callable[..., Any], dynamic: Any, *examples: Any, others: Any) -> None:
    """Compare a function with its model at the sizes of the examples and at others."""
    proto = export(function, examples, dynamic=dynamic)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    for inputs in (examples, *others):
        want = function(*map(Tensor, inputs)).numpy()
        (got,) = session.run(None, {f"x{i}": value for i, value in enumerate(inputs)})
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def drawn(*shape: int) -> Any:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


DYNAMIC: dict[str, tuple[Callable[..., Any], tuple[int, ...], tuple[int, ...]]] = {
    "elementwise": (lambda x: x.relu() * 2 + 1, (3, 4), (7, 2)),
    "softmax": (lambda x: x.softmax(-1), (3, 4), (5, 9)),
    "mean": (lambda x: x.mean(0) + x.mean(), (3, 4), (5, 9)),
    "product": (lambda x: x @ x.transpose(0, 1), (3, 4), (5, 9)),
    "joined": (lambda x: Tensor.cat(x, x * 2, axis=0).flip(0), (3, 4), (5, 9)),
    "flattened": (lambda x: x.reshape(-1), (3, 4), (5, 9)),
    "places": (lambda x: x + Tensor.arange(x.shape[0]).reshape(-1, 1), (3, 4), (5, 9)),
    "cut": (lambda x: x[1:, :-1].pad(((2, 0), (0, 1))), (3, 4), (5, 9)),
}


@pytest.mark.parametrize("name", DYNAMIC)
def test_sizes_of_dynamic_axes_are_free(name: str) -> None:
    function, shape, other = DYNAMIC[name]
    dynamic = {"x0": {0: "rows", 1: "columns"}}
    assert_same_sizes(function, dynamic, drawn(*shape), others=[(drawn(*other),)])


def test_variables_become_names_of_sizes() -> None:
    batch = UOp.variable("batch", 1, 64)
    proto = export(lambda x: x.reshape(-1), [Tensor.empty(batch.bind(3), 4)])
    (port,), (out,) = proto.graph.input, proto.graph.output
    assert port.type.tensor_type.shape.dim[0].dim_param == "batch"
    assert out.type.tensor_type.shape.dim[0].dim_param == "batch*4"
    assert load(proto)(M[:5, :4])["y"].shape == (20,)


def eval_of(module: nn.Module) -> nn.Module:
    module.eval()
    Tensor.realize(*nn.state.get_state_dict(module).values())
    return module


MODULES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], tuple[int, ...]]] = {
    "convolutions": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(64, 5),
        ),
        (2, 3, 8, 8),
        (5, 3, 8, 8),
    ),
    "transformer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (2, 5, 8), (3, 7, 8)),
    "norms": (lambda: nn.Sequential(nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3)), (2, 8), (6, 8)),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_take_any_batch(name: str) -> None:
    Tensor.manual_seed(0)
    make, shape, other = MODULES[name]
    axes = {0: "batch", 1: "length"} if name == "transformer" else {0: "batch"}
    assert_same_sizes(eval_of(make()), {"x0": axes}, drawn(*shape), others=[(drawn(*other),)])


def test_a_recurrent_module_is_the_same_in_onnxruntime() -> None:
    Tensor.manual_seed(0)
    layer = eval_of(nn.LSTM(4, 3, batch_first=True))
    assert_same_sizes(lambda x: layer(x)[0], {"x0": {0: "batch"}}, drawn(2, 5, 4), others=[(drawn(3, 5, 4),)])


def test_what_cannot_be_exported_names_its_line() -> None:
    def noisy(x: Tensor) -> Tensor:
        return x + Tensor.rand(8, 8)

    with pytest.raises(OnnxError, match=r"test_export\.py:\d+ in .*noisy: .*THREEFRY"):
        export(noisy, [M])


def test_a_module_whose_weights_nobody_needed_yet_is_exported() -> None:
    layer = nn.Linear(4, 3)
    proto = export(layer, [np.zeros((2, 4), np.float32)])
    kinds = {one.op_type for one in proto.graph.node}
    assert not kinds & {"RandomUniform", "RandomNormal"}
    x = np.ones((2, 4), np.float32)
    np.testing.assert_allclose(load(proto)(x)["y"].numpy(), layer(Tensor(x)).numpy(), rtol=1e-5)
