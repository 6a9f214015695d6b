"""The plugins of one device, loaded: calls their hooks through pluggy."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pluggy

from plugrad.plugin import hookspecs
from plugrad.plugin.backend import BackendInfo, Probe
from plugrad.plugin.contracts import check_spec_version
from plugrad.plugin.failures import FailureLog, PluginFailure, PluginRefused, broken
from plugrad.plugin.hook_guards import GuardedHooks
from plugrad.plugin.loader import LoadedPlugin
from plugrad.renderer.base import Renderer
from plugrad.runtime.allocator import Allocator
from plugrad.runtime.compiler import Compiler
from plugrad.runtime.graph import Graph, GraphLaunch
from plugrad.runtime.program import Program
from plugrad.runtime.runner import Runner
from plugrad.target import Target

_COMPUTING = ("plugrad_renderer", "plugrad_compiler", "plugrad_runner")


class Backend:
    """The plugins of one device: its own, and others that change its parts."""

    def __init__(self, base: LoadedPlugin, failures: FailureLog) -> None:
        self.source = base.source
        self.import_seconds = base.import_seconds
        self._plugins: list[LoadedPlugin] = []
        self._failures = failures
        self._hooks = pluggy.PluginManager(hookspecs.PROJECT)
        self._hooks.add_hookspecs(hookspecs)
        self._lock = threading.RLock()
        self._probed: Probe | None = None
        self._refused: PluginFailure | None = None
        self.add(base)
        self.info = self._read_info()

    def add(self, plugin: LoadedPlugin) -> None:
        """Ask another plugin's hooks first, and put its wrappers around the others.

        Raises:
            PluginError: a hook has arguments that the specification does not have.
        """
        try:
            self._hooks.register(GuardedHooks(plugin, self._failures), name=str(plugin.source))
        except (pluggy.PluginValidationError, ValueError) as error:
            raise broken(plugin.source, " ".join(str(error).split())) from error
        self._plugins.append(plugin)

    @property
    def plugins(self) -> tuple[LoadedPlugin, ...]:
        """Return the device's own plugin, then plugins that replace or wrap its parts."""
        return tuple(self._plugins)

    def implements(self, hook: str) -> bool:
        """Return whether a plugin implements `hook`."""
        return any(hook in plugin.hooks for plugin in self._plugins)

    @property
    def can_compute(self) -> bool:
        """Say whether the backend runs kernels; storage devices do not."""
        missing = [hook for hook in _COMPUTING if not self.implements(hook)]
        if 0 < len(missing) < len(_COMPUTING):
            raise broken(self.source, f"a device that computes also needs {', '.join(missing)}")
        return not missing

    def probe(self) -> Probe:
        """Find devices, once."""
        with self._lock:
            if self._refused is not None:
                raise PluginRefused(self._refused)
            if self._probed is None:
                try:
                    self._probed = self._find_devices()
                except PluginRefused as error:
                    self._refused = error.failure
                    raise
            return self._probed

    def allocator(self, target: Target) -> Allocator[Any]:
        """Open the memory of `target`."""
        return self._require("plugrad_allocator", target=target)

    def renderer(self, target: Target) -> Renderer:
        """Return the renderer for `target`."""
        return self._require("plugrad_renderer", target=target)

    def compiler(self, target: Target) -> Compiler:
        """Return the compiler for `target`."""
        return self._require("plugrad_compiler", target=target)

    def runner(self, target: Target, program: Program) -> Runner:
        """Load `program` on `target`."""
        return self._require("plugrad_runner", target=target, program=program)

    def graph(self, target: Target, launches: Sequence[GraphLaunch]) -> Graph | None:
        """Prepare `launches` to be run by one call, or return None without support for them."""
        return self._call_hook("plugrad_graph", target=target, launches=launches)

    def _find_devices(self) -> Probe:
        probe: Probe = self._require("plugrad_probe")
        names: set[str] = set()
        declared = "plugrad_backend_info says"
        for device in probe.devices:
            name = device.target.name
            if device.target.device != self.info.name:
                wrong = f"a target of the device {device.target.device!r}, and {declared} {self.info.name!r}"
            elif name in names:
                wrong = f"{name} twice: number devices from 0"
            elif device.priority is not None and device.priority > self.info.priority:
                wrong = f"{name} the priority {device.priority}, and {declared} {self.info.priority} at most"
            else:
                names.add(name)
                continue
            raise broken(self.source, f"plugrad_probe gives {wrong}")
        return probe

    def _read_info(self) -> BackendInfo:
        info: BackendInfo = self._require("plugrad_backend_info")
        wrong = check_spec_version(info.spec_version)
        if wrong is not None:
            raise broken(self.source, wrong)
        return replace(
            info,
            name=info.name.upper(),
            aliases=tuple(alias.upper() for alias in info.aliases),
            distribution=self.source.distribution,
            version=self.source.version,
        )

    def _require(self, hook: str, **arguments: object) -> Any:
        result = self._call_hook(hook, **arguments)
        if result is not None:
            return result
        if not self.implements(hook):
            raise broken(self.source, f"it lacks {hook}, which every backend needs")
        raise broken(
            self.source, f"{hook} returned None for {arguments.get('target')}, a device that its probe lists"
        )

    def _call_hook(self, hook: str, **arguments: object) -> Any:
        """Return the answer of the first plugin that has one, or None."""
        return getattr(self._hooks.hook, hook)(**arguments)
