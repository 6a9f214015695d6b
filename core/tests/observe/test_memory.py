"""Memory is shown by device: live values with the line that made them, arenas, kept blocks."""

import gc
import inspect
import sys

import pytest

import plugrad
from plugrad import Tensor, jit
from plugrad.device import Device
from plugrad.observe.memory import DeviceMemory, Holder, MemoryReport, memory, memory_lines
from plugrad.runtime.memory_report import show_bytes


@pytest.fixture
def device() -> str:
    """Return the device that tests run on."""
    return Device.DEFAULT


def of_device(device: str) -> DeviceMemory:
    gc.collect()
    return next(
        (one for one in memory().devices if one.device == device),
        DeviceMemory(device, (), 0, 0),
    )


def test_live_values_are_listed_with_the_line_that_made_them(device: str) -> None:
    before = of_device(device).nbytes
    line = inspect.getsourcelines(sys._getframe())[1] + 3
    x = Tensor.full((100, 7), 3, device=device).contiguous().realize()
    after = of_device(device)
    assert after.nbytes - before == x.nbytes
    (holder,) = [holder for holder in after.holders if "int32[100, 7]" in holder.description]
    assert f"{__file__}:{line} in " in holder.description
    del x, holder, after
    assert of_device(device).nbytes == before


def test_values_of_a_new_plan_have_the_line_that_asked(device: str) -> None:
    line = inspect.getsourcelines(sys._getframe())[1] + 2
    x = (Tensor.rand(101, 7, device=device) + 1).realize()
    (holder,) = [held for held in of_device(device).holders if "float32[101, 7]" in held.description]
    assert f"{__file__}:{line} in " in holder.description
    assert x.shape == (101, 7)


def test_values_of_one_line_count_together(device: str) -> None:
    held = [Tensor.full((11, 13), n, device=device).contiguous().realize() for n in range(5)]
    (holder,) = [h for h in of_device(device).holders if "int32[11, 13]" in h.description]
    assert (holder.count, holder.nbytes) == (5, sum(one.nbytes for one in held))
    assert str(holder).startswith("5 x 572 bytes")


def test_what_nobody_computed_has_no_memory(device: str) -> None:
    before = of_device(device).nbytes
    x = Tensor.full((9, 9), 1, device=device).contiguous() + 1
    assert of_device(device).nbytes == before
    assert x.shape == (9, 9)


def test_arenas_of_jitted_functions_are_sums_of_their_own(device: str) -> None:
    @jit
    def twice_summed(x: Tensor) -> Tensor:
        y = (x + 1).contiguous()
        return (y * 2).contiguous().sum(0) + y.sum(0)

    before = of_device(device).arena_nbytes
    for _ in range(4):
        twice_summed(Tensor.full((50, 20), 1.0, device=device).contiguous().realize())
    assert twice_summed.captures == 1
    if Device[device].capabilities.supports_views:
        assert of_device(device).arena_nbytes > before
    twice_summed.reset()
    assert of_device(device).arena_nbytes <= before


def test_freed_blocks_are_kept_until_the_cache_is_freed(device: str) -> None:
    x = Tensor.full((321,), 1, device=device).contiguous().realize()
    del x
    kept = of_device(device).kept_nbytes
    assert Device[device].allocator.free_cache() == kept
    assert of_device(device).kept_nbytes == 0


def test_a_report_is_a_table() -> None:
    holders = (
        Holder(2, 2048, "1.02 kB, float32[256] (train.py:1 in main)"),
        Holder(1, 4, "4 bytes, int32[1]"),
    )
    report = MemoryReport((DeviceMemory("DEV", holders, 3 << 20, 1024),))
    text = (
        "DEV: 2.05 kB live, 3.15 MB of intermediate values, 1.02 kB kept for reuse\n"
        "  2 x 1.02 kB, float32[256] (train.py:1 in main)\n"
        "  4 bytes, int32[1]"
    )
    assert str(report) == repr(report) == text
    assert str(MemoryReport(())) == "no memory is held"


def test_one_line_sums_a_device_up(device: str) -> None:
    x = Tensor.full((30,), 1, device=device).contiguous().realize()
    assert memory_lines([device]).startswith(f"{device}: {show_bytes(of_device(device).nbytes)} live, ")
    assert x.numel() == 30


def test_the_function_is_at_the_top() -> None:
    assert plugrad.memory is memory
