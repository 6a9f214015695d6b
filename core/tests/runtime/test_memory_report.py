"""Sizes read as a person would say them."""

import pytest

from plugrad.runtime.memory_report import show_bytes


@pytest.mark.parametrize(
    ("nbytes", "shown"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.00 KB"), (3 << 20, "3.00 MB"), (5 << 29, "2.50 GB")],
)
def test_bytes_are_shown_in_the_largest_unit_that_fits(nbytes: int, shown: str) -> None:
    assert show_bytes(nbytes) == shown
