"""Tensors of files are written where the file is writable."""

import os
import stat
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plugrad import Device, Tensor, dtypes
from plugrad.errors import DeviceError, DtypeError, JitError, ShapeError
from plugrad.jit import jit

Array = Any


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "numbers"
    file.write_bytes(np.arange(12, dtype=np.int32).tobytes())
    return file


def numbers(path: Path) -> Tensor:
    return Tensor(path, dtype=dtypes.int32)


def contents(path: Path) -> list[int]:
    return np.fromfile(path, np.int32).tolist()


def test_a_whole_file_is_written_at_once(path: Path) -> None:
    assert numbers(path).assign(Tensor.arange(12, dtype=dtypes.int32) * 2).tolist() == [*range(0, 24, 2)]
    assert contents(path) == [*range(0, 24, 2)]


@pytest.mark.parametrize("device", ["PYTHON", "CPU"])
def test_values_come_from_any_device(path: Path, device: str) -> None:
    if device not in [Device.DEFAULT, "PYTHON"]:
        pytest.skip(f"{device} is not the device of this run")
    t = numbers(path)
    t[2:4] = Tensor([70, 80], dtype=dtypes.int32, device=device).realize()
    t[0] = 5
    assert contents(path) == [5, 1, 70, 80, *range(4, 12)]
    assert t.to(device).tolist() == contents(path)


@pytest.mark.parametrize(
    "index",
    [np.s_[1], np.s_[:, 1:3], np.s_[::2], np.s_[::-1], np.s_[..., -1], np.s_[1:, ::3], np.s_[:], np.s_[2:2]],
    ids=str,
)
def test_any_slice_is_written(path: Path, index: Any) -> None:
    array = np.fromfile(path, np.int32).reshape(3, 4)
    t = numbers(path).reshape(3, 4)
    new = np.arange(100, 100 + array[index].size, dtype=np.int32).reshape(array[index].shape)
    array[index] = new
    t[index] = Tensor(new)
    assert np.fromfile(path, np.int32).tolist() == array.reshape(-1).tolist()
    assert t.tolist() == array.tolist()


def test_views_are_views_of_the_file(path: Path) -> None:
    t = numbers(path)
    part, turned = t[4:8], t.reshape(3, 4).T
    turned[0] = 0
    part.assign(-1)
    assert contents(path) == [0, 1, 2, 3, -1, -1, -1, -1, 0, 9, 10, 11]
    assert part.tolist() == [-1] * 4
    t.bitcast(dtypes.float32)[1] = 1.0
    assert contents(path)[1] == 0x3F800000


def test_who_waits_to_read_sees_what_was_there(path: Path) -> None:
    t = numbers(path)
    before = t.to(Device.DEFAULT) * 2
    t[:] = 0
    after = t.to(Device.DEFAULT) + 1
    t[:] = 7
    assert before.tolist() == [*range(0, 24, 2)]
    assert after.tolist() == [1] * 12
    assert t.tolist() == [7] * 12


def test_a_file_is_written_with_what_it_holds(path: Path) -> None:
    t = numbers(path)
    t[:6] = t[6:]
    assert contents(path) == [*range(6, 12), *range(6, 12)]
    t[6:] = t.flip(0)[:6].to(Device.DEFAULT) + 1
    assert contents(path)[6:] == [12, 11, 10, 9, 8, 7]


def test_a_file_that_a_copy_made_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "new"
    made = Tensor([1, 2, 3], dtype=dtypes.int32).to(f"DISK:{path}")
    made[1] = 20
    assert contents(path) == [1, 20, 3]


def test_a_copy_does_not_replace_a_file(path: Path) -> None:
    with pytest.raises(DeviceError, match=r"exists, and would be replaced.*assign"):
        Tensor([1, 2, 3]).to(f"DISK:{path}").realize()
    assert contents(path) == [*range(12)]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes everything")
def test_a_read_only_file_says_so(path: Path) -> None:
    path.chmod(stat.S_IRUSR)
    with pytest.raises(DeviceError, match="Permission denied"):
        numbers(path)[0] = 1


def test_a_disk_that_refuses_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    t = numbers(path)
    t.tolist()

    def refuses(path: str, mode: str = "r") -> FileIO:
        if mode != "r":
            raise OSError(30, "Read-only file system")
        return FileIO(path, mode)

    monkeypatch.setattr("plugrad.builtin.disk.FileIO", refuses)
    with pytest.raises(DeviceError, match=r"cannot write 4 bytes to .*numbers.*Read-only file system"):
        t[0] = 1
    assert t.tolist() == [*range(12)]


def test_what_does_not_fit_is_refused(path: Path) -> None:
    t = numbers(path)
    with pytest.raises(ShapeError):
        t[:3] = Tensor([1, 2], dtype=dtypes.int32)
    with pytest.raises(DtypeError):
        t.assign(Tensor([1.5] * 12))
    assert contents(path) == [*range(12)]


def test_a_jitted_function_writes_no_file(path: Path) -> None:
    t = numbers(path)

    def write(x: Tensor) -> Tensor:
        t[0] = x
        return x + 1

    written = jit(write)
    calls = (written(Tensor([value], dtype=dtypes.int32).realize()) for value in range(3))
    with pytest.raises(JitError, match="writes into"):
        list(calls)
