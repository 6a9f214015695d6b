"""Load and probe each plugin in a process of its own, which may crash.

A process is started for all plugins of one device, with their aliases, since they work together; and one for
each wrapper, so that one which takes its process along is named.
"""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path

from plugrad.plugin.hints import hint_for
from plugrad.plugin.manager import PluginManager, best_device, plugins
from plugrad.plugin.report import BackendReport, State, backend_reports, not_installed, report_failure
from plugrad.plugin.source import PluginSource

# a probe returns within a second, as the hooks say; a machine may be busy
TIMEOUT_SECONDS = 20.0
_SHOWN_LINES = 40
_PROGRAM = f"import sys; from {__name__} import main; main(sys.argv[1:])"

Group = tuple[PluginSource, ...]


def explain_isolated(
    manager: PluginManager = plugins, timeout_seconds: float = TIMEOUT_SECONDS
) -> tuple[BackendReport, ...]:
    """Return the report of `backend_reports`, made with a process for each device.

    Args:
        manager: the plugins; none of them is loaded in this process, but for the built-in ones.
        timeout_seconds: how long a process may take, all running at once.
    """
    sources = manager.sources()
    own = backend_reports(manager.only([source for source in sources if source.is_builtin]))
    reports = [report for report in own if report.state is not State.NOT_INSTALLED]
    reports += map(report_failure, manager.failures)
    with tempfile.TemporaryDirectory(prefix="plugrad-devices-", ignore_cleanup_errors=True) as folder:
        plugged = [source for source in sources if not source.is_builtin]
        wrappers = tuple(source for source in plugged if source.is_wrapper)
        asked = [(group, wrappers) for group in groups([s for s in plugged if not s.is_wrapper])]
        asked += [((wrapper,), ()) for wrapper in wrappers]
        started = [_Child(*sources, Path(folder) / str(number)) for number, sources in enumerate(asked)]
        deadline = time.monotonic() + timeout_seconds
        try:
            for child in started:
                reports += child.reports(deadline, timeout_seconds)
        finally:
            for child in started:
                child.end()
    ready = sorted((r for r in reports if r.devices), key=lambda report: (-report.priority, report.name))
    # each process reports a wrapper that fails
    failed = list(dict.fromkeys(report for report in reports if report not in ready))
    return (*ready, *failed, *not_installed(reports))


def default_among(reports: Sequence[BackendReport], builtin: Collection[str]) -> str | None:
    """Return the automatic choice among these reports; the core's own devices come last."""
    ready = [report for report in reports if report.state is State.READY]
    for in_core in (False, True):
        asked = [report for report in ready if (report.name in builtin) is in_core]
        found = [best for report in asked if (best := best_device(report.priority, report.devices))]
        if found:
            return max(found, key=lambda best: best[0])[1]
    return None


def groups(sources: Sequence[PluginSource]) -> list[Group]:
    """Group plugins that share a name or module, as a device and its aliases."""
    found: list[list[PluginSource]] = []
    for source in sources:
        near = [
            group for group in found if any(source.name == s.name or source.value == s.value for s in group)
        ]
        found = [group for group in found if group not in near]
        found.append([*(other for group in near for other in group), source])
    return [tuple(group) for group in found]


class _Child:
    """The process that loads the plugins of `group` and writes reports to `answer`.

    Args:
        group: the plugins of one device, or a wrapper.
        wrappers: what wraps the device.
        answer: the file.
    """

    def __init__(self, group: Group, wrappers: Group, answer: Path) -> None:
        self._group = group
        self._answer = answer
        self._said = answer.with_suffix(".txt")
        sources = map(str, (*group, *wrappers))
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                # what a plugin prints is shown only if it fails; faulthandler says where one crashes
                [sys.executable, "-X", "faulthandler", "-c", _PROGRAM, str(answer), *sources],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                # where a child finds the same packages
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path))),
                },
                start_new_session=True,
            )

    def reports(self, deadline: float, timeout_seconds: float) -> list[BackendReport]:
        """Wait for the process, and return its report, or its failure."""
        try:
            status = self._process.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            self.end()
            return self._failed(f"did not answer within {timeout_seconds:g} seconds")
        if status == 0:
            try:
                reports: list[BackendReport] = pickle.loads(self._answer.read_bytes())
            except (OSError, EOFError, pickle.UnpicklingError):
                return self._failed("ended the process before it answered")
            return reports
        return self._failed(_describe(status))

    def end(self) -> None:
        """End the process and the children of its plugins."""
        if self._process.poll() is not None:
            return
        if hasattr(os, "killpg"):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def _failed(self, what: str) -> list[BackendReport]:
        # what is a name and what an alias, only the plugin could have told
        hints = ((source, hint_for(source.name)) for source in self._group)
        first = next((s for s, hint in hints if hint and hint.device == s.name), self._group[0])
        aliases = tuple(dict.fromkeys(s.name for s in self._group if s.name != first.name))
        owners = list(dict.fromkeys(source.distribution for source in self._group))
        lines = self._said.read_text(errors="replace").splitlines()[-_SHOWN_LINES:]
        return [
            BackendReport(
                first.name,
                State.FAILED,
                first.distribution,
                first.version,
                aliases=aliases,
                additions=tuple(dict.fromkeys(s.owner for s in self._group if s.owner != first.owner)),
                reason=f"loading and probing it {what}",
                remedy=f"Upgrade or uninstall {' or '.join(owners)}; until then, set DEVICE to another one. "
                "`plugrad devices --traceback` shows where.",
                traceback="\n".join(lines),
            )
        ]


def _describe(status: int) -> str:
    if status > 0:
        return f"ended the process with status {status}"
    try:
        return f"crashed the process: {signal.Signals(-status).name}"
    except ValueError:
        return f"crashed the process by signal {-status}"


def main(arguments: Sequence[str]) -> None:
    """Write the reports of the plugins that the other arguments describe to a file."""
    answer, *wanted = arguments
    warnings.simplefilter("ignore")  # what it warns of is in the reports
    found = backend_reports(plugins.only([source for source in plugins.sources() if str(source) in wanted]))
    reports = [report for report in found if report.state is not State.NOT_INSTALLED]
    Path(answer).write_bytes(pickle.dumps(reports))
