"""Runners with a defect. They know the blocks of the PYTHON device, which they wrap."""

import contextlib
import time
from collections.abc import Callable
from typing import Any

from plugrad.errors import PlugradError
from plugrad.runtime.allocator import Allocator
from plugrad.runtime.program import Program
from plugrad_conformance.mutants.memory import Wrapped
from plugrad_conformance.mutants.mutant import Mutant

Load = Callable[[Program], Any]
_KERNELS = "minimal/kernels/"


class WrappedRunner:
    """A runner that hands everything on; defects override a method."""

    def __init__(self, load: Load, program: Program) -> None:
        self.program = program
        self.inner = load(program)

    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        """Hand on."""
        return self.inner(handles, values, global_size, local_size, wait)

    def outputs(self, handles: Any) -> list[memoryview]:
        """Return the memory of the written blocks."""
        return [handles[slot].writable() for slot in self.program.outs]


class _Stale(WrappedRunner):
    """Launches once; later launches find the output of the first and copy it."""

    first: list[bytes] | None = None

    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        if self.first is None:
            seconds = self.inner(handles, values, global_size, local_size, wait)
            self.first = [bytes(memory) for memory in self.outputs(handles)]
            return seconds
        for memory, old in zip(self.outputs(handles), self.first, strict=True):
            memory[:] = old[: len(memory)].ljust(len(memory), b"\0")
        return 0.0 if wait else None


class _FirstHandles(WrappedRunner):
    """A graph whose nodes keep the inputs of the third launch for ever."""

    count = 0
    kept: Any = ()

    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        self.count += 1
        if self.count == 3:
            self.kept = handles
        elif self.count > 3:
            written = set(self.program.outs)
            handles = tuple(h if slot in written else self.kept[slot] for slot, h in enumerate(handles))
        return self.inner(handles, values, global_size, local_size, wait)


class Queue:
    """Launches that have not happened yet."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], Any]] = []

    def flush(self, backwards: bool = False) -> None:
        """Let them happen."""
        waiting, self.waiting = self.waiting, []
        for launch in reversed(waiting) if backwards else waiting:
            launch()


_never_waited, _out_of_order = Queue(), Queue()


class _Unsynchronized(Wrapped):
    """Copies out what is there, without waiting for launches."""

    def synchronize(self) -> None:
        """Forget to wait."""


class _QueuedRunner(WrappedRunner):
    queue = _never_waited

    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        self.queue.waiting.append(lambda: self.inner(handles, values, global_size, local_size, False))
        return 1e-6 if wait else None


class _DisorderedRunner(_QueuedRunner):
    queue = _out_of_order


class _Disordered(Wrapped):
    """Waits for launches, which happen the last first."""

    def copyout(self, dest: memoryview, handle: Any) -> None:
        _out_of_order.flush(backwards=True)
        self.inner.copyout(dest, handle)

    def as_memoryview(self, handle: Any, nbytes: int) -> memoryview | None:
        _out_of_order.flush(backwards=True)
        return self.inner.as_memoryview(handle, nbytes)

    def synchronize(self) -> None:
        _out_of_order.flush(backwards=True)


class _TailSkipped(WrappedRunner):
    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        tails = [bytes(memory[-4:]) for memory in self.outputs(handles)]
        seconds = self.inner(handles, values, global_size, local_size, wait)
        for memory, tail in zip(self.outputs(handles), tails, strict=True):
            if len(memory) > 64:
                memory[-4:] = tail
        return seconds


class _Overrun(WrappedRunner):
    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        seconds = self.inner(handles, values, global_size, local_size, wait)
        block = handles[self.program.outs[0]]
        beyond = block.part(block.nbytes + 1, 0).writable()
        if len(beyond) > block.nbytes:
            beyond[-1] = 0x5A
        return seconds


class _Underrun(WrappedRunner):
    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        seconds = self.inner(handles, values, global_size, local_size, wait)
        block = handles[self.program.outs[0]]
        if block.offset_bytes:
            block.part(1, -1).writable()[0] = 0x5A
        return seconds


class _ZerosLeftOut(WrappedRunner):
    """Counts on fresh memory being zero, and does not write zeros."""

    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        before = [bytes(memory) for memory in self.outputs(handles)]
        seconds = self.inner(handles, values, global_size, local_size, wait)
        for memory, old in zip(self.outputs(handles), before, strict=True):
            written = bytes(memory)
            memory[:] = bytes(new or was for new, was in zip(written, old, strict=True))
        return seconds


class _InputsOverwritten(WrappedRunner):
    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        seconds = self.inner(handles, values, global_size, local_size, wait)
        for slot in set(self.program.ins) - set(self.program.outs):
            handles[slot].writable()[:1] = b"\x01"
        return seconds


class _ValuesReversed(WrappedRunner):
    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        return self.inner(handles, values[::-1], global_size, local_size, wait)


class _FirstValues(WrappedRunner):
    kept: Any = None

    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        self.kept = values if self.kept is None else self.kept
        return self.inner(handles, self.kept, global_size, local_size, wait)


class _TimerZero(WrappedRunner):
    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        self.inner(handles, values, global_size, local_size, wait)
        return 0.0 if wait else None


class _TimerMissing(WrappedRunner):
    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        self.inner(handles, values, global_size, local_size, wait)
        return None


class _Leak(WrappedRunner):
    """Keeps an event for each launch."""

    def __init__(self, load: Load, program: Program) -> None:
        super().__init__(load, program)
        self.events: list[bytearray] = []

    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        self.events.append(bytearray(512))
        return self.inner(handles, values, global_size, local_size, wait)


class _SharedArguments(WrappedRunner):
    """Keeps the arguments of the launch in itself: two threads overwrite each other's."""

    arguments: Any = ()

    def __call__(
        self, handles: Any, values: Any, global_size: Any, local_size: Any, wait: bool = False
    ) -> float | None:
        self.arguments = (handles, values, global_size, local_size, wait)
        time.sleep(1e-5)
        return self.inner(*self.arguments)


_loaded: dict[str, Any] = {}


def _host_fallback(load: Load, program: Program) -> Any:
    """Run something of the same name when the binary does not load."""
    with contextlib.suppress(PlugradError):
        _loaded[program.name] = load(program)
    return _loaded[program.name]


def _queued(inner: Allocator[Any]) -> Allocator[Any]:
    return _Unsynchronized(inner)


_NEW_INPUTS = _KERNELS + "kernel-sees-new-inputs"

MUTANTS = (
    Mutant(
        "stale-output",
        "a kernel that ran before is not run again",
        (_NEW_INPUTS, _KERNELS + "results-are-fresh"),
        runner=_Stale,
    ),
    Mutant(
        "graph-replays-first-inputs",
        "from the third launch on, a kernel reads the inputs of the third",
        ("core/jit/replays-new-inputs", "full/device/many-replays"),
        runner=_FirstHandles,
    ),
    Mutant(
        "no-sync-before-copyout",
        "copyout does not wait for launches",
        (_KERNELS + "add-float32", _KERNELS + "chain"),
        allocator=_queued,
        runner=_QueuedRunner,
    ),
    Mutant(
        "launches-out-of-order",
        "launches that wait together happen the last first",
        (_KERNELS + "chain",),
        allocator=_Disordered,
        runner=_DisorderedRunner,
    ),
    Mutant(
        "grid-tail-skipped",
        "the last element of an output is not written",
        (_KERNELS + "wide-grids-are-complete",),
        runner=_TailSkipped,
    ),
    Mutant(
        "writes-past-the-end",
        "a kernel writes a byte after its output",
        (_KERNELS + "add-int32",),
        runner=_Overrun,
    ),
    Mutant(
        "writes-before-the-start",
        "a kernel writes a byte before its output",
        (_KERNELS + "add-int32",),
        runner=_Underrun,
    ),
    Mutant(
        "zeros-left-out",
        "zeros are not written, as if fresh memory were zero",
        (_KERNELS + "pad-int32",),
        runner=_ZerosLeftOut,
    ),
    Mutant(
        "inputs-overwritten",
        "a kernel changes its input",
        (_KERNELS + "inputs-are-unchanged",),
        runner=_InputsOverwritten,
    ),
    Mutant(
        "variables-in-wrong-order",
        "bound variables reach the kernel backwards",
        ("core/symbolic/two-variables", "core/symbolic/names-out-of-order"),
        runner=_ValuesReversed,
    ),
    Mutant(
        "variables-of-first-launch",
        "bound variables keep their first value",
        ("core/symbolic/prefix-sums", "core/jit/replays-variables"),
        runner=_FirstValues,
    ),
    Mutant("timer-always-zero", "a launch takes no time", ("full/device/timer-measures",), runner=_TimerZero),
    Mutant(
        "timer-missing",
        "a launch that is waited for returns None",
        (_KERNELS + "launches-return-seconds",),
        runner=_TimerMissing,
    ),
    Mutant(
        "leak-per-launch",
        "each launch keeps half a kilobyte",
        ("full/device/thousand-launches-without-a-leak",),
        runner=_Leak,
    ),
    Mutant(
        "launch-not-thread-safe",
        "the arguments of a launch lie in the runner",
        ("full/device/launches-from-threads",),
        runner=_SharedArguments,
    ),
    Mutant(
        "silent-host-fallback",
        "what does not load is replaced by something of the same name",
        (_KERNELS + "foreign-binary-is-refused",),
        runner=_host_fallback,
    ),
)
