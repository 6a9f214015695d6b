"""Tests of plugrad_gcc: what changes when it is installed, and what does not."""

import numpy as np
import pytest

import plugrad_gcc
from plugrad import Tensor, context
from plugrad.device import Device
from plugrad.errors import CompileError, DeviceNotFound
from plugrad.plugin.report import State, backend_reports
from plugrad.target import Target


def test_the_kernels_of_the_cpu_are_compiled_by_gcc() -> None:
    compiler = Device["CPU"].compiler
    assert isinstance(compiler, plugrad_gcc.Gcc)
    assert b"GCC: (" in compiler.compile("void k(void) {}", "k")


def test_they_give_what_they_gave_before() -> None:
    values = np.linspace(-3, 3, 1000, dtype=np.float32)
    with context(CACHELEVEL=0):
        got = (Tensor(values, device="CPU").reshape(10, 100) * 2 + 1).sum(1).numpy()
    np.testing.assert_allclose(got, (values.reshape(10, 100) * 2 + 1).sum(1), rtol=1e-5)


def test_the_report_of_devices_names_who_replaces_what() -> None:
    (cpu,) = (report for report in backend_reports() if report.name == "CPU")
    assert cpu.state is State.READY
    assert cpu.distribution == "plugrad-plugin-cpu-clang"
    assert cpu.additions == ("plugrad-example-gcc 0.1.0: plugrad_compiler",)


def test_an_error_shows_source_log_and_command() -> None:
    with pytest.raises(CompileError, match="gcc refused bad") as caught:
        plugrad_gcc.Gcc("some").compile("this is no C", "bad")
    assert "error:" in caught.value.log
    assert caught.value.command[0].endswith("gcc")


def test_other_devices_are_left_alone() -> None:
    assert plugrad_gcc.plugrad_compiler(Target("CUDA")) is None


def test_without_gcc_no_other_compiler_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DeviceNotFound, match="apt install gcc"):
        plugrad_gcc.plugrad_compiler(Target("CPU"))
