"""The C of the five kinds of convolution of a ResNet-18, for one core with vectors of 512 bits.

Statements are written out for each register: of groups of lines that differ in numbers, goldens have one.
"""

import dataclasses
import re
from collections.abc import Callable

import pytest

from plugrad import Tensor
from plugrad.codegen.lower import lower
from plugrad.engine.schedule_cache import canonicalize
from plugrad.schedule.create import create_schedule
from plugrad.schedule.fusion import CostModel
from plugrad_cpu_clang.machine import Machine, vector_unit
from plugrad_cpu_clang.renderer import CpuRenderer, cpu_capabilities

FLAGS = frozenset({"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx2", "fma"})
MACHINE = Machine("x86_64", "any", FLAGS, *vector_unit("x86_64", FLAGS), (32 << 10, 1 << 20))
CAPABILITIES = dataclasses.replace(cpu_capabilities(MACHINE), threads=1)


def empty(*shape: int) -> Tensor:
    return Tensor.empty(*shape, device="CPU")


def convolution(channels: int, size: int, out: int, kernel: int, stride: int) -> Tensor:
    """Return a convolution with the scale and shift that a normalisation leaves behind it."""
    x, w = empty(1, channels, size, size), empty(out, channels, kernel, kernel)
    scale, shift = (empty(out).reshape(1, out, 1, 1) for _ in range(2))
    return x.conv2d(w, stride=stride, padding=kernel // 2) * scale + shift


KINDS: dict[str, Callable[[], Tensor]] = {
    "first": lambda: convolution(3, 224, 64, 7, 2).relu(),
    "residual": lambda: (convolution(64, 56, 64, 3, 1) + empty(1, 64, 56, 56)).relu(),
    "stride": lambda: convolution(64, 56, 128, 3, 2).relu(),
    "downsample": lambda: convolution(64, 56, 128, 1, 2),
    "small_maps": lambda: convolution(512, 7, 512, 3, 1).relu(),
}


def folded(lines: list[str]) -> list[str]:
    """Return lines with one of each run of groups of up to twelve lines that differ in numbers alone."""
    shapes = [re.sub(r"\d+", "#", line) for line in lines]
    out: list[str] = []
    at = 0
    while at < len(lines):
        length, count = 1, 1
        for size in range(1, 13):
            end = at + size
            while shapes[end : end + size] == shapes[at : at + size] and len(shapes) >= end + size:
                end += size
            if (end - at) // size > 1 and end - at > length * count:
                length, count = size, (end - at) // size
        out += lines[at : at + length]
        if count > 1:
            indent = " " * (len(lines[at]) - len(lines[at].lstrip()))
            above = "the line" if length == 1 else f"the {length} lines"
            out.append(f"{indent}// {above} above, {count} times in all")
        at += length * count
    return out


def sources(value: Tensor) -> str:
    """Return what the kernels of a value do, without what all kernels begin with."""
    graph = canonicalize([value.uop]).sink
    schedule = create_schedule(graph, {"CPU": CostModel.of(CAPABILITIES)}, "CPU")
    renderer = CpuRenderer(CAPABILITIES, MACHINE.last_level_bytes)
    texts: list[str] = []
    for call in schedule.calls:
        lowered = lower(call.ast, CAPABILITIES, extra_rules=renderer.extra_rules)
        text = renderer.render(lowered.program, lowered.name)
        body = text[text.index(f"static void {lowered.name}_body") :].replace(lowered.name, "kernel")
        texts += folded(body.splitlines())
    return "\n".join([*texts, ""])


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_of_a_resnet(kind: str, golden) -> None:
    golden(f"resnet_{kind}.c", sources(KINDS[kind]()))
