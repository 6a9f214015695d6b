"""Full: long cases, and those of other devices, threads, timers and full memory."""

import gc
import os
import subprocess
import sys
import threading
import tracemalloc
from typing import Any

import numpy as np

from plugrad import Device, Tensor, dtypes
from plugrad.dtype import DType
from plugrad.engine.compile import CompiledKernel, compile_kernels
from plugrad.errors import DeviceError, DeviceOutOfMemory
from plugrad.jit import jit
from plugrad.runtime.transfer import copy_buffer
from plugrad.uop import Ops
from plugrad_conformance.case import Case
from plugrad_conformance.cases.memory import FAR_TOO_MUCH, pattern, resident_bytes
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import array_of, memory_of, sample, tensor_of

LAUNCHES = 1000
#: Python's own bookkeeping moves by a few kilobytes; a leak of anything per launch is far above.
_LEAK_BYTES = 256 * LAUNCHES
_LEAK_RESIDENT = 8 << 20


def kernel_of(bench: Bench, t: Tensor) -> CompiledKernel:
    """Return the one kernel that computes `t`."""
    asts = [s.ast for s in t.schedule() if s.ast.op is Ops.SINK]
    return compile_kernels(bench.device, asts)[0]


def _plus_one(bench: Bench, n: int = 64) -> tuple[CompiledKernel, Any, Any]:
    kernel = kernel_of(bench, tensor_of(np.zeros(n), dtypes.int32, bench.name) + 1)
    out, source = (bench.device.new_buffer(n, dtypes.int32) for _ in range(2))
    source.copyin(memory_of(np.arange(n, dtype=np.int32)))
    return kernel, out.ensure_allocated(), source


def _use(bench: Bench) -> None:
    t = tensor_of(np.arange(4), dtypes.int32, bench.name) + 1
    assert t.tolist() == [1, 2, 3, 4], "a plain addition is wrong"


def thousand_launches_without_a_leak(bench: Bench) -> str:
    """A thousand launches keep no memory, neither Python's nor the process's."""
    _use(bench)
    kernel, out, source = _plus_one(bench)
    dims = kernel.program.launch_dims({})

    def launch(times: int) -> None:
        for _ in range(times):
            kernel.runner((out.handle, source.handle), (), *dims)
        bench.device.synchronize()

    launch(LAUNCHES // 4)
    gc.collect()
    tracemalloc.start()
    try:
        traced, resident = tracemalloc.get_traced_memory()[0], resident_bytes()
        launch(LAUNCHES)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - traced
    finally:
        tracemalloc.stop()
    resident = resident_bytes() - resident
    assert grown < _LEAK_BYTES, f"{LAUNCHES} launches left {grown} bytes of Python objects"
    assert resident < _LEAK_RESIDENT, f"{LAUNCHES} launches made the process larger by {resident} bytes"
    assert np.frombuffer(out.as_memoryview(), np.int32)[5] == 6, "the thousandth launch gave something else"
    return f"{grown} bytes in {LAUNCHES} launches"


def out_of_memory_recovers(bench: Bench) -> None:
    """After a tensor that does not fit, the device goes on, its memory untouched."""
    kept = tensor_of(np.arange(100), dtypes.int32, bench.name).realize()
    try:
        bench.device.new_buffer(FAR_TOO_MUCH // 4, dtypes.float32).ensure_allocated()
        raise AssertionError(f"{FAR_TOO_MUCH} bytes were handed out")
    except DeviceOutOfMemory as error:
        message = str(error)
    assert bench.name in message, f"the error does not name the device: {message!r}"
    assert kept.tolist() == list(range(100)), "what was there before the failed allocation has changed"
    _use(bench)


def timer_measures(bench: Bench) -> str:
    """A launch that is waited for takes time, and a much larger one takes more."""
    _use(bench)

    def quickest(n: int) -> float:
        t = tensor_of(np.ones(n), dtypes.float32, bench.name).realize()
        kernel = kernel_of(bench, (t * 2 + 1).sin().sin())
        out = bench.device.new_buffer(n, dtypes.float32).ensure_allocated()
        source = bench.device.new_buffer(n, dtypes.float32).copyin(memory_of(np.ones(n, np.float32)))
        dims = kernel.program.launch_dims({})
        times = [kernel.runner((out.handle, source.handle), (), *dims, True) for _ in range(5)]
        return min(t for t in times if t is not None)

    small, large = quickest(1 << 8), quickest(1 << 20)
    assert small > 0, f"a launch took {small} s by the device's timer"
    assert large > small * 2, f"4096 times the elements took {large:.2g} s, and not longer than {small:.2g} s"
    return f"{small * 1e6:.1f} and {large * 1e6:.1f} us"


def launches_from_threads(bench: Bench) -> None:
    """Threads launch one kernel at the same time, each on buffers of its own."""
    _use(bench)
    n, threads = 4096, 6
    kernel = kernel_of(bench, tensor_of(np.zeros(n), dtypes.int32, bench.name) * 3 + 1)
    wrong: list[str] = []
    barrier = threading.Barrier(threads)

    def work(seed: int) -> None:
        x = sample(dtypes.int32, n, seed)
        out, source = (bench.device.new_buffer(n, dtypes.int32) for _ in range(2))
        source.copyin(memory_of(x))
        out.ensure_allocated()
        barrier.wait(timeout=60)
        for number in range(30):
            out.copyin(memory_of(np.zeros(n, np.int32)))
            kernel.runner((out.handle, source.handle), (), *kernel.program.launch_dims({}))
            got = np.frombuffer(out.as_memoryview(), np.int32)
            if not (got == x * 3 + 1).all():
                wrong.append(f"launch {number} of thread {seed}")
                return

    _in_threads(work, threads)
    assert not wrong, f"{', '.join(wrong)} gave another launch's result"


def tensors_from_threads(bench: Bench) -> None:
    """Threads build, compile and realize at the same time."""
    wrong: list[str] = []

    def work(seed: int) -> None:
        for round_number in range(3):
            x = sample(dtypes.int32, 50 + seed, seed + round_number)
            t = tensor_of(x, dtypes.int32, bench.name)
            got = ((t + seed) * 2).sum().item()
            if got != ((x + seed) * 2).sum():
                wrong.append(f"thread {seed}, round {round_number}: {got}")

    _in_threads(work, 4)
    assert not wrong, f"wrong results: {', '.join(wrong)}"


def _in_threads(work: Any, count: int) -> None:
    failures: list[BaseException] = []

    def guarded(seed: int) -> None:
        try:
            work(seed)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads), (
        "threads that use the device at the same time hang"
    )
    if failures:
        raise failures[0]


def peer_copies_are_whole(bench: Bench) -> None:
    """Copies to a second device of the backend and back bring every byte."""
    second = bench.open(f"{bench.name.partition(':')[0]}:1")
    for nbytes in (16, 4096, 100_003, (4 << 20) + 20):
        data = pattern(nbytes, nbytes)
        here = bench.device.new_buffer(nbytes, dtypes.uint8).copyin(memoryview(data))
        there = copy_buffer(second.new_buffer(nbytes, dtypes.uint8), here)
        back = copy_buffer(bench.device.new_buffer(nbytes, dtypes.uint8), there)
        assert bytes(there.as_memoryview()) == data, f"{nbytes} bytes changed on the way to {second.name}"
        assert bytes(back.as_memoryview()) == data, (
            f"{nbytes} bytes changed on the way back from {second.name}"
        )


def peer_copies_keep_their_order(bench: Bench) -> None:
    """A copy between devices brings what earlier launches wrote, and nothing that was written later."""
    second = bench.open(f"{bench.name.partition(':')[0]}:1")
    kernel, out, source = _plus_one(bench)
    dims = kernel.program.launch_dims({})
    there = second.new_buffer(64, dtypes.int32)
    for first in range(0, 40, 10):
        source.copyin(memory_of(np.arange(first, first + 64, dtype=np.int32)))
        kernel.runner((out.handle, source.handle), (), *dims)
        copy_buffer(there, out)
        source.copyin(memory_of(np.zeros(64, np.int32)))
        kernel.runner((out.handle, source.handle), (), *dims)
        back = copy_buffer(bench.device.new_buffer(64, dtypes.int32), there)
        there.copyin(memory_of(np.zeros(64, np.int32)))
        got = np.frombuffer(back.as_memoryview(), np.int32)
        assert (got == np.arange(first + 1, first + 65)).all(), f"a copy brought {got.tolist()}"


def second_device_is_another(bench: Bench) -> None:
    """A second device has memory of its own, and kernels run there when asked to."""
    second = bench.open(f"{bench.name.partition(':')[0]}:1")
    mine, theirs = bench.guard.inner, bench._guards[second.name].inner
    assert mine is not theirs, f"{second.name} uses the memory of {bench.name}"
    block = theirs.alloc(64)
    try:
        mine.free(block, 64)
    except DeviceError:
        theirs.free(block, 64)
    else:
        raise AssertionError(f"{bench.name} took back a block of {second.name}: they are one device")
    before = bench.launches[second.name]
    t = (tensor_of(np.arange(6), dtypes.int32, second.name) * 2).realize()
    assert t.tolist() == [0, 2, 4, 6, 8, 10], f"{second.name} computes something else"
    assert bench.launches[second.name] > before, f"the kernel did not run on {second.name}"
    assert (t.to(bench.name) + 1).tolist() == [1, 3, 5, 7, 9, 11], "a tensor changed between two devices"


def many_replays(bench: Bench) -> None:
    """Two hundred replays of a captured function, each on inputs of its own."""

    @jit
    def function(a: Tensor) -> Tensor:
        return ((a * 2).contiguous() + a.sum()).realize()

    for call in range(200):
        x = np.arange(16, dtype=np.int32) * (call + 1)
        a = tensor_of(x, dtypes.int32, bench.name).realize()
        if call < 3:
            out = function(a)
        else:
            with bench.unwatched():
                out = function(a)
        assert (array_of(out) == x * 2 + x.sum()).all(), f"replay {call} used other inputs"


def many_buffers(bench: Bench) -> None:
    """A value made of sixty tensors: more than one kernel of some devices may take."""
    arrays = [sample(dtypes.int32, 12, s) for s in range(60)]
    tensors = [tensor_of(a, dtypes.int32, bench.name) for a in arrays]
    total = tensors[0]
    for t in tensors[1:]:
        total = total + t
    assert (array_of(total.realize()) == np.sum(arrays, axis=0)).all(), "a sum of sixty tensors is wrong"


def large_launches(bench: Bench) -> None:
    """More elements on one axis than a launch dimension of some devices has."""
    n = 200_000
    x = np.arange(n, dtype=np.int32)
    t = tensor_of(x, dtypes.int32, bench.name)
    assert (array_of((t * 2 + 1).realize()) == x * 2 + 1).all(), f"{n} elements went wrong"
    tall = tensor_of(x[:140_000].reshape(70_000, 2), dtypes.int32, bench.name)
    got = array_of(tall.sum(1).realize())
    assert (got == x[:140_000].reshape(70_000, 2).sum(1)).all(), "seventy thousand rows went wrong"


def large_reductions(bench: Bench) -> None:
    """A million elements to one, in integers, where every element counts."""
    x = (np.arange(1 << 20, dtype=np.int64) * 2654435761 % 1009).astype(np.int32)
    t = tensor_of(x, dtypes.int32, bench.name)
    assert t.sum().item() == int(x.sum(dtype=np.int64)), "a sum of a million integers is wrong"
    assert t.max().item() == int(x.max()), "the greatest of a million integers is wrong"


_CHILD = """
import sys
{setup}
import numpy as np
from plugrad import Tensor
from plugrad.events import CompileEvent, subscribe
seen = []
with subscribe(CompileEvent, seen.append):
    got = (Tensor(np.arange(19, dtype=np.float32), device=sys.argv[1]) * 1.5 - 2.25).tolist()
print(got[4], len(seen), sum(not e.cached for e in seen))
"""


def second_process_compiles_nothing(bench: Bench) -> str:
    """A kernel compiled by one process is taken from disk by the next."""
    _use(bench)
    command = [sys.executable, "-c", _CHILD.format(setup=bench.facts.setup), bench.name]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "CACHELEVEL": "2"}
    for attempt in range(2):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300, env=environment, check=False
        )
        assert done.returncode == 0, f"another process could not use {bench.name}: {done.stderr[-1000:]}"
        value, kernels, compiled = done.stdout.split()
        assert float(value) == 3.75, f"another process computed {value}, not 3.75"
        assert int(kernels) == 1, f"one expression made {kernels} kernels"
        assert attempt == 0 or int(compiled) == 0, "the second process compiled the kernel again"
    return "from disk"


def every_dtype_moves(bench: Bench) -> str:
    """Every dtype that is claimed can be stored, copied and read back."""
    claimed: list[DType] = sorted(bench.device.capabilities.storage_dtypes, key=lambda d: d.name)
    for dtype in claimed:
        x = sample(dtype, 33, 1)
        t = tensor_of(x, dtype, bench.name).realize()
        assert (array_of(t) == x).all(), f"{dtype.name} came back changed"
    _use(bench)
    return ", ".join(d.name for d in claimed)


def closes_cleanly(bench: Bench) -> None:
    """A process that used the device ends with status 0 and nothing on stderr."""
    script = "\n".join(
        (
            bench.facts.setup,
            "import sys",
            "from plugrad import Tensor",
            "t = Tensor([1, 2], device=sys.argv[1]) + 1",
            "assert t.tolist() == [2, 3]",
        )
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", script, bench.name],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, f"it ended with status {done.returncode}: {done.stderr[-1000:]}"
    assert not done.stderr, f"it printed {done.stderr[-500:]!r}"
    assert Device.canonicalize(bench.name) == bench.name, "the device is known by another name now"
    _use(bench)


_TESTS: tuple[Any, ...] = (
    thousand_launches_without_a_leak,
    out_of_memory_recovers,
    timer_measures,
    launches_from_threads,
    tensors_from_threads,
    many_replays,
    large_launches,
    large_reductions,
    second_process_compiles_nothing,
    every_dtype_moves,
    closes_cleanly,
)


def _id(function: Any) -> str:
    return f"full/device/{function.__name__.replace('_', '-')}"


CASES = (
    *(Case(_id(t), run=t) for t in _TESTS),
    Case(_id(many_buffers), run=many_buffers),
    Case(_id(peer_copies_are_whole), run=peer_copies_are_whole, needs=("second-device",), layer="memory"),
    Case(
        _id(peer_copies_keep_their_order),
        run=peer_copies_keep_their_order,
        needs=("second-device",),
        layer="memory",
    ),
    Case(
        _id(second_device_is_another),
        run=second_device_is_another,
        needs=("second-device",),
        alone=False,
        layer="memory",
    ),
)
