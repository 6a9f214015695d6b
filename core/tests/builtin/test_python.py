"""Tests of plugrad.builtin.python: the device as plugins see it."""

import pickle
import subprocess
import sys

import numpy as np

from plugrad.builtin import python
from plugrad.builtin.python import CAPABILITIES, PythonRunner
from plugrad.dtype import dtypes
from plugrad.runtime.program import Program
from plugrad.target import Target
from plugrad_conformance.testing.elementwise import elementwise_kernel

TARGET = Target("PYTHON")


def _program(numel: int) -> Program:
    sink, _ = elementwise_kernel(lambda a, b: a + b, [dtypes.int32, dtypes.int32], numel)
    source = python.plugrad_renderer(TARGET).render(list(sink.toposort()), "add")
    lib = python.plugrad_compiler(TARGET).compile(source, "add")
    return Program("add", source, lib, global_size=(numel,))


def test_a_kernel_is_rendered_compiled_and_run_through_the_hooks() -> None:
    memory = python.plugrad_allocator(TARGET)
    blocks = [memory.alloc(16) for _ in range(3)]
    for block in blocks[1:]:
        memory.copyin(block, memoryview(np.arange(4, dtype=np.int32)).cast("B"))
    runner = python.plugrad_runner(TARGET, _program(4))
    assert runner(tuple(blocks), (), (4,), (), wait=False) is None
    out = np.zeros(4, np.int32)
    memory.copyout(memoryview(out).cast("B"), blocks[0])
    assert out.tolist() == [0, 2, 4, 6]


def test_waiting_gives_the_seconds() -> None:
    memory = python.plugrad_allocator(TARGET)
    seconds = PythonRunner(_program(4))(tuple(memory.alloc(16) for _ in range(3)), (), (4,), (), wait=True)
    assert seconds is not None
    assert seconds > 0


def test_inputs_that_are_bytes_are_read_in_place_and_never_copied() -> None:
    memory = python.plugrad_allocator(TARGET)
    source = memoryview(np.arange(4, dtype=np.int32).tobytes())
    given = memory.from_host(source)
    out = memory.alloc(16)
    PythonRunner(_program(4))((out, given, given), (), (4,), ())
    assert given.readable().readonly
    assert np.asarray(out.readable()).view(np.int32).tolist() == [0, 2, 4, 6]


def test_the_renderer_pickles() -> None:
    renderer = pickle.loads(pickle.dumps(python.plugrad_renderer(TARGET)))
    assert renderer.capabilities == CAPABILITIES


def test_rendering_is_deterministic() -> None:
    assert _program(4).source == _program(4).source


def test_importing_and_copying_needs_no_numpy() -> None:
    code = (
        "import sys, plugrad.builtin.python as p; from plugrad.target import Target;"
        "m = p.plugrad_allocator(Target('PYTHON')); m.copyin(m.alloc(4), memoryview(b'abcd'));"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
