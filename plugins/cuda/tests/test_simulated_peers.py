"""Copies between two GPUs, on the stand-in (evidence E2)."""

import pytest

HEADER = """
from plugrad import Device, Tensor, dtypes
from plugrad.errors import DeviceError
from plugrad.runtime.transfer import copy_buffer
import numpy as np
d, e = Device['CUDA'], Device['CUDA:1']
staged = []
copyout = type(d.allocator).copyout
def watch(self, dest, handle):
    staged.append(dest.nbytes)
    return copyout(self, dest, handle)
def floats(block):
    return np.frombuffer(block.as_memoryview(), np.float32)
def new(device, fill=0):
    return device.new_buffer(64, dtypes.float32).copyin(memoryview(np.full(64, fill, np.float32)).cast('B'))
"""


@pytest.mark.parametrize(("peers", "staged"), [(1, "[]"), (0, "[256, 256]")])
@pytest.mark.parametrize("pools", [0, 1])
def test_bytes_pass_through_the_host_only_where_they_must(simulate, pools, peers, staged):
    program = HEADER + (
        "a = new(d, 3)\n"
        "type(d.allocator).copyout = watch\n"
        "b = copy_buffer(e.new_buffer(64, dtypes.float32), a)\n"
        "c = copy_buffer(d.new_buffer(64, dtypes.float32), b)\n"
        "print(staged)\n"
        "print(bool((floats(b) == 3).all() and (floats(c) == 3).all()))"
    )
    done = simulate(program, PLUGRAD_SIM_DEVICES=2, PLUGRAD_SIM_POOLS=pools, PLUGRAD_SIM_PEERS=peers)
    assert done.clean_lines()[:2] == [staged, "True"]


@pytest.mark.parametrize("pools", [0, 1])
def test_copies_keep_the_order_of_both_devices(simulate, pools):
    program = HEADER + (
        "a, b, c = new(d, 1), new(e), new(e)\n"
        "for value in range(4):\n"
        "    a.copyin(memoryview(np.full(64, value, np.float32)).cast('B'))\n"
        "    copy_buffer(b, a)\n"
        "    a.copyin(memoryview(np.full(64, 99, np.float32)).cast('B'))\n"
        "    copy_buffer(c, b); copy_buffer(a, b)\n"
        "    assert (floats(c) == value).all(), floats(c)\n"
        "    assert (floats(a) == value).all(), floats(a)\n"
        "a = new(d, 7); copy_buffer(b, a); del a; d.allocator.free_cache()\n"
        "print(floats(b)[0])"
    )
    assert simulate(program, PLUGRAD_SIM_DEVICES=2, PLUGRAD_SIM_POOLS=pools).clean_lines()[0] == "7.0"


def test_threads_may_copy_both_ways_at_the_same_time(simulate):
    program = HEADER + (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def work(n):\n"
        "    here, there = (d, e) if n % 2 else (e, d)\n"
        "    return [float(floats(copy_buffer(there.new_buffer(64, dtypes.float32), new(here, n)))[0])\n"
        "            for _ in range(20)]\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    print(list(pool.map(work, range(8))) == [[float(n)] * 20 for n in range(8)])"
    )
    assert simulate(program, PLUGRAD_SIM_DEVICES=2).clean_lines()[0] == "True"


def test_a_fault_of_the_source_is_told_with_the_name_of_its_kernel(simulate):
    program = HEADER + (
        "from plugrad.runtime.program import Program\n"
        "s = 'extern \"C\" __global__ void __launch_bounds__(64) bad(float *p) { p[1 << 30] = 1; }'\n"
        "bad = d.runner(Program('bad', s, d.compiler.compile(s, 'bad'), outs=(0,)))\n"
        "a, b = new(d), new(e)\n"
        "bad((a.handle,), (), (1,), (1,))\n"
        "copy_buffer(b, a)\n"
        "try:\n    floats(b)\nexcept DeviceError as error:\n"
        "    print('ILLEGAL_ADDRESS' in str(error), 'at fault is bad.' in str(error))"
    )
    assert simulate(program, PLUGRAD_SIM_DEVICES=2).stdout.split() == ["True", "True"]


def test_giving_back_leaves_the_threads_context_as_it_was_and_waits_for_nobody(simulate):
    program = HEADER + (
        "import threading\n"
        "from plugrad_cuda.memory.pool import Pool\n"
        "mine, other = d.allocator._context, e.allocator._context\n"
        "first, second = other.alloc(256), other.alloc(256)\n"
        "mine.enter()\n"
        "other.free(first)\n"
        "Pool(mine.driver, 0, mine.stream, 1).close()  # refused where another device is current\n"
        "print(len(other._blocks))\n"
        "with other.lock:\n"
        "    thread = threading.Thread(target=other.free, args=(second,))\n"
        "    thread.start(); thread.join()\n"
        "    print(len(other._blocks))\n"
        "other.trim()\n"
        "print(len(other._blocks))"
    )
    assert simulate(program, PLUGRAD_SIM_DEVICES=2).clean_lines()[:3] == ["1", "1", "0"]
