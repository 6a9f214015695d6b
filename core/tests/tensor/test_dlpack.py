"""Tests of plugrad.tensor.dlpack: capsules, whole and damaged."""

from typing import Any

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.errors import SharingError
from plugrad.tensor import dlpack


@pytest.mark.parametrize("is_versioned", [True, False])
def test_memory_comes_back_as_it_went(is_versioned: bool) -> None:
    array = np.arange(6, dtype=np.int16)
    capsule = dlpack.export_memory(
        memoryview(array).cast("B"), (2, 3), dtypes.int16, is_versioned=is_versioned, is_copied=False
    )
    found = dlpack.import_memory(capsule)
    assert found.dtype is dtypes.int16
    assert found.elements.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found.elements.ctypes.data == array.ctypes.data
    with pytest.raises(SharingError, match="was used before"):
        dlpack.import_memory(capsule)
    assert dlpack._exported
    del found
    assert not dlpack._exported


def test_what_is_no_capsule_is_refused() -> None:
    with pytest.raises(SharingError, match="is no DLPack capsule"):
        dlpack.import_memory(3)


def test_other_devices_and_dtypes_are_refused(monkeypatch: Any) -> None:
    def exported() -> Any:
        return dlpack.export_memory(
            memoryview(bytes(4)), (1,), dtypes.int32, is_versioned=True, is_copied=False
        )

    with monkeypatch.context() as patch:
        patch.setattr(dlpack, "HOST", (2, 0))
        capsule = exported()
    with pytest.raises(SharingError, match="device type 2 is not the host's"):
        dlpack.import_memory(capsule)
    with monkeypatch.context() as patch:
        patch.setitem(dlpack._CODES, dtypes.int32, (5, 64))
        capsule = exported()
    with pytest.raises(SharingError, match="code 5, 64 bits and 1 lanes"):
        dlpack.import_memory(capsule)
