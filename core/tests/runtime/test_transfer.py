"""Bytes arrive, whichever of the two sides the host can see."""

from typing import Any

import pytest

from plugrad.dtype import dtypes
from plugrad.errors import ShapeError
from plugrad.runtime import transfer
from plugrad.runtime.buffer import Buffer


@pytest.mark.parametrize("dest_is_seen", [True, False])
@pytest.mark.parametrize("source_is_seen", [True, False])
@pytest.mark.parametrize("nbytes", [0, 1, 16, 37])
def test_all_bytes_are_copied(
    host: Any, monkeypatch: pytest.MonkeyPatch, source_is_seen: bool, dest_is_seen: bool, nbytes: int
) -> None:
    monkeypatch.setattr(transfer, "_STAGING_BYTES", 16)
    data = bytes(range(nbytes))
    source = Buffer("A", nbytes, dtypes.uint8, host(shows_memory=source_is_seen)).copyin(memoryview(data))
    dest = Buffer("B", nbytes, dtypes.uint8, host(shows_memory=dest_is_seen))
    assert transfer.copy_buffer(dest, source) is dest
    assert bytes(dest.as_memoryview()) == data


def test_buffers_of_different_sizes_are_refused(host: Any) -> None:
    with pytest.raises(ShapeError, match="as large as the source"):
        transfer.copy_buffer(Buffer("A", 3, dtypes.uint8, host()), Buffer("B", 4, dtypes.uint8, host()))


def test_a_device_that_reads_the_other_itself_needs_no_host(
    host: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = host(shows_memory=False), host(shows_memory=False)
    seen = []

    def copy_from(handle: bytearray, source: Any, source_handle: bytearray, nbytes: int) -> bool:
        seen.append((source, nbytes))
        handle[:nbytes] = source_handle[:nbytes]
        return True

    monkeypatch.setattr(there, "copy_from", copy_from)
    source = Buffer("A", 3, dtypes.uint8, here).copyin(memoryview(b"abc"))
    monkeypatch.setattr(here, "copyout", None)
    dest = transfer.copy_buffer(Buffer("B", 3, dtypes.uint8, there), source)
    assert bytes(dest.as_memoryview()) == b"abc"
    assert seen == [(here, 3)]
