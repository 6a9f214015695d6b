"""Devices are found by any spelling of their name, opened once, and refuse to live on in a forked child."""

import os
import subprocess
import sys
import threading
from typing import Any

import pytest

import plugrad
import plugrad.builtin
from plugrad.device import Device, DeviceRegistry
from plugrad.errors import DeviceNotFound, PluginError
from plugrad.plugin import BackendInfo, Probe, ProbedDevice, hookimpl
from plugrad.plugin.manager import PluginManager
from plugrad.plugin.source import PluginSource
from plugrad.runtime.allocator import Allocator, LruAllocator
from plugrad.settings import context
from plugrad.target import Target


class Chip(LruAllocator[bytearray]):
    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target

    def _alloc(self, nbytes: int) -> bytearray:
        return bytearray(nbytes)

    copyin = copyout = offset = lambda *_: None  # type: ignore[assignment]


class Backend:
    """A backend that stores, as the object that an entry point may name."""

    opened = 0

    def __init__(self, name: str = "CHIP", probe: Probe | None = None) -> None:
        self.name = name
        self.probe = probe or Probe(tuple(ProbedDevice(Target(name, i), f"chip {i}") for i in range(2)))

    @hookimpl
    def plugrad_backend_info(self) -> BackendInfo:
        return BackendInfo(self.name, "1.0", aliases=("MICROCHIP",))

    @hookimpl
    def plugrad_probe(self) -> Probe:
        return self.probe

    @hookimpl
    def plugrad_allocator(self, target: Target) -> Allocator[Any]:
        Backend.opened += 1
        return Chip(target)


chip = Backend()
empty = Backend("EMPTY", Probe(reason="no driver", remedy="Load the driver."))
endless = Backend("ENDLESS", Probe((ProbedDevice(Target("ENDLESS")),), any_index=True))


@pytest.fixture
def devices(monkeypatch: pytest.MonkeyPatch) -> DeviceRegistry:
    monkeypatch.setitem(sys.modules, "device_plugins", sys.modules[__name__])
    monkeypatch.delenv("DEVICE", raising=False)
    names = {"CHIP": "chip", "MICROCHIP": "chip", "EMPTY": "empty", "ENDLESS": "endless"}
    sources = tuple(PluginSource(name, f"device_plugins:{attr}", "dist") for name, attr in names.items())
    manager = PluginManager(lambda: sources)
    manager.register_builtin("NULL", "plugrad.builtin.null")
    return DeviceRegistry(manager)


# --- names ---


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("CHIP", "CHIP"),
        ("chip", "CHIP"),
        ("Chip:0", "CHIP"),
        ("chip:1", "CHIP:1"),
        ("chip:01", "CHIP:1"),
        ("microchip:1", "CHIP:1"),
        ("CHIP:", "CHIP"),
        (" chip", "CHIP"),
        ("chip : 1 ", "CHIP:1"),
    ],
)
def test_every_spelling_has_one_canonical_name(devices: DeviceRegistry, name: str, canonical: str) -> None:
    assert devices.canonicalize(name) == canonical
    assert devices.canonicalize(canonical) == canonical


@pytest.mark.parametrize("name", ["", "chip:x", "chip:-1", "chip:1:2", "nothing", " ", ":1", 5])
def test_what_is_no_name_is_refused(devices: DeviceRegistry, name: Any) -> None:
    with pytest.raises(DeviceNotFound):
        devices.canonicalize(name)


def test_the_module_can_be_called_as_that_of_pytorch() -> None:
    assert plugrad.device("python:0") == "PYTHON"  # pyright: ignore
    with pytest.raises(DeviceNotFound):
        plugrad.device("nowhere")  # pyright: ignore


def test_canonical_names_open_nothing(devices: DeviceRegistry) -> None:
    devices.canonicalize("CHIP")
    assert devices.opened() == ()


# --- opening ---


def test_all_spellings_open_the_same_device_once(devices: DeviceRegistry) -> None:
    assert devices["chip"] is devices["MICROCHIP:0"]
    assert len(devices.opened()) == 1


def test_each_index_is_a_device_of_its_own(devices: DeviceRegistry) -> None:
    first, second = devices["CHIP"], devices["CHIP:1"]
    assert first.allocator is not second.allocator
    assert second.target == Target("CHIP", 1)


def test_an_index_that_is_not_there_lists_those_that_are(devices: DeviceRegistry) -> None:
    with pytest.raises(DeviceNotFound, match=r"CHIP:2 is not there. CHIP has CHIP \(chip 0\), CHIP:1") as e:
        devices["CHIP:2"]
    assert str(e.value).endswith("Ask for one of CHIP, CHIP:1.")


@pytest.mark.parametrize("name", ["CHIP:chip 1", "chip:CHIP 1", "microchip:1"])
def test_a_device_is_found_by_words_of_its_description(devices: DeviceRegistry, name: str) -> None:
    assert devices.canonicalize(name) == "CHIP:1"
    assert devices.canonicalize("CHIP:chip") == "CHIP"


def test_words_that_no_device_says_are_an_error_that_lists_the_devices(devices: DeviceRegistry) -> None:
    with pytest.raises(DeviceNotFound, match=r"'bicycle' is no index.*CHIP:1 \(chip 1\)"):
        devices.canonicalize("CHIP:bicycle")
    with pytest.raises(DeviceNotFound, match=r"'hip 1' is no index"):
        devices.canonicalize("CHIP:hip 1")
    with pytest.raises(DeviceNotFound, match="no driver"):
        devices.canonicalize("EMPTY:bicycle")


def test_devices_of_software_have_every_index(devices: DeviceRegistry) -> None:
    assert devices["ENDLESS:9"].target.index == 9


def test_a_backend_without_devices_says_why_and_what_would_help(devices: DeviceRegistry) -> None:
    with pytest.raises(DeviceNotFound, match=r"EMPTY is not there: no driver\. Load the driver\."):
        devices["EMPTY"]


def test_asking_whether_a_device_is_present_opens_none(devices: DeviceRegistry) -> None:
    assert devices.present("microchip:1") == devices.present("chip:1") == "CHIP:1"
    assert devices.present("ENDLESS:9") == "ENDLESS:9"
    for name in ("CHIP:2", "EMPTY", "nothing"):
        for _ in range(2):
            with pytest.raises(DeviceNotFound):
                devices.present(name)
    assert devices.opened() == ()


def test_threads_open_a_device_once(devices: DeviceRegistry) -> None:
    devices.canonicalize("CHIP")
    before = Backend.opened
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(devices["CHIP"])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 1
    assert Backend.opened == before + 1


def test_present_devices_are_listed_without_opening_any(devices: DeviceRegistry) -> None:
    assert devices.devices() == ("CHIP", "CHIP:1", "ENDLESS", "NULL")
    assert devices.opened() == ()


# --- the default ---


def test_the_default_is_the_environment_variable(
    devices: DeviceRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEVICE", "microchip:1")
    assert devices.DEFAULT == "CHIP:1"


def test_an_assigned_default_goes_before_the_environment(
    devices: DeviceRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEVICE", "CHIP")
    devices.DEFAULT = "null"
    assert devices.DEFAULT == "NULL"
    devices.DEFAULT = ""
    assert devices.DEFAULT == "CHIP"


def test_a_context_goes_before_everything(devices: DeviceRegistry) -> None:
    devices.DEFAULT = "NULL"
    with context(DEVICE="CHIP:1"):
        assert devices.DEFAULT == "CHIP:1"
        assert devices[None].name == "CHIP:1"
    assert devices.DEFAULT == "NULL"


@pytest.mark.parametrize("name", ["nothing", "EMPTY", "CHIP:2"])
def test_a_default_that_is_not_there_is_refused_when_it_is_assigned(
    name: str, devices: DeviceRegistry
) -> None:
    with pytest.raises(DeviceNotFound):
        devices.DEFAULT = name


def test_a_device_that_was_asked_for_is_never_replaced(
    devices: DeviceRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEVICE", "EMPTY")
    with pytest.raises(DeviceNotFound, match="no driver"):
        _ = devices.DEFAULT


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_without_a_wish_the_best_device_is_chosen(devices: DeviceRegistry) -> None:
    assert devices.DEFAULT == "CHIP"


def test_the_builtin_devices_are_known_to_the_registry_of_the_process() -> None:
    assert Device.canonicalize("null:3") == "NULL:3"


def test_a_plugin_that_fails_is_an_error_of_its_own(devices: DeviceRegistry) -> None:
    manager = PluginManager(lambda: (PluginSource("BROKEN", "no_such_module_at_all", "dist"),))
    with pytest.raises(PluginError):
        DeviceRegistry(manager)["BROKEN"]


# --- forks ---

_FORK = """
import os, sys
import plugrad.builtin
from plugrad.device import Device
from plugrad.dtype import dtypes
from plugrad.errors import ForkError

def refuses(use):
    try:
        use()
    except ForkError as error:
        return "spawn" in str(error)
    return False

null = Device["NULL"]
allocated = null.new_buffer(4, dtypes.uint8).ensure_allocated()
view = allocated.view(2, dtypes.uint8, 0).ensure_allocated()
fresh = null.new_buffer(4, dtypes.uint8)
child = os.fork()
if child == 0:
    ok = [
        refuses(lambda: Device["NULL"]),
        refuses(lambda: null.runner(None)),
        refuses(lambda: null.synchronize()),
        refuses(allocated.as_memoryview),
        refuses(view.ensure_allocated),
        refuses(fresh.ensure_allocated),
        refuses(lambda: null.new_buffer(4, dtypes.uint8).ensure_allocated()),
    ]
    os.write(1, repr(ok).encode())
    os._exit(0)
os.waitpid(child, 0)
assert Device["NULL"] is null and allocated.handle is not None
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_is_refused_and_its_parent_goes_on() -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{_FORK}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == repr([True] * 7), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_before_any_device_is_open_may_use_them() -> None:
    code = (
        f"import sys; sys.path[:] = {sys.path!r}\nimport os\nimport plugrad.builtin\nfrom plugrad.device "
        "import Device\nif os.fork() == 0:\n    print(Device['NULL'].name, flush=True)\n    "
        "os._exit(0)\nos.wait()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "NULL\n"


def test_the_devices_print_those_that_are_open() -> None:
    Device["PYTHON"].allocator  # noqa: B018 - opens it
    assert "PYTHON" in repr(Device)
