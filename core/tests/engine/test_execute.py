from typing import Any

import numpy as np
import pytest

from plugrad.builtin.host_memory import Block, HostAllocator
from plugrad.device import Device
from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.engine.execute import Copy, Launch
from plugrad.engine.realize import realize
from plugrad.errors import DeviceOutOfMemory
from plugrad.events import CopyEvent, KernelEvent, RealizeEvent
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing import recorded_events
from plugrad_conformance.testing.memory import get, put


def test_a_launch_says_what_ran_and_what_it_cost(device: str) -> None:
    with recorded_events(KernelEvent) as kernels:
        realize([put(np.arange(8.0), device) * 3])
    (event,) = kernels
    assert event.device == device
    assert event.flops == 8
    assert event.bytes_accessed == 64


def test_a_copy_says_from_where_to_where() -> None:
    with recorded_events(CopyEvent) as copies, recorded_events(RealizeEvent) as realized:
        realize([put([1.0, 2.0], "PYTHON:1").copy_to_device("PYTHON") + 1])
    (event,) = copies
    assert (event.source, event.destination, event.nbytes) == ("PYTHON:1", "PYTHON", 8)
    assert (realized[0].kernels, realized[0].copies) == (1, 1)


def test_nothing_to_do_is_not_announced() -> None:
    with recorded_events(RealizeEvent) as realized:
        realize([put([1.0])])
    assert not realized


def interrupted(monkeypatch: Any, kind: type[Launch] | type[Copy], at: int, error: BaseException) -> None:
    """Let launch number `at` of the next realize raise `error` in place of running."""
    run, count = kind.run, [0]

    def counting(self: Any, values: Any) -> None:
        count[0] += 1
        if count[0] == at:
            raise error
        run(self, values)

    monkeypatch.setattr(kind, "run", counting)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), DeviceOutOfMemory("no room", device="PYTHON")])
def test_what_ran_before_an_error_is_kept_and_not_done_again(monkeypatch: Any, error: BaseException) -> None:
    x, y = put([1.0, 2.0]), put([5.0, 6.0])
    first = x.assign(x + 1)
    second = y.assign(first.flip((0,)) * y)
    with monkeypatch.context() as patch:
        interrupted(patch, Launch, 2, error)
        with pytest.raises(type(error)):
            realize([second])
    assert storage.resolve(first).op is Ops.BUFFER
    assert storage.resolve(second) is second
    np.testing.assert_array_equal(get(x), [2, 3])
    realize([second])
    np.testing.assert_array_equal(get(x), [2, 3])
    np.testing.assert_array_equal(get(y), [15, 12])


def test_an_error_in_the_first_step_changes_nothing(monkeypatch: Any) -> None:
    x = put([1.0, 2.0])
    changed = x.assign(x + 1)
    with monkeypatch.context() as patch:
        interrupted(patch, Launch, 1, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            realize([changed])
    assert storage.resolve(changed) is changed
    realize([changed])
    np.testing.assert_array_equal(get(x), [2, 3])


def test_too_much_memory_is_refused_with_its_size_and_later_work_goes_on(monkeypatch: Any) -> None:
    x, y = put([1.0]), put(np.zeros(1 << 12)) + 1
    changed = x.assign(x + 1)
    alloc = HostAllocator._alloc

    def small_only(self: HostAllocator, nbytes: int) -> Block:
        if nbytes > 1 << 10:
            raise DeviceOutOfMemory("no room", device="PYTHON", requested_bytes=nbytes)
        return alloc(self, nbytes)

    with monkeypatch.context() as patch:
        patch.setattr(HostAllocator, "_alloc", small_only)
        Device["PYTHON"].allocator.free_cache()
        with pytest.raises(DeviceOutOfMemory, match="16"):
            realize([changed, y])
    realize([changed, y])
    assert get(x) == 2
    assert get(y).sum() == 1 << 12


def test_a_failed_allocation_holds_no_memory_while_it_is_handled(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = put(np.zeros((64, 64)), device)
    square = (x + 1).contiguous()
    product = (square + square.permute((1, 0))).contiguous()
    large = (product.reshape((1, 64, 64)).expand((99, 64, 64)) * 2).contiguous()
    allocator = Device[device].allocator
    allocator.free_cache()
    before = allocator.live_bytes
    new = type(allocator)._alloc

    def small_only(self: Any, nbytes: int) -> Any:
        if nbytes > 200_000:
            raise DeviceOutOfMemory(f"{nbytes} bytes are too many")
        return new(self, nbytes)

    with monkeypatch.context() as patch:
        patch.setattr(type(allocator), "_alloc", small_only)
        with pytest.raises(DeviceOutOfMemory, match="too many") as caught:
            realize([large])
        # the traceback is alive
        assert "float32[99, 64, 64] (" in str(caught.value)
        assert allocator.live_bytes == before
        realize([square])
    np.testing.assert_array_equal(get(square), 1)
    realize([large])
    np.testing.assert_array_equal(get(large), 4)


def test_variables_reach_the_kernel_by_name() -> None:
    a, b = UOp.variable("a", 0, 9), UOp.variable("b", 0, 9)
    y = put([0]) + b.bind(2).cast(dtypes.int32) * 10 + a.bind(1).cast(dtypes.int32)
    realize([y])
    assert get(y) == 21
