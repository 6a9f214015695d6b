"""Tests of plugrad_onnx.dynamic: one set of kernels for all sizes of dynamic axes."""

from typing import Any

import numpy as np
import onnx
import onnx.helper
import pytest
from models import INT64, model, node, value

from plugrad import Tensor, jit
from plugrad.events import LowerEvent, subscribe
from plugrad_onnx import InputError, load

RNG = np.random.default_rng(0)


def attention_model() -> onnx.ModelProto:
    """One layer of attention over tokens, with the shape arithmetic that exporters write."""
    return model(
        [
            node("Shape", ["tokens"], ["shape"]),
            node("Gather", ["shape", "zero"], ["batch"]),
            node("Gather", ["shape", "one"], ["length"]),
            node("Range", ["zero", "length", "one"], ["places"]),
            node("Gather", ["table", "tokens"], ["words"]),
            node("Gather", ["table", "places"], ["positions"]),
            node("Add", ["words", "positions"], ["x"]),
            node("Unsqueeze", ["batch", "axis"], ["batch1"]),
            node("Unsqueeze", ["length", "axis"], ["length1"]),
            node("Concat", ["batch1", "length1", "heads"], ["split"], axis=0),
            node("Reshape", ["x", "split"], ["h"]),
            node("Transpose", ["h"], ["q"], perm=[0, 2, 1, 3]),
            node("Transpose", ["h"], ["k"], perm=[0, 2, 3, 1]),
            node("MatMul", ["q", "k"], ["scores"]),
            node("Softmax", ["scores"], ["weights"], axis=-1),
            node("MatMul", ["weights", "q"], ["mixed"]),
            node("Transpose", ["mixed"], ["back"], perm=[0, 2, 1, 3]),
            node("Reshape", ["back", "joined"], ["flat"]),
            node("ReduceMean", ["flat", "axis1"], ["y"], keepdims=0),
        ],
        [value("tokens", ["batch", "length"], INT64)],
        [value("y", ["batch", 8])],
        zero=np.int64(0),
        one=np.int64(1),
        axis=np.int64([0]),
        axis1=np.int64([1]),
        heads=np.int64([2, 4]),
        joined=np.int64([0, -1, 8]),
        table=RNG.standard_normal((40, 8)).astype(np.float32),
    )


def tokens(batch: int, length: int) -> Any:
    return np.arange(batch * length).reshape(batch, length) % 40


def lowered_kernels() -> tuple[list[str], Any]:
    """Return the list of kernels lowered while the subscription is open."""
    names: list[str] = []
    return names, subscribe(LowerEvent, lambda event: names.append(event.name))


def test_one_set_of_kernels_serves_all_sizes() -> None:
    proto = attention_model()
    plain, dynamic = load(proto), load(proto, dynamic={"batch": (1, 4), "length": (1, 32)})
    assert (list(dynamic.axes), dynamic.specialized) == (["batch", "length"], {})
    dynamic(tokens(2, 2))["y"].numpy()
    for batch, length in ((3, 7), (1, 1), (4, 32), (2, 19)):
        want = plain(tokens(batch, length))["y"].numpy()
        names, subscription = lowered_kernels()
        with subscription:
            got = dynamic(tokens(batch, length))["y"].numpy()
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
        assert names == []


def test_one_trace_serves_all_sizes() -> None:
    proto = attention_model()
    plain, dynamic = load(proto), load(proto, dynamic=True)
    calls = 0

    @jit
    def twice(**inputs: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        return dynamic(**inputs)["y"] * 2

    for batch, length in ((3, 7), (1, 1), (4, 16), (2, 12), (5, 9)):
        want = plain(tokens(batch, length))["y"].numpy() * 2
        got = twice(**dynamic.bind(tokens(batch, length)))
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6)
    assert calls < 4


def test_a_size_beyond_its_bounds_is_named() -> None:
    dynamic = load(attention_model(), dynamic={"batch": (1, 4), "length": (2, 32)})
    with pytest.raises(InputError, match=r"'length' is 33, and lies in 2\.\.32"):
        dynamic(tokens(1, 33))
    with pytest.raises(InputError, match=r"no dynamic size of the inputs is called 'time'.*batch, length"):
        load(attention_model(), dynamic={"time": (1, 2)})
    with pytest.raises(InputError, match="bounds"):
        load(attention_model(), dynamic={"batch": (3, 2)})


def test_inputs_that_disagree_about_a_size_are_named() -> None:
    ports = [value("x", ["n"]), value("y", ["n"])]
    loaded = load(model([node("Add", ["x", "y"], ["z"])], ports, [value("z", ["n"])]), dynamic=True)
    with pytest.raises(InputError, match="'n' is 2 in one input, and 3 in 'y'"):
        loaded(np.zeros(2, np.float32), np.zeros(3, np.float32))


def test_an_axis_that_an_operator_needs_as_a_number_is_specialized_and_said() -> None:
    proto = model(
        [onnx.helper.make_node("MaxPool", ["x"], ["y"], name="pool", kernel_shape=[2])],
        [value("x", ["batch", 1, "width"])],
        [value("y", ["batch", 1, "half"])],
    )
    with pytest.warns(UserWarning, match=r"'width': node 'pool' \(MaxPool, opset 20\)"):
        loaded = load(proto, dynamic=True)
    assert list(loaded.axes) == ["batch"]
    assert list(loaded.specialized) == ["width"]
    x = RNG.standard_normal((3, 1, 9)).astype(np.float32)
    want = np.maximum(x[..., :-1], x[..., 1:])
    np.testing.assert_array_equal(loaded(x)["y"].numpy(), want)


def test_a_size_is_a_number_where_its_variables_cancel() -> None:
    proto = model(
        [
            node("Shape", ["x"], ["s"]),
            node("Gather", ["s", "zero"], ["n"]),
            node("Mul", ["n", "four"], ["m"]),
            node("Div", ["m", "n"], ["four_again"]),
            node("Equal", ["n", "minus"], ["no"]),
            node("Where", ["no", "four", "n"], ["rows"]),
            node("Concat", ["rows", "four_again"], ["to"], axis=0),
            node("Expand", ["x", "to"], ["y"]),
            node("Cast", ["m"], ["z"], to=1),
        ],
        [value("x", ["n", 1])],
        [value("y", ["n", 4]), value("z", [1])],
        zero=np.int64([0]),
        four=np.int64([4]),
        minus=np.int64([-1]),
    )
    loaded = load(proto, dynamic=True)
    assert loaded.specialized == {}
    out = loaded(np.float32([[1], [2], [3]]))
    assert out["y"].numpy().tolist() == [[1.0] * 4, [2.0] * 4, [3.0] * 4]
    assert out["z"].numpy().tolist() == [12.0]
