"""Memory of a GPU, with and without pools of the driver's, on the stand-in (evidence E2)."""

import pytest

HEADER = """
from plugrad import Device, Tensor, dtypes
from plugrad.errors import DeviceError, DeviceOutOfMemory
import numpy as np
d = Device['CUDA']
memory = d.allocator
"""
POOLS = pytest.mark.parametrize("pools", [0, 1])


@POOLS
def test_pools_are_used_where_the_device_has_them(simulate, pools):
    program = HEADER + "print(memory._context.pool is not None, memory.cache_limit_bytes)"
    wanted = f"{bool(pools)} {(8 << 20) // (8 if pools else 2)}"
    assert simulate(program, PLUGRAD_SIM_POOLS=pools, PLUGRAD_SIM_MEMORY=8 << 20).clean_lines()[0] == wanted


@POOLS
def test_blocks_of_ever_new_sizes_fit(simulate, pools):
    program = HEADER + (
        "for size in range(1, 40):\n"
        "    x = np.full(size << 14, size, np.float32)\n"
        "    assert (Tensor(x, device='CUDA') + 1).max().item() == size + 1\n"
        "print('done')"
    )
    assert simulate(program, PLUGRAD_SIM_POOLS=pools, PLUGRAD_SIM_MEMORY=8 << 20).clean_lines()[0] == "done"


@POOLS
def test_running_out_of_memory_is_typed_and_the_device_goes_on(simulate, pools):
    program = HEADER + (
        "blocks = [memory.alloc(2 << 20) for _ in range(4)]\n"
        "try:\n    memory.alloc(1)\nexcept DeviceOutOfMemory as error:\n    print(error.requested_bytes)\n"
        "for block in blocks: memory.free(block, 2 << 20)\n"
        "block = memory.alloc(7 << 20); memory.free(block, 7 << 20)\n"
        "print((Tensor([1.0], device='CUDA') + 1).tolist())"
    )
    lines = simulate(program, PLUGRAD_SIM_POOLS=pools, PLUGRAD_SIM_MEMORY=8 << 20).clean_lines()
    assert lines[:2] == ["1", "[2.0]"]


@POOLS
def test_memory_that_is_given_back_is_there_for_others(simulate, pools):
    program = HEADER + (
        "memory.free(memory.alloc(1 << 20), 1 << 20)\n"
        "print(memory.free_cache())\n"
        "from plugrad_cuda.native import ffi\n"
        "out, library = ffi.new('unsigned long long *'), memory._context.driver.library\n"
        "print(library.cuMemAlloc_v2(out, 2 << 20), library.cuMemFree_v2(out[0]))"
    )
    done = simulate(program, PLUGRAD_SIM_POOLS=pools, PLUGRAD_SIM_MEMORY=2 << 20)
    assert done.clean_lines()[:2] == [str(1 << 20 if not pools else 0), "0 0"]


_FREED = HEADER + (
    "from plugrad.runtime.program import Program\n"
    "s = 'extern \"C\" __global__ void __launch_bounds__(64) k(float *p) { p[threadIdx.x] = 1; }'\n"
    "k = d.runner(Program('k', s, d.compiler.compile(s, 'k'), outs=(0,)))\n"
    "block = memory._context.alloc(256)\n"
)


def test_memory_is_freed_in_the_order_of_the_stream(simulate):
    program = _FREED + (
        "k((block,), (), (1,), (64,))\nmemory._context.free(block)\nd.synchronize()\nprint('done')"
    )
    assert simulate(program).clean_lines()[0] == "done"


def test_a_launch_after_memory_was_freed_is_at_fault(simulate):
    program = _FREED + (
        "memory._context.free(block)\nk((block,), (), (1,), (64,))\n"
        "try:\n    d.synchronize()\nexcept DeviceError as error:\n"
        "    print('ILLEGAL_ADDRESS' in str(error), 'at fault is k.' in str(error))"
    )
    assert simulate(program).stdout.split() == ["True", "True"]


def test_a_copy_after_memory_was_freed_is_refused(simulate):
    program = _FREED + (
        "memory._context.free(block)\n"
        "try:\n    memory.copyin(block, memoryview(bytes(256)))\nexcept DeviceError as error:\n"
        "    print('copying 256 bytes in failed' in str(error))"
    )
    done = simulate(program)
    assert done.stdout.split() == ["True"]
    assert "memory was used after it was freed" in done.stderr


def test_a_fault_that_shows_when_memory_is_freed_is_told_by_the_next_call(simulate):
    program = _FREED.replace("p[threadIdx.x]", "p[1 << 30]") + (
        "x = d.new_buffer(64, dtypes.float32).ensure_allocated()\n"
        "k((block,), (), (1,), (64,))\n"
        "memory._context.free(block)\n"
        "print('freed')\n"
        "try:\n    memory.alloc(1)\nexcept DeviceError as error:\n    print('at fault is k.' in str(error))\n"
        "del x, k"
    )
    done = simulate(program, PLUGRAD_SIM_POOLS=0)
    assert done.stdout.split() == ["freed", "True"]
    assert "Exception ignored" not in done.stderr
