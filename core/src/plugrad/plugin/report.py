"""Report the present devices, and for others the reason and the remedy."""

from collections.abc import Iterable
from dataclasses import asdict
from enum import Enum
from typing import Any

from plugrad._frozen import frozen
from plugrad.errors import PlugradError
from plugrad.plugin.backend import Probe, ProbedDevice
from plugrad.plugin.discovery import version_of
from plugrad.plugin.failures import PluginFailure, PluginRefused
from plugrad.plugin.hints import HINTS
from plugrad.plugin.hook_calls import Backend
from plugrad.plugin.loader import LoadedPlugin
from plugrad.plugin.manager import PluginManager, plugins


class State(Enum):
    """The state of a backend in the report."""

    READY = "ready"
    NO_DEVICE = "no device"
    FAILED = "failed"
    NOT_INSTALLED = "not installed"


@frozen
class BackendReport:
    """One line of `plugrad devices`, with its details."""

    name: str
    state: State
    distribution: str = ""
    version: str = ""
    spec_version: str = ""
    aliases: tuple[str, ...] = ()
    additions: tuple[str, ...] = ()
    priority: int = 0
    summary: str = ""
    devices: tuple[ProbedDevice, ...] = ()
    any_index: bool = False
    reason: str = ""
    remedy: str = ""
    traceback: str = ""
    import_ms: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the report as values that `json` can write."""
        out = asdict(self)
        out["state"] = self.state.value
        out["devices"] = [_device_as_json(device, self.priority) for device in self.devices]
        return out


def backend_reports(manager: PluginManager = plugins) -> tuple[BackendReport, ...]:
    """Load and probe everything; report usable backends by priority, then the others.

    Opens no device. A plugin that fails is a line of the report, never an exception.
    """
    usable = [_report(backend) for backend in manager.backends()]
    manager.wrappers()  # one that is broken is reported where there is no device to wrap, too
    used = {(report.name, report.distribution) for report in usable}
    failed = [
        report_failure(failure)
        for failure in manager.failures
        if (failure.source.name, failure.source.distribution) not in used
    ]
    return (*usable, *failed, *not_installed((*usable, *failed)))


def not_installed(reports: Iterable[BackendReport]) -> list[BackendReport]:
    """Return a report for each backend that is known and not among `reports`."""
    seen = {name for report in reports for name in (report.name, *report.aliases)}
    return [
        BackendReport(
            hint.device,
            State.NOT_INSTALLED,
            aliases=hint.aliases,
            summary=hint.summary,
            reason="no distribution provides it",
            remedy=hint.install_line,
        )
        for hint in HINTS
        if hint.device not in seen
    ]


def _report(backend: Backend) -> BackendReport:
    reason = remedy = traceback = ""
    probe = Probe()
    try:
        probe = backend.probe()
    except PlugradError as error:
        reason = str(error)
        if isinstance(error, PluginRefused):
            reason, remedy, traceback = error.failure.reason, error.failure.remedy, error.failure.traceback
    ready = bool(probe.devices) or probe.any_index
    state = State.FAILED if reason else State.READY if ready else State.NO_DEVICE
    return BackendReport(
        backend.info.name,
        state,
        backend.info.distribution,
        backend.info.version or version_of(backend.info.distribution),
        backend.info.spec_version,
        backend.info.aliases,
        tuple(_addition(plugin) for plugin in backend.plugins[1:]),
        backend.info.priority,
        backend.info.summary,
        probe.devices,
        probe.any_index,
        reason or probe.reason,
        remedy or probe.remedy,
        traceback,
        round(backend.import_seconds * 1e3, 1),
    )


def _addition(plugin: LoadedPlugin) -> str:
    hooks = (*sorted(plugin.hooks), *(f"around {hook}" for hook in sorted(plugin.wraps)))
    return f"{plugin.source.owner}: {', '.join(hooks)}"


def report_failure(failure: PluginFailure) -> BackendReport:
    """Return the line of a plugin that cannot be used."""
    source = failure.source
    return BackendReport(
        source.name,
        State.FAILED,
        source.distribution,
        source.version or version_of(source.distribution),
        reason=failure.reason,
        remedy=failure.remedy,
        traceback=failure.traceback,
    )


def _device_as_json(device: ProbedDevice, priority: int) -> dict[str, Any]:
    return {
        "name": device.target.name,
        "arch": device.target.arch,
        "description": device.description,
        "evidence": device.evidence.name,
        "memory_bytes": device.memory_bytes,
        "priority": priority if device.priority is None else device.priority,
        "detail": dict(device.target.detail),
        "notes": dict(device.notes),
    }
