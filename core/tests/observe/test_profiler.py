"""Tests of plugrad.observe.profiler."""

import pytest

from plugrad.events import CopyEvent, KernelEvent, RealizeEvent, emit
from plugrad.observe.profiler import Profiler


def test_kernels_of_one_name_and_device_are_summed() -> None:
    with Profiler() as profile:
        emit(KernelEvent("a", "NULL", seconds=1.0, flops=10, bytes_accessed=4))
        emit(KernelEvent("a", "NULL", seconds=2.0, flops=20, bytes_accessed=8))
        emit(KernelEvent("a", "PYTHON", seconds=9.0))
        emit(RealizeEvent(3, 12.0))
    longest, second = profile.rows()
    assert longest.device == "PYTHON"
    assert (second.count, second.seconds, second.flops, second.nbytes) == (2, 3.0, 30, 12)


def test_launches_without_time_are_counted_but_not_taken_into_speeds() -> None:
    with Profiler() as profile:
        emit(KernelEvent("a", "NULL", flops=10))
        emit(KernelEvent("a", "NULL", seconds=2.0, flops=10))
    (row,) = profile.rows()
    assert (row.count, row.timed_count, row.flops) == (2, 1, 10)


def test_nothing_is_observed_after_the_block() -> None:
    with Profiler() as profile:
        pass
    emit(KernelEvent("a", "NULL"))
    assert profile.rows() == []


def test_the_table_has_a_line_for_each_row_and_a_total() -> None:
    with Profiler() as profile:
        emit(KernelEvent("matmul", "NULL", seconds=0.75, flops=3_000_000_000))
        emit(CopyEvent("PYTHON", "NULL", 100, 0.25))
    header, kernel, copy, total = profile.table().splitlines()
    assert header.split()[:3] == ["device", "kernel", "count"]
    assert kernel.split()[:6] == ["NULL", "matmul", "1", "750.00ms", "750.00ms", "75.0%"]
    assert "copy from PYTHON" in copy
    # nothing is computed by a copy
    assert copy.split()[-2:] == ["-", "0.00"]
    assert total == "total 1000.00ms, 2 launches and copies"


def test_a_long_table_says_how_much_it_leaves_out() -> None:
    with Profiler() as profile:
        for name in "abc":
            emit(KernelEvent(name, "NULL"))
    assert "... and 1 more" in profile.table(limit=2)


def test_a_name_too_long_for_the_terminal_has_a_line_of_its_own() -> None:
    name = "reduce_4_8_16_16_3_3_3_c8e6a73d"
    with Profiler() as profile:
        emit(KernelEvent(name, "NULL", seconds=0.75, flops=3_000_000_000))
        emit(KernelEvent("map", "NULL", seconds=0.25))
    header, long, numbers, short, _ = profile.table(width=80).splitlines()
    assert max(map(len, (header, long, numbers, short))) <= 80
    assert long == f"NULL    {name}"
    assert numbers.split() == ["1", "750.00ms", "750.00ms", "75.0%", "4.00", "-"]
    assert len(header) == len(numbers) == len(short)


@pytest.mark.parametrize("limit", [0, 5])
def test_an_empty_table_is_only_header_and_total(limit: int) -> None:
    assert len(Profiler().table(limit).splitlines()) == 2
