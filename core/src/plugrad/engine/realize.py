"""Give values memory: plan, compile the kernels, run them, remember where the results are."""

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plugrad import events
from plugrad._util import collector_paused
from plugrad.device import Device, OpenDevice
from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.engine.capture import (
    Capture,
    current_capture,
    is_recording,
    not_capturing,
    record_steps,
)
from plugrad.engine.checks import FiniteCheck, check_position, positions_in
from plugrad.engine.compile import CompiledKernel, compile_kernels, compile_shared_kernels
from plugrad.engine.execute import Copy, Launch, Step
from plugrad.engine.hazards import readers_of
from plugrad.engine.plan import ExecutionPlan, Resolved, Result, make_plan
from plugrad.engine.recipes.recipe import form_to_run, known_recipe, remember
from plugrad.engine.schedule_table import ScheduleItem, ScheduleList
from plugrad.observe import install
from plugrad.progress import one_wait, progress
from plugrad.schedule.versions import VERSIONS, memory_of, outputs_of_kernel
from plugrad.settings import context, settings
from plugrad.uop import Ops, UOp

if TYPE_CHECKING:
    from plugrad.schedule.calls.kernelize import KernelCall

# what those hear of whom a graph is planned for
_OF_PLANS = (events.RenameEvent, events.KernelEvent, events.RealizeEvent)
_NO_READERS: Mapping[UOp, UOp] = {}
FindKernels = Callable[[OpenDevice, Sequence[UOp]], list[CompiledKernel]]


def realize(
    values: Iterable[UOp], device: str | None = None, before: Mapping[UOp, UOp] = _NO_READERS
) -> None:
    """Compute `values` and keep them in memory; `storage.resolve` says where.

    When a step fails, or is interrupted, what earlier steps computed is kept: assigns among them happened,
    and do not happen again when the same values are realized later.

    Args:
        values: tensor graphs. Those that are in memory already cost nothing.
        device: where values without a device of their own are computed; None: the default device.
        before: more values, each with the graph that gives it memory (see `plugrad.engine.hazards`).

    Raises:
        ScheduleError: the values cannot be computed as they are written down; says what to change.
        ShapeError: with the values of its variables, a slice leaves its axis, or sizes do not fit.
        CompileError: the toolchain refused a kernel; nothing has run.
        DeviceOutOfMemory: a device has no room for the results.
    """
    install()
    with storage.lock:
        capture = current_capture()
        values = list(values)
        if capture is None and not before and all(map(storage.is_present, values)):
            return
        is_watched = events.active and any(map(events.listening, _OF_PLANS))
        form = None if before or capture is not None or is_watched else form_to_run(values, device)
        if form is not None and (recipe := known_recipe(form)) is not None:
            recipe.run(form)
            return
        started = time.perf_counter()
        # the collector would look through all nodes several times, which hold no cycles
        with one_wait(), collector_paused():
            plan, steps = _run_planned(values, device, before, capture)
        if form is not None:
            remember(form, plan, steps)
        if steps and events.active:
            kernels = sum(isinstance(step, Launch) for step in steps)
            devices = tuple(dict.fromkeys(call.device for call in plan.calls))
            seconds = time.perf_counter() - started
            events.emit(events.RealizeEvent(kernels, seconds, len(steps) - kernels, devices))


@contextmanager
def overwriting(buffers: Iterable[UOp]) -> Generator[None]:
    """Overwrite the memory of the BUFFERs `buffers` inside the block, by other means than assigns.

    Values that somebody holds and that were written down on the old contents are computed before; graphs
    that are written down afterwards are told apart from these.
    """
    written = frozenset(map(storage.resolve, buffers))
    with storage.lock:
        if written and (readers := readers_of(written)):
            realize((), None, readers)
        for buffer in written:
            storage.buffer_of(buffer).own()
        try:
            yield
        finally:
            # who failed on the way may have written as well
            for buffer in written:
                storage.renew(buffer)


def _run_planned(
    values: Sequence[UOp], device: str | None, before: Mapping[UOp, UOp], capture: Capture | None
) -> tuple[ExecutionPlan, list[Step]]:
    """Plan, compile and run what `values` take; `capture` notes it."""
    if settings.CHECK:
        _check_positions(values, device)
    known = None if capture is None else Resolved(values)
    if capture is not None and known is not None:
        # what waits since before the call is no part of it: by the next one something else does
        if known.waiting and (older := capture.written_before(known.waiting)):
            with not_capturing():
                realize((), device, {value: made for value, made in known.waiting.items() if value in older})
            known = Resolved(values)
        capture.found += [(0, u) for u in known.graphs if storage.places_of(u)]
    # the values of a recorded call are fixed, but for those of its arguments
    constants = () if capture is None else capture.constants
    sharing = capture is None
    plan = make_plan(values, device, share_slices=sharing, before=before, constants=constants, known=known)
    plan.graph.check_bound()
    for condition in plan.conditions:
        condition.check(plan.graph.values)
    # what is run again is run often enough for kernels of its own sizes
    is_once = capture is None and not is_recording()
    steps = compile_plan(plan, compile_shared_kernels if is_once else compile_kernels)
    if capture is not None:
        capture.check_values(plan.graph)
        # what lies in memory already is among the results as well
        capture.made.update(r.value for r in plan.results if not storage.places_of(r.value))
    _run(plan, steps)
    record_steps(steps, plan.graph.values)
    if capture is not None:
        capture.constants.difference_update(map(storage.buffer_of, plan.overwritten(plan.calls)))
        capture.conditions.extend(plan.conditions)
    return plan, steps


def _check_positions(values: Iterable[UOp], device: str | None) -> None:
    for mark, position in list(positions_in(values)):
        with context(CHECK=0), not_capturing():
            realize([position], device)
        memory = storage.resolve(position, Device.canonicalize(device))
        check_position(mark, position, storage.buffer_of(storage.viewed(memory)))


def schedule(values: Iterable[UOp], device: str | None = None) -> ScheduleList:
    """Return the steps that `realize` would run, without running them."""
    with storage.lock:
        plan = make_plan(values, device)
        return ScheduleList(ScheduleItem(call.ast, plan.buffers(call), call.device) for call in plan.calls)


def kernelize(values: Iterable[UOp], device: str | None = None) -> dict[UOp, UOp]:
    """Return each value as memory after the kernels that compute it: AFTER(BUFFER, KERNEL(...)).

    Nothing runs. Realizing what comes back runs exactly these kernels.
    """
    with storage.lock:
        plan = make_plan(values, device, share_memory=False, share_slices=False)
        written: dict[UOp, UOp] = {}
        names = {buffer: uop for uop, buffer in storage.named_buffers(plan.memory.values())}
        for call in plan.calls:
            places = [names[buffer] for buffer in plan.buffers(call)]
            operands = tuple(written.get(place, place) for place in places)
            kernel = UOp(Ops.KERNEL, dtypes.void, operands, call.ast)
            written.update((memory_of(output), output) for output in outputs_of_kernel(kernel))
        return {result.value: result.place.substitute(written) for result in plan.results}


def compile_plan(plan: ExecutionPlan, find: FindKernels = compile_kernels) -> list[Step]:
    """Compile what is not compiled, and return the steps with their buffers."""
    by_device: dict[str, list[UOp]] = {}
    for call in plan.calls:
        if call.ast.op is not Ops.COPY:
            by_device.setdefault(call.device, []).append(call.ast)
    kernels = {device: iter(find(Device[device], asts)) for device, asts in by_device.items()}
    steps: list[Step] = []
    for call in plan.calls:
        buffers = plan.buffers(call)
        if call.ast.op is Ops.COPY:
            dest, source = buffers
            steps.append(Copy((dest, source)))
        else:
            kernel = next(kernels[call.device])
            steps.append(Launch(kernel, buffers[: kernel.slots]))
    return steps


def _run(plan: ExecutionPlan, steps: Sequence[Step]) -> None:
    """Run `steps` and note what they computed, be it a part of them only."""
    done = 0
    checks = settings.CHECK
    try:
        with progress("launches", len(steps)) as report:
            for call, step in zip(plan.calls, steps, strict=True):
                check = FiniteCheck(call, step) if checks and isinstance(step, Launch) else None
                step.run(plan.graph.values)
                done += 1
                report(done)
                if check is not None:
                    check.finish(plan.graph.values, plan.calls, plan.lines)
    finally:
        calls, results = plan.calls, plan.results
        if done < len(calls):
            results = _results_of(calls[:done], results)
            # the exception's traceback holds them, and who catches it may want to try something smaller
            for temporary in plan.temporaries:
                temporary.deallocate()
        for buffer in plan.overwritten(calls[:done]):
            storage.renew(buffer)
        for result in results:
            # by the name that stands for what the memory holds now, unless that is something else already
            place = result.place if result.is_passing else storage.resolve(result.place)
            storage.record(result.value, place)


def _results_of(done: "Sequence[KernelCall]", results: Iterable[Result]) -> list[Result]:
    """Return the results that are there when only the calls in `done` have run."""
    there = {root for call in done for root in call.roots}

    def is_there(made: UOp) -> bool:
        if made.op is Ops.AFTER:
            return all(map(is_there, made.src))
        return made in there or made.op is Ops.BUFFER or (0 in made.shape and made.op not in VERSIONS)

    return [result for result in results if is_there(result.made)]
