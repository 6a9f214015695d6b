"""Run recorded steps again on other inputs, with prepared launches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from plugrad import events
from plugrad.engine.compile import CompiledKernel
from plugrad.engine.execute import Copy, Launch, Picker, Step, picker, takes_long
from plugrad.engine.plugin_errors import raise_plugin_error
from plugrad.progress import progress
from plugrad.runtime.buffer import Buffer

# Runs a step on the handles of a replay, which is on these buffers, with variables at values.
_Run = Callable[[Sequence[Any], Mapping[str, int], Sequence[Buffer]], None]


class Replay:
    """Recorded steps with some of their buffers left open.

    Args:
        steps: what to run, in order.
        open_buffers: the buffers to exchange at each run, in the order in which `run` gets them.
        values: the variables that the steps were recorded with.
        use_graphs: let devices that can run several launches by one call.

    Attributes:
        graphs: the number of graphs that devices run.
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
        # the handles of a run: of the buffers that are exchanged, of parts of these, and those that stay
        self._parts: dict[Buffer, int] = {}
        self._fixed: dict[Buffer, Any] = {}
        self._steps = steps
        self._devices = list(dict.fromkeys(s.kernel.device for s in steps if isinstance(s, Launch)))
        for buffer in dict.fromkeys(buffer for step in steps for buffer in step.buffers):
            number = self._index.get(buffer.whole)
            if number is None:
                self._fixed[buffer] = buffer.pin().handle
            elif buffer.base is not None:
                self._parts[buffer] = number
        order = [*open_buffers, *self._parts, *self._fixed]
        self._places = {buffer: place for place, buffer in enumerate(order)}
        self._fixed_handles = list(self._fixed.values())
        self.graphs = 0
        self._runs: list[_Run] = []
        for group in _groups(steps):
            run = self._prepare_graph(group, values or {}) if use_graphs and len(group) > 1 else None
            self.graphs += run is not None
            self._runs += [self._prepare(step) for step in group] if run is None else [run]
        launches = [s.kernel.program for s in steps if isinstance(s, Launch)]
        if takes_long(launches):
            self._runs = [_with_progress(f"launching {len(launches)} again", self._runs)]

    def run(self, buffers: Sequence[Buffer], values: Mapping[str, int]) -> None:
        """Run the steps on `buffers`, with the variables at `values`.

        Raises:
            ForkError: this process was forked from the one that recorded them.
        """
        for device in self._devices:
            device.check_fork()
        if events.active and events.listening(events.KernelEvent):
            self._run_watched(values, buffers)
            return
        handles: list[Any] = []
        # no comprehension, which makes a function at each run
        for buffer in buffers:
            handles.append(buffer.ensure_allocated().handle if buffer.handle is None else buffer.handle)  # noqa: PERF401
        if self._parts:
            for part, number in self._parts.items():
                handles.append(buffers[number].allocator.offset(handles[number], part.nbytes, part.offset))
        handles += self._fixed_handles
        for run in self._runs:
            run(handles, values, buffers)

    def _run_watched(self, values: Mapping[str, int], buffers: Sequence[Buffer]) -> None:
        """Run each step as the engine does, so that observers see it."""
        for step in self._steps:
            self._with_buffers(step, buffers).run(values, replayed=True)

    def _prepare(self, step: Step) -> _Run:
        if isinstance(step, Copy):
            return lambda handles, values, buffers: self._with_buffers(step, buffers).run(values)
        return _launcher(step.kernel, picker([self._places[buffer] for buffer in step.buffers]))

    def _prepare_graph(self, group: Sequence[Step], values: Mapping[str, int]) -> _Run | None:
        launches = [step for step in group if isinstance(step, Launch)]
        graph = launches[0].kernel.device.graph([launch.for_graph(values) for launch in launches])
        if graph is None:
            return None
        exchanged = [
            (number, slot, self._places[buffer])
            for number, launch in enumerate(launches)
            for slot, buffer in enumerate(launch.buffers)
            if buffer not in self._fixed
        ]
        programs = enumerate(launch.kernel.program for launch in launches)
        sized = [(n, p) for n, p in programs if p.variables or not p.has_fixed_launch]

        def run(handles: Sequence[Any], values: Mapping[str, int], buffers: Sequence[Buffer]) -> None:
            for launch, slot, place in exchanged:
                graph.set_handle(launch, slot, handles[place])
            for number, program in sized:
                scalars = tuple([values[name] for name in program.variables])
                graph.set_sizes(number, scalars, *program.launch_dims(values))
            graph()

        return run

    def _with_buffers(self, step: Step, buffers: Sequence[Buffer]) -> Step:
        return step.on([self._exchanged(buffer, buffers) for buffer in step.buffers])

    def _exchanged(self, buffer: Buffer, buffers: Sequence[Buffer]) -> Buffer:
        number = self._index.get(buffer.whole)
        if number is None:
            return buffer
        actual = buffers[number]
        return actual if buffer.base is None else actual.view(buffer.size, buffer.dtype, buffer.offset)


def _with_progress(title: str, runs: Sequence[_Run]) -> _Run:
    def run(handles: Sequence[Any], values: Mapping[str, int], buffers: Sequence[Buffer]) -> None:
        with progress(title, None):
            for each in runs:
                each(handles, values, buffers)

    return run


def _launcher(kernel: CompiledKernel, pick: Picker) -> _Run:
    """Return a function that launches a kernel on the handles that `pick` takes."""
    program, runner = kernel.program, kernel.runner
    is_fixed = kernel.launch_dims is not None and not program.variables
    fixed_global, fixed_local = kernel.launch_dims or ((), ())

    def run(handles: Sequence[Any], values: Mapping[str, int], buffers: Sequence[Buffer]) -> None:
        try:
            if is_fixed:
                runner(pick(handles), (), fixed_global, fixed_local)
            else:
                scalars = tuple([values[name] for name in program.variables])
                runner(pick(handles), scalars, *program.launch_dims(values))
        except Exception as error:
            raise_plugin_error(kernel.device, "plugrad_runner", f"launching {program.name}", error)
            raise

    return run


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
