"""Values that several devices hold."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.engine.realize import realize, schedule
from plugrad.errors import DeviceError, ScheduleError
from plugrad_conformance.testing.memory import get, put

Launches = Callable[..., list[str]]


def test_copies_go_from_device_to_device_and_back(device: str, launches: Launches) -> None:
    x = put(np.arange(6.0).reshape(2, 3), "PYTHON:1")
    there = x.copy_to_device(device) + 1
    back = there.permute((1, 0)).copy_to_device("PYTHON:1") * 2
    ran = launches(back)
    assert ran.count("copy") == 2
    assert storage.resolve(back).device == "PYTHON:1"
    np.testing.assert_array_equal(get(back), (np.arange(6).reshape(2, 3).T + 1) * 2)


def test_data_is_copied_once(launches: Launches) -> None:
    copied = put([1.0, 2.0], "PYTHON:1").copy_to_device("PYTHON")
    assert launches(copied + 1).count("copy") == 1
    assert launches(copied + 2).count("copy") == 0


def test_a_part_of_memory_is_copied_without_a_kernel(launches: Launches) -> None:
    x = put(np.arange(12.0).reshape(4, 3), "PYTHON:1")
    part = x.shrink(((1, 3), (0, 3))).reshape((6,)).copy_to_device("PYTHON")
    assert launches(part) == ["copy"]
    np.testing.assert_array_equal(get(part), np.arange(3, 9))


def test_what_is_expanded_is_copied_before_it_is(launches: Launches) -> None:
    x = put([[1.0], [2.0]], "PYTHON:1")
    copied = x.expand((2, 100)).copy_to_device("PYTHON") + 1
    items = schedule([copied])
    assert items[0].bufs[0].size == 2
    realize([copied])
    np.testing.assert_array_equal(get(copied), np.array([[2], [3]]).repeat(100, 1))


def test_an_assigned_part_is_copied_in_its_own_order() -> None:
    x = put(np.arange(6.0).reshape(2, 3), "PYTHON:1")
    changed = x.permute((1, 0)).assign(x.permute((1, 0)) * 2)
    copied = changed.copy_to_device("PYTHON")
    realize([copied])
    np.testing.assert_array_equal(get(copied), np.arange(6).reshape(2, 3).T * 2)


def test_one_assigned_element_is_copied_alone() -> None:
    x = put(np.arange(4.0), "PYTHON:1")
    changed = x.shrink(((2, 3),)).assign(put([9.0], "PYTHON:1"))
    copied = changed.copy_to_device("PYTHON")
    realize([copied])
    np.testing.assert_array_equal(get(copied), [9])


def test_an_empty_version_is_copied_as_nothing() -> None:
    x = put(np.zeros(0), "PYTHON:1")
    changed = x.after(x.reshape((0, 3)).assign(x.reshape((0, 3)) + 1))
    copied = changed.copy_to_device("PYTHON")
    realize([copied])
    assert get(copied).shape == (0,)


def test_files_are_memory_that_is_copied_and_moved_elsewhere(tmp_path: Path) -> None:
    np.arange(12, dtype=np.float32).tofile(tmp_path / "data")
    disk = storage.new_buffer(f"DISK:{tmp_path / 'data'}", (3, 4), dtypes.float32)
    row = disk.shrink(((1, 2), (0, 4))).copy_to_device("PYTHON") * 2
    column = disk.shrink(((0, 3), (1, 2))).copy_to_device("PYTHON")
    realize([row, column])
    np.testing.assert_array_equal(get(row), [[8, 10, 12, 14]])
    np.testing.assert_array_equal(get(column), [[1], [5], [9]])


def test_a_device_that_only_stores_is_not_asked_to_compute(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(8))
    disk = storage.new_buffer(f"DISK:{tmp_path / 'data'}", (2,), dtypes.float32)
    with pytest.raises(DeviceError, match="stores data and runs no kernels"):
        realize([disk + 1])


def test_mixed_devices_are_refused_with_both_names() -> None:
    with pytest.raises(ScheduleError, match=r"values on PYTHON and on PYTHON:1.*\.to\('PYTHON'\)"):
        realize([put([1.0]) + put([1.0], "PYTHON:1")])
