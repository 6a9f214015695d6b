"""What hooks return is checked at once, and blamed on the plugin that returned it."""

from typing import Any

import pytest

from plugrad.errors import DeviceNotFound, PluginError
from plugrad.runtime.program import Program
from plugrad.target import Target

TARGET = Target("CHIP", 0, "v1")

WRONG = {
    "allocator is a number": (
        "return Memory()",
        "return 5",
        lambda b: b.allocator(TARGET),
        "plugrad_allocator must return an Allocator, got int 5",
    ),
    "allocator is the class": (
        "return Memory()",
        "return object()",
        lambda b: b.allocator(TARGET),
        "has no alloc, free, copyin, copyout, offset",
    ),
    "allocator is abstract": (
        "    def copyin(self, handle, source): handle[:] = source\n",
        "",
        lambda b: b.allocator(TARGET),
        "plugrad_allocator raised TypeError.*copyin",
    ),
    "renderer has no capabilities": (
        "return Text()",
        "t = Text(); t.capabilities = None; return t",
        lambda b: b.renderer(TARGET),
        "whose capabilities are Capabilities",
    ),
    "compiler has no key": (
        '"bytes-1"',
        '""',
        lambda b: b.compiler(TARGET),
        "cache_key names toolchain",
    ),
    "runner cannot be called": (
        "return launch",
        "return 'launch'",
        lambda b: b.runner(TARGET, Program("k", "", b"")),
        "plugrad_runner must return a Runner, got str",
    ),
    "probe returns a list": (
        "return Probe(tuple(",
        "return list((",
        lambda b: b.probe(),
        "plugrad_probe must return a Probe, got list",
    ),
    "probe returns nothing": (
        "return Probe(tuple(",
        "return None and Probe(tuple(",
        lambda b: b.probe(),
        "plugrad_probe must return a Probe, got None",
    ),
    "probe lists targets": (
        'ProbedDevice(Target("CHIP", i, "v1"), f"chip {i}")',
        'Target("CHIP", i, "v1")',
        lambda b: b.probe(),
        "each device must be a ProbedDevice, got Target",
    ),
    "all return None": (
        "return Memory()",
        "return None",
        lambda b: b.allocator(TARGET),
        "plugrad_allocator returned None for Target",
    ),
    "hook raises": (
        "return Memory()",
        "raise KeyError('x')",
        lambda b: b.allocator(TARGET),
        "plugrad_allocator raised KeyError",
    ),
}


@pytest.mark.parametrize(("old", "new", "use", "reason"), WRONG.values(), ids=WRONG)
def test_a_wrong_result_names_plugin_distribution_hook_and_what_came(
    zoo: Any, old: str, new: str, use: Any, reason: str
) -> None:
    zoo.install_good(**{old: new})
    backend = zoo.manager().backend("CHIP")
    with pytest.raises(PluginError, match=f"'chip' .zoo_chip of plugrad-chip 1.0..*{reason}"):
        use(backend)


def test_a_wrong_info_refuses_the_plugin(zoo: Any) -> None:
    zoo.install_good(**{"return BackendInfo(": "return dict(name="})
    with pytest.raises(PluginError, match="plugrad_backend_info must return a BackendInfo, got dict"):
        zoo.manager().backend("CHIP")


def test_wrong_fields_of_the_info_are_named(zoo: Any) -> None:
    zoo.install_good(**{"priority=50": "priority='high'"})
    with pytest.raises(PluginError, match="priority is str 'high', not int"):
        zoo.manager().backend("CHIP")


def test_a_hook_with_other_arguments_is_refused(zoo: Any) -> None:
    zoo.install_good(**{"def plugrad_allocator(target)": "def plugrad_allocator(device)"})
    with pytest.raises(PluginError, match=r"'device'.*can not be found in the hookspec"):
        zoo.manager().backend("CHIP")


def test_a_hook_may_leave_out_arguments_it_does_not_need(zoo: Any) -> None:
    zoo.install_good(**{"def plugrad_allocator(target)": "def plugrad_allocator()"})
    assert zoo.manager().backend("CHIP").allocator(TARGET).alloc(4) is not None


def test_an_error_of_ours_passes_unchanged(zoo: Any) -> None:
    source = "from plugrad.errors import DeviceNotFound; raise DeviceNotFound('no tool')"
    zoo.install_good(
        **{"return Bytes()": source, "def plugrad_compiler(target): ": "def plugrad_compiler(target):\n    "}
    )
    with pytest.raises(DeviceNotFound, match="no tool"):
        zoo.manager().backend("CHIP").compiler(TARGET)


def test_the_wrong_result_of_an_addition_is_blamed_on_it(zoo: Any) -> None:
    zoo.install_good()
    source = "from plugrad.plugin import hookimpl\n@hookimpl\ndef plugrad_compiler(target): return 5"
    zoo.install("plugrad-addition", {"chip": "zoo_addition"}, zoo_addition=source)
    with pytest.raises(PluginError, match="zoo_addition of plugrad-addition"):
        zoo.manager().backend("CHIP").compiler(TARGET)


def test_a_wrapper_goes_around_the_hook_of_another_plugin(zoo: Any) -> None:
    zoo.install_good()
    source = (
        "from plugrad.plugin import hookimpl\n"
        "@hookimpl(wrapper=True)\n"
        "def plugrad_compiler(target):\n"
        "    compiler = yield\n"
        "    compiler.cache_key = 'wrapped ' + compiler.cache_key\n"
        "    return compiler\n"
    )
    zoo.install("plugrad-wrapper", {"chip": "zoo_wrapper"}, zoo_wrapper=source)
    assert zoo.manager().backend("CHIP").compiler(TARGET).cache_key == "wrapped bytes-1"


def test_a_probe_is_made_once(zoo: Any) -> None:
    zoo.install_good()
    backend = zoo.manager().backend("CHIP")
    assert backend.probe() is backend.probe()


def test_a_backend_that_only_stores_needs_no_other_hooks(zoo: Any) -> None:
    source = zoo.good("chip").split("@hookimpl\ndef plugrad_renderer")[0]
    zoo.install("plugrad-chip", {"chip": "zoo_chip"}, zoo_chip=source)
    assert not zoo.manager().backend("CHIP").can_compute


def test_half_of_the_computing_hooks_is_refused(zoo: Any) -> None:
    source = zoo.good("chip").split("@hookimpl\ndef plugrad_runner")[0]
    zoo.install("plugrad-chip", {"chip": "zoo_chip"}, zoo_chip=source)
    with pytest.raises(PluginError, match="also needs plugrad_runner"):
        _ = zoo.manager().backend("CHIP").can_compute
