"""What torch.save writes is read as torch.load reads it; hostile and damaged files are refused."""

import io
import os
import pickle
import struct
import tarfile
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from plugrad.dtype import ELEMENTS, dtypes
from plugrad.errors import FileFormatError
from plugrad.nn import Linear
from plugrad.nn.state import load_state_dict, torch_load
from plugrad.tensor import Tensor

both_formats = pytest.mark.parametrize("is_zip", [True, False], ids=["zip", "legacy"])
NAMES = {"fp8e4m3": "float8_e4m3fn", "fp8e5m2": "float8_e5m2"}
NAMES |= {"fp8e4m3fnuz": "float8_e4m3fnuz", "fp8e5m2fnuz": "float8_e5m2fnuz"}


def saved(path: Path, value: Any, is_zip: bool = True) -> Path:
    torch.save(value, path, _use_new_zipfile_serialization=is_zip)
    return path


def check_equal(found: Any, expected: Any) -> None:
    if isinstance(expected, torch.Tensor):
        assert found.shape == tuple(expected.shape)
        assert found.tolist() == expected.tolist()
    elif isinstance(expected, dict):
        assert isinstance(found, dict)
        assert list(found) == list(expected)  # pyright: ignore[reportUnknownArgumentType]
        for key in expected:  # pyright: ignore[reportUnknownVariableType]
            check_equal(found[key], expected[key])
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)  # pyright: ignore[reportUnknownArgumentType]
        for mine, theirs in zip(found, expected, strict=True):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            check_equal(mine, theirs)
    else:
        assert found == expected


@both_formats
def test_every_dtype_is_read(tmp_path: Path, is_zip: bool) -> None:
    names = {dtype: NAMES.get(dtype.name, dtype.name) for dtype in ELEMENTS}
    numbers = torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 1.5]])
    value = {name: numbers.to(getattr(torch, name)) for name in names.values()}
    found = torch_load(saved(tmp_path / "m.pt", value, is_zip))
    for dtype, name in names.items():
        assert found[name].dtype is dtype
        assert found[name].cast("complex64").tolist() == value[name].to(torch.complex64).tolist()


@both_formats
def test_views_of_one_storage_are_what_they_were(tmp_path: Path, is_zip: bool) -> None:
    base = torch.arange(24, dtype=torch.float32)
    value = [
        base.reshape(4, 6),
        base.reshape(4, 6).t(),
        base.reshape(2, 3, 4).permute(2, 0, 1),
        base.reshape(4, 6)[1:3, 2:5],
        base[1::5],
        base[3:4].expand(4),
        base[:3].reshape(3, 1).expand(3, 2),
        torch.as_strided(base, (3, 4), (3, 2), 1),
        base.unfold(0, 6, 2),
        base[7],
        base[:0],
        torch.zeros(0, 3),
    ]
    check_equal(torch_load(saved(tmp_path / "m.pt", value, is_zip)), value)


@both_formats
def test_containers_and_plain_values_are_kept(tmp_path: Path, is_zip: bool) -> None:
    value = {
        "model": torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)).state_dict(),
        "epoch": 3,
        "nested": [(torch.ones(2), {"deep": torch.zeros(1)}), None, True, 2.5, "text", b"bytes", {1, 2}],
        7: OrderedDict(a=torch.tensor(1)),
        "size": torch.Size([1, 2]),
    }
    found = torch_load(saved(tmp_path / "m.pt", value, is_zip))
    check_equal(found, value)
    assert isinstance(found["model"], OrderedDict)
    assert torch_load(saved(tmp_path / "d.pt", [torch.float16, torch.device("cuda", 1)], is_zip)) == [
        dtypes.float16,
        "cuda:1",
    ]


@both_formats
def test_parameters_get_gradients_and_load_into_models(tmp_path: Path, is_zip: bool) -> None:
    theirs, ours = torch.nn.Linear(2, 3), Linear(2, 3)
    path = saved(tmp_path / "m.pt", {**theirs.state_dict(), "weight": theirs.weight}, is_zip)
    found = torch_load(path)
    assert found["weight"].requires_grad
    assert not found["bias"].requires_grad
    load_state_dict(ours, found)
    np.testing.assert_array_equal(ours.weight.numpy(), theirs.weight.detach().numpy())


def test_tensors_with_attributes_lose_them(tmp_path: Path) -> None:
    x = torch.nn.Parameter(torch.ones(2))
    x.note = "attribute"  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
    y = torch.ones(3)
    y.note = "attribute"  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
    assert [t.tolist() for t in torch_load(saved(tmp_path / "m.pt", [x, y]))] == [[1.0, 1.0], [1.0, 1.0, 1.0]]


@both_formats
def test_tensors_are_read_when_they_are_used(tmp_path: Path, is_zip: bool) -> None:
    path = saved(tmp_path / "m.pt", [torch.full((4,), 7, dtype=torch.uint8)], is_zip)
    found = torch_load(path, device="PYTHON")[0]
    assert found.device == "PYTHON"
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(content.replace(b"\x07\x07\x07\x07", b"\x08\x08\x08\x08"))
    assert found.tolist() == [8, 8, 8, 8]


@both_formats
def test_the_bytes_of_a_file_are_a_file(tmp_path: Path, is_zip: bool) -> None:
    path = saved(tmp_path / "m.pt", {"x": torch.ones(2, 3)}, is_zip)
    check_equal(torch_load(Tensor(path.read_bytes())), {"x": torch.ones(2, 3)})


def test_compressed_archives_are_read(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.pt", {"x": torch.arange(1000)})
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "c.pt", "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    check_equal(torch_load(tmp_path / "c.pt"), {"x": torch.arange(1000)})


# --- the oldest format, which torch reads but does not write ---


def add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))  # pyright: ignore[reportUnknownMemberType]


class TarPickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> Any:
        return obj[0] if isinstance(obj, tuple) and len(obj) == 1 else None  # pyright: ignore[reportUnknownVariableType]


def write_tar(path: Path, first: int = 1) -> Path:
    """Write {"a": [[0, 2, 4], [1, 3, 5]], "b": [first, ...]} as two tensors of one storage."""
    numbers = np.arange(6, dtype="<f4")
    storages = pickle.dumps(1, 2) + pickle.dumps((10, "cpu", torch.FloatStorage), 2)
    storages += struct.pack("<q", 6) + numbers.tobytes() + pickle.dumps([(11, 10, 1, 4)], 2)
    tensors = pickle.dumps(2, 2)
    tensors += pickle.dumps((20, 10, torch.FloatTensor), 2) + struct.pack("<ii5q", 2, 0, 2, 3, 1, 2, 0)
    tensors += pickle.dumps((21, 11, torch.FloatTensor), 2) + struct.pack("<ii3q", 1, 0, 2, 2, first)
    main = io.BytesIO()
    TarPickler(main, 2).dump({"a": (20,), "b": [(21,)]})
    with tarfile.open(path, "w") as tar:
        for name, content in (("storages", storages), ("tensors", tensors), ("pickle", main.getvalue())):
            add(tar, name, content)
    return path


def test_tar_archives_are_read(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "m.pt")
    expected = torch.load(path, weights_only=False)
    assert expected["b"][0].tolist() == [2.0, 4.0]
    check_equal(torch_load(path), expected)


def test_a_tensor_outside_of_its_storage_in_a_tar_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="reaches over 3 elements from 2 on, but its storage has 4"):
        torch_load(write_tar(tmp_path / "m.pt", first=2))


def test_a_tar_archive_without_its_parts_is_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "m.pt", "w") as tar:
        add(tar, "pickle", b"N.")
    with pytest.raises(FileFormatError, match="no storages, no tensors"):
        torch_load(tmp_path / "m.pt")


# --- hostile and damaged files ---


class Hostile:
    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._made_by = function, arguments

    def __reduce__(self) -> Any:
        return self._made_by


def refused(path: Path, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        torch_load(path)
    assert caught.value.path == str(path)
    assert str(path) in str(caught.value)


@both_formats
@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Hostile(os.system, "touch ran"), "system"),
        (Hostile(eval, "1/0"), "builtins.eval|__builtin__.eval"),
        (Hostile(getattr, "text", "upper"), "getattr"),
        (torch.nn.Linear(1, 1), "torch.nn.modules.linear.Linear"),
        (np.zeros(2), "numpy"),
        (os.path.join, "posixpath.join|ntpath.join"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_other_things_than_tensors_are_refused(tmp_path: Path, is_zip: bool, value: Any, name: str) -> None:
    refused(saved(tmp_path / "m.pt", {"x": [value]}, is_zip), f"names \\S*({name})")


def rewritten(path: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """Write a new zip archive beside `path` of what `change` makes of its members."""
    out = path.with_name("changed.pt")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = change(name.partition("/")[2], old.read(name))
            if content is not None:
                new.writestr(name, content)
    return out


def with_pickle(path: Path, content: bytes) -> Path:
    return rewritten(path, lambda name, old: content if name == "data.pkl" else old)


STORAGE = b"(S'storage'\nctorch\nFloatStorage\nS'0'\nS'cpu'\nI6\ntQ"
FROM_TYPE = b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\nctorch\nTensor\n"
REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n("


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (STORAGE + b"I0\n(I2\nI3\nt(I3\nI1\nt", None),
        (STORAGE + b"I1\n(I2\nI3\nt(I3\nI1\nt", "reaches over 6 elements from 1 on, but its storage has 6"),
        (STORAGE + b"I0\n(I2\nI3\nt(I4\nI1\nt", "reaches over 7 elements"),
        (STORAGE + b"I-1\n(I2\nt(I1\nt", r"the offset of a tensor is \(-1,\)"),
        (STORAGE + b"I7\n(I0\nt(I1\nt", "reaches over 0 elements from 7 on"),
        (STORAGE + b"I0\n(I-2\nt(I1\nt", r"the shape of a tensor is \(-2,\)"),
        (STORAGE + b"I5\n(I2\nt(I-1\nt", r"the strides of a tensor is \(-1,\)"),
        (STORAGE + b"I0\n(I2\nt(t", r"the shape \(2,\) and the strides \(\)"),
        (STORAGE + b"I0\n(L1267650600228229401496703205376L\nt(I0\nt", "the shape of a tensor is"),
        (STORAGE + b"I0\n(I1000000\nI1000000\nt(I0\nI0\nt", "repeats the 6 elements"),
        (STORAGE + b"F0.5\n(I2\nt(I1\nt", "the offset of a tensor is"),
        (STORAGE + b"I0\nI2\n(I1\nt", "the shape of a tensor is 2"),
        (b"S'no storage'\nI0\n(I2\nt(I1\nt", "which is no storage"),
        (b"I5\nQ", "refers to 5, which is no storage"),
        (b"(S'storage'\nI1\nS'0'\nS'cpu'\nI6\ntQ", "which is no storage"),
        (b"(S'storage'\nctorch\nFloatStorage\nI0\nS'cpu'\nI6\ntQ", "which is no text"),
        (b"(S'storage'\nctorch\nFloatStorage\nS'../0'\nS'cpu'\nI6\ntQ", r"data/\.\./0, which is missing"),
        (b"(S'storage'\nctorch\nFloatStorage\nS'0'\nS'cpu'\nI7\ntQ", "has 24 bytes, too few for 7 float32"),
        (b"(S'storage'\nctorch\nFloatStorage\nS'0'\nS'cpu'\nI-7\ntQ", "the size of the storage '0'"),
    ],
)
def test_places_outside_of_storages_are_refused(
    tmp_path: Path, arguments: bytes, message: str | None
) -> None:
    path = saved(tmp_path / "m.pt", torch.arange(6, dtype=torch.float32))
    changed = with_pickle(path, REBUILD + arguments + b"I00\nNtR.")
    if message is None:
        assert torch_load(changed).tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    else:
        refused(changed, message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ctorch._utils\n_rebuild_parameter\n(I1\nI01\nNtR.", "a parameter is made of 1"),
        (b"ctorch._tensor\n_rebuild_from_type_v2\n(I1\nI1\n(tNtR.", "a tensor is made by 1"),
        (FROM_TYPE + b"(I1\nt}tR.", "calls _rebuild_from_type_v2 wrongly: missing a required argument"),
        (FROM_TYPE + b"]}tR.", r"a tensor is made of \[\], which is no tuple"),
        (b"ctorch\ndevice\n(]tR.", r"a torch.device is made of \(\[\],\)"),
        (b"ctorch._utils\n_rebuild_tensor_v2\n.", "holds the function tensor_v2"),
        (REBUILD + STORAGE + b"I0\n(I2\nt(I1\ntI00\nN}S'neg'\nI01\nstR.", "still to be applied"),
        (
            b"ctorch._utils\n_rebuild_tensor_v3\n(" + STORAGE + b"I0\n(I2\nt(I1\ntI00\nNI3\ntR.",
            "has the dtype 3",
        ),
    ],
)
def test_strange_calls_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    refused(with_pickle(saved(tmp_path / "m.pt", torch.arange(6.0)), content), message)


def test_archives_without_their_parts_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.pt", torch.arange(6.0))
    refused(rewritten(path, lambda name, old: None if name == "data.pkl" else old), "has 0 members")
    refused(rewritten(path, lambda name, old: None if name == "data/0" else old), "data/0, which is missing")
    refused(rewritten(path, lambda name, old: b"big" if name == "byteorder" else old), "not little endian")
    refused(rewritten(path, lambda name, old: old[:-1] if name == "data/0" else old), "too few for 6")


@both_formats
def test_files_that_are_cut_are_refused(tmp_path: Path, is_zip: bool) -> None:
    path = saved(tmp_path / "m.pt", {"x": torch.arange(6.0), "y": [torch.ones(3)]}, is_zip)
    content = path.read_bytes()
    for keep in {0, 1, 4, 20, 100, len(content) // 2, len(content) - 30, len(content) - 1}:
        path.write_bytes(content[:keep])
        with pytest.raises(FileFormatError):
            torch_load(path)


@both_formats
def test_files_with_damaged_bytes_are_read_or_refused(tmp_path: Path, is_zip: bool) -> None:
    path = saved(tmp_path / "m.pt", {"x": torch.arange(6.0), "y": [torch.ones(3)]}, is_zip)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    outcomes: set[str] = set()
    for _ in range(100):
        damaged = bytearray(content)
        for place in rng.integers(0, len(content), 3):
            damaged[place] = rng.integers(0, 256)
        path.write_bytes(damaged)
        try:
            torch_load(path)
            outcomes.add("read")
        except FileFormatError:
            outcomes.add("refused")
    assert "refused" in outcomes


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(pickle.dumps(3))
    refused(path, "no file of torch.save")
    path.write_bytes(pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(5, 2))
    refused(path, "version 5 of the old format")
    start = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)
    path.write_bytes(start + pickle.dumps({"little_endian": False}, 2))
    refused(path, "not little endian")
    path.write_bytes(start + pickle.dumps({"little_endian": True}, 2) + b"N." + pickle.dumps(["0"], 2))
    refused(path, "but its tensors use others")
    path.write_bytes(start + pickle.dumps({"little_endian": True}, 2) + STORAGE + b"." + pickle.dumps([], 2))
    refused(path, "the storage '0' is missing")
