"""Tests of plugrad.nn.state: files of any format, told by their first bytes."""

import struct
from pathlib import Path

import pytest
import torch

from plugrad.errors import FileFormatError, StateError
from plugrad.nn import Linear, Module
from plugrad.nn.state import get_state_dict, load, safe_load, safe_save, save
from plugrad.tensor import Tensor


def test_a_model_or_its_state_is_saved(tmp_path: Path) -> None:
    model = Linear(3, 2)
    for given in (model, model.state_dict(), {"layer": model}):
        save(given, tmp_path / "model.pt")
        found = load(tmp_path / "model.pt")
        assert {n: t.tolist() for n, t in found.items()} == {
            n: t.tolist() for n, t in get_state_dict(given).items()
        }
    assert list(safe_load(tmp_path / "model.pt")) == ["layer.weight", "layer.bias"]


def test_a_number_beside_tensors_is_refused_not_left_out(tmp_path: Path) -> None:
    state = {"model": Linear(3, 2), "progress": {"epoch": 5}}
    with pytest.raises(StateError, match=r"progress\.epoch = 5 \(int\)"):
        save(state, tmp_path / "model.pt")
    assert not (tmp_path / "model.pt").exists()


@pytest.mark.parametrize("is_zip", [True, False])
def test_files_of_torch_are_loaded(tmp_path: Path, is_zip: bool) -> None:
    state = torch.nn.Linear(3, 2).state_dict()
    torch.save(state, tmp_path / "model.safetensors", _use_new_zipfile_serialization=is_zip)
    model: Module = Linear(3, 2)
    model.load_state_dict(load(tmp_path / "model.safetensors"))
    assert [p.tolist() for p in model.parameters()] == [p.tolist() for p in state.values()]


def test_files_of_gguf_are_loaded(tmp_path: Path) -> None:
    name = struct.pack("<Q", 1) + b"w"
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + name + struct.pack("<IQIQ", 1, 2, 0, 0)
    (tmp_path / "model").write_bytes(head + bytes(-len(head) % 32) + struct.pack("<2f", 1, 2))
    assert load(tmp_path / "model", "PYTHON")["w"].tolist() == [1.0, 2.0]


def test_a_folder_is_loaded(tmp_path: Path) -> None:
    safe_save({"w": Tensor([1.0])}, tmp_path / "model.safetensors")
    assert load(tmp_path)["w"].tolist() == [1.0]


@pytest.mark.parametrize("content", [b"", b"no weights", bytes(8) + b"{"], ids=len)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(FileFormatError):
        load(tmp_path / "model")
