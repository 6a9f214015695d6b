import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.errors import DeviceNotFound
from plugrad.plugin.contracts import check_hooks, check_result, check_spec_version, hook_options, implemented
from plugrad.plugin.hookspecs import HOOK_NAMES
from plugrad.runtime.graph import GraphLaunch
from plugrad.target import Target
from plugrad.uop.ops import Ops
from plugrad_cpu_clang import plugin
from plugrad_cpu_clang.renderer import CpuRenderer
from plugrad_cpu_clang.toolchain import install_hint

TARGET = Target("CPU")


def test_every_hook_keeps_the_contract():
    assert implemented(hook_options(plugin)) == HOOK_NAMES
    assert check_hooks(plugin, hook_options(plugin)) is None
    assert check_spec_version(plugin.plugrad_backend_info().spec_version) is None
    for hook in ("plugrad_allocator", "plugrad_renderer", "plugrad_compiler"):
        assert check_result(hook, getattr(plugin, hook)(TARGET)) is None


def test_targets_of_others_are_left_alone(best_compiler):
    other = Target("ELSEWHERE")
    for hook in ("plugrad_allocator", "plugrad_renderer", "plugrad_compiler"):
        assert getattr(plugin, hook)(other) is None


def test_launches_become_a_native_list_where_all_runners_are_ours(w, best_compiler):
    out = w.param(0, dtypes.float32, 4)
    w.store(out, 0, w.const(dtypes.float32, 1.0))
    runner = plugin.plugrad_runner(TARGET, w.program(CpuRenderer(), best_compiler))
    values = np.zeros(4, np.float32)
    launch = GraphLaunch(runner, (values.ctypes.data,), (), (), ())
    graph = plugin.plugrad_graph(TARGET, [launch, launch])
    assert check_result("plugrad_graph", graph) is None
    graph()
    assert values[0] == 1
    assert plugin.plugrad_graph(TARGET, [launch, replace(launch, runner=print)]) is None
    assert plugin.plugrad_graph(Target("ELSEWHERE"), [launch]) is None


def test_the_probe_says_which_compiler_and_why(choice):
    (device,) = plugin.plugrad_probe().devices
    notes = dict(device.notes)
    assert device.target.device == "CPU"
    assert choice.toolchain.name in notes["compiler"]
    assert notes["why"] == choice.reason


def test_the_probe_says_once_what_to_install_without_a_compiler(monkeypatch):
    def fail():
        raise DeviceNotFound(f"no working C compiler. {install_hint()}")

    monkeypatch.setattr(plugin, "choose_toolchain", fail)
    probe = plugin.plugrad_probe()
    assert probe.devices == ()
    assert probe.reason == "no working C compiler."
    assert "pip install" in probe.remedy


def test_a_kernel_goes_through_all_hooks(w, new_writer):
    allocator, renderer, compiler = (
        getattr(plugin, f"plugrad_{hook}")(TARGET) for hook in ("allocator", "renderer", "compiler")
    )
    out, a = w.param(0, dtypes.float32, 16), w.param(1, dtypes.float32, 16)
    x = w.load(a, 0, 16)
    w.store(out, 0, w.alu(Ops.ADD, x, x))
    program = w.program(renderer, compiler)
    assert program.source == renderer.render(w.uops, program.name)
    blocks = [allocator.alloc(64) for _ in range(2)]
    values = np.arange(16, dtype=np.float32)
    allocator.copyin(blocks[1], memoryview(values).cast("B"))
    plugin.plugrad_runner(TARGET, program)(tuple(blocks), ())
    result = np.frombuffer(allocator.as_memoryview(blocks[0], 64), np.float32)
    np.testing.assert_array_equal(result, values * 2)


def test_native_declarations_are_up_to_date(tmp_path):
    made = tmp_path / "_native.py"
    tools = plugin.__file__.replace("src/plugrad_cpu_clang/plugin.py", "tools/make_native.py")
    code = f"import runpy, pathlib; runpy.run_path({tools!r})['write'](pathlib.Path({str(made)!r}))"
    if subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode:
        pytest.skip("pycparser, which cffi needs to read declarations, is not installed")
    with open(plugin.__file__.replace("plugin.py", "_native.py")) as shipped:
        assert made.read_text() == shipped.read()
