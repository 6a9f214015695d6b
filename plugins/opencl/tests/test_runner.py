import threading
from dataclasses import replace

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.errors import DeviceError
from plugrad.runtime.program import Program
from plugrad.uop.ops import Ops
from plugrad_opencl.runner import OpenClRunner, launch_size, load_program

SIZE = 64


@pytest.fixture
def doubler(w, renderer, compiler):
    """The kernel out[i] = a[i] * 2 + n."""
    n = w.variable("n")
    out, a = w.param(0, dtypes.int32, SIZE), w.param(1, dtypes.int32, SIZE)
    i = w.range(SIZE, 0)
    w.store(out, i, w.alu(Ops.ADD, w.alu(Ops.MUL, w.load(a, i), 2), n))
    w.end(i)
    return w.program(renderer, compiler)


@pytest.fixture
def blocks(allocator):
    """Make blocks that hold arrays."""

    def make(*arrays):
        made = []
        for array in arrays:
            made.append(allocator.alloc(array.nbytes))
            allocator.copyin(made[-1], memoryview(array).cast("B"))
        return tuple(made)

    return make


def _read(allocator, block):
    out = np.zeros(SIZE, np.int32)
    allocator.copyout(memoryview(out).cast("B"), block)
    return out


def test_seconds_are_the_devices_own_when_asked(doubler, context, blocks, allocator):
    run = OpenClRunner(context, doubler)
    a = np.arange(SIZE, dtype=np.int32)
    out, given = blocks(np.zeros_like(a), a)
    assert run((out, given), (1,)) is None
    assert 0 < run((out, given), (1,), wait=True) < 10
    np.testing.assert_array_equal(_read(allocator, out), a * 2 + 1)


def test_launches_take_effect_in_order(doubler, context, blocks, allocator):
    run = OpenClRunner(context, doubler)
    a = np.arange(SIZE, dtype=np.int32)
    one, other = blocks(a, np.zeros_like(a))
    for _ in range(5):
        run((other, one), (1,))
        run((one, other), (0,))
    expected = a
    for _ in range(5):
        expected = (expected * 2 + 1) * 2
    np.testing.assert_array_equal(_read(allocator, one), expected)


def test_a_kernel_takes_views_at_any_element(doubler, context, blocks, allocator):
    run = OpenClRunner(context, doubler)
    a = np.arange(4 * SIZE, dtype=np.int32)
    source, out = blocks(a, np.zeros_like(a))
    for start in (0, 1, 7, 32, 33, SIZE):
        run(
            (allocator.offset(out, 4 * SIZE, 4 * start), allocator.offset(source, 4 * SIZE, 8 * start)),
            (start,),
        )
        got = _read(allocator, allocator.offset(out, 4 * SIZE, 4 * start))
        np.testing.assert_array_equal(got, a[2 * start : 2 * start + SIZE] * 2 + start)


def test_threads_may_launch_one_runner_at_the_same_time(doubler, context, blocks, allocator):
    run = OpenClRunner(context, doubler)
    wrong = []

    def launch_often(n):
        out, a = blocks(np.zeros(SIZE, np.int32), np.full(SIZE, n, np.int32))
        for _ in range(100):
            run((out, a), (n,))
            if (_read(allocator, out) != 3 * n).any():
                wrong.append(n)

    threads = [threading.Thread(target=launch_often, args=(n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_same_bytes_are_loaded_once(doubler, context):
    assert load_program(context, doubler.lib) is load_program(context, bytes(bytearray(doubler.lib)))


def test_bytes_that_are_no_program_are_an_error(context):
    with pytest.raises(DeviceError, match="loading a program of 7 bytes failed"):
        OpenClRunner(context, Program("k", "", b"garbage"))


def test_a_missing_kernel_is_an_error_that_names_it(doubler, context):
    with pytest.raises(DeviceError, match="looking for the kernel other"):
        OpenClRunner(context, replace(doubler, name="other"))


def test_a_refused_launch_is_an_error_and_the_next_one_works(doubler, context, blocks, allocator):
    run = OpenClRunner(context, doubler)
    a = np.arange(SIZE, dtype=np.int32)
    out, given = blocks(a, a)
    with pytest.raises(DeviceError, match="launching kernel_under_test failed"):
        run((out, given), (1,), (1,), (3,))
    run((out, given), (1,))
    np.testing.assert_array_equal(_read(allocator, out), a * 2 + 1)


def test_sizes_become_work_items():
    assert launch_size((4, 2), (64,), 1) == ((256, 2), (64, 1))
    assert launch_size((), (32, 2), 1) == ((32, 2), (32, 2))
    assert launch_size((1 << 33,), (), 1) == ((1 << 33,), (1,))
    assert launch_size((), (), 8) == ((8,), (1,))
