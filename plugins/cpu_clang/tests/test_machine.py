import dataclasses
from types import SimpleNamespace

import pytest

from plugrad.errors import SettingsError
from plugrad.settings import context
from plugrad_cpu_clang import machine
from plugrad_cpu_clang.compiler import compiler_flags
from plugrad_cpu_clang.machine import Machine, at_level, this_machine, vector_unit
from plugrad_cpu_clang.renderer import cpu_capabilities
from plugrad_cpu_clang.toolchain import Toolchain

V4 = (
    "cmov cx8 fpu fxsr mmx sse sse2 cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 abm avx avx2 bmi1 bmi2 f16c "
    "fma movbe xsave avx512bw avx512cd avx512dq avx512f avx512vl avx512_vnni"
)
MACHINE = Machine("x86_64", "a processor", frozenset(V4.split()), 512, 32, (32 << 10, 1 << 20))


def test_arm_has_vectors_of_128_bits():
    assert vector_unit("aarch64", frozenset({"asimd"})) == (128, 32)


@pytest.mark.parametrize(
    ("level", "unit"),
    [("x86-64", (128, 16)), ("x86-64-v2", (128, 16)), ("x86-64-v3", (256, 16)), ("x86-64-v4", (512, 32))],
)
def test_a_level_has_its_extensions_only(level, unit):
    held = at_level(MACHINE, level)
    assert (held.vector_bits, held.vector_registers) == unit
    assert "avx512_vnni" not in held.flags
    assert held.fingerprint != MACHINE.fingerprint
    assert held.fingerprint.startswith("x86_64-")


@pytest.mark.parametrize(
    ("vendor", "family", "unit"), [("AuthenticAMD", "25", 256), ("GenuineIntel", "6", 512)]
)
def test_some_processors_multiply_half_a_vector_in_a_cycle(monkeypatch, vendor, family, unit):
    fields = {"vendor_id": vendor, "cpu family": family, "flags": V4}
    monkeypatch.setattr(machine, "_read_cpuinfo", lambda path: fields)
    monkeypatch.setattr(machine.os, "uname", lambda: SimpleNamespace(machine="x86_64"))
    wide = machine._host.__wrapped__()
    assert wide.vector_unit_bits == unit
    assert cpu_capabilities(wide).vector_unit_bits == unit
    assert cpu_capabilities(at_level(wide, "x86-64-v2")).vector_unit_bits == 128


def test_without_a_level_a_machine_stays_as_it_is():
    assert at_level(MACHINE, "") is MACHINE


def test_compilers_are_told_the_level():
    held = at_level(MACHINE, "x86-64-v3")
    flags = {kind: compiler_flags(Toolchain(kind, (kind,), (12, 0), ""), held) for kind in ("gcc", "zig")}
    assert "-march=x86-64-v3" in flags["gcc"]
    assert "-mcpu=x86_64_v3" in flags["zig"]


def test_a_level_that_the_processor_lacks_is_refused():
    poor = dataclasses.replace(MACHINE, flags=MACHINE.flags - {"avx512f", "avx512cd"})
    with pytest.raises(SettingsError, match=r"lacks avx512cd, avx512f\. Name a lower level"):
        at_level(poor, "x86-64-v4")


def test_an_unknown_level_is_refused_by_the_setting():
    with (
        context(PLUGRAD_CPU="pentium"),
        pytest.raises(SettingsError, match="PLUGRAD_CPU='pentium' is no level"),
    ):
        this_machine()
