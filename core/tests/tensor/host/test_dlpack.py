"""Tests of plugrad.tensor.host.dlpack: capsules, whole and damaged."""

import ctypes
import struct
import weakref
from typing import Any

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.errors import SharingError
from plugrad.tensor.host import dlpack


@pytest.mark.parametrize("is_versioned", [True, False])
def test_memory_comes_back_as_it_went(is_versioned: bool) -> None:
    array = np.arange(6, dtype=np.int16)
    gone = weakref.finalize(array, lambda: None)
    capsule = dlpack.export_memory(
        array.data.cast("B"), (2, 3), dtypes.int16, is_versioned=is_versioned, is_copied=False
    )
    found = dlpack.import_memory(capsule)
    assert found.dtype is dtypes.int16
    assert found.elements.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found.elements.ctypes.data == array.ctypes.data
    with pytest.raises(SharingError, match="was used before"):
        dlpack.import_memory(capsule)
    del array
    assert gone.alive
    del found
    assert not gone.alive


def test_what_is_no_capsule_is_refused() -> None:
    with pytest.raises(SharingError, match="is no DLPack capsule"):
        dlpack.import_memory(3)


def changed(format_: str, at: int, *values: int) -> Any:
    """Return a capsule whose structure says something else of its memory."""
    capsule = dlpack.export_memory(
        memoryview(bytes(4)), (1,), dtypes.int32, is_versioned=True, is_copied=False
    )
    place = dlpack._api().pointer(capsule, b"dltensor_versioned") + dlpack._VERSIONED.size + at
    ctypes.memmove(place, struct.pack(format_, *values), struct.calcsize(format_))
    return capsule


def test_other_devices_and_dtypes_are_refused() -> None:
    with pytest.raises(SharingError, match="device type 2 is not the host's"):
        dlpack.import_memory(changed("ii", struct.calcsize("P"), 2, 0))
    with pytest.raises(SharingError, match="code 7, 64 bits and 1 lanes"):
        dlpack.import_memory(changed("BB", struct.calcsize("Piii"), 7, 64))
    with pytest.raises(SharingError, match="version 2: versions up to 1"):
        dlpack.import_memory(changed("I", -dlpack._VERSIONED.size, 2))


def test_what_was_copied_is_marked() -> None:
    for is_copied in (True, False):
        capsule = dlpack.export_memory(
            memoryview(bytearray(4)), (1,), dtypes.int32, is_versioned=True, is_copied=is_copied
        )
        managed = dlpack._api().pointer(capsule, b"dltensor_versioned")
        assert (
            dlpack._VERSIONED.unpack(ctypes.string_at(managed, dlpack._VERSIONED.size))[-1] == 2 * is_copied
        )
