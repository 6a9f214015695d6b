"""Tests of plugrad_onnx.weights: external data is read when it is used, and from the model's folder only."""

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.external_data_helper
import onnx.helper
import pytest
from models import model, node, value

from plugrad import Tensor
from plugrad.errors import PlugradError
from plugrad_onnx import InvalidModel, load
from plugrad_onnx.cli import main

ZERO = np.zeros(2, np.float32)


def with_external_data(folder: Path, location: str = "w.bin", weight: Any = None, **place: Any) -> Path:
    """Write a model that adds a weight, whose elements lie in `w.bin`, and that says where they lie."""
    array = np.float32([1, 2]) if weight is None else weight
    shape = ["n"] * array.ndim
    proto = model([node("Add", ["x", "w"], ["y"])], [value("x", shape)], [value("y", shape)], w=array)
    (tensor,) = proto.graph.initializer
    (folder / "w.bin").write_bytes(tensor.raw_data)
    onnx.external_data_helper.set_external_data(tensor, location, **{"length": array.nbytes, **place})
    tensor.ClearField("raw_data")
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def test_external_data_is_read_from_the_folder_of_the_model(tmp_path: Path) -> None:
    path = with_external_data(tmp_path)
    assert load(path)(ZERO)["y"].tolist() == [1.0, 2.0]


def test_external_data_is_read_when_it_is_used(tmp_path: Path) -> None:
    path = with_external_data(tmp_path, weight=np.arange(5000, dtype=np.float32))
    loaded = load(path)
    changed = np.arange(5000, dtype=np.float32) * 2
    with (tmp_path / "w.bin").open("r+b") as file:
        file.write(changed.tobytes())
    assert loaded(np.zeros(5000, np.float32))["y"].tolist() == changed.tolist()


def test_more_external_data_than_memory_is_loaded_at_once(tmp_path: Path) -> None:
    proto = model(
        [node("Gather", ["w", "x"], ["y"])],
        [value("x", ["n"], onnx.TensorProto.INT64)],
        [value("y", ["n", 1 << 20])],
        w=ZERO,
    )
    (tensor,) = proto.graph.initializer
    tensor.dims[:] = [1 << 20, 1 << 20]
    onnx.external_data_helper.set_external_data(tensor, "w.bin", length=1 << 42)
    tensor.ClearField("raw_data")
    with (tmp_path / "w.bin").open("wb") as file:
        try:
            file.truncate(1 << 42)
        except OSError:
            pytest.skip("this file system has no files of 4 TB with holes")
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    weight = load(tmp_path / "model.onnx").graph.constants["w"]
    assert isinstance(weight, Tensor)
    assert weight.shape == (1 << 20, 1 << 20)


@pytest.mark.parametrize("kind", ["BOOL", "BFLOAT16", "INT4", "FLOAT8E4M3FN", "INT64", "COMPLEX64"])
def test_elements_of_any_type_lie_outside(kind: str, tmp_path: Path) -> None:
    number = getattr(onnx.TensorProto, kind)
    count = 6000
    numbers = [(i % 3) - (kind != "BOOL") if kind != "BOOL" else i % 2 for i in range(count)]
    inside = onnx.helper.make_tensor("w", number, [count], numbers)
    array = onnx.numpy_helper.to_array(inside)
    tensor = onnx.numpy_helper.from_array(array, "w")
    cast = [node("Cast", ["w"], ["f"], to=1), node("Add", ["f", "x"], ["y"])]
    if kind == "COMPLEX64":
        cast = [node("Identity", ["w"], ["y"])]
    out = onnx.TensorProto.COMPLEX64 if kind == "COMPLEX64" else 1
    proto = model(cast, [value("x", [count])] if kind != "COMPLEX64" else [], [value("y", [count], out)])
    (tmp_path / "w.bin").write_bytes(bytes(16) + tensor.raw_data)
    onnx.external_data_helper.set_external_data(tensor, "w.bin", offset=16, length=len(tensor.raw_data))
    tensor.ClearField("raw_data")
    proto.graph.initializer.append(tensor)
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    inputs = [] if kind == "COMPLEX64" else [np.zeros(count, np.float32)]
    got = load(tmp_path / "model.onnx")(*inputs)["y"].numpy()
    np.testing.assert_array_equal(got, array.astype(got.dtype))


@pytest.mark.parametrize("location", ["../w.bin", "/etc/hostname", "sub/../../w.bin", "missing.bin", ".", ""])
def test_external_data_outside_of_the_folder_is_never_read(tmp_path: Path, location: str) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(8))
    inner = tmp_path / "inner"
    inner.mkdir()
    with pytest.raises(InvalidModel):
        load(with_external_data(inner, location))


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    path = with_external_data(inner, "link.bin")
    (tmp_path / "secret").write_bytes(bytes(8))
    (inner / "link.bin").symlink_to(tmp_path / "secret")
    with pytest.raises(InvalidModel):
        load(path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = with_external_data(tmp_path, "pipe")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidModel):
        load(path)


@pytest.mark.parametrize(
    "place",
    [{"length": 4}, {"length": 16}, {"offset": 4}, {"offset": -8}, {"offset": 1 << 62}, {"length": -8}],
)
@pytest.mark.parametrize("count", [2, 5000])
def test_sizes_and_places_that_lie_are_refused(place: dict[str, int], count: int, tmp_path: Path) -> None:
    path = with_external_data(tmp_path, weight=np.zeros(count, np.float32), **place)
    with pytest.raises(InvalidModel, match="'w'"):
        load(path)


def test_external_data_of_a_model_in_bytes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidModel):
        load(with_external_data(tmp_path).read_bytes())


def test_any_place_is_read_or_refused(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    secret = tmp_path / "secret"
    secret.write_bytes(b"\x01" * 64)
    (inner / "link").symlink_to(secret)
    path = with_external_data(inner)
    names = [
        "w.bin",
        "",
        ".",
        "..",
        "../secret",
        "link",
        str(secret),
        "a\0b",
        "x" * 5000,
        "sub/../w.bin",
        "~",
    ]
    numbers = ["0", "4", "8", "-1", "x", "", "1e3", str(1 << 70), "0x8", " 8 "]
    for seed in range(300):
        rng = random.Random(seed)
        proto = onnx.load_model(str(path), load_external_data=False)
        (tensor,) = proto.graph.initializer
        for entry in tensor.external_data:
            entry.value = rng.choice(names if entry.key == "location" else numbers)
        if rng.random() < 0.2:
            tensor.dims[:] = rng.choice([[], [1], [3], [1 << 40], [2, 1]])
        (inner / "changed.onnx").write_bytes(proto.SerializeToString())
        try:
            out = load(inner / "changed.onnx")(ZERO)["y"].tolist()
        except PlugradError:
            continue
        assert out in ([1.0, 2.0], [[1.0, 1.0], [2.0, 2.0]], [1.0, 1.0], [2.0, 2.0]), f"seed {seed}"


def test_commands_read_external_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(with_external_data(tmp_path))
    assert main(["check", path]) == 0
    if pytest.importorskip("onnxruntime"):
        assert main(["check", path, "--judge", "onnxruntime"]) == 0
        assert main(["bench", path, "--beside", "onnxruntime", "--calls", "2"]) == 0
    assert "onnxruntime: first call" in capsys.readouterr().out
