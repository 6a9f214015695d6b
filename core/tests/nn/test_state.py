"""Tests of plugrad.nn.state: names, loading, and files that other libraries read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

from plugrad import Variable
from plugrad.dtype import FLOAT8, STORABLE, dtypes, is_inexact
from plugrad.errors import ArgumentError, DtypeError, FileFormatError, ShapeError, StateError
from plugrad.nn import BatchNorm, Conv2d, Linear
from plugrad.nn.optim import SGD, Adam, GradScaler, OptimizerGroup
from plugrad.nn.state import (
    get_parameters,
    get_state_dict,
    gguf_load,
    load_state_dict,
    safe_load,
    safe_save,
    save,
    tar_extract,
    torch_load,
    zip_extract,
)
from plugrad.tensor import Tensor


class Net:
    def __init__(self) -> None:
        self.layers: list[Any] = [Conv2d(1, 2, 3), BatchNorm(2), Tensor.relu]
        self.heads = {"a": Linear(8, 3)}
        self.name = "net"
        self.again = self


def test_names_are_paths_of_attributes_positions_and_keys() -> None:
    assert list(get_state_dict(Net())) == [
        "layers.0.weight",
        "layers.0.bias",
        "layers.1.weight",
        "layers.1.bias",
        "layers.1.running_mean",
        "layers.1.running_var",
        "layers.1.num_batches_tracked",
        "heads.a.weight",
        "heads.a.bias",
    ]
    assert list(get_state_dict(Linear(2, 2, bias=False), "model")) == ["model.weight"]


def test_names_are_those_of_a_torch_module_of_the_same_make() -> None:
    ours = [Conv2d(1, 2, 3), BatchNorm(2), Linear(8, 3)]
    theirs = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.Linear(8, 3))
    assert list(get_state_dict(ours)) == list(theirs.state_dict())


class Keeping:
    """A layer that keeps what it computed, with a weight that is a view of another one."""

    def __init__(self) -> None:
        self.embedding = Tensor.ones(3, 2, requires_grad=True)
        self.head = self.embedding.T

    def __call__(self, x: Tensor) -> Tensor:
        self.hidden = x @ self.embedding
        return (self.hidden.square() @ self.head).sum()


def test_what_is_computed_from_parameters_is_no_parameter() -> None:
    model = Keeping()
    model(Tensor.ones(1, 3)).realize()
    (parameter,) = get_parameters(model)
    assert parameter is model.embedding


def test_activations_of_an_earlier_step_are_no_parameters() -> None:
    model = Keeping()
    optimizer = SGD(get_parameters(model), lr=0.5)
    for _ in range(2):
        optimizer.zero_grad()
        model(Tensor.ones(1, 3)).backward()
        optimizer.step()
        (parameter,) = get_parameters(model)
        assert parameter is model.embedding


def test_a_state_has_no_activations_and_fits_a_model_that_never_ran(tmp_path: Path) -> None:
    model, fresh = Keeping(), Keeping()
    model.embedding.assign(Tensor.full((3, 2), 5.0))
    for x in (model(Tensor.ones(1, 3)), model(Tensor.ones(1, 3)).realize()):
        assert x.requires_grad
        assert list(get_state_dict(model)) == ["embedding"]
    safe_save(get_state_dict(model), tmp_path / "model.safetensors")
    load_state_dict(fresh, safe_load(tmp_path / "model.safetensors"))
    assert fresh.head.tolist() == [[5.0] * 3] * 2
    fresh(Tensor.ones(1, 3))
    load_state_dict(fresh, get_state_dict(Keeping()))
    assert fresh.embedding.tolist() == [[1.0] * 2] * 3


def test_a_state_has_the_averages_that_a_model_keeps_of_its_weights() -> None:
    model: dict[str, Tensor] = {"weight": Tensor.ones(2, requires_grad=True)}
    with Tensor.no_grad():
        model["average"] = model["weight"] * 0.5
    model["mean"] = model["weight"].detach().mean()
    assert list(get_state_dict(model)) == ["weight", "average", "mean"]


def test_parameters_computed_from_nothing_else_of_a_model_stay_in_sight() -> None:
    model = {"scaled": Tensor.ones(2, requires_grad=True) * 0.5, "bias": Tensor.ones(2, requires_grad=True)}
    assert len(get_parameters(model)) == 2


def test_parameters_are_what_is_trained_each_once() -> None:
    @dataclass
    class Tied:
        first: Linear
        second: Linear

    layer = Linear(2, 2)
    assert len(get_parameters(Net())) == 6
    assert len(get_state_dict(Tied(layer, layer))) == 4
    assert len(get_parameters(Tied(layer, layer))) == 2


def test_a_loaded_state_keeps_dtypes_and_memory() -> None:
    model = Linear(2, 2, bias=False)
    alias = model.weight.detach()
    load_state_dict(model, {"weight": Tensor([[1, 2], [3, 4]])})
    assert model.weight.dtype is dtypes.float32
    assert model.weight.requires_grad
    assert alias.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_other_names_are_an_error_unless_told() -> None:
    model = Linear(2, 2)
    before = model.weight.numpy()
    state = {"weight": Tensor.zeros(2, 2), "extra": Tensor.zeros(1)}
    with pytest.raises(StateError, match=r"missing \['bias'\], unexpected \['extra'\]"):
        load_state_dict(model, state)
    np.testing.assert_array_equal(model.weight.numpy(), before)
    load_state_dict(model, state, strict=False)
    assert model.weight.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_a_model_without_tensors_loads_an_empty_state() -> None:
    load_state_dict([Tensor.relu], {})
    load_state_dict(Linear(2, 2), {}, strict=False)


def test_a_state_is_consumed_as_it_is_loaded() -> None:
    model = Linear(2, 2, bias=False)
    state = {"weight": Tensor([[1.0, 2.0], [3.0, 4.0]]), "other": Tensor([1.0])}
    load_state_dict(model, state_dict=state, strict=False, consume=True, realize=False, verbose=False)
    assert list(state) == ["other"]
    assert model.weight.tolist() == [[1, 2], [3, 4]]


def test_other_shapes_are_an_error_and_nothing_is_loaded() -> None:
    model = Linear(2, 2)
    before = model.weight.numpy()
    with pytest.raises(ShapeError, match=r"'bias' has shape \(3,\) in the state and \(2,\) in the model"):
        load_state_dict(model, {"weight": Tensor.zeros(2, 2), "bias": Tensor.zeros(3)})
    np.testing.assert_array_equal(model.weight.numpy(), before)


def values(dtype: Any) -> Tensor:
    numbers = [0.5, -2.0, 3.25, 0.0] if is_inexact(dtype) else [1, 0, 1, 1]
    return Tensor([numbers], dtype=dtype)


def test_every_dtype_survives_a_file_and_the_library_reads_it(tmp_path: Path) -> None:
    state = {dtype.name: values(dtype) for dtype in (*STORABLE, dtypes.complex64)}
    state |= {
        "scalar": Tensor(3.0),
        "empty": Tensor.zeros(0, 5),
        "view": Tensor([[1, 2], [3, 4]]).transpose(0, 1),
    }
    safe_save(state, tmp_path / "m.safetensors", {"made by": "plugrad"})
    ours, theirs = (
        safe_load(tmp_path / "m.safetensors"),
        safetensors.torch.load_file(tmp_path / "m.safetensors"),
    )
    assert ours.keys() == theirs.keys() == state.keys()
    for name, tensor in state.items():
        assert ours[name].dtype is tensor.dtype
        assert ours[name].shape == tensor.shape
        assert ours[name].tolist() == tensor.tolist() == theirs[name].tolist()
        assert str(theirs[name].dtype) == f"torch.{tensor.dtype.name}"


def test_a_file_of_the_library_loads(tmp_path: Path) -> None:
    theirs = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2))
    safetensors.torch.save_file(theirs.state_dict(), tmp_path / "m.safetensors")
    model = [Conv2d(1, 2, 3), BatchNorm(2)]
    load_state_dict(model, safe_load(tmp_path / "m.safetensors"))
    for name, tensor in get_state_dict(model).items():
        np.testing.assert_array_equal(tensor.numpy(), theirs.state_dict()[name].numpy())


def test_tensors_can_be_loaded_to_another_device(tmp_path: Path) -> None:
    safe_save({"x": Tensor([1, 2])}, tmp_path / "m")
    loaded = safe_load(tmp_path / "m", device="PYTHON")["x"]
    assert loaded.device == "PYTHON"
    assert loaded.tolist() == [1, 2]


def test_a_file_that_is_replaced_after_loading_keeps_its_values(tmp_path: Path) -> None:
    safe_save({"x": Tensor([1, 2])}, tmp_path / "m")
    loaded = safe_load(tmp_path / "m")
    safe_save({"x": loaded["x"] + 1}, tmp_path / "m")
    assert loaded["x"].tolist() == [1, 2]
    assert safe_load(tmp_path / "m")["x"].tolist() == [2, 3]


def test_bytes_that_are_no_truth_values_become_some(tmp_path: Path) -> None:
    safetensors.numpy.save_file({"x": np.array([True, False])}, tmp_path / "m")
    content = (tmp_path / "m").read_bytes()
    (tmp_path / "m").write_bytes(content[:-2] + b"\x02\x00")
    loaded = safe_load(tmp_path / "m")["x"]
    assert (loaded == Tensor([True, False])).tolist() == [True, True]


def test_a_file_that_is_cut_after_loading_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "m"
    safe_save({"x": Tensor([1, 2])}, path)
    loaded = safe_load(path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 4)
    with pytest.raises(FileFormatError, match="truncated"):
        loaded["x"].numpy()


def test_a_missing_file_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        safe_load(tmp_path / "nothing")


def test_only_tensors_are_saved(tmp_path: Path) -> None:
    state: Any = {"weight": Tensor([1.0]), "steps": 3}
    with pytest.raises(DtypeError, match=r"cannot save 'steps': 3 \(int\)"):
        safe_save(state, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_floats_of_a_byte_survive_a_file_and_the_library_reads_it(tmp_path: Path) -> None:
    names = {"fp8e4m3": "float8_e4m3fn", "fp8e5m2": "float8_e5m2"}
    names |= {"fp8e4m3fnuz": "float8_e4m3fnuz", "fp8e5m2fnuz": "float8_e5m2fnuz"}
    safe_save({dtype.name: values(dtype) for dtype in FLOAT8}, tmp_path / "m")
    ours, theirs = safe_load(tmp_path / "m"), safetensors.torch.load_file(tmp_path / "m")
    for dtype in FLOAT8:
        assert ours[dtype.name].dtype is dtype
        assert theirs[dtype.name].dtype is getattr(torch, names[dtype.name])
        assert ours[dtype.name].cast("float32").tolist() == theirs[dtype.name].float().tolist()
    safetensors.torch.save_file(theirs, tmp_path / "again")
    again = safe_load(tmp_path / "again")
    for name, tensor in ours.items():
        assert again[name].bitcast("uint8").tolist() == tensor.bitcast("uint8").tolist()


def test_a_tensor_is_read_when_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "m"
    safe_save({"x": Tensor([1, 2], dtype="int8"), "y": Tensor([3, 4], dtype="int8")}, path)
    loaded = safe_load(path)
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(content.replace(b"\x01\x02", b"\x05\x06"))
        file.truncate(len(content) - 1)
    assert loaded["x"].tolist() == [5, 6]
    with pytest.raises(FileFormatError, match="truncated"):
        loaded["y"].tolist()


def write_shards(folder: Path, places: dict[str, str]) -> Path:
    """Write a model in two files, and an index that says `places`."""
    safe_save({"a": Tensor([1]), "b": Tensor([2])}, folder / "model-00001-of-00002.safetensors")
    safe_save({"c": Tensor([3])}, folder / "model-00002-of-00002.safetensors")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 12}, "weight_map": places}, indent=2))
    return index


FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
PLACES = {"c": SECOND, "a": FIRST, "b": FIRST}


def test_a_model_in_several_files_is_loaded_by_its_index_or_folder(tmp_path: Path) -> None:
    index = write_shards(tmp_path, PLACES)
    for path in (index, str(index), tmp_path):
        loaded = safe_load(path, device="PYTHON")
        assert {name: tensor.tolist() for name, tensor in loaded.items()} == {"c": [3], "a": [1], "b": [2]}
        assert list(loaded) == list(PLACES)
        assert loaded["a"].device == "PYTHON"


def test_a_folder_with_one_file_is_that_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no model\.safetensors and no"):
        safe_load(tmp_path)
    safe_save({"x": Tensor([1])}, tmp_path / "model.safetensors")
    assert safe_load(tmp_path)["x"].tolist() == [1]


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ({**PLACES, "d": SECOND}, r"\['d'\] are not where it says, \[\] not in it"),
        ({**PLACES, "b": SECOND}, r"\['b'\] are not where it says"),
        ({"a": FIRST, "b": FIRST, "x": SECOND}, r"\['x'\] are not where it says, \['c'\] not in it"),
        ({"a": FIRST, "c": SECOND}, r"\['b'\] not in it"),
        ({**PLACES, "a": f"../{FIRST}"}, "is no name of a file"),
        ({**PLACES, "a": ".."}, "is no name of a file"),
        ({**PLACES, "a": "C:\\x"}, "is no name of a file"),
        ({**PLACES, "a": 5}, "is no name of a file"),
    ],
)
def test_an_index_that_does_not_fit_its_files_is_an_error(
    tmp_path: Path, places: dict[str, Any], message: str
) -> None:
    index = write_shards(tmp_path, places)
    with pytest.raises(FileFormatError, match=message) as caught:
        safe_load(index)
    assert caught.value.path == str(index)


@pytest.mark.parametrize(
    "content", ["", "[]", "{", "{}", '{"weight_map": []}', '{"weight_map": {}, "weight_map": {}}']
)
def test_a_damaged_index_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "m.index.json").write_text(content)
    with pytest.raises(FileFormatError, match="no index of safetensors files"):
        safe_load(tmp_path / "m.index.json")


@pytest.mark.parametrize("load", [safe_load, torch_load, gguf_load, zip_extract, tar_extract])
def test_what_is_no_path_is_refused(load: Any, tmp_path: Path) -> None:
    for junk in (None, 3, [], 1.5, {"a": 1}):
        with pytest.raises(ArgumentError, match=r"is no path\. Pass a text"):
            load(junk)
    with pytest.raises(ArgumentError, match="a zero in its name"):
        load("model\0.bin")
    if load is not safe_load:
        with pytest.raises(IsADirectoryError):
            load(tmp_path)


def test_nothing_is_saved_without_a_path(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"None .* is no path"):
        safe_save({"a": Tensor([1.0])}, None)  # pyright: ignore[reportArgumentType]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("part", ["front", "back"])
def test_a_file_has_the_sizes_of_today(tmp_path: Path, size: int, part: str) -> None:
    n = Variable("n", 1, 4).bind(size)
    t = Tensor.arange(12).float().reshape(3, 4)
    t = t[:n] if part == "front" else t[:, :n]
    safe_save({"t": t}, tmp_path / "t.safetensors")
    found = safe_load(tmp_path / "t.safetensors")["t"]
    assert found.shape == ((size, 4) if part == "front" else (3, size))
    assert found.tolist() == t.tolist()


def test_a_shape_that_does_not_fit_is_shown_by_its_names() -> None:
    n = Variable("n", 1, 4).bind(2)
    with pytest.raises(ShapeError, match=r"shape \(n,\) in the state and \(2,\) in the model"):
        load_state_dict({"t": Tensor([1.0, 2.0])}, {"t": Tensor([1.0, 2.0, 3.0, 4.0])[:n]})


def weight() -> Tensor:
    return Tensor([1.0], requires_grad=True)


def test_shared_tensors_are_trained_once_and_named_twice() -> None:
    tied = weight()
    model = {"a": tied, "b": [tied], "c": weight()}
    assert list(get_state_dict(model)) == ["a", "b.0", "c"]
    assert get_parameters(model) == [tied, model["c"]]


def test_two_tensors_of_one_name_are_an_error() -> None:
    model = {"a.b": weight(), "a": {"b": weight()}}
    with pytest.raises(StateError, match=r"two tensors of the model are named 'a\.b'"):
        get_state_dict(model)
    assert len(get_parameters(model)) == 2


@pytest.mark.parametrize("junk", [None, 3, "a", [1], {"weight": 3}, {3: Tensor(1)}], ids=str)
def test_junk_is_no_state(junk: Any) -> None:
    with pytest.raises(StateError, match=r"^load_state_dict: "):
        load_state_dict({"weight": weight()}, junk, strict=False)


# --- optimizers ---


def trained(lr: float, steps: int) -> dict[str, Any]:
    w, v = Tensor([1.0, 2.0], requires_grad=True), Tensor([[3.0]], requires_grad=True)
    optimizers = OptimizerGroup(Adam([w], lr=lr), SGD([v], lr=lr, momentum=0.9))
    for _ in range(steps):
        optimizers.zero_grad()
        ((w * w).sum() + (v * v).sum()).backward()
        optimizers.step()
    return {"w": w, "v": v, "optimizer": optimizers, "scaler": GradScaler(init_scale=lr)}


def test_optimizers_have_the_names_of_their_state(tmp_path: Path) -> None:
    everything = trained(0.5, 2)
    optimizer = everything["optimizer"]
    assert get_state_dict(optimizer).keys() == optimizer.state_dict().keys()
    inner = [f"optimizer.{name}" for name in optimizer.state_dict()]
    assert list(get_state_dict(everything)) == ["w", "v", *inner, "scaler.scale", "scaler.streak"]
    save(optimizer, tmp_path / "optimizer.safetensors")
    assert list(safe_load(tmp_path / "optimizer.safetensors")) == sorted(optimizer.state_dict())


def test_training_goes_on_from_a_checkpoint_of_everything(tmp_path: Path) -> None:
    safe_save(get_state_dict(trained(0.5, 2)), tmp_path / "all.safetensors")
    again = trained(0.25, 1)
    load_state_dict(again, safe_load(tmp_path / "all.safetensors"))
    assert [group.lr.item() for group in again["optimizer"].param_groups] == [0.5, 0.5]
    assert again["scaler"].get_scale() == 0.5
    for everything in (again, expected := trained(0.5, 2)):
        everything["optimizer"].zero_grad()
        (everything["w"].square().sum() + everything["v"].square().sum()).backward()
        everything["optimizer"].step()
    assert again["w"].tolist() == expected["w"].tolist()
    assert again["v"].tolist() == expected["v"].tolist()


def test_a_part_of_the_state_of_an_optimizer_is_loaded_if_asked_for() -> None:
    everything = trained(0.25, 1)
    load_state_dict(everything, {"optimizer.0.groups.0.lr": Tensor(2.0)}, strict=False)
    assert [group.lr.item() for group in everything["optimizer"].param_groups] == [2.0, 0.25]
