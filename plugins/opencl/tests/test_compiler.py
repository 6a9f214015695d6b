import pytest

from plugrad.errors import CompileError
from plugrad_opencl.compiler import OpenClCompiler, compiler_flags
from plugrad_opencl.runner import load_program

KERNEL = "__kernel void {name}(__global int *out) {{ *out = {value}; }}\n"


def test_the_cache_key_names_driver_device_and_flags(cpu, changed):
    key = OpenClCompiler(cpu).cache_key
    for part in ("Portable Computing Language, OpenCL 3.0", "a CPU", "-cl-std=CL1.2", "abi1"):
        assert part in key
    for change in ({"driver": "9"}, {"device": "another"}, {"platform": "x"}, {"divide": ""}):
        assert OpenClCompiler(changed(cpu, **change)).cache_key != key


def test_flags_follow_the_device(cpu, changed):
    assert "-cl-fp32-correctly-rounded-divide-sqrt" in compiler_flags(cpu)
    assert compiler_flags(changed(cpu, divide="", c="1.1")) == ("-w",)


def test_drivers_optimise_unless_the_setting_says_no(cpu, monkeypatch):
    assert "-cl-opt-disable" not in compiler_flags(cpu)
    optimized = OpenClCompiler(cpu).cache_key
    monkeypatch.setenv("OPENCL_OPTIMIZE", "0")
    assert "-cl-opt-disable" in compiler_flags(cpu)
    assert OpenClCompiler(cpu).cache_key != optimized


def test_an_error_shows_source_log_and_flags(compiler):
    source = "__kernel void broken(__global int *out) { *out = nothing_of_this_name; }\n"
    with pytest.raises(CompileError) as caught:
        compiler.compile(source, "broken")
    assert caught.value.source == source
    assert "nothing_of_this_name" in caught.value.log
    assert "-w" in caught.value.command


def test_after_an_error_the_compiler_goes_on(compiler, context):
    with pytest.raises(CompileError):
        compiler.compile("__kernel void broken(", "broken")
    lib = compiler.compile(KERNEL.format(name="fine", value=1), "fine")
    assert load_program(context, lib)


def test_kernels_compiled_together_share_bytes(compiler):
    units = [(f"k{n}", KERNEL.format(name=f"k{n}", value=n)) for n in range(3)]
    libs = compiler.compile_many([*units, units[0]])
    assert len(libs) == 4
    assert len(set(libs)) == 1


def test_an_error_among_several_names_the_one_to_blame(compiler):
    bad = "__kernel void bad(__global int *out) { *out = missing; }\n"
    with pytest.raises(CompileError, match="refused the kernel bad") as caught:
        compiler.compile_many([("good", KERNEL.format(name="good", value=1)), ("bad", bad)])
    assert caught.value.source == bad


def test_the_cache_key_names_the_architecture(cpu):
    assert cpu.arch
    assert cpu.arch in OpenClCompiler(cpu).cache_key
