"""Tests of plugrad.observe.machine_limits."""

import pytest

from plugrad.events import KernelEvent
from plugrad.observe.machine_limits import MachineLimits, keep_limits, known_limits, limit_cells
from plugrad.observe.printer import header, kernel_line
from plugrad.observe.profiler import Profiler
from plugrad.settings import cache_dir
from plugrad_conformance.testing import temporary_cache

LIMITS = MachineLimits(flops=100e9, bandwidth=10e9, launch_seconds=1e-6)


def test_a_kernel_is_near_to_the_limit_that_holds_it() -> None:
    assert LIMITS.share(flops=10_000, nbytes=8_000, seconds=1e-6) == pytest.approx(0.8)
    assert LIMITS.share(flops=90_000, nbytes=8_000, seconds=1e-6) == pytest.approx(0.9)
    assert LIMITS.share(flops=90_000, nbytes=8_000, seconds=None) is None


def test_limits_are_kept_by_device() -> None:
    with temporary_cache():
        assert known_limits("CPU") is None
        keep_limits("CPU", LIMITS)
        keep_limits("CUDA", MachineLimits(1.0, 2.0, 3.0))
        assert known_limits("CPU") == LIMITS
        assert known_limits("CUDA") == MachineLimits(1.0, 2.0, 3.0)


def test_a_file_of_something_else_is_no_error() -> None:
    with temporary_cache():
        (cache_dir() / "limits.json").write_text('{"CPU": [1]}')
        assert known_limits("CPU") is None


def test_tables_show_shares_where_limits_are_known() -> None:
    event = KernelEvent("k", "CPU", seconds=1e-6, flops=50_000, bytes_accessed=100)
    with temporary_cache():
        assert limit_cells("CPU", 1, 1, 1.0) == ()
        assert "limit" not in header(80, coloured=False)
        keep_limits("CPU", LIMITS)
        assert limit_cells("OPENCL", 1, 1, 1.0) == ("-",)
        head, line = header(80, coloured=False), kernel_line(event, 1, 80)
        profile = Profiler()
        profile(event)
        table = profile.table().splitlines()
    assert head.endswith("limit")
    assert line.endswith("50%")
    assert len(head) == len(line) == 80
    assert (table[0].split()[-1], table[1].split()[-1]) == ("limit", "50%")
