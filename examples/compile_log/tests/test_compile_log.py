"""Tests of plugrad_compile_log: what is logged, what is not compiled twice, and that nothing else changes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from plugrad import Tensor, context
from plugrad.device import Device, DeviceRegistry
from plugrad.engine.compile import clear_loaded
from plugrad.plugin.report import State, backend_reports
from plugrad.runtime.compiler import Compiler
from plugrad_compile_log.compilers import CachingCompiler, LoggingCompiler


class Reverser(Compiler):
    """Compiles by reversing the source, and keeps the names of what it compiled."""

    cache_key = "reverser-1"

    def __init__(self) -> None:
        self.compiled: list[str] = []

    def compile(self, source: str, name: str) -> bytes:
        self.compiled.append(name)
        return source[::-1].encode()

    def disassemble(self, lib: bytes) -> str:
        return lib.decode()[::-1]


UNITS: Sequence[tuple[str, str]] = (("first", "abc"), ("second", "defg"))
LIBS = [b"cba", b"gfed"]


def rows(log: Path) -> list[list[str]]:
    return [line.split("\t") for line in log.read_text().splitlines()]


def test_each_kernel_is_logged_with_its_seconds_and_bytes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    compiler = LoggingCompiler(Reverser(), "CHIP:1", log)
    assert compiler.compile_many(UNITS) == LIBS
    assert compiler.compile("hi", "third") == b"ih"
    found = rows(log)
    assert [(device, name, size) for device, name, _, size in found] == [
        ("CHIP:1", "first", "3"),
        ("CHIP:1", "second", "4"),
        ("CHIP:1", "third", "2"),
    ]
    assert all(float(seconds) >= 0 for _, _, seconds, _ in found)


def test_a_wrapped_compiler_has_key_and_listing_of_the_one_inside(tmp_path: Path) -> None:
    for wrapped in (
        LoggingCompiler(Reverser(), "CHIP", tmp_path / "log"),
        CachingCompiler(Reverser(), tmp_path / "cache"),
    ):
        assert wrapped.cache_key == "reverser-1"
        assert wrapped.disassemble(b"cba") == "abc"


def test_what_another_machine_compiled_is_not_compiled_again(tmp_path: Path) -> None:
    first, second = Reverser(), Reverser()
    assert CachingCompiler(first, tmp_path).compile_many(UNITS[:1]) == LIBS[:1]
    assert CachingCompiler(second, tmp_path).compile_many(UNITS) == LIBS
    assert (first.compiled, second.compiled) == (["first"], ["second"])


@pytest.mark.parametrize("change", ["cache_key", "name", "source"])
def test_all_that_the_bytes_depend_on_is_in_the_key(tmp_path: Path, change: str) -> None:
    changed = Reverser()
    changed.cache_key = "reverser-2" if change == "cache_key" else "reverser-1"
    CachingCompiler(Reverser(), tmp_path).compile("abc", "kernel")
    source, name = "xyz" if change == "source" else "abc", "other" if change == "name" else "kernel"
    CachingCompiler(changed, tmp_path).compile(source, name)
    assert changed.compiled == [name]


def test_a_torn_file_is_compiled_again(tmp_path: Path) -> None:
    CachingCompiler(Reverser(), tmp_path).compile("abc", "kernel")
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    again = Reverser()
    assert CachingCompiler(again, tmp_path).compile("abc", "kernel") == b"cba"
    assert again.compiled == ["kernel"]


# --- installed ---


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Open a folder for the log and the cache of every device."""
    monkeypatch.setenv("COMPILE_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("COMPILE_CACHE", str(tmp_path / "cache"))
    Device.clear()
    clear_loaded()
    return tmp_path


def double() -> list[float]:
    with context(CACHELEVEL=0):
        return (Tensor(np.arange(5, dtype=np.float32), device="CPU") * 2).tolist()


def test_kernels_of_a_device_are_logged_and_then_found(folder: Path) -> None:
    assert double() == [0, 2, 4, 6, 8]
    ((device, _, seconds, size),) = rows(folder / "log")
    assert device == "CPU"
    assert float(seconds) > 0
    assert int(size) > 100
    Device.clear()
    clear_loaded()
    assert double() == [0, 2, 4, 6, 8]
    assert len(rows(folder / "log")) == 1


def test_without_settings_nothing_is_wrapped() -> None:
    assert "plugrad_compile_log" not in type(DeviceRegistry()["CPU"].compiler).__module__


def test_the_report_of_devices_names_the_wrapper() -> None:
    (cpu,) = (report for report in backend_reports() if report.name == "CPU")
    assert cpu.state is State.READY
    assert cpu.additions == ("plugrad-example-compile-log 0.1.0: around plugrad_compiler",)


def test_a_log_that_cannot_be_written_costs_the_log_and_not_the_device(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILE_LOG", str(folder / "missing" / "log"))
    with pytest.warns(RuntimeWarning, match=r"wrapper 'compile_log'.*raised FileNotFoundError"):
        assert double() == [0, 2, 4, 6, 8]
