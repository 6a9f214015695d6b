"""Kernels for ARM, cross-compiled by zig and run by qemu's user emulation: they write what their graphs mean.

Linked without a C library, which zig would take minutes to build: the program reads all buffers from its
standard input, runs every kernel, and writes the buffers to its standard output.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.codegen.lower import Lowered, lower
from plugrad.runtime.compiler import merge_sources
from plugrad.uop.ops import Ops
from plugrad_conformance.testing.random_kernels import RandomKernel, random_kernel
from plugrad_cpu_clang.compiler import compiler_flags
from plugrad_cpu_clang.machine import Machine, vector_unit
from plugrad_cpu_clang.renderer import CpuRenderer, cpu_capabilities
from plugrad_cpu_clang.toolchain import Choice, Toolchain

MACHINE = Machine("aarch64", "any", frozenset(), *vector_unit("aarch64", frozenset()), (32 << 10, 1 << 20))
SEEDS = range(24)
# memory of the program, on lines of its own for each buffer
LINE = 64

START = """
static long call(long number, long a, long b, long c) {
  register long x8 asm("x8") = number, x0 asm("x0") = a, x1 asm("x1") = b, x2 asm("x2") = c;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}
static char memory[%(size)d] __attribute__((aligned(64)));
void _start(void) {
  for (long at = 0, n; at < %(size)d && (n = call(63, 0, (long)memory + at, %(size)d - at)) > 0; at += n);
%(launches)s
  for (long at = 0, n; at < %(size)d && (n = call(64, 1, (long)memory + at, %(size)d - at)) > 0; at += n);
  call(93, 0, 0, 0);
}
"""


@pytest.fixture(scope="module")
def zig(choice: Choice) -> Toolchain:
    if shutil.which("qemu-aarch64") is None:
        pytest.skip("this machine has no qemu-aarch64 (Debian: qemu-user)")
    found = [t for t in (choice.toolchain, *choice.others) if t.kind == "zig" and not t.problem]
    if not found:
        pytest.skip("this machine has no zig")
    return found[0]


def run(zig: Toolchain, kernels: Sequence[RandomKernel], folder: Path) -> list[list[np.ndarray]]:
    """Return what the buffers of each kernel hold after it ran."""
    renderer = CpuRenderer(cpu_capabilities(MACHINE))
    lowered = [
        lower(kernel.ast, renderer.capabilities, extra_rules=renderer.extra_rules) for kernel in kernels
    ]
    sources = [renderer.render(one.program, one.name) for one in lowered]
    places, size = places_of(kernels)
    launches = [
        launch(one, kernel, offsets) for one, kernel, offsets in zip(lowered, kernels, places, strict=True)
    ]
    start = START % {"size": size, "launches": "\n".join(launches)}
    (folder / "kernels.c").write_text(merge_sources(sources) + start)
    command = [*zig.command, *flags(zig), "-o", "kernels", "kernels.c"]
    compiled = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stderr
    memory = bytearray(size)
    for kernel, offsets in zip(kernels, places, strict=True):
        for buffer, at in zip(kernel.buffers, offsets, strict=True):
            memory[at : at + buffer.nbytes] = buffer.tobytes()
    ran = subprocess.run(
        ["qemu-aarch64", "./kernels"], cwd=folder, input=bytes(memory), capture_output=True, check=False
    )
    assert (ran.returncode, len(ran.stdout)) == (0, size), ran.stderr
    out = np.frombuffer(ran.stdout, np.uint8)
    return [
        [out[at : at + buffer.nbytes] for buffer, at in zip(kernel.buffers, offsets, strict=True)]
        for kernel, offsets in zip(kernels, places, strict=True)
    ]


def flags(zig: Toolchain) -> list[str]:
    """Return the flags of kernels for this machine, for a program without a C library."""
    from_host = ("-shared", "-fPIC", "-mcpu=native")
    host = [flag for flag in compiler_flags(zig, MACHINE) if flag not in from_host and "prefer" not in flag]
    return [*host, "-target", "aarch64-linux-none", "-static", "-ffreestanding"]


def places_of(kernels: Sequence[RandomKernel]) -> tuple[list[list[int]], int]:
    """Return the first byte of each buffer of each kernel, and how many bytes all take."""
    places: list[list[int]] = []
    size = 0
    for kernel in kernels:
        places.append([])
        for buffer in kernel.buffers:
            places[-1].append(size)
            size += -(-buffer.nbytes // LINE) * LINE
    return places, size


def launch(lowered: Lowered, kernel: RandomKernel, offsets: Sequence[int]) -> str:
    """Return the C that runs all pieces of a kernel."""
    buffers = ", ".join(f"memory + {at}" for at in offsets) or "0"
    values = ", ".join(str(kernel.variables[name]) for name in lowered.variables) or "0"
    return (
        f"  {{ void *bufs[] = {{{buffers}}}; long long vals[] = {{{values}}};\n"
        f"    for (long long t = 0; t < {lowered.threads}; t++) {lowered.name}(bufs, vals, t); }}"
    )


def test_random_kernels_write_what_they_mean(zig: Toolchain, tmp_path: Path) -> None:
    kernels = [random_kernel(seed) for seed in SEEDS]
    for seed, kernel, got in zip(SEEDS, kernels, run(zig, kernels, tmp_path), strict=True):
        assert not kernel.difference(got, kernel.expected()), f"kernel {seed}"


def whole(*shape: int) -> Tensor:
    """Return whole numbers in memory, whose sums and products are exact in any order."""
    values = np.random.default_rng(len(shape)).integers(-4, 5, shape).astype(np.float32)
    return Tensor(values, device="PYTHON").realize()


def kernels_of(value: Tensor) -> list[RandomKernel]:
    """Return the kernels of a schedule, each on numbers of its own."""
    random = np.random.default_rng(0)
    found: list[RandomKernel] = []
    for item in value.schedule():
        if item.ast.op is not Ops.SINK:
            continue
        params = sorted((u for u in item.ast.toposort() if u.op is Ops.PARAM), key=lambda u: u.arg[0])
        buffers = tuple(
            random.integers(-4, 5, u.arg[1]).astype(np.dtype(u.dtype.name)).view(np.uint8) for u in params
        )
        found.append(RandomKernel(item.ast, buffers, tuple(u.dtype for u in params), {}))
    return found


def test_kernels_of_networks_write_what_they_mean(zig: Toolchain, tmp_path: Path) -> None:
    image, filters = whole(2, 8, 14, 14), whole(16, 8, 3, 3)
    values = [
        whole(48, 40) @ whole(40, 33),
        whole(1, 64) @ whole(64, 50),
        image.conv2d(filters, padding=1).relu(),
        image.conv2d(filters, stride=2) + 1,
        image.max_pool2d(2),
        whole(33, 70).sum(1),
        whole(33, 70).max(0),
        whole(20, 30).T.contiguous(),
        whole(9, 9).cast("float16") * 2,
        whole(9, 9).cast("int8") + 1,
    ]
    kernels = [kernel for value in values for kernel in kernels_of(value)]
    assert len(kernels) >= len(values)
    for kernel, got in zip(kernels, run(zig, kernels, tmp_path), strict=True):
        assert not kernel.difference(got, kernel.expected()), kernel.ast.arg.name
