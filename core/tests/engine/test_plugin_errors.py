from typing import Any

import pytest

from plugrad import Device, Tensor
from plugrad.builtin.python import PythonRunner
from plugrad.device import DeviceRegistry
from plugrad.engine.plugin_errors import blaming_plugin, plugin_error
from plugrad.errors import DeviceError, PluginError
from plugrad.jit import jit
from plugrad_conformance.broken_plugins import site

__all__ = ["site"]


def full_moon(*_: Any, **__: Any) -> Any:
    raise RuntimeError("the moon is full.")


def out_of_order(*_: Any, **__: Any) -> Any:
    raise DeviceError("it is out of order", device="PYTHON")


def test_a_launch_that_raises_names_its_plugin(monkeypatch: Any) -> None:
    monkeypatch.setattr(PythonRunner, "__call__", full_moon)
    with pytest.raises(PluginError, match=r"plugin 'python' .*plugrad-core.*plugrad_runner gave, launching"):
        (Tensor([1.0, 2.0], device="PYTHON") * 7).realize()


def test_a_replayed_launch_that_raises_names_its_plugin(monkeypatch: Any) -> None:
    double = jit(lambda x: x * 2)
    x = Tensor([1.0, 2.0], device="PYTHON").realize()
    for _ in range(3):
        double(x)
    monkeypatch.setattr(PythonRunner, "__call__", full_moon)
    with pytest.raises(PluginError, match=r"plugrad_runner gave, launching .* raised RuntimeError: the moon"):
        double(x)


def test_an_allocation_that_raises_names_its_plugin(monkeypatch: Any) -> None:
    sums = Tensor.arange(997, device="PYTHON") * 3
    monkeypatch.setattr(type(Device["PYTHON"].allocator), "_alloc", full_moon)
    with pytest.raises(PluginError, match="plugrad_allocator gave, allocating for"):
        sums.contiguous().realize()


def test_a_copy_that_raises_names_its_plugin(monkeypatch: Any) -> None:
    pytest.importorskip("plugrad_cpu_clang")
    x = Tensor([1.0] * 999, device="CPU").realize()
    monkeypatch.setattr(type(Device["PYTHON"].allocator), "copyin", full_moon)
    with pytest.raises(PluginError, match="plugrad_allocator gave, copying from CPU to PYTHON raised"):
        x.to("PYTHON").realize()


def test_errors_of_our_own_stay_as_they_are(monkeypatch: Any) -> None:
    monkeypatch.setattr(PythonRunner, "__call__", out_of_order)
    with pytest.raises(DeviceError, match="out of order") as caught:
        (Tensor([1.0, 2.0], device="PYTHON") * 5).realize()
    assert caught.value.__cause__ is None


def test_a_read_that_raises_names_its_plugin(monkeypatch: Any) -> None:
    x = Tensor([1.0, 2.0], device="PYTHON").realize()
    monkeypatch.setattr(type(Device["PYTHON"].allocator), "copyout", full_moon)
    with pytest.raises(PluginError, match="plugrad_allocator gave, reading 8 bytes raised RuntimeError"):
        x.numpy()


WRAPPER = """
class Compiler:
    cache_key = "wrapped"
    def __init__(self, compiler): self.compiler = compiler
    def compile(self, source, name):
        return source[name] if name == "own" else self.compiler.compile(source, name)
    compile_many = disassemble = print

@hookimpl(wrapper=True)
def plugrad_compiler(target): return Compiler((yield))
"""


@pytest.mark.parametrize(
    ("kernel", "culprit"),
    [("own", "wrapper 'log' (broken_log of plugrad-log 1.0)"), ("inner", "plugin 'chip' (broken_chip of")],
)
def test_the_plugin_whose_code_raised_is_named(site: Any, kernel: str, culprit: str) -> None:
    site.install_good(**{"return source.encode()": "return source / 0"})
    site.install_wrapper("log", WRAPPER)
    device = DeviceRegistry(site.manager())["CHIP"]
    with (
        pytest.raises(PluginError) as caught,
        blaming_plugin(device, "plugrad_compiler", f"compiling {kernel}"),
    ):
        device.compiler.compile("text", kernel)
    assert f"{culprit}" in str(caught.value)
    assert f"of what plugrad_compiler gave, compiling {kernel} raised TypeError" in str(caught.value)


def test_a_wrong_result_is_blamed_on_the_plugin_whose_class_gave_it(site: Any) -> None:
    site.install_good()
    site.install_wrapper("log", WRAPPER)
    device = DeviceRegistry(site.manager())["CHIP"]
    for made, owner in ((device.compiler, "plugrad-log 1.0"), (device.renderer, "plugrad-chip 1.0")):
        assert plugin_error(device, "plugrad_compiler", "it is wrong", made).distribution == owner
