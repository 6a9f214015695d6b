"""Facts of a plugin that need no open device: its module, and its import's effects.

Importing and probing are watched in a fresh process by `watch_plugin`, which reports what changed.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from plugrad.dtype import DType
from plugrad.plugin.backend import ProbedDevice
from plugrad.plugin.hook_calls import Backend
from plugrad.plugin.loader import LoadedPlugin, load_plugin
from plugrad.plugin.manager import plugins
from plugrad.plugin.source import PluginSource
from plugrad.target import Target

#: How long importing a plugin may keep the processor, and how long probing may take.
IMPORT_SECONDS = 0.050
PROBE_SECONDS = 1.0
#: Runs of the script; the fastest counts, since a busy machine only ever adds time. On one that is very busy,
#: there are more of them.
_RUNS = 3
_MOST_RUNS = 12

_SCRIPT = Path(__file__).with_name("watch_plugin.py")


@dataclass(frozen=True, slots=True)
class Watched:
    """Observations of a fresh process that imported and probed a plugin."""

    importing: dict[str, Any]
    probing: dict[str, Any]


class PluginFacts:
    """A plugin, seen from outside.

    Args:
        name: the canonical name of one of its devices.
        setup: Python that the watching process runs first, for backends that are not installed.
    """

    def __init__(self, name: str, setup: str = "") -> None:
        self.device = name
        self.backend_name = name.partition(":")[0]
        self.setup = setup

    @property
    def backend(self) -> Backend:
        """The backend, loaded."""
        return plugins.backend(self.backend_name)

    @property
    def source(self) -> PluginSource:
        """Return the origin of the plugin."""
        return self.backend.source

    @cached_property
    def loaded(self) -> LoadedPlugin:
        """The plugin's module and the names of its hooks."""
        found = load_plugin(self.source)
        assert isinstance(found, LoadedPlugin), found.reason
        return found

    @property
    def target(self) -> Target:
        """The first device that is present, or a name for one where none is."""
        devices = self.backend.probe().devices
        return devices[0].target if devices else Target(self.backend_name)

    @property
    def probed(self) -> ProbedDevice | None:
        """Return the probe's report of the device.

        For an index that the probe does not list, it is the first one's.
        """
        devices = self.backend.probe().devices
        return next((d for d in devices if d.target.name == self.device), devices[0] if devices else None)

    @property
    def storage_dtypes(self) -> frozenset[DType]:
        """Return the dtypes of its buffers; none where no plugin renders for it."""
        if not self.backend.implements("plugrad_renderer"):
            return frozenset()
        return self.backend.renderer(self.target).capabilities.storage_dtypes

    @cached_property
    def watched(self) -> Watched:
        """Return the effects of import and probe in the quickest of several fresh processes."""
        importing: list[dict[str, Any]] = []
        probing: list[dict[str, Any]] = []
        for done in range(_MOST_RUNS):
            seen = self._watch()
            importing = sorted((*importing, seen["import"]), key=lambda one: one["cpu_seconds"])
            probing = sorted((*probing, seen["probe"]), key=lambda one: one["seconds"])
            is_quick = importing[0]["cpu_seconds"] < IMPORT_SECONDS and probing[0]["seconds"] < PROBE_SECONDS
            if is_quick and done + 1 >= _RUNS:
                break
        return Watched(importing[0], probing[0])

    def _watch(self) -> dict[str, Any]:
        command = [sys.executable, "-P", str(_SCRIPT), self.backend_name, self.source.value, self.setup]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, env=environment, check=False
        )
        assert done.returncode == 0, (
            f"importing {self.source.value} in a fresh process failed: {done.stderr[-2000:]}"
        )
        return json.loads(done.stdout.splitlines()[-1])
