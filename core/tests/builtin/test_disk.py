"""Files are buffers; what is not there, too short or there already is an error with the file's name."""

import threading
from pathlib import Path

import pytest

import plugrad.builtin  # noqa: F401 - registers the devices of the core
from plugrad.device import DeviceRegistry
from plugrad.dtype import dtypes
from plugrad.errors import DeviceError, DeviceNotFound, FileFormatError
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.transfer import copy_buffer


@pytest.fixture
def devices() -> DeviceRegistry:
    return DeviceRegistry()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "Data.bin"
    file.write_bytes(bytes(range(100)))
    return file


def whole(devices: DeviceRegistry, path: Path, nbytes: int = 100) -> Buffer:
    return devices[f"DISK:{path}"].new_buffer(nbytes, dtypes.uint8)


def test_a_path_keeps_its_case_in_the_name_of_the_device(devices: DeviceRegistry, path: Path) -> None:
    assert devices.canonicalize(f"disk:{path}") == f"DISK:{path}"


def test_a_file_is_read_as_a_buffer(devices: DeviceRegistry, path: Path) -> None:
    assert bytes(whole(devices, path).as_memoryview()) == bytes(range(100))


def test_a_view_reads_its_region_only(devices: DeviceRegistry, path: Path) -> None:
    view = whole(devices, path).view(3, dtypes.int16, 10).view(2, dtypes.int16, 2)
    assert bytes(view.as_memoryview()) == bytes([12, 13, 14, 15])


def test_a_region_is_copied_to_another_device(devices: DeviceRegistry, path: Path) -> None:
    view = whole(devices, path).view(4, dtypes.uint8, 96)
    assert copy_buffer(devices["NULL"].new_buffer(4, dtypes.uint8), view).nbytes == 4


def test_a_missing_file_is_named(devices: DeviceRegistry, tmp_path: Path) -> None:
    with pytest.raises(DeviceNotFound, match=r"nowhere.*No such file"):
        whole(devices, tmp_path / "nowhere").as_memoryview()
    assert not (tmp_path / "nowhere").exists()


def test_a_directory_is_no_file(devices: DeviceRegistry, tmp_path: Path) -> None:
    with pytest.raises(DeviceNotFound, match="Is a directory"):
        whole(devices, tmp_path).ensure_allocated()


def test_a_file_that_is_too_short_is_refused_when_it_is_opened(devices: DeviceRegistry, path: Path) -> None:
    with pytest.raises(FileFormatError, match="101 bytes were expected, it has 100") as caught:
        whole(devices, path, 101).ensure_allocated()
    assert caught.value.path == str(path)


def test_a_file_that_shrinks_while_it_is_open_is_an_error_and_no_crash(
    devices: DeviceRegistry, path: Path
) -> None:
    buffer = whole(devices, path).ensure_allocated()
    path.write_bytes(bytes(40))
    with pytest.raises(FileFormatError, match="truncated: 100 bytes were expected, it has 40"):
        buffer.as_memoryview()


def test_a_copy_does_not_replace_a_file(devices: DeviceRegistry, path: Path) -> None:
    with pytest.raises(DeviceError, match="would be replaced"):
        whole(devices, path).copyin(memoryview(bytes(100)))
    assert path.read_bytes() == bytes(range(100))


def test_the_file_is_closed_with_its_last_buffer(devices: DeviceRegistry, path: Path) -> None:
    buffer = whole(devices, path).ensure_allocated()
    file = buffer.handle.file
    view = buffer.view(4, dtypes.uint8, 0)
    del buffer
    assert bytes(view.as_memoryview()) == bytes(range(4))
    del view
    assert file._file.closed


def test_it_needs_a_path(devices: DeviceRegistry) -> None:
    with pytest.raises(DeviceNotFound, match="DISK:/path/to/file"):
        devices["DISK"]


def test_it_runs_no_kernels(devices: DeviceRegistry, path: Path) -> None:
    device = devices[f"DISK:{path}"]
    assert not device.can_compute
    with pytest.raises(DeviceError, match="runs no kernels"):
        _ = device.renderer


def test_threads_read_different_regions_at_once(devices: DeviceRegistry, path: Path) -> None:
    base = whole(devices, path).ensure_allocated()
    wrong: list[int] = []

    def work(start: int) -> None:
        expected = bytes(range(start, start + 5))
        view = base.view(5, dtypes.uint8, start)
        wrong.extend(start for _ in range(100) if bytes(view.as_memoryview()) != expected)

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 30, 60, 95)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_is_copied_to_a_new_file_makes_it(devices: DeviceRegistry, tmp_path: Path) -> None:
    file = tmp_path / "new.bin"
    buffer = whole(devices, file, 8)
    assert not buffer.ensure_allocated().handle.file.path.startswith("DISK")
    assert not file.exists()
    buffer.view(4, dtypes.uint8, 4).copyin(memoryview(b"5678"))
    assert file.read_bytes() == bytes(4) + b"5678"
    buffer.copyin(memoryview(b"abcdefgh"))
    assert file.read_bytes() == b"abcdefgh"
    assert bytes(buffer.view(2, dtypes.uint8, 3).as_memoryview()) == b"de"
    opened = buffer.handle.file
    del buffer
    assert opened._file.closed


def test_a_new_file_that_cannot_be_made_is_named(devices: DeviceRegistry, tmp_path: Path) -> None:
    with pytest.raises(DeviceNotFound, match=r"folder/new.*No such file or directory"):
        whole(devices, tmp_path / "folder" / "new", 4).copyin(memoryview(b"1234"))
    late = whole(devices, tmp_path / "late", 4).ensure_allocated()
    (tmp_path / "late").write_bytes(b"mine")
    with pytest.raises(DeviceNotFound, match="File exists"):
        late.copyin(memoryview(b"1234"))
    assert (tmp_path / "late").read_bytes() == b"mine"
    del late
