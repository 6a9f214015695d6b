"""Find backends, load each on request and alone, and record the failures.

`import plugrad` reads no entry point. Asking for a built-in device reads none either; asking for any other
reads the names of all and imports that device's plugins only. A plugin that fails is recorded and leaves the
others alone.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from plugrad._util import LazyModule
from plugrad.errors import DeviceNotFound, PlugradError, SettingsError
from plugrad.plugin.backend import ProbedDevice
from plugrad.plugin.discovery import find_sources
from plugrad.plugin.failures import FailureLog, PluginFailure, PluginRefused, broken, failure_of
from plugrad.plugin.hints import FIRST, hint_for, nearest_name
from plugrad.plugin.source import ENTRY_POINT_GROUP, PluginSource
from plugrad.settings import settings
from plugrad.target import Evidence

if TYPE_CHECKING:
    from plugrad.plugin import hook_calls, loader
    from plugrad.plugin.hook_calls import Backend
    from plugrad.plugin.loader import LoadedPlugin
else:
    # who opens no device needs neither them nor pluggy, which are slow to import
    hook_calls = LazyModule("plugrad.plugin.hook_calls")
    loader = LazyModule("plugrad.plugin.loader")

_CORE = "plugrad-core"
_INFO = "plugrad_backend_info"


class PluginManager:
    """Every backend there is, by name."""

    def __init__(self, find_sources: Callable[[], tuple[PluginSource, ...]] = find_sources) -> None:
        self._find_sources = find_sources
        self._builtins: dict[str, PluginSource] = {}
        self._lock = threading.RLock()
        self.clear()

    def clear(self) -> None:
        """Forget everything but the built-in devices, so that the next question looks again."""
        self._discovered: tuple[PluginSource, ...] | None = None
        self._plugins: dict[PluginSource, LoadedPlugin | PluginFailure] = {}
        self._backends: dict[str, Backend] = {}
        self._failures = FailureLog()

    def register_builtin(self, name: str, module: str) -> None:
        """Add a device of the core. Its name cannot be taken by an entry point."""
        self._builtins[name] = PluginSource(name, module, _CORE, is_builtin=True)

    def builtin_names(self) -> tuple[str, ...]:
        """Return the names of the core's own devices."""
        return tuple(self._builtins)

    def only(self, sources: Sequence[PluginSource]) -> PluginManager:
        """Return a manager of these plugins alone, which has loaded none of them yet."""
        found = tuple(source for source in sources if not source.is_builtin)
        out = PluginManager(lambda: found)
        out._builtins = {source.name: source for source in sources if source.is_builtin}
        return out

    @property
    def failures(self) -> tuple[PluginFailure, ...]:
        """Return the reasons for not using plugins, of those loaded until now."""
        return self._failures.all()

    def sources(self) -> tuple[PluginSource, ...]:
        """Return all plugins and wrappers, loaded or not: the built-in ones, then the entry points."""
        with self._lock:
            if self._discovered is None:
                self._discovered = tuple(self._without_reserved(self._find_sources()))
            return (*self._builtins.values(), *self._discovered)

    def names(self) -> tuple[str, ...]:
        """Return the names and aliases under which devices are found."""
        return tuple(dict.fromkeys(source.name for source in self.sources() if not source.is_wrapper))

    def wrappers(self) -> tuple[LoadedPlugin, ...]:
        """Load the wrappers of every device, and return the usable ones, the innermost first."""
        with self._lock:
            sources = [source for source in self.sources() if source.is_wrapper]
            loaded = [self._load_plugin(source) for source in reversed(sources)]
            for failure in loaded:
                if isinstance(failure, PluginFailure):
                    self._failures.warn(failure)
        return tuple(plugin for plugin in loaded if isinstance(plugin, loader.LoadedPlugin))

    def backend(self, name: str) -> Backend:
        """Return the backend with this name or alias, loading it the first time.

        Raises:
            DeviceNotFound: no plugin has this name; says where was looked, and what to install.
            PluginError: there is one, but it cannot be used; says why.
        """
        name = name.upper()
        found = self._backends.get(name)
        if found is None:
            with self._lock:
                found = self._backends.get(name) or self._load(name)
                self._backends[name] = found
        return found

    def backends(self) -> tuple[Backend, ...]:
        """Load every plugin and return the backends that can be used, highest priority first."""
        return self._usable(self.names())

    def choose(self) -> str:
        """Return the name of the best present device, and warn of each broken plugin.

        Plugins are probed from the highest priority down, until none that is left can have a better device.
        The core's own devices are looked at, and loaded, only where no plugin has one.

        Raises:
            DeviceNotFound: there is none.
            SettingsError: a setting for one of the backends cannot be honoured.
        """
        own = tuple(self._builtins)
        others = tuple(name for name in self.names() if name not in own)
        found = self._best(others)
        chosen = found or self._best(own)
        for failure in self.failures:
            if failure.is_broken:
                self._failures.warn(failure)
        if chosen is None:
            raise DeviceNotFound(f"no device is present. Install one: {FIRST.install_line}")
        if found is None:
            self._warn_of_interpreter(chosen)
        return chosen

    def is_present(self, backend: Backend) -> bool:
        """Say whether a device that is real was found; record why where none was.

        Raises:
            SettingsError: a setting for the backend cannot be honoured.
        """
        try:
            probe = backend.probe()
        except SettingsError:
            raise
        except PluginRefused as error:
            self._failures.add_first(error.failure)
            return False
        except PlugradError as error:
            self._failures.add_first(failure_of(backend.source, "looking for devices raised", error))
            return False
        if any(device.evidence is not Evidence.E2 for device in probe.devices):
            return True
        reason = probe.reason or ("only a simulator is there" if probe.devices else "no device was found")
        absence = PluginFailure(backend.source, reason, remedy=probe.remedy, is_broken=False)
        self._failures.add_first(absence)
        return False

    def _best(self, names: tuple[str, ...]) -> str | None:
        """Return the device of these backends that the automatic choice takes, if any."""
        best: tuple[int, str] | None = None
        for backend in self._usable(names):
            highest = backend.info.priority
            if highest < 0 or (best is not None and best[0] >= highest):
                break
            if self.is_present(backend):
                found = best_device(highest, backend.probe().devices)
                best = found if best is None or (found and found[0] > best[0]) else best
        return best[1] if best is not None else None

    def _usable(self, names: tuple[str, ...]) -> tuple[Backend, ...]:
        found: dict[str, Backend] = {}
        for name in names:
            try:
                backend = self.backend(name)
            except PlugradError as error:
                # unless a more exact reason is known
                for source in self._sources_of(name):
                    self._failures.add_first(PluginFailure(source, str(error)))
                continue
            found[backend.info.name] = backend
        return tuple(sorted(found.values(), key=lambda backend: (-backend.info.priority, backend.info.name)))

    def _load(self, name: str) -> Backend:
        sources = self._sources_of(name)
        if not sources:
            raise DeviceNotFound(self._explain_absence(name), device=name)
        plugins = [self._load_plugin(source) for source in sources]
        usable = [plugin for plugin in plugins if isinstance(plugin, loader.LoadedPlugin)]
        failed = [plugin for plugin in plugins if isinstance(plugin, PluginFailure)]
        bases = [plugin for plugin in usable if _INFO in plugin.hooks]
        additions = [plugin for plugin in usable if plugin not in bases]
        if len(bases) > 1:
            bases = [self._preferred(name, bases)]
        if not bases and failed:
            raise PluginRefused(failed[0])
        if not bases:
            raise DeviceNotFound(
                f"{name} is not there: {'; '.join(map(str, sources))} only adds to it, and no plugin has "
                f"{_INFO}. {_install_line(name)}",
                device=name,
            )
        try:
            backend = hook_calls.Backend(bases[0], self._failures)
        except PluginRefused as error:
            self._failures.add(error.failure)
            raise
        if backend.info.name != name:
            return self._follow_alias(name, backend)
        # nothing wraps the core's own, which read no entry point
        for plugin in (*additions, *(() if backend.source.is_builtin else self.wrappers())):
            try:
                backend.add(plugin)
            except PluginRefused as error:
                self._failures.drop(error.failure)
        for failure in failed:
            self._failures.warn(failure)
        return backend

    def _sources_of(self, name: str) -> list[PluginSource]:
        if name in self._builtins:
            return [self._builtins[name]]
        return [source for source in self.sources() if source.name == name and not source.is_wrapper]

    def _load_plugin(self, source: PluginSource) -> LoadedPlugin | PluginFailure:
        if source not in self._plugins:
            self._plugins[source] = loader.load_plugin(source)
        plugin = self._plugins[source]
        if isinstance(plugin, PluginFailure):
            self._failures.add(plugin)
        return plugin

    def _follow_alias(self, name: str, backend: Backend) -> Backend:
        info = backend.info
        if name in info.aliases and any(s.value == backend.source.value for s in self._sources_of(info.name)):
            return self.backend(info.name)
        wanted = (
            f"add {name!r} to its aliases"
            if name not in info.aliases
            else f"add one named {info.name.lower()!r}"
        )
        error = broken(backend.source, f"its entry point is not named like its device {info.name}: {wanted}")
        self._failures.add(error.failure)
        raise error

    def _preferred(self, name: str, plugins: Sequence[LoadedPlugin]) -> LoadedPlugin:
        """Return the one of several plugins of one device that the user prefers."""
        wanted = [_normalized(distribution) for distribution in settings.PLUGRAD_PREFER.split(",")]
        listed = [plugin for plugin in plugins if _normalized(plugin.source.distribution) in wanted]
        if not listed:
            sources = [plugin.source for plugin in plugins]
            both = " and ".join(source.owner for source in sources)
            reason = f"{both} both provide the device {name}; neither is used"
            names = [source.distribution for source in sources]
            remedy = (
                f"Set PLUGRAD_PREFER={names[0]} to take that one, or uninstall one of {', '.join(names)}."
            )
            failures = [PluginFailure(source, reason, remedy=remedy) for source in sources]
            for failure in failures:
                self._failures.add(failure)
            raise PluginRefused(failures[0])
        chosen = min(listed, key=lambda plugin: wanted.index(_normalized(plugin.source.distribution)))
        for plugin in plugins:
            if plugin is not chosen:
                reason = f"PLUGRAD_PREFER chooses {chosen.source.owner} for the device {name}"
                self._failures.add(PluginFailure(plugin.source, reason, is_broken=False))
        return chosen

    def _without_reserved(self, sources: tuple[PluginSource, ...]) -> list[PluginSource]:
        taken = [source for source in sources if source.name in self._builtins and not source.is_wrapper]
        for source in taken:
            remedy = f"Rename the entry point of {source.distribution}."
            reason = f"{source.name} is the name of a built-in device"
            self._failures.add(PluginFailure(source, reason, remedy=remedy))
        return [source for source in sources if source not in taken]

    def _explain_absence(self, name: str) -> str:
        hint = hint_for(name)
        nearest = hint.device if hint else nearest_name(name, self.names())
        is_found = nearest in self.names()
        meant = f" Did you mean {nearest!r}?" if nearest and (is_found or not hint) else ""
        remedy = "" if is_found else _install_line(nearest or name)
        return (
            f"there is no device {name!r}.{meant} Looked for an entry point {name.lower()!r} of the group "
            f"{ENTRY_POINT_GROUP} in the distributions on sys.path; found {', '.join(sorted(self.names()))}. "
            f"{remedy}"
        ).rstrip()

    def _warn_of_interpreter(self, device: str) -> None:
        source = self._builtins[device.partition(":")[0]]
        if not self._failures.is_first_warning(source):
            return
        absent = [f"{f.source.name}: {f.reason.rstrip('.')}" for f in self.failures if not f.is_broken]
        why = f" ({'; '.join(absent)})" if absent else ""
        warnings.warn(
            f"no backend that compiles is usable{why}; {device} interprets, which is very slow. Install one: "
            f"{FIRST.install_line}, or set DEVICE={device} to be content with it.",
            RuntimeWarning,
            stacklevel=4,
        )


def best_device(highest: int, devices: Sequence[ProbedDevice]) -> tuple[int, str] | None:
    """Return rank and name of the device that the automatic choice takes, or None.

    That is the first of those with the highest rank; simulators, and ranks below 0, are never taken.

    Args:
        highest: the backend's priority.
        devices: what its probe found.
    """
    real = [device for device in devices if device.evidence is not Evidence.E2]
    ranked = [(highest if d.priority is None else d.priority, d.target.name) for d in real]
    best = max(ranked, key=lambda found: found[0], default=None)
    return best if best is not None and best[0] >= 0 else None


def _normalized(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution.strip()).lower()


def _install_line(name: str) -> str:
    hint = hint_for(name)
    return (
        f"Install it with: {hint.install_line}"
        if hint
        else "`plugrad devices` lists what is there and what is known."
    )


#: Every backend of this process.
plugins = PluginManager()
