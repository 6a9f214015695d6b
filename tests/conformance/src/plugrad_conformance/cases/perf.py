"""Perf: how fast it is, beside what the device reaches at best. Measured, never judged."""

import math
import statistics
import time
from collections.abc import Callable

import numpy as np

from plugrad import Tensor, dtypes
from plugrad.runtime.buffer import Buffer
from plugrad_conformance.bench import Bench
from plugrad_conformance.case import Case
from plugrad_conformance.cases.full import kernel_of
from plugrad_conformance.values import sample, sizes_of, tensor_of

_MEGABYTES = 64
_REPEATS = 7


def _seconds(bench: Bench, work: Callable[[], None], repeats: int = _REPEATS) -> float:
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
    """Microseconds from one launch of a tiny kernel to the next."""
    x = tensor_of(np.zeros(16), dtypes.float32, bench.name).realize()
    launch = _launcher(bench, x + 1, [x])

    def many() -> None:
        for _ in range(200):
            launch()

    microseconds = _seconds(bench, many, 3) / 200 * 1e6
    _record(bench, "launch", {"us": microseconds})
    (x + 1).realize()
    return f"{microseconds:.2f} us"


def memory_bandwidth(bench: Bench) -> str:
    """GB/s of a sum of two arrays, beside those of the simplest kernel there is."""
    n = _elements(bench)
    x = tensor_of(np.zeros(n), dtypes.float32, bench.name).realize()
    y = tensor_of(np.ones(n), dtypes.float32, bench.name).realize()
    found = 3 * 4 * n / _seconds(bench, _launcher(bench, x * y + x, [x, y])) / 1e9
    peak = 2 * 4 * n / _seconds(bench, _launcher(bench, -x, [x])) / 1e9
    _record(bench, "bandwidth", {"gb_per_s": found, "peak": max(peak, found)})
    return f"{found:.1f} GB/s"


def float_throughput(bench: Bench) -> str:
    """GFLOP/s of a matrix product, beside those of multiply-adds that touch no memory."""
    size = 768 if _elements(bench) > 1 << 20 else 48
    a, b = (
        tensor_of(
            sample(dtypes.float32, size * size, s, 1.0).reshape(size, size), dtypes.float32, bench.name
        ).realize()
        for s in (1, 2)
    )
    found = 2 * size**3 / _seconds(bench, _launcher(bench, a @ b, [a, b])) / 1e9
    n, chain = max(1 << 12, _elements(bench) >> 8), 64
    x = tensor_of(np.full(n, 0.5), dtypes.float32, bench.name).realize()
    t = x
    for _ in range(chain):
        t = t * x + x
    peak = 2 * chain * n / _seconds(bench, _launcher(bench, t, [x])) / 1e9
    _record(bench, "matmul", {"gflop_per_s": found, "peak": max(peak, found)})
    return f"{found:.1f} GFLOP/s"


def compile_time(bench: Bench) -> str:
    """Milliseconds to compile one small kernel that no cache has."""
    x = tensor_of(np.zeros(16), dtypes.float32, bench.name).realize()
    times: list[float] = []
    for number in range(3):
        # a constant that no run used before
        factor = 1.0 + (time.time_ns() % 999_983) / 999_983 + number
        started = time.perf_counter()
        (x * factor + factor).realize()
        times.append(time.perf_counter() - started)
    _record(bench, "compile", {"ms": min(times) * 1e3})
    return f"{min(times) * 1e3:.1f} ms"


def _record(bench: Bench, name: str, values: dict[str, float]) -> None:
    bench.measurements[name] = values
    (tensor_of(np.zeros(4), dtypes.float32, bench.name) + 1).realize()


CASES = tuple(
    Case(f"perf/device/{t.__name__.replace('_', '-')}", run=t)
    for t in (launch_latency, memory_bandwidth, float_throughput, compile_time)
)
