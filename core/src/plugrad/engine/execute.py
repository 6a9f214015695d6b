"""Run what a schedule says: launches and copies on buffers, watched by whoever listens."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from plugrad import events
from plugrad._frozen import frozen
from plugrad._util import dataclasses
from plugrad.device import Device
from plugrad.engine.compile import CompiledKernel
from plugrad.engine.plugin_errors import blaming_plugin, raise_plugin_error
from plugrad.runtime.buffer import Buffer, live_buffers
from plugrad.runtime.graph import GraphLaunch
from plugrad.runtime.program import Program
from plugrad.runtime.transfer import copy_buffer
from plugrad.settings import settings
from plugrad.uop.shape import least

# Operations from which progress is looked at: it takes less than a hundredth of as much work.
_SHOWN_FROM = 1 << 26

Picker = Callable[[Sequence[Any]], tuple[Any, ...]]


@frozen(eq=False)
class Launch:
    """A kernel and the buffers it runs on, slot by slot."""

    kernel: CompiledKernel
    buffers: tuple[Buffer, ...]

    @property
    def written(self) -> list[Buffer]:
        """The buffers that it writes."""
        return [self.buffers[slot] for slot in self.kernel.program.outs]

    @property
    def read(self) -> list[Buffer]:
        """The buffers that it reads."""
        return [self.buffers[slot] for slot in self.kernel.program.ins]

    def on(self, buffers: Iterable[Buffer]) -> "Launch":
        """Return the launch of its kernel on other buffers."""
        return Launch(self.kernel, tuple(buffers))

    def bound(self, values: Mapping[str, int]) -> "Launch":
        """Return the launch with the variables at `values`, whatever they are later."""
        kernel = self.kernel
        if not (values and kernel.program.variables):
            return self
        return Launch(dataclasses.replace(kernel, values={**values, **kernel.values}), self.buffers)

    def for_graph(self, values: Mapping[str, int]) -> GraphLaunch:
        """Return this launch for a device's graph, with the variables at `values`."""
        program, values = self.kernel.program, {**values, **self.kernel.values}
        scalars = tuple([values[name] for name in program.variables])
        handles = tuple([buffer.ensure_allocated().handle for buffer in self.buffers])
        return GraphLaunch(self.kernel.runner, handles, scalars, *program.launch_dims(values))

    def run(self, values: Mapping[str, int], *, replayed: bool = False) -> None:
        """Launch with the variables at `values`; `replayed` is for observers."""
        kernel, program = self.kernel, self.kernel.program
        # whoever asks for times listens
        wait = events.active and bool(settings.DEBUG >= 2 or settings.PROFILE or settings.VIZ)
        seconds = launch(kernel, self.buffers, values, wait)
        if events.active:
            values = {**values, **kernel.values}
            global_size, local_size = kernel.launch_dims or program.launch_dims(values)
            flops, accessed, _ = program.estimates.evaluate(values)
            events.emit(
                events.KernelEvent(
                    name=program.name,
                    device=kernel.device.name,
                    global_size=global_size,
                    local_size=local_size,
                    threads=program.threads,
                    seconds=seconds,
                    flops=flops,
                    bytes_accessed=accessed,
                    memory_used=sum(
                        b.nbytes for b in live_buffers(kernel.device.name) if b.handle is not None
                    ),
                    opts=program.opts,
                    axes=program.axes,
                    replayed=replayed,
                )
            )


def launch(
    kernel: CompiledKernel, buffers: Sequence[Buffer], values: Mapping[str, int], wait: bool = False
) -> float | None:
    """Launch a kernel on buffers with its variables at `values`; no observer hears of it.

    Returns:
        The seconds it took where `wait` asks for them, else None.
    """
    program = kernel.program
    if kernel.values:
        values = {**values, **kernel.values}
    try:
        for slot in program.outs:
            buffers[slot].own()
        handles = tuple([b.ensure_allocated().handle if b.handle is None else b.handle for b in buffers])
    except Exception as error:
        raise_plugin_error(kernel.device, "plugrad_allocator", f"allocating for {program.name}", error)
        raise
    global_size, local_size = kernel.launch_dims or program.launch_dims(values)
    scalars = tuple([values[name] for name in program.variables]) if program.variables else ()
    try:
        return kernel.runner(handles, scalars, global_size, local_size, wait)
    except Exception as error:
        raise_plugin_error(kernel.device, "plugrad_runner", f"launching {program.name}", error)
        raise


def picker(places: Sequence[int]) -> Picker:
    """Return a function that takes the items at `places` out of a sequence."""
    if len(places) > 1:
        return itemgetter(*places)
    # an `itemgetter` of one gives no tuple, and there is none of nothing
    return lambda items: tuple([items[place] for place in places])


def takes_long(programs: Iterable[Program]) -> bool:
    """Say whether somebody may ask how far kernels are."""
    return sum(least(program.estimates.flops) for program in programs) >= _SHOWN_FROM


@frozen(eq=False)
class Copy:
    """A copy of all bytes from one buffer to another."""

    buffers: tuple[Buffer, Buffer]
    kernel: None = None

    @property
    def written(self) -> list[Buffer]:
        """The buffer that is copied to."""
        return [self.buffers[0]]

    @property
    def read(self) -> list[Buffer]:
        """The buffer that is copied from."""
        return [self.buffers[1]]

    def on(self, buffers: Iterable[Buffer]) -> "Copy":
        """Return the copy between other buffers."""
        to, source = buffers
        return Copy((to, source))

    def bound(self, values: Mapping[str, int]) -> "Copy":
        """Return this copy, which has no variables."""
        return self

    def run(self, values: Mapping[str, int], *, replayed: bool = False) -> None:
        """Copy; `values` and `replayed` are not needed."""
        dest, source = self.buffers
        started = time.perf_counter()
        doing = f"copying from {source.device} to {dest.device}"
        with blaming_plugin(Device[dest.device], "plugrad_allocator", doing):
            copy_buffer(dest, source)
        if events.active:
            seconds = time.perf_counter() - started
            events.emit(events.CopyEvent(source.device, dest.device, dest.nbytes, seconds))


Step = Launch | Copy
