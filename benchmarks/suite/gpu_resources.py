"""Compile kernels by NVRTC, and read what they take of a GPU from what it says and writes."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plugrad import Tensor
from plugrad.codegen.lower import Lowered, lower
from plugrad.schedule.create import create_schedule
from plugrad.schedule.fusion import CostModel
from plugrad.target import Target
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_cuda import nvrtc
from plugrad_cuda.compiler import FLAGS
from plugrad_cuda.renderer import CudaRenderer
from suite.gpu_cases import DEVICE

_BITS = {"8": 8, "16": 16, "32": 32, "64": 64}
_ACCESS = re.compile(r"\b(?:ld|st)\.global\S*?(?:\.v([24]))?\.[a-z](8|16|32|64)\b")
_MATRIX = re.compile(r"\bmma\.sync\b")


@dataclass(frozen=True, slots=True)
class Resources:
    """One kernel and what it takes.

    Attributes:
        name: of the kernel.
        blocks: in the grid.
        threads: in a block.
        registers: of a thread.
        spilled_bytes: stored and loaded by a thread for want of registers, as the code stands.
        stack_bytes: of a thread.
        shared_bytes: of a block.
        accesses: how many loads and stores of global memory the code has, by their width in bits.
        matrix: how many matrix instructions the code has.
        flops: arithmetic of the launch.
        moved_bytes: what the loads and stores of the launch move, each time they run.
    """

    name: str
    blocks: int
    threads: int
    registers: int
    spilled_bytes: int
    stack_bytes: int
    shared_bytes: int
    accesses: dict[int, int]
    matrix: int
    flops: int
    moved_bytes: int

    @property
    def wide_percent(self) -> int:
        """The part of the bits of all accesses in the code that accesses of 128 bits move."""
        bits = sum(width * count for width, count in self.accesses.items())
        return round(100 * 128 * self.accesses.get(128, 0) / bits) if bits else 0

    @property
    def flops_per_byte(self) -> float:
        """The arithmetic for each byte that is moved."""
        return self.flops / self.moved_bytes if self.moved_bytes else 0.0


def resources(value: Tensor, arch: str) -> Iterator[Resources]:
    """Yield the kernels that compute `value` on a GPU of architecture `arch`.

    Raises:
        CompileError: NVRTC refused one.
    """
    renderer = CudaRenderer(Target("CUDA", arch=arch))
    costs = {DEVICE: CostModel.of(renderer.capabilities)}
    for call in create_schedule(UOp.sink(value.uop), costs, DEVICE).calls:
        lowered = lower(call.ast, renderer.capabilities)
        yield _resources(lowered, renderer.render(lowered.program, lowered.name), arch)


def _resources(lowered: Lowered, source: str, arch: str) -> Resources:
    library = nvrtc.choose(int(arch.removeprefix("sm_")))
    log = library.compile(source, lowered.name, (f"-arch={arch}", *FLAGS, "--ptxas-options=-v")).log
    virtual = f"-arch={arch.replace('sm_', 'compute_')}"
    ptx = library.compile(source, lowered.name, (virtual, *FLAGS), is_ptx=True).image.decode()
    widths = [int(count or 1) * _BITS[bits] for count, bits in _ACCESS.findall(ptx)]
    return Resources(
        name=lowered.name.rpartition("_")[0],
        blocks=_product(lowered.global_size),
        threads=_product(lowered.local_size),
        registers=_number(r"Used (\d+) registers", log),
        spilled_bytes=_number(r"(\d+) bytes spill stores", log) + _number(r"(\d+) bytes spill loads", log),
        stack_bytes=_number(r"(\d+) bytes stack frame", log),
        shared_bytes=_number(r"(\d+) bytes smem", log) + _number(r"DYNAMIC_SHARED_BYTES (\d+)", source),
        accesses={width: widths.count(width) for width in sorted(set(widths), reverse=True)},
        matrix=len(_MATRIX.findall(ptx)),
        flops=int(lowered.estimates.flops) if isinstance(lowered.estimates.flops, int) else 0,
        moved_bytes=moved_bytes(lowered),
    )


def moved_bytes(lowered: Lowered) -> int:
    """Return the bytes that all threads move from and to buffers; only gates on a thread's number count."""
    threads = _product(lowered.global_size) * _product(lowered.local_size)
    repeated = [threads]
    moved = 0.0
    for u in lowered.program:
        if u.op is Ops.RANGE:
            repeated.append(repeated[-1] * int(u.src[0].vmax))
        elif u.op is Ops.IF:
            repeated.append(repeated[-1] // _one_of(u.src[0]))
        elif u.op in (Ops.END, Ops.ENDIF):
            repeated.pop()
        elif u.op in (Ops.LOAD, Ops.STORE) and u.src[0].src[0].op is Ops.PARAM:
            value = u if u.op is Ops.LOAD else u.src[1]
            moved += repeated[-1] * value.dtype.itemsize * value.dtype.count
    return int(moved)


def _one_of(gate: UOp) -> int:
    """Return of how many threads a gate lets one through."""
    if gate.op is Ops.AND:
        return math.prod(map(_one_of, gate.src))
    sizes = [s.src[0] for s in gate.src if s.op is Ops.SPECIAL]
    return int(sizes[0].vmax) if gate.op is Ops.CMPEQ and sizes else 1


def _product(sizes: "Sequence[int | UOp]") -> int:
    return math.prod(size if isinstance(size, int) else int(size.vmax) for size in sizes)


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0
