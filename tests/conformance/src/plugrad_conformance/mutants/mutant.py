"""A mutant, as data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plugrad.plugin.backend import Probe
from plugrad.runtime.graph import GraphLaunch
from plugrad.runtime.program import Program

#: Wrap what a hook returned; a defect of a runner gets what loads programs, and the program;
#: one of a graph what prepares launches, and the launches.
AllocatorDefect = Callable[[Any], Any]
RunnerDefect = Callable[[Callable[[Program], Any], Program], Any]
GraphDefect = Callable[[Callable[[Sequence[GraphLaunch]], Any], Sequence[GraphLaunch]], Any]

PLUGIN = "plugrad_conformance.mutants.plugin"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One defect.

    Attributes:
        name: its name, in lower case with dashes.
        defect: what is wrong, in a sentence.
        killed_by: the cases that must fail.
        base: the backend that is wrapped.
        module: the module of the plugin, where the defect is in importing it.
        shared_memory: all indexes of the device get the allocator of the first.
    """

    name: str
    defect: str
    killed_by: tuple[str, ...]
    base: str = "PYTHON"
    allocator: AllocatorDefect | None = None
    renderer: Callable[[Any], Any] | None = None
    compiler: Callable[[Any], Any] | None = None
    runner: RunnerDefect | None = None
    graph: GraphDefect | None = None
    probe: Callable[[Probe], Probe] | None = None
    module: str = ""
    shared_memory: bool = False

    @property
    def device(self) -> str:
        """The name under which it is registered."""
        return f"MUTANT_{self.name.replace('-', '_').upper()}"

    @property
    def value(self) -> str:
        """Its entry point."""
        return self.module or f"{PLUGIN}:{self.name.replace('-', '_')}"
