import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.errors import CompileError
from plugrad.runtime.program import Program
from plugrad.uop.ops import Ops
from plugrad_cpu_clang.compiler import (
    CHARACTERS_OF_LONG_SOURCES,
    CpuCompiler,
    compiler_flags,
    split_units,
)
from plugrad_cpu_clang.machine import Machine
from plugrad_cpu_clang.renderer import CpuRenderer
from plugrad_cpu_clang.runner import CpuRunner
from plugrad_cpu_clang.toolchain import Toolchain

GOOD = "void {0}(void *const *bufs, const long long *vals, long long t) {{ *(int *)bufs[0] += {1}; }}\n"


def test_a_broken_kernel_shows_source_log_and_command(compiler):
    with pytest.raises(CompileError) as caught:
        compiler.compile("void k(void) { nonsense; }", "k")
    assert "nonsense" in caught.value.log
    assert caught.value.source == "void k(void) { nonsense; }"
    assert caught.value.command[-1] == "k.c"
    assert "-ffp-contract=off" in caught.value.command


def test_many_kernels_share_a_library(compiler, addresses):
    units = [(f"k{n}", GOOD.format(f"k{n}", n)) for n in range(3)]
    libs = compiler.compile_many(units)
    assert libs[0] is libs[1] is libs[2]
    total = np.zeros(1, np.int32)
    for (name, source), lib in zip(units, libs, strict=True):
        CpuRunner(Program(name, source, lib, outs=(0,)))(addresses(total))
    assert total[0] == 3


def test_kernels_of_one_name_get_libraries_of_their_own(best_compiler, addresses):
    units = [("k", GOOD.format("k", 1)), ("k", GOOD.format("k", 20)), ("k", GOOD.format("k", 1))]
    libs = best_compiler.compile_many(units)
    total = np.zeros(1, np.int32)
    for (name, source), lib in zip(units, libs, strict=True):
        CpuRunner(Program(name, source, lib, outs=(0,)))(addresses(total))
    assert total[0] == 22


def test_rendered_kernels_with_the_same_helpers_compile_together(compiler, new_writer, addresses):
    units = []
    for op in (Ops.MAX, Ops.MULACC):
        w = new_writer()
        out, a = w.param(0, dtypes.float32, 4), w.param(1, dtypes.float32, 4)
        x = w.load(a, 0, 4)
        w.store(out, 0, w.alu(op, *[x] * (3 if op is Ops.MULACC else 2)))
        units.append((op.name.lower(), CpuRenderer().render(w.uops, op.name.lower())))
    libs = compiler.compile_many(units)
    a, out = np.arange(4, dtype=np.float32), np.empty(4, np.float32)
    for (name, source), lib, expected in zip(units, libs, (a, a * a + a), strict=True):
        CpuRunner(Program(name, source, lib, outs=(0,), ins=(1,)))(addresses(out, a))
        np.testing.assert_array_equal(out, expected)


def test_fused_operations_are_inlined_into_kernels_of_all_flags(compiler, new_writer):
    if compiler.toolchain.kind != "gcc" or shutil.which("objdump") is None:
        pytest.skip("flags differ between kernels with gcc alone; objdump shows what they do")
    filler = "x" * CHARACTERS_OF_LONG_SOURCES
    units = [("plain", f"int plain(int x) {{ return x; }}\n// {filler}\n")]
    # ranges are asked for in the first kernel, and the second one is not written out
    for name, comment in (("first", f"// {filler} ? x\n"), ("second", "// ? *x\n")):
        w = new_writer()
        out, a = w.param(0, dtypes.float32, 4), w.param(1, dtypes.float32, 4)
        x = w.load(a, 0, 4)
        for _ in range(8):
            x = w.alu(Ops.MULACC, x, x, x)
        w.store(out, 0, x)
        units.append((name, CpuRenderer().render(w.uops, name) + comment))
    libs = compiler.compile_many(units)
    lib = libs[2]
    assert all(each is lib for each in libs)
    assert "fma_f32x4" in units[2][1]
    assert "<fma_f32x4>" not in compiler.disassemble(lib)


def test_the_error_of_many_kernels_shows_the_one_to_blame(best_compiler):
    bad = "void b(void) { nonsense; }\n"
    with pytest.raises(CompileError) as caught:
        best_compiler.compile_many([("a", GOOD.format("a", 1)), ("b", bad), ("c", GOOD.format("c", 1))])
    assert caught.value.source == bad


def test_many_large_kernels_are_compiled_side_by_side(best_compiler, addresses):
    filler = f"// {'x' * 5000}\n"
    units = [(f"k{n}", filler + GOOD.format(f"k{n}", n)) for n in range(6)]
    libs = best_compiler.compile_many(units)
    assert len(set(libs)) <= 3
    total = np.zeros(1, np.int32)
    for (name, source), lib in zip(units, libs, strict=True):
        CpuRunner(Program(name, source, lib, outs=(0,)))(addresses(total))
    assert total[0] == 15


@pytest.mark.parametrize(
    ("source", "level"),
    [
        ("x" * 100, "-O3"),
        ("x" * CHARACTERS_OF_LONG_SOURCES, "-O1"),
        ("vector_size\n  *(f32x8u *)(a+i) = f32x8_of(*(b+i));", "-O1"),
        ("vector_size\n  *(f32x8u *)(a+i) = (c ? (f32x8)*(b+i) : x);", "-O3"),
        ("vector_size\n  *(f32x8u *)(a+i) = f32x8_of((c ? *(b+i) : x));", "-O3"),
        ("vector_size\n  *(f32x8u *)(a+i) = select_f32x8(c, x, y);", "-O3"),
        ("vector_size\n  *(a+i) = *(b+i);", "-O3"),
        ("vector_size\n  *a = *b;", "-O3"),
    ],
)
def test_gcc_optimises_what_is_written_out_less(source, level):
    failing = CpuCompiler(Toolchain("gcc", ("false",), (12,), ""))
    with pytest.raises(CompileError) as caught:
        failing.compile(source, "k")
    assert [part for part in caught.value.command if part.startswith("-O")][-1] == level


@pytest.mark.parametrize(
    ("body", "asks"),
    [
        ("for (int i = 0; i < 4; i++) {\n    f32x8 x = *(const f32x8u *)(a+i);\n  }", False),
        (
            "for (int i = 0; i < 4; i++) {\n    for (int j = 0; j < 4; j++) {\n    f32x8 x = y;\n  }\n  }",
            False,
        ),
        ("for (int i = 0; i < 4; i++) {\n    *(a+i) = *(b+i);\n  }", True),
        ("float x = ((i < 3) ? y : z);", True),
        ("f32x8 x = select_f32x8(c, y, z);", True),
    ],
)
def test_gcc_asks_for_ranges_where_there_are_conditions_or_loops_of_scalars(body, asks):
    helper = "int most(int a, int b) { return a > b ? a : b; }\n"
    source = f"{helper}static void k_body(float *a) {{\n  {body}\n}}\n// {'x' * CHARACTERS_OF_LONG_SOURCES}"
    failing = CpuCompiler(Toolchain("gcc", ("false",), (12,), ""))
    with pytest.raises(CompileError) as caught:
        failing.compile(source, "k")
    assert ("-ftree-vrp" in caught.value.command) is asks


def test_long_and_short_sources_compile_together(best_compiler, addresses):
    filler = f"// {'x' * CHARACTERS_OF_LONG_SOURCES}\n"
    units = [("a", GOOD.format("a", 1)), ("b", filler + GOOD.format("b", 20))]
    total = np.zeros(1, np.int32)
    for (name, source), lib in zip(units, best_compiler.compile_many(units), strict=True):
        CpuRunner(Program(name, source, lib, outs=(0,)))(addresses(total))
    assert total[0] == 21


# a loop that -O3 compiles otherwise than the flags for what is written out
OTHER = """void other(int *restrict a, const int *restrict b, int n, int c) {
  for (int i = 0; i < n; i++) { if (c) a[i] += b[i] * c; else a[i] = b[n - i]; }
}
"""


@pytest.mark.parametrize("is_long", [False, True])
def test_a_kernel_has_the_same_code_beside_what_is_written_out(compiler, is_long):
    if compiler.toolchain.kind != "gcc" or shutil.which("objdump") is None:
        pytest.skip("flags differ between kernels with gcc alone; objdump shows what they do")
    written_out = "int written_out(int x) { return x; }\n" + f"// {'x' * CHARACTERS_OF_LONG_SOURCES}\n"
    # of long ones with conditions, ranges of integers are asked for
    other = OTHER + f"// {'? ' * CHARACTERS_OF_LONG_SOURCES}\n" if is_long else OTHER
    together = compiler.compile_many([("written_out", written_out), ("other", other)])
    assert together[0] is together[1]
    alone = compiler.compile(other, "other")
    codes = [_mnemonics(compiler.disassemble(lib), "other") for lib in (together[1], alone)]
    assert codes[0] == codes[1]
    assert len(codes[0]) > 20


def _mnemonics(listing, function):
    """Return the instructions of a function without their operands, which may be addresses."""
    body = listing.partition(f"<{function}>:\n")[2].partition("\n\n")[0]
    return [line.split("\t")[1].split()[0] for line in body.splitlines()]


def test_no_kernels_are_no_work(best_compiler):
    assert best_compiler.compile_many([]) == []


def test_units_are_spread_evenly():
    groups = split_units([(f"k{n}", "x" * n) for n in range(1, 9)], 2)
    assert sorted(sum(len(source) for _, source in group) for group in groups) == [18, 18]


def test_cache_keys_tell_machines_toolchains_and_flags_apart():
    machine = Machine("x86_64", "some", frozenset({"avx2", "fma"}), 256, 16, (1, 1))
    newer = Machine("x86_64", "some", frozenset({"avx2", "fma", "bmi2"}), 256, 16, (1, 1))
    gcc, clang = (Toolchain(kind, ("cc",), (15,), "") for kind in ("gcc", "clang"))
    keys = {CpuCompiler(t, m).cache_key for t in (gcc, clang) for m in (machine, newer)}
    assert len(keys) == 4
    assert CpuCompiler(gcc, machine).cache_key == CpuCompiler(gcc, machine).cache_key


def test_flags_keep_arithmetic_exact():
    for kind in ("gcc", "clang", "zig"):
        machine = Machine("aarch64", "", frozenset(), 128, 32, (1, 1))
        flags = compiler_flags(Toolchain(kind, ("cc",), (15,), ""), machine)
        assert "-ffp-contract=off" in flags
        assert not {"-ffast-math", "-Ofast", "-fassociative-math"} & set(flags)


def test_machine_code_can_be_read(best_compiler):
    text = best_compiler.disassemble(best_compiler.compile(GOOD.format("kernel", 1), "kernel"))
    assert "kernel" in text


def test_an_interrupted_compile_leaves_nothing(tmp_path):
    """Ctrl-C while a (very slow) compiler runs: its folder goes away, and so does the compiler."""
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code = (
        # whoever starts the tests in the background has them ignore Ctrl-C, which processes inherit
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from plugrad_cpu_clang.compiler import CpuCompiler\n"
        "from plugrad_cpu_clang.toolchain import Toolchain\n"
        f"CpuCompiler(Toolchain('gcc', ({str(slow)!r},), (12,), '')).compile('', 'k')\n"
    )
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not list(scratch.glob("*/k.c")):
        assert time.monotonic() < deadline
        assert child.poll() is None, child.stderr.read()
    child.send_signal(2)
    _, log = child.communicate(timeout=30)
    assert "KeyboardInterrupt" in log
    assert list(scratch.iterdir()) == []


def test_compiling_leaves_no_files(compiler, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    compiler.compile(GOOD.format("k", 1), "k")
    assert list(tmp_path.iterdir()) == []
