"""Perf: how fast it is, beside what the device reaches at best. Measured, never judged."""

import functools
import math
import statistics
import time
from collections.abc import Callable

import numpy as np

from plugrad import Tensor, dtypes
from plugrad.dtype import DType
from plugrad.jit import jit
from plugrad.runtime.buffer import Buffer
from plugrad_conformance.case import Case
from plugrad_conformance.cases.full import kernel_of
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import sample, sizes_of, tensor_of

_MEGABYTES = 64
_REPEATS = 7
_LAUNCHES = 200
_STEPS = 20


def _seconds(bench: Bench, work: Callable[[], object], repeats: int = _REPEATS) -> float:
    work()
    bench.device.synchronize()
    times: list[float] = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        bench.device.synchronize()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def _elements(bench: Bench) -> int:
    # the interpreter takes a second where a compiled kernel takes a millisecond
    return (
        (_MEGABYTES << 20) // 4
        if bench.device.capabilities.vector_bits or bench.device.info.priority > 0
        else 1 << 18
    )


def _launcher(bench: Bench, t: Tensor, sources: list[Tensor]) -> Callable[[], None]:
    kernel = kernel_of(bench, t)
    out = bench.device.new_buffer(math.prod(sizes_of(t)), t.dtype).ensure_allocated()
    buffers: list[Buffer] = []
    for s in sources:
        data = s.realize().data().cast("B")
        buffers.append(bench.device.new_buffer(math.prod(sizes_of(s)), s.dtype).copyin(data))
    dims = kernel.program.launch_dims({})
    alive = [out, *buffers]

    def launch() -> None:
        # the function holds the buffers, so that their memory stays theirs
        kernel.runner(tuple(b.handle for b in alive), (), *dims)

    return launch


def launch_latency(bench: Bench) -> str:
    """Measure the microseconds between launches of a tiny kernel, and launches a second."""
    x = tensor_of(np.zeros(16), dtypes.float32, bench.name).realize()
    launch = _launcher(bench, x + 1, [x])

    def many() -> None:
        for _ in range(_LAUNCHES):
            launch()

    seconds = _seconds(bench, many, 3) / _LAUNCHES
    _record(bench, "launch", {"us": seconds * 1e6, "per_s": 1 / seconds})
    return f"{seconds * 1e6:.2f} us"


def replay_latency(bench: Bench) -> str:
    """Microseconds of each launch in a replay of twenty that depend on each other."""

    def steps(t: Tensor) -> Tensor:
        for _ in range(_STEPS):
            t = (t + 1).contiguous()
        return t.realize()

    replayed = jit(steps)
    x = tensor_of(np.zeros(16), dtypes.float32, bench.name).realize()
    for _ in range(3):
        replayed(x)
    with bench.unwatched():
        microseconds = _seconds(bench, lambda: replayed(x)) / _STEPS * 1e6
    _record(bench, "replayed launch", {"us": microseconds})
    return f"{microseconds:.2f} us"


def copy_bandwidth(bench: Bench) -> str:
    """Measure copies from the host, to the host and on the device, in GB/s."""
    n = _elements(bench)
    x = tensor_of(np.zeros(n), dtypes.float32, bench.name).realize()
    host = memoryview(bytearray(4 * n))
    buffer = bench.device.new_buffer(n, dtypes.float32).ensure_allocated()
    allocator = bench.device.allocator
    seconds = {
        "to_device": _seconds(bench, lambda: allocator.copyin(buffer.handle, host)),
        "to_host": _seconds(bench, lambda: allocator.copyout(host, buffer.handle)),
        "on_device": _seconds(bench, _launcher(bench, x.contiguous(), [x])),
    }
    found = {f"{way}_gb_per_s": 4 * n / t / 1e9 for way, t in seconds.items()}
    _record(bench, "copy", found)
    return ", ".join(f"{value:.1f} GB/s {way.partition('_gb')[0]}" for way, value in found.items())


def memory_bandwidth(bench: Bench) -> str:
    """GB/s of a sum of two arrays, beside those of the simplest kernel there is."""
    n = _elements(bench)
    x = tensor_of(np.zeros(n), dtypes.float32, bench.name).realize()
    y = tensor_of(np.ones(n), dtypes.float32, bench.name).realize()
    found = 3 * 4 * n / _seconds(bench, _launcher(bench, x * y + x, [x, y])) / 1e9
    peak = 2 * 4 * n / _seconds(bench, _launcher(bench, -x, [x])) / 1e9
    _record(bench, "bandwidth", {"gb_per_s": found, "peak_gb_per_s": max(peak, found)})
    return f"{found:.1f} GB/s"


def reduction_bandwidth(bench: Bench) -> str:
    """GB/s of the sums of long rows."""
    n = _elements(bench)
    x = tensor_of(np.ones(n).reshape(256, -1), dtypes.float32, bench.name).realize()
    found = 4 * n / _seconds(bench, _launcher(bench, x.sum(1), [x])) / 1e9
    _record(bench, "row sums", {"gb_per_s": found})
    return f"{found:.1f} GB/s"


def float_throughput(bench: Bench) -> str:
    """GFLOP/s of a matrix product, beside those of multiply-adds that touch no memory."""
    found = _product(bench, dtypes.float32, dtypes.float32)
    n, chain = max(1 << 12, _elements(bench) >> 8), 64
    x = tensor_of(np.full(n, 0.5), dtypes.float32, bench.name).realize()
    t = x
    for _ in range(chain):
        t = t * x + x
    peak = 2 * chain * n / _seconds(bench, _launcher(bench, t, [x])) / 1e9
    _record(bench, "matmul", {"gflop_per_s": found, "peak_gflop_per_s": max(peak, found)})
    return f"{found:.1f} GFLOP/s"


def matrix_throughput(dtype: DType, bench: Bench) -> str:
    """GFLOP/s of a matrix product by the device's own matrix instructions."""
    result = next(c.dtype_out for c in bench.device.capabilities.tensor_cores if c.dtype_in is dtype)
    found = _product(bench, dtype, result)
    _record(bench, f"matmul of {dtype.name}", {"gflop_per_s": found})
    return f"{found:.1f} GFLOP/s"


def _product(bench: Bench, dtype: DType, result: DType) -> float:
    size = 768 if _elements(bench) > 1 << 20 else 48
    a, b = (
        tensor_of(sample(dtype, size * size, seed, 1.0).reshape(size, size), dtype, bench.name).realize()
        for seed in (1, 2)
    )
    return 2 * size**3 / _seconds(bench, _launcher(bench, a.matmul(b, dtype=result), [a, b])) / 1e9


def compile_time(bench: Bench) -> str:
    """Measure lowering and compiling of two uncached kernels, in milliseconds."""
    # a constant that no run used before
    factor = 1.0 + (time.time_ns() % 999_983) / 999_983
    x = tensor_of(np.zeros(16), dtypes.float32, bench.name).realize()
    y = tensor_of(np.zeros((64, 64)), dtypes.float32, bench.name).realize()
    small, product = (
        min(_realizing(make(factor + number)) for number in range(3))
        for make in (lambda c: x * c + c, lambda c: y @ (y + c))
    )
    _record(bench, "compile", {"ms": small * 1e3, "matmul_ms": product * 1e3})
    return f"{small * 1e3:.1f} ms"


def _realizing(t: Tensor) -> float:
    started = time.perf_counter()
    t.realize()
    return time.perf_counter() - started


def _record(bench: Bench, name: str, values: dict[str, float]) -> None:
    bench.measurements[name] = values
    (tensor_of(np.zeros(4), dtypes.float32, bench.name) + 1).realize()


_TESTS = (
    launch_latency,
    replay_latency,
    copy_bandwidth,
    memory_bandwidth,
    reduction_bandwidth,
    float_throughput,
    compile_time,
)

CASES = (
    *(Case(f"perf/device/{t.__name__.replace('_', '-')}", run=t) for t in _TESTS),
    *(
        Case(
            f"perf/device/matrix-throughput-{dtype.name}",
            run=functools.partial(matrix_throughput, dtype),
            needs=(f"tensor-core:{dtype.name}",),
        )
        for dtype in (dtypes.float16, dtypes.bfloat16, dtypes.int8)
    ),
)
