"""Run recorded steps again on other inputs, with prepared launches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from plugrad import events
from plugrad.device import OpenDevice
from plugrad.engine.execute import Copy, Launch, Step
from plugrad.engine.plugin_errors import raise_plugin_error
from plugrad.observe import install
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.graph import Graph, GraphLaunch
from plugrad.runtime.program import LaunchDims, Program
from plugrad.runtime.runner import Runner
from plugrad.settings import settings


@dataclass(slots=True, eq=False)
class _Prepared:
    """One launch: everything that is the same in each replay."""

    program: Program
    device: OpenDevice
    runner: Runner
    handles: list[Any]
    dims: LaunchDims | None

    def run(self, values: Mapping[str, int]) -> None:
        program = self.program
        scalars = tuple([values[name] for name in program.variables]) if program.variables else ()
        global_size, local_size = self.dims or program.launch_dims(values)
        try:
            self.runner(tuple(self.handles), scalars, global_size, local_size)
        except Exception as error:
            raise_plugin_error(self.device, "plugrad_runner", f"launching {program.name}", error)
            raise


@dataclass(slots=True, eq=False)
class _PreparedGraph:
    """Launches that the device runs by one call; `sized` ones vary with variables."""

    graph: Graph
    sized: list[tuple[int, Program]]

    def run(self, values: Mapping[str, int]) -> None:
        for number, program in self.sized:
            scalars = tuple([values[name] for name in program.variables])
            self.graph.set_sizes(number, scalars, *program.launch_dims(values))
        self.graph()


# How the handle of an exchanged buffer gets to where it is used: a function, the slot to call it with, and
# the number of the buffer.
_Patch = tuple[Callable[[int, Any], None], int, int]


class Replay:
    """Recorded steps with some of their buffers left open.

    Args:
        steps: what to run, in order.
        open_buffers: the buffers to exchange at each run, in the order in which `run` gets them.
        values: the variables that the steps were recorded with.
        use_graphs: let devices that can run several launches by one call.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        open_buffers: Sequence[Buffer],
        values: Mapping[str, int] | None = None,
        *,
        use_graphs: bool = True,
    ) -> None:
        self._index = {buffer: number for number, buffer in enumerate(open_buffers)}
        self._patches: list[_Patch] = []
        # those of which a part is meant
        self._patches_of_parts: list[tuple[_Patch, Buffer]] = []
        self._steps = steps
        self._devices = list(dict.fromkeys(s.kernel.device for s in steps if isinstance(s, Launch)))
        for buffer in dict.fromkeys(buffer for step in steps for buffer in step.buffers):
            if _owner(buffer) not in self._index:
                buffer.pin()  # its handle is prepared once
        self._prepared: list[_Prepared | _PreparedGraph | Copy] = []
        for group in _groups(steps):
            prepared = self._prepare_graph(group, values or {}) if use_graphs and len(group) > 1 else None
            self._prepared += [self._prepare(step) for step in group] if prepared is None else [prepared]

    @property
    def graphs(self) -> int:
        """The number of graphs that devices run."""
        return sum(isinstance(step, _PreparedGraph) for step in self._prepared)

    def run(self, buffers: Sequence[Buffer], values: Mapping[str, int]) -> None:
        """Run the steps on `buffers`, with the variables at `values`.

        Raises:
            ForkError: this process was forked from the one that recorded them.
        """
        for device in self._devices:
            device.check_fork()
        if settings.DEBUG or settings.VIZ:
            install()
        if events.active and events.listening(events.KernelEvent):
            self._run_watched(values, buffers)
            return
        handles = [b.ensure_allocated().handle if b.handle is None else b.handle for b in buffers]
        for put, slot, number in self._patches:
            put(slot, handles[number])
        for (put, slot, number), part in self._patches_of_parts:
            put(slot, buffers[number].allocator.offset(handles[number], part.nbytes, part.offset))
        for step in self._prepared:
            if isinstance(step, Copy):
                self._with_buffers(step, buffers).run(values)
            else:
                step.run(values)

    def _run_watched(self, values: Mapping[str, int], buffers: Sequence[Buffer]) -> None:
        """Run each step as the engine does, so that observers see it."""
        for step in self._steps:
            actual = self._with_buffers(step, buffers)
            if isinstance(actual, Launch):
                actual.run(values, replayed=True)
            else:
                actual.run(values)

    def _prepare(self, step: Step) -> "_Prepared | Copy":
        if isinstance(step, Copy):
            return step
        handles = [buffer.ensure_allocated().handle for buffer in step.buffers]
        self._patch(step, handles.__setitem__)
        kernel = step.kernel
        return _Prepared(kernel.program, kernel.device, kernel.runner, handles, kernel.launch_dims)

    def _prepare_graph(self, group: Sequence[Step], values: Mapping[str, int]) -> "_PreparedGraph | None":
        launches = [step for step in group if isinstance(step, Launch)]
        graph = launches[0].kernel.device.graph([_graph_launch(launch, values) for launch in launches])
        if graph is None:
            return None
        for number, launch in enumerate(launches):
            self._patch(launch, partial(graph.set_handle, number))
        programs = enumerate(launch.kernel.program for launch in launches)
        return _PreparedGraph(graph, [(n, p) for n, p in programs if p.variables or not p.has_fixed_launch])

    def _patch(self, step: Launch, put: Callable[[int, Any], None]) -> None:
        """Register the buffers of `step` whose handles `put` receives at each run."""
        for slot, buffer in enumerate(step.buffers):
            number = self._index.get(_owner(buffer))
            if number is not None and buffer.base is None:
                self._patches.append((put, slot, number))
            elif number is not None:
                self._patches_of_parts.append(((put, slot, number), buffer))

    def _with_buffers(self, step: Step, buffers: Sequence[Buffer]) -> Step:
        """Return `step` on the buffers of this run."""
        found = [self._exchanged(buffer, buffers) for buffer in step.buffers]
        return Copy((found[0], found[1])) if isinstance(step, Copy) else Launch(step.kernel, tuple(found))

    def _exchanged(self, buffer: Buffer, buffers: Sequence[Buffer]) -> Buffer:
        number = self._index.get(_owner(buffer))
        if number is None:
            return buffer
        actual = buffers[number]
        return actual if buffer.base is None else actual.view(buffer.size, buffer.dtype, buffer.offset)


def _owner(buffer: Buffer) -> Buffer:
    return buffer if buffer.base is None else buffer.base


def _groups(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Split `steps` into the longest runs of launches on one device, copies apart."""
    group: list[Step] = []
    device: object = None
    for step in steps:
        place = step.kernel.device if isinstance(step, Launch) else None
        if group and (place is None or place is not device):
            yield group
            group = []
        group.append(step)
        device = place
    if group:
        yield group


def _graph_launch(launch: Launch, values: Mapping[str, int]) -> GraphLaunch:
    program = launch.kernel.program
    return GraphLaunch(
        launch.kernel.runner,
        tuple([buffer.ensure_allocated().handle for buffer in launch.buffers]),
        tuple([values[name] for name in program.variables]),
        *program.launch_dims(values),
    )
