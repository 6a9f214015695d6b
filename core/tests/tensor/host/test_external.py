import ctypes
import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from plugrad import Device, Tensor, context
from plugrad.errors import ArgumentError, DeviceNotFound, DownloadError, ShapeError

DATA = bytes(range(32))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "data.bin"
    file.write_bytes(DATA)
    return file


def test_a_path_is_the_bytes_of_its_file_left_on_disk(path: Path) -> None:
    t = Tensor(path)
    assert (t.shape, t.dtype.name, t.device) == ((32,), "uint8", f"DISK:{path}")
    assert bytes(t.data()) == DATA
    assert t[4:8].to(None).device == t.device
    moved = t[4:8].to(Device.DEFAULT)
    assert moved.tolist() == [4, 5, 6, 7]
    assert (Tensor(path, device=Device.DEFAULT) + 1).tolist() == [b + 1 for b in DATA]


def test_the_bytes_of_a_file_may_be_other_elements(path: Path) -> None:
    t = Tensor(path, dtype="float32")
    np.testing.assert_array_equal(t.to(Device.DEFAULT).numpy(), np.frombuffer(DATA, np.float32))
    path.write_bytes(DATA[:-1])
    with pytest.raises(ShapeError, match=r"31 bytes of .*data\.bin are no whole number of float32"):
        Tensor(path, dtype="float32")


def test_a_path_without_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeviceNotFound, match=r"nowhere' is no file\. Check the path"):
        Tensor(tmp_path / "nowhere")
    with pytest.raises(DeviceNotFound, match="is no file"):
        Tensor(tmp_path)


def test_a_tensor_of_a_tensor_goes_where_it_is_asked_to() -> None:
    t = Tensor(Tensor([1, 2], device="PYTHON"), device="CPU")
    assert (t.device, t.tolist()) == ("CPU", [1, 2])


def test_memory_of_others_is_a_tensor() -> None:
    memory = np.arange(64, dtype=np.float32)
    t = Tensor.from_blob(memory.ctypes.data, (8, 8))
    np.testing.assert_array_equal(t.numpy(), memory.reshape(8, 8))
    assert (t * 2).sum().item() == memory.sum() * 2
    assert Tensor.from_blob(memory.ctypes.data, (0, 3)).shape == (0, 3)
    assert Tensor.from_blob(memory.ctypes.data, ()).item() == 0.0
    with pytest.raises(ArgumentError, match="0 is no address of memory"):
        Tensor.from_blob(0, (2,))
    with pytest.raises(ShapeError, match="negative size"):
        Tensor.from_blob(memory.ctypes.data, (-2,))


def test_memory_of_the_host_is_not_copied() -> None:
    block = ctypes.create_string_buffer(4096 + 64)
    address = (ctypes.addressof(block) + 63) // 64 * 64
    memory = np.frombuffer((ctypes.c_char * 4096).from_address(address), np.int32)
    t = Tensor.from_blob(address, (1024,), dtype="int32", device="PYTHON")
    t[3] = 7
    t.realize()
    assert memory[3] == 7


def test_what_a_url_names_is_fetched_once(path: Path, tmp_path: Path) -> None:
    with context(PLUGRAD_CACHE=str(tmp_path / "cache")):
        url = path.as_uri()
        digest = hashlib.sha256(DATA).hexdigest()
        assert bytes(Tensor.from_url(url, sha256=digest).data()) == DATA
        path.unlink()
        t = Tensor.from_url(url, sha256=digest, device=Device.DEFAULT)
        assert t.device == Device.DEFAULT
        assert t.tolist() == list(DATA)
        with pytest.raises(DownloadError, match="cannot fetch"):
            Tensor.from_url(url, folder=tmp_path / "elsewhere")


def test_what_a_url_names_may_be_unpacked(tmp_path: Path) -> None:
    packed = tmp_path / "numbers.gz"
    packed.write_bytes(gzip.compress(bytes(range(50))))
    t = Tensor.from_url(packed.as_uri(), folder=tmp_path / "kept", progress=False, gunzip=True)
    assert (t.tolist(), t.device) == (list(range(50)), Device.DEFAULT)
