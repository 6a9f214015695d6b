"""Apply one step to values in memory many times: its launches are recorded, and repeated."""

import time
from collections.abc import Callable, Sequence

from plugrad import events
from plugrad.engine import storage
from plugrad.engine.capture import current_capture, record_steps, recording_steps
from plugrad.engine.execute import Launch, Step
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.graph import Graph
from plugrad.uop import Ops, UOp

State = tuple[UOp, ...]

# Preparing a launch for a graph takes as long as two or three.
_PREPARED = 4


def bulk_apply(step: Callable[[State], State], state: State, count: int) -> State:
    """Call `step` `count` times now, and return memory that holds the last `state`.

    Args:
        step: computes as many values as it takes, of the same shapes and dtypes, in memory of their own. It
            is called once or twice, and has to launch the same each time.
        state: what the first step takes: any graphs.
        count: how many steps to run, at least 1.
    """
    with storage.lock:
        with recording_steps() as steps:
            # memory that others know by what was computed into it is read, and never written
            before = step(state)
            if count == 1:
                return before
            begin = len(steps)
            after = step(before)
            recorded = steps[begin:]
        assert _is_memory(before), "a step returned a graph"
        assert _is_memory(after), "a step returned a graph"
        if count == 2:
            return after
        capture = current_capture()
        values = {} if capture is None else capture.values
        other, there, back = _others(recorded, before, after)
        started = time.perf_counter()
        run = [back if number % 2 else there for number in range(count - 2)]
        _run(run, values)
        record_steps([step for steps in run for step in steps], values)
        _announce(run, started)
        return other if count % 2 else after


def _is_memory(state: State) -> bool:
    return all(u.op is Ops.BUFFER for u in state)


def _others(
    steps: Sequence[Step], before: State, after: State
) -> tuple[State, Sequence[Step], Sequence[Step]]:
    """Return memory beside `after`, and `steps` from `after` to there and from there to `after`."""
    first, second = _buffers(before), _buffers(after)
    third = _buffers(other := tuple([storage.new_buffer_like(u) for u in after]))
    there = _exchanged(steps, dict(zip((*first, *second), (*second, *third), strict=True)))
    back = _exchanged(steps, dict(zip((*first, *second), (*third, *second), strict=True)))
    return other, there, back


def _run(run: Sequence[Sequence[Step]], values: dict[str, int]) -> None:
    """Run the steps of all turns, two turns by one call where the device can."""
    pairs = len(run) // 2
    graph = _graph([*run[0], *run[1]], values) if pairs >= _PREPARED else None
    if graph is not None:
        for _ in range(pairs):
            graph()
        run = run[2 * pairs :]
    for steps in run:
        for step in steps:
            step.run(values)


def _graph(steps: Sequence[Step], values: dict[str, int]) -> Graph | None:
    """Return one call for `steps`.

    None: somebody looks at each, they are not all of one device, or it launches them better one by one.
    """
    launches = [step for step in steps if isinstance(step, Launch)]
    devices = {launch.kernel.device for launch in launches}
    is_watched = events.active and events.listening(events.KernelEvent)
    if is_watched or len(launches) < len(steps) or len(devices) != 1:
        return None
    return devices.pop().graph([launch.for_graph(values) for launch in launches])


def _announce(run: Sequence[Sequence[Step]], started: float) -> None:
    """Tell observers the end of `run`, which began at `started`."""
    if not events.active or not run[0]:
        return
    # every turn does the same, on other memory
    kernels = len(run) * sum(isinstance(step, Launch) for step in run[0])
    copies = len(run) * len(run[0]) - kernels
    # slot 0 is written
    devices = tuple(dict.fromkeys(step.buffers[0].device for step in run[0]))
    events.emit(events.RealizeEvent(kernels, time.perf_counter() - started, copies, devices))


def _buffers(state: State) -> list[Buffer]:
    return [storage.buffer_of(u) for u in state]


def _exchanged(steps: Sequence[Step], others: dict[Buffer, Buffer]) -> list[Step]:
    return [step.on([_exchanged_buffer(buffer, others) for buffer in step.buffers]) for step in steps]


def _exchanged_buffer(buffer: Buffer, others: dict[Buffer, Buffer]) -> Buffer:
    other = others.get(buffer)
    if other is None and buffer.base is not None and (whole := others.get(buffer.base)) is not None:
        # a kernel may take the part of memory that it reads
        other = whole.view(buffer.size, buffer.dtype, buffer.offset)
    return buffer if other is None else other
