"""The hooks of a mutant: the wrapped backend's, with the defect."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plugrad.plugin import BackendInfo, Probe, hookimpl
from plugrad.plugin.hook_calls import Backend
from plugrad.plugin.manager import plugins
from plugrad.runtime.graph import GraphLaunch
from plugrad.runtime.program import Program
from plugrad.target import Target
from plugrad_conformance.mutants.mutant import Mutant


class MutantHooks:
    """A plugin, as an object.

    Args:
        mutant: its defect.
    """

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        self._shared: Any = None

    @property
    def _base(self) -> Backend:
        return plugins.backend(self._mutant.base)

    def _target(self, target: Target) -> Target:
        return replace(target, device=self._mutant.base, detail=())

    @hookimpl
    def plugrad_backend_info(self) -> BackendInfo:
        """Never chosen automatically."""
        return BackendInfo(self._mutant.device, spec_version="1.1", priority=-1, summary=self._mutant.defect)

    @hookimpl
    def plugrad_probe(self) -> Probe:
        """Find what the base finds, under another name."""
        found = self._base.probe()
        renamed = tuple(
            replace(d, target=replace(d.target, device=self._mutant.device)) for d in found.devices
        )
        probe = replace(found, devices=renamed)
        return self._mutant.probe(probe) if self._mutant.probe else probe

    @hookimpl
    def plugrad_allocator(self, target: Target) -> Any:
        """Open the base's memory."""
        if self._mutant.shared_memory and self._shared is not None:
            return self._shared
        inner = self._base.allocator(self._target(target))
        self._shared = self._mutant.allocator(inner) if self._mutant.allocator else inner
        return self._shared

    @hookimpl
    def plugrad_renderer(self, target: Target) -> Any:
        """Return the base's renderer."""
        inner = self._base.renderer(self._target(target))
        return self._mutant.renderer(inner) if self._mutant.renderer else inner

    @hookimpl
    def plugrad_compiler(self, target: Target) -> Any:
        """Return the base's compiler."""
        inner = self._base.compiler(self._target(target))
        return self._mutant.compiler(inner) if self._mutant.compiler else inner

    @hookimpl
    def plugrad_runner(self, target: Target, program: Program) -> Any:
        """Load a kernel on the base."""

        def load(program: Program) -> Any:
            return self._base.runner(self._target(target), program)

        return self._mutant.runner(load, program) if self._mutant.runner else load(program)

    @hookimpl
    def plugrad_graph(self, target: Target, launches: Sequence[GraphLaunch]) -> Any:
        """Prepare launches on the base."""

        def prepare(launches: Sequence[GraphLaunch]) -> Any:
            return self._base.graph(self._target(target), launches)

        return self._mutant.graph(prepare, launches) if self._mutant.graph else prepare(launches)
