"""The examples in the docstrings of what reads and writes files do what they show."""

import doctest
import gzip
import importlib
import io
import pathlib
import pickle
import struct
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, nn
from plugrad.nn.datasets import IdxFiles, RemoteFile
from plugrad.settings import context

FORMATS = ["archive", "byte_source", "gguf", "safe_pickle", "strided", "torch_file"]
MODULES = ["datasets", "state", *[f"formats.{name}" for name in FORMATS]]


def idx(array: Any) -> bytes:
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))  # pyright: ignore[reportUnknownMemberType]


def write_files(folder: Path) -> dict[str, Any]:
    """Write what the examples read; return the names that they use."""
    with tarfile.open(folder / "weights.tar", "w") as tar:
        add(tar, "a.bin", bytes([1, 2, 3]))
    with zipfile.ZipFile(folder / "weights.zip", "w") as file:
        file.writestr("a.bin", bytes([1, 2, 3]))
    with tarfile.open(folder / "cifar.tar", "w") as tar:
        for name in (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"):
            add(tar, name, bytes(3073))
    nn.state.safe_save(nn.state.get_state_dict(nn.Linear(3, 2)), folder / "model.safetensors")
    torch.save({"bias": torch.tensor([1.0, 2.0])}, folder / "model.pt")
    gguf = (
        b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + text("general.name") + struct.pack("<I", 8) + text("small")
    )
    gguf += text("bias") + struct.pack("<IQIQ", 1, 2, 0, 0)
    (folder / "model.gguf").write_bytes(gguf + bytes(-len(gguf) % 32) + struct.pack("<2f", 1, 2))
    labels = np.array([7, 2], np.uint8)
    (folder / "labels-idx1-ubyte").write_bytes(idx(labels))
    (folder / "images.gz").write_bytes(gzip.compress(idx(np.zeros((2, 28, 28), np.uint8))))
    images_at, labels_at = (
        RemoteFile((folder / name).as_uri()) for name in ("images.gz", "labels-idx1-ubyte")
    )
    return {
        "small_files": IdxFiles(images_at, labels_at, images_at, labels_at),
        "small_archive": RemoteFile((folder / "cifar.tar").as_uri()),
    }


@pytest.mark.parametrize("name", MODULES)
def test_examples_show_what_happens(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = {
        "Tensor": Tensor,
        "io": io,
        "pathlib": pathlib,
        "pickle": pickle,
        "Linear": nn.Linear,
        **write_files(tmp_path),
    }
    with context(PLUGRAD_CACHE=str(tmp_path / "cache")):
        results = doctest.testmod(importlib.import_module(f"plugrad.nn.{name}"), extraglobs=names)
    assert results.attempted
    assert results.failed == 0
