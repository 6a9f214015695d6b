"""Run the steps of a trace once that compute the same at each replay.

A step is constant if all that it reads was computed by such steps, or lies in memory that no step writes and
that is no argument. Its result has memory of its own, which captures share, and is computed again after
somebody wrote what it is computed from.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from weakref import WeakValueDictionary

from plugrad.device import Device
from plugrad.engine import storage
from plugrad.engine.execute import Copy, Step
from plugrad.jit.trace import Trace
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.origin import CONSTANT
from plugrad.uop import UOp

# A result may take as much memory as what it is computed from, or this. Weights of few bits, and positions
# that are computed, are written like that to save memory. Of numbers that stay what they are it may take four
# times as much: kernels of 3 x 3 that Winograd's products want as 6 x 6.
_MOST_BYTES = 64 << 10
_GROWTH = 4


class Constants:
    """The constant steps of a trace.

    Attributes:
        others: the other steps, which read the results of these.
    """

    def __init__(self, trace: Trace) -> None:
        search = _Search(trace)
        for step in trace.steps:
            search.visit(step)
        self.others: Sequence[Step] = search.others
        self._results = list(dict.fromkeys(search.results.values()))
        names = dict.fromkeys(name for result in self._results for name in result.reads)
        self._memories: list[Buffer] = [name.place for name in names]
        self._names: list[UOp | None] | None = None

    @property
    def has_results(self) -> bool:
        """Whether there are constant steps."""
        return bool(self._results)

    def refresh(self) -> None:
        """Run the steps that read what was written since they ran."""
        # a write gives memory another name; nobody else gets one that is held here
        if self._results and [memory.known_name() for memory in self._memories] != self._names:
            for result in self._results:
                result.refresh()
            self._names = [memory.known_name() for memory in self._memories]


class _Result:
    """The memory of what a constant step computes.

    Attributes:
        memory: where it lies.
        reads: a BUFFER of each memory that it is computed from.
    """

    __slots__ = ("__weakref__", "_names", "_step", "memory", "reads")

    def __init__(self, step: Step, memory: Buffer, reads: tuple[UOp, ...]) -> None:
        self.memory = memory
        self.reads = reads
        self._step = step
        self._names: list[UOp] | None = None

    def refresh(self) -> None:
        """Run the step, unless it ran on the present contents."""
        names = [storage.resolve(name) for name in self.reads]
        if names != self._names:
            self._step.run({})
            self._names = names


# by kernel and memory, so that captures for other sizes of a batch have it as well
_shared: "WeakValueDictionary[Hashable, _Result]" = WeakValueDictionary()


class _Search:
    """The walk over the steps of a trace, in order.

    Attributes:
        results: the results of constant steps, by the memory that the trace had for them.
        others: the steps that are not constant.
    """

    def __init__(self, trace: Trace) -> None:
        self.results: dict[Buffer, _Result] = {}
        self.others: list[Step] = []
        self._names = {buffer: name for name, buffer in storage.named_buffers(trace.outside)}
        # arguments, results and random numbers are others at each replay
        own = {*map(storage.buffer_of, (*trace.stand_ins, *trace.made)), *trace.draws}
        written = [buffer for step in trace.steps for buffer in step.written]
        self._varying = own.union([b.whole for b in written])
        # a result stays where it is if it is written part by part
        split = {buffer.base for buffer in written}
        copied = {step.buffers[1].whole for step in trace.steps if isinstance(step, Copy)}
        fixed = {*own, *trace.outside, *copied}
        times = Counter(written)
        self._movable = {b for b in written if times[b] == 1 and b not in split and b.whole not in fixed}
        self._seen: set[Buffer] = set()
        self._written = frozenset(written)
        self._made: dict[Buffer, list[Buffer]] = {}

    def visit(self, step: Step) -> None:
        """Take note of the next step."""
        reads = self._reads(step)
        self._seen.update(step.buffers, [b.whole for b in step.buffers])
        for buffer in step.written:
            self._made.setdefault(buffer.whole, []).append(buffer)
        buffers = tuple([self._present(buffer) for buffer in step.buffers])
        if reads is None:
            self.others.append(step.on(buffers))
            return
        (result,) = step.written
        self.results[result] = _result(step, result, buffers, reads)

    def _reads(self, step: Step) -> tuple[UOp, ...] | None:
        """Return the names of memory that a constant step reads; None: not constant."""
        written, read = step.written, step.read
        is_fixed = step.kernel is None or not step.kernel.program.variables
        if not is_fixed or len(written) != 1 or written[0] not in self._movable or written[0] in self._seen:
            return None
        if written[0].nbytes > max(_MOST_BYTES, _most_bytes(written[0], read)):
            return None
        names: dict[UOp, None] = {}
        for buffer in read:
            if (result := self.results.get(self._owner_of(buffer))) is not None:
                names.update(dict.fromkeys(result.reads))
            elif (owner := buffer.whole) in self._varying or owner.is_borrowed:
                return None
            elif (name := self._names.get(owner)) is not None:
                if not Device[owner.device].can_compute:
                    return None  # files change without a word
                names[name] = None
        return tuple(names)

    def _owner_of(self, buffer: Buffer) -> Buffer:
        """Return the written memory that `buffer` is a part of, or `buffer` itself.

        Temporaries lie in an arena, others at other times: the last one that was made there is meant.
        """
        if buffer in self._written:
            return buffer
        made = self._made.get(buffer.whole, ())
        end = buffer.offset + buffer.nbytes
        around = (b for b in reversed(made) if b.offset <= buffer.offset and end <= b.offset + b.nbytes)
        return next(around, buffer)

    def _present(self, buffer: Buffer) -> Buffer:
        owner = self._owner_of(buffer)
        result = self.results.get(owner)
        if result is None:
            return buffer
        if buffer is owner:
            return result.memory
        return result.memory.view(buffer.size, buffer.dtype, buffer.offset - owner.offset)


def _most_bytes(written: Buffer, read: Sequence[Buffer]) -> int:
    """Return the memory that a constant result may take, by what it is computed from."""
    is_same = all(buffer.dtype is written.dtype for buffer in read)
    return (_GROWTH if is_same else 1) * sum(buffer.nbytes for buffer in read)


def _result(step: Step, place: Buffer, buffers: tuple[Buffer, ...], reads: tuple[UOp, ...]) -> _Result:
    """Return the result of a constant step, which another capture may have already."""
    inputs = [(b.whole, b.offset, b.size, b.dtype) for b in buffers if b is not place]
    key = (step.kernel, place.device, *inputs)
    found = _shared.get(key)
    if found is None:
        memory = Device[place.device].new_buffer(place.size, place.dtype, CONSTANT)
        moved = [memory if buffer is place else buffer for buffer in buffers]
        found = _shared[key] = _Result(step.on(moved), memory, reads)
    return found
