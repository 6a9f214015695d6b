import subprocess
import sys
from types import SimpleNamespace

import pytest

from plugrad.errors import DeviceNotFound
from plugrad.plugin.contracts import check_hooks, check_result, check_spec_version, hook_options, implemented
from plugrad.plugin.hookspecs import HOOK_NAMES
from plugrad.target import Target
from plugrad_opencl import driver, plugin, probe


def test_every_hook_keeps_the_contract(target):
    assert implemented(hook_options(plugin)) == HOOK_NAMES - {"plugrad_graph"}
    assert check_hooks(plugin, hook_options(plugin)) is None
    assert check_spec_version(plugin.plugrad_backend_info().spec_version) is None
    for hook in ("plugrad_allocator", "plugrad_renderer", "plugrad_compiler"):
        assert check_result(hook, getattr(plugin, hook)(target)) is None


def test_targets_of_others_are_left_alone():
    other = Target("ELSEWHERE")
    for hook in ("plugrad_allocator", "plugrad_renderer", "plugrad_compiler"):
        assert getattr(plugin, hook)(other) is None


def test_importing_the_plugin_loads_no_driver():
    code = "import sys, plugrad_opencl.plugin; sys.exit('pyopencl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_pyopencl_the_probe_says_what_to_install(monkeypatch):
    def fail():
        raise DeviceNotFound(f"pyopencl cannot be imported: no module. {driver.remedy()}")

    monkeypatch.setattr(plugin, "look", fail)
    found = plugin.plugrad_probe()
    assert found.devices == ()
    assert found.reason == "pyopencl cannot be imported: no module."
    assert "opencl[pocl]' brings PoCL" in found.remedy


@pytest.mark.parametrize(
    ("platforms", "reason"),
    [([], "the OpenCL loader knows no driver"), (["ACME"], "the drivers ACME have no devices")],
)
def test_without_a_device_the_probe_says_where_it_looked(monkeypatch, platforms, reason):
    monkeypatch.setattr(probe, "found_devices", lambda: ())
    monkeypatch.setattr(probe, "_platforms", lambda: [SimpleNamespace(name=name) for name in platforms])
    assert plugin.plugrad_probe().reason == reason


@pytest.mark.parametrize(
    ("system", "files", "expected"),
    [
        ("linux", ["null", "dri", "tty"], True),
        ("linux", ["null", "nvidia0"], True),
        ("linux", ["null", "tty"], False),
        ("darwin", ["null"], True),
    ],
)
def test_the_drivers_of_gpus_are_looked_for_where_there_may_be_one(monkeypatch, system, files, expected):
    monkeypatch.setattr(probe.sys, "platform", system)
    monkeypatch.setattr(probe.os, "listdir", lambda folder: files)
    priority = plugin.plugrad_backend_info().priority
    monkeypatch.undo()
    assert priority == (probe.GPU_PRIORITY if expected else probe.PRIORITY)


def _device(kind, name, bits=8):
    return SimpleNamespace(
        available=True,
        type=getattr(probe.opencl().device_type, kind),
        name=name,
        version="OpenCL 3.0 PoCL HSTR: cpu-x86_64-unknown-linux-gnu-znver3",
        driver_version="1",
        profile="FULL_PROFILE",
        opencl_c_version="OpenCL C 1.2 x",
        extensions="cl_khr_fp64" if kind == "GPU" else "cl_khr_fp16",
        native_vector_width_float=bits,
        mem_base_addr_align=1024,
        single_fp_config=0,
        local_mem_size=1 << 16,
        max_parameter_size=1024,
        max_compute_units=4,
        max_work_group_size=256,
        max_work_item_sizes=[256, 256, 64],
        host_unified_memory=kind == "CPU",
        global_mem_size=1 << 33,
    )


def test_gpus_of_all_drivers_come_before_cpus(monkeypatch, target):
    first = SimpleNamespace(name="First", version="1", get_devices=lambda: [_device("CPU", "a CPU")])
    second = SimpleNamespace(
        name="Second",
        version="1",
        get_devices=lambda: [_device("ACCELERATOR", "an FPGA"), _device("GPU", "a GPU")],
    )
    monkeypatch.setattr(probe, "_platforms", lambda: [first, second])
    found = [probed for _, probed in probe.found_devices.__wrapped__()]
    assert [p.description for p in found] == ["a GPU (Second)", "an FPGA (Second)", "a CPU (First)"]
    assert [p.target.index for p in found] == [0, 1, 2]
    assert [p.priority for p in found] == [None, probe.PRIORITY, probe.PRIORITY]
    assert [p.target.get("vector_bits") for p in found] == ["0", "0", "256"]
    assert found[0].memory_bytes == 1 << 33
    assert dict(found[0].notes)["lacks"] == "fp16"
    assert dict(found[2].notes)["lacks"] == "fp64"
    assert found[0].target.get("workgroup_dims") == "256x256x64"


def test_vectors_are_as_wide_as_the_compiler_makes_them():
    assert (
        probe.llvm_cpu("OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-skylake-avx512")
        == "skylake-avx512"
    )
    assert probe.llvm_cpu("OpenCL 1.2 pocl HSTR: pthread-haswell") == "haswell"
    assert probe.vector_bits(512, "znver3") == 256
    assert probe.vector_bits(512, "znver4") == 512
    assert probe.vector_bits(512, "") == 512
    assert probe.vector_bits(128, "generic") == 128
