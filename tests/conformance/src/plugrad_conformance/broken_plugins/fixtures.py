"""Folders of distributions that are found like installed ones."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from plugrad.plugin.discovery import find_sources
from plugrad.plugin.manager import PluginManager
from plugrad.plugin.source import ENTRY_POINT_GROUP, WRAPPER_GROUP
from plugrad_conformance.broken_plugins.plugins import BrokenPlugin

#: A backend that keeps the contract, on host memory; its kernels do nothing.
GOOD = """
from plugrad.dtype import dtypes
from plugrad.plugin import BackendInfo, Probe, ProbedDevice, hookimpl
from plugrad.renderer.base import Renderer
from plugrad.runtime.allocator import LruAllocator
from plugrad.runtime.compiler import Compiler
from plugrad.target import Capabilities, Evidence, Target

class Memory(LruAllocator[memoryview]):
    def _alloc(self, nbytes): return memoryview(bytearray(nbytes))
    def copyin(self, handle, source): handle[:] = source
    def copyout(self, dest, handle): dest[:] = handle
    def offset(self, handle, nbytes, offset_bytes): return handle[offset_bytes:offset_bytes + nbytes]

class Text(Renderer):
    capabilities = Capabilities(frozenset({dtypes.float32}), frozenset({dtypes.float32}))
    def render(self, uops, name): return name

class Bytes(Compiler):
    cache_key = "bytes-1"
    def compile(self, source, name): return source.encode()

def launch(handles, values, global_size, local_size, wait=False):
    return 0.0 if wait else None

@hookimpl
def plugrad_backend_info():
    return BackendInfo("NAME", spec_version="1.0", priority=50, aliases=("OTHER",), summary="good")

@hookimpl
def plugrad_probe():
    return Probe(tuple(ProbedDevice(Target("NAME", i, "v1"), f"chip {i}") for i in range(2)))

@hookimpl
def plugrad_allocator(target): return Memory()

@hookimpl
def plugrad_renderer(target): return Text()

@hookimpl
def plugrad_compiler(target): return Bytes()

@hookimpl
def plugrad_runner(target, program): return launch
"""


class PluginSite:
    """Installs distributions into one folder.

    Args:
        root: that folder, which is on `sys.path`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.modules: set[str] = set()
        self.installed: set[str] = set()

    def install(
        self,
        distribution: str,
        entry_points: Mapping[str, str],
        version: str = "1.0",
        group: str = ENTRY_POINT_GROUP,
        **modules: str,
    ) -> None:
        """Add a distribution with entry points and the source of its modules."""
        info = self.root / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        self.installed.add(distribution)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        lines = [f"{name} = {value}" for name, value in entry_points.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
        for name, source in modules.items():
            self.modules.add(name)
            (self.root / f"{name}.py").write_text(source)

    def install_wrapper(self, name: str, source: str) -> None:
        """Add a wrapper of every device; `source` follows the imports that hooks need."""
        imports = "from plugrad.plugin import hookimpl\n"
        module = f"broken_{name}"
        self.install(f"plugrad-{name}", {name: module}, "1.0", WRAPPER_GROUP, **{module: imports + source})

    def install_good(self, device: str = "chip", **changes: str) -> None:
        """Add a working backend for `device`, with texts of its source replaced."""
        module = f"broken_{device}"
        self.install(f"plugrad-{device}", {device: module}, **{module: self.good(device, **changes)})

    def install_broken(self, broken: BrokenPlugin, version: str = "1.0") -> None:
        """Add a broken backend."""
        own = broken.name.replace("-", "_")
        source = self.good(own, **broken.changes) if broken.source is None else broken.source
        value = broken.value or broken.module
        self.install(broken.distribution, {broken.entry_point: value}, version, **{broken.module: source})

    def install_rivals(self, device: str = "contested") -> None:
        """Add two distributions that both provide `device`."""
        for rival in ("first", "second"):
            module = f"broken_{device}_{rival}"
            self.install(f"plugrad-{device}-{rival}", {device: module}, **{module: self.good(device)})

    def install_slow(self, device: str = "slow", seconds: float = 0.3) -> None:
        """Add a backend that works and takes its time to import."""
        source = f"import time\ntime.sleep({seconds})\n{self.good(device)}"
        self.install(f"plugrad-{device}", {device: f"broken_{device}"}, **{f"broken_{device}": source})

    def good(self, device: str, **changes: str) -> str:
        """Return the source of a working backend, with texts replaced."""
        source = GOOD.replace('"NAME"', f'"{device.upper()}"')
        for old, new in changes.items():
            assert old in source, f"{old} is not in the source"
            source = source.replace(old, new)
        return source

    def manager(self) -> PluginManager:
        """Return a fresh manager that sees distributions of this folder only."""
        return PluginManager(
            lambda: tuple(source for source in find_sources() if source.distribution in self.installed)
        )

    def leave(self) -> None:
        """Forget the modules that lived here."""
        for name in self.modules:
            sys.modules.pop(name, None)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PluginSite]:
    """An empty folder of distributions, visible to this process."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = PluginSite(tmp_path)
    yield made
    made.leave()
