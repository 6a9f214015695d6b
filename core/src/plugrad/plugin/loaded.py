"""A backend whose plugins are loaded: calls their hooks, and checks what they return.

Hooks run through pluggy, one implementing plugin at a time, so that a wrong result is blamed on the plugin
that returned it. Wrappers (`@hookimpl(wrapper=True)`) of any plugin of the device go around each.

A probe asks a driver, which may never answer, so it runs in a thread that can be left behind.
"""

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import Any

import pluggy

from plugrad.errors import PlugradError
from plugrad.plugin import hookspecs
from plugrad.plugin.backend import BackendInfo, Probe
from plugrad.plugin.contracts import check_result, check_spec_version
from plugrad.plugin.loader import LoadedPlugin, PluginRefused, failure_of, remedy_for
from plugrad.plugin.source import PluginFailure, PluginSource
from plugrad.renderer.base import Renderer
from plugrad.runtime.allocator import Allocator
from plugrad.runtime.compiler import Compiler
from plugrad.runtime.graph import Graph, GraphLaunch
from plugrad.runtime.program import Program
from plugrad.runtime.runner import Runner
from plugrad.target import Target

_ALWAYS_ANSWERED = frozenset({"plugrad_backend_info", "plugrad_probe"})
# a probe returns within a second, as the hooks say; a machine may be busy
PROBE_SECONDS = 20.0
_COMPUTING = ("plugrad_renderer", "plugrad_compiler", "plugrad_runner")


class Backend:
    """All plugins of one device: the one that says what it is, and those that replace parts of it.

    Args:
        base: the plugin with `plugrad_backend_info`.

    Raises:
        PluginError: the plugin breaks the contract.
    """

    def __init__(self, base: LoadedPlugin) -> None:
        self.source = base.source
        self.additions: list[PluginSource] = []
        self.import_seconds = base.import_seconds
        self._hooks = pluggy.PluginManager(hookspecs.PROJECT)
        self._hooks.add_hookspecs(hookspecs)
        self._sources: dict[object, PluginSource] = {}
        self._lock = threading.RLock()
        self._probed: Probe | None = None
        self._refused: PluginFailure | None = None
        self._register(base)
        self.info = self._read_info()

    def add(self, plugin: LoadedPlugin) -> None:
        """Let another plugin's hooks be asked before those that are there.

        Raises:
            PluginError: a hook has arguments that the specification does not have.
        """
        self._register(plugin)
        self.additions.append(plugin.source)

    def hooks_from(self, source: PluginSource) -> tuple[str, ...]:
        """Return the names of the hooks that the plugin from `source` implements, wrappers included."""
        module = next(plugin for plugin, its_source in self._sources.items() if its_source == source)
        return tuple(sorted(caller.name for caller in self._hooks.get_hookcallers(module) or ()))

    @property
    def can_compute(self) -> bool:
        """Whether it runs kernels; a backend that does not only stores data.

        Raises:
            PluginError: it implements some of the hooks that this needs, but not all.
        """
        missing = [hook for hook in _COMPUTING if not self._implementors(hook)]
        if 0 < len(missing) < len(_COMPUTING):
            raise self._error(self.source, f"a device that computes also needs {', '.join(missing)}")
        return not missing

    def probe(self) -> Probe:
        """Look for devices, once.

        Raises:
            PluginError: the hook is missing, raised, did not answer, or returned something else.
        """
        with self._lock:
            if self._refused is not None:
                raise PluginRefused(self._refused)
            if self._probed is None:
                try:
                    self._probed = self._look()
                except PluginRefused as error:
                    self._refused = error.failure
                    raise
            return self._probed

    def allocator(self, target: Target) -> Allocator[Any]:
        """Open the memory of `target`."""
        return self._call("plugrad_allocator", target=target)

    def renderer(self, target: Target) -> Renderer:
        """Return the renderer for `target`."""
        return self._call("plugrad_renderer", target=target)

    def compiler(self, target: Target) -> Compiler:
        """Return the compiler for `target`."""
        return self._call("plugrad_compiler", target=target)

    def runner(self, target: Target, program: Program) -> Runner:
        """Load `program` on `target`."""
        return self._call("plugrad_runner", target=target, program=program)

    def graph(self, target: Target, launches: Sequence[GraphLaunch]) -> Graph | None:
        """Prepare `launches` to be run by one call; None where the device has no graphs for them."""
        return self._ask("plugrad_graph", target=target, launches=launches)

    def _look(self) -> Probe:
        probe: Probe = self._call("plugrad_probe")
        names: set[str] = set()
        for device in probe.devices:
            name = device.target.name
            if device.target.device != self.info.name:
                raise self._error(
                    self.source,
                    f"plugrad_probe gives a target of the device {device.target.device!r}, and "
                    f"plugrad_backend_info says {self.info.name!r}",
                )
            if name in names:
                raise self._error(self.source, f"plugrad_probe gives {name} twice: number devices from 0")
            names.add(name)
            if device.priority is not None and device.priority > self.info.priority:
                raise self._error(
                    self.source,
                    f"plugrad_probe gives {name} the priority {device.priority}, and "
                    f"plugrad_backend_info says {self.info.priority} at most",
                )
        return probe

    def _register(self, plugin: LoadedPlugin) -> None:
        try:
            self._hooks.register(plugin.module, name=str(plugin.source))
        except (pluggy.PluginValidationError, ValueError) as error:
            raise self._error(plugin.source, " ".join(str(error).split())) from error
        self._sources[plugin.module] = plugin.source

    def _read_info(self) -> BackendInfo:
        info: BackendInfo = self._call("plugrad_backend_info")
        wrong = check_spec_version(info.spec_version)
        if wrong is not None:
            raise self._error(self.source, wrong)
        return replace(
            info,
            name=info.name.upper(),
            aliases=tuple(alias.upper() for alias in info.aliases),
            distribution=self.source.distribution,
            version=self.source.version,
        )

    def _implementors(self, hook: str) -> list[object]:
        """Return the plugins that implement `hook`, those that are asked first in front."""
        caller: pluggy.HookCaller = getattr(self._hooks.hook, hook)
        impls = [impl for impl in caller.get_hookimpls() if not (impl.wrapper or impl.hookwrapper)]
        return [impl.plugin for impl in reversed(impls)]

    def _call(self, hook: str, **arguments: object) -> Any:
        result = self._ask(hook, **arguments)
        if result is not None:
            return result
        if not self._implementors(hook):
            raise self._error(self.source, f"it lacks {hook}, which every backend needs")
        raise self._error(
            self.source, f"{hook} returned None for {arguments.get('target')}, a device that its probe lists"
        )

    def _ask(self, hook: str, **arguments: object) -> Any:
        """Return what the first plugin that has an answer returns, or None."""
        plugins = self._implementors(hook)
        for plugin in plugins:
            others = [other for other in plugins if other is not plugin]
            caller = self._hooks.subset_hook_caller(hook, others)
            result = self._checked(self._sources[plugin], hook, lambda caller=caller: caller(**arguments))
            if result is not None:
                return result
        return None

    def _checked(self, source: PluginSource, hook: str, call: Callable[[], Any]) -> Any:
        try:
            result = self._patiently(source, call) if hook == "plugrad_probe" else call()
        except KeyboardInterrupt:
            raise
        except PlugradError as error:
            # it says enough of what happened; the traceback says where
            error.add_note(f"{hook} of {source} raised this.")
            raise
        except BaseException as error:
            raise PluginRefused(failure_of(source, f"{hook} raised", error)) from error
        if (
            hook in _ALWAYS_ANSWERED
        ):  # pluggy collects these in a list: here of one plugin, which leaves None out
            result = result[0] if result else None
        elif result is None:
            return None
        wrong = check_result(hook, result)
        if wrong is not None:
            raise self._error(source, wrong)
        return result

    def _patiently(self, source: PluginSource, probe: Callable[[], Any]) -> Any:
        """Return what a probe returns; the thread of one that does not return is left to itself."""
        answers: list[tuple[Any, BaseException | None]] = []
        context = copy_context()

        def ask() -> None:
            try:
                answers.append((context.run(probe), None))
            except BaseException as error:
                answers.append((None, error))

        thread = threading.Thread(target=ask, daemon=True, name=str(source))
        thread.start()
        thread.join(PROBE_SECONDS)
        if not answers:
            late = f"plugrad_probe did not answer within {PROBE_SECONDS:g} seconds, and should within one"
            raise self._error(source, late)
        value, error = answers[0]
        if error is not None:
            raise error
        return value

    def _error(self, source: PluginSource, reason: str) -> PluginRefused:
        return PluginRefused(PluginFailure(source, reason, remedy=remedy_for(source)))
