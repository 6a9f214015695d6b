"""Addresses of kernels, in C and in what compilers make of it."""

import re

from plugrad.dtype import dtypes
from plugrad.uop.ops import Ops
from plugrad_cpu_clang.renderer import CpuRenderer


def test_places_of_a_tile_share_one_address(w, compiler):
    out, a = w.param(0, dtypes.float32, 64), w.param(1, dtypes.float32, 64)
    i = w.range(8, 0)
    for row in range(-2, 6):
        at = w.alu(Ops.ADD, w.alu(Ops.ADD, i, 2), 8 * row) if row else w.alu(Ops.ADD, i, 2)
        w.store(out, w.alu(Ops.ADD, i, 8 * (row + 2)), w.load(a, at))
    w.end(i)
    source = CpuRenderer().render(w.uops, "kernel")
    assert "(data1+(alu0-16ll))" in source
    assert "(data0+(i0+56ll))" in source
    # the extensions of a 32-bit index that gcc writes, at most one for each memory
    code = compiler.disassemble(compiler.compile(source, "kernel"))
    assert len(re.findall(r"\b(cltq|movslq|movsxd|cdqe)\b", code)) <= 2
