"""Sizes read as a person would say them; reports name what holds the most, the largest first."""

from typing import Any

import pytest

from plugrad.dtype import dtypes
from plugrad.errors import DeviceOutOfMemory
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.memory_report import describe, explain_out_of_memory, show_bytes
from plugrad.runtime.origin import Origin, call_site


@pytest.mark.parametrize(
    ("nbytes", "shown"),
    [(0, "0 bytes"), (999, "999 bytes"), (1024, "1.02 kB"), (3_000_000, "3.00 MB"), (5 << 29, "2.68 GB")],
)
def test_bytes_are_shown_in_the_largest_unit_that_fits(nbytes: int, shown: str) -> None:
    assert show_bytes(nbytes) == shown


def made_here(size: int, allocator: Any, shape: tuple[int, ...] | None = None) -> Buffer:
    origin = Origin(shape or (size,), call_site())
    return Buffer("REPORTED", size, dtypes.float32, allocator, label=origin).ensure_allocated()


def test_a_buffer_is_described_by_its_shape_and_the_line_that_it_was_made_for(host: Any) -> None:
    buffer = made_here(6, host(), (2, 3))
    line = made_here.__code__.co_firstlineno + 1
    assert describe(buffer) == f"24 bytes, float32[2, 3] ({__file__}:{line} in made_here)"


def test_buffers_of_one_line_count_together(host: Any) -> None:
    allocator = host()
    many = [made_here(100, allocator) for _ in range(5)]
    one = Buffer("REPORTED", 300, dtypes.float32, allocator, label="weights").ensure_allocated()
    small = made_here(7, allocator)
    wanted = Buffer("REPORTED", 10, dtypes.float32, allocator)
    error = explain_out_of_memory(wanted, [small, one, *many], DeviceOutOfMemory("full."))
    lines = str(error).splitlines()
    assert lines[0] == "REPORTED has no room for 40 bytes, float32[10]: full."
    assert lines[1] == "7 live buffers hold 3.23 kB there, most of all:"
    assert lines[2].startswith("  5 x 400 bytes, float32[100] (")
    assert lines[3] == "  1.20 kB, float32[300] (weights)"
    assert lines[4].startswith("  28 bytes, float32[7] (")
