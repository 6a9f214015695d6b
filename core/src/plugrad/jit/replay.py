"""Run recorded steps again, on other inputs and outputs: launches that are prepared but for what changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plugrad import events
from plugrad.engine.execute import Copy, Launch, Step
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.runner import Runner
from plugrad.settings import settings

__all__ = ["Replay"]


@dataclass(slots=True, eq=False)
class _Prepared:
    """One launch: everything that is the same in each replay."""

    launch: Launch
    runner: Runner
    variables: tuple[str, ...]
    handles: list[Any]
    dims: tuple[tuple[int, ...], tuple[int, ...]] | None


@dataclass(slots=True, eq=False)
class _Patch:
    """Where the handle of an exchanged buffer goes; a part of it begins at `offset` bytes."""

    handles: list[Any]
    place: int
    is_view: bool
    offset: int
    nbytes: int


class Replay:
    """Recorded steps with some of their buffers left open.

    Args:
        steps: what to run, in order.
        open_buffers: the buffers to exchange at each run, in the order in which `run` gets them.
    """

    def __init__(self, steps: Sequence[Step], open_buffers: Sequence[Buffer]) -> None:
        self._index = {buffer: number for number, buffer in enumerate(open_buffers)}
        self._patches: list[list[_Patch]] = [[] for _ in open_buffers]
        self._steps = [self._prepare(step) for step in steps]

    def run(self, buffers: Sequence[Buffer], values: Mapping[str, int]) -> None:
        """Run the steps on `buffers`, with the variables at `values`."""
        for buffer, patches in zip(buffers, self._patches, strict=True):
            _fill(buffer, patches)
        if events.listening(events.KernelEvent) or settings.DEBUG >= 2:
            self._run_watched(values, buffers)
            return
        for step in self._steps:
            if isinstance(step, _Prepared):
                scalars = tuple([values[name] for name in step.variables]) if step.variables else ()
                global_size, local_size = step.dims or step.launch.kernel.program.launch_dims(values)
                step.runner(tuple(step.handles), scalars, global_size, local_size)
            else:
                self._with_buffers(step, buffers).run(values)

    def _run_watched(self, values: Mapping[str, int], buffers: Sequence[Buffer]) -> None:
        """Run each step as the engine does, so that observers see it."""
        for step in self._steps:
            plain = step.launch if isinstance(step, _Prepared) else step
            self._with_buffers(plain, buffers).run(values)

    def _prepare(self, step: Step) -> "_Prepared | Copy":
        if isinstance(step, Copy):
            return step
        handles: list[Any] = []
        for place, buffer in enumerate(step.buffers):
            base = buffer if buffer.base is None else buffer.base
            if base not in self._index:
                handles.append(buffer.ensure_allocated().handle)
                continue
            handles.append(None)
            patch = _Patch(handles, place, buffer is not base, buffer.offset, buffer.nbytes)
            self._patches[self._index[base]].append(patch)
        program = step.kernel.program
        dims = program.launch_dims({}) if program.has_fixed_launch else None
        return _Prepared(step, step.kernel.runner, program.variables, handles, dims)

    def _with_buffers(self, step: Step, buffers: Sequence[Buffer]) -> Step:
        """Return `step` on the buffers of this run."""
        found = [self._exchanged(buffer, buffers) for buffer in step.buffers]
        return Copy((found[0], found[1])) if isinstance(step, Copy) else Launch(step.kernel, tuple(found))

    def _exchanged(self, buffer: Buffer, buffers: Sequence[Buffer]) -> Buffer:
        number = self._index.get(buffer if buffer.base is None else buffer.base)
        if number is None:
            return buffer
        actual = buffers[number]
        return actual if buffer.base is None else actual.view(buffer.size, buffer.dtype, buffer.offset)


def _fill(buffer: Buffer, patches: Sequence[_Patch]) -> None:
    handle = buffer.handle
    if handle is None:
        handle = buffer.ensure_allocated().handle
    for patch in patches:
        if patch.is_view:
            patch.handles[patch.place] = buffer.allocator.offset(handle, patch.nbytes, patch.offset)
        else:
            patch.handles[patch.place] = handle
