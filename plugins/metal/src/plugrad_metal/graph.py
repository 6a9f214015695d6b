"""Indirect command buffers: recorded kernels for one call, updated between runs.

The commands of such a buffer run at the same time unless a barrier says otherwise, and each but the first has
one: a graph does not know how far a block reaches, nor which blocks the next run exchanges, so it cannot tell
which launches have nothing to do with each other.
"""

from collections.abc import Sequence
from typing import Any

from plugrad.errors import DeviceOutOfMemory
from plugrad.runtime.graph import GraphLaunch
from plugrad_metal.allocator import STORAGE_SHARED, Block, new_block
from plugrad_metal.binding import autorelease_pool, metal
from plugrad_metal.context import Context
from plugrad_metal.runner import Dims, MetalRunner, three

_CONCURRENT_DISPATCH = 1 << 5  # enum MTLIndirectCommandType
_READ_AND_WRITE = 1 | 2  # enum MTLResourceUsage
_COPIES = 2  # while one runs, the other takes the changes for the next run
_VALUE_BYTES = 8

# what a command says: the launch sizes, and the blocks by position
_Described = tuple[Dims, Dims, tuple[Block, ...]]


class MetalGraph:
    """Launches of one GPU in their order.

    Args:
        launches: what to run, with the arguments of the first run.
        runners: their kernels, whose pipelines support indirect command buffers.

    Raises:
        DeviceError: a threadgroup is too large, or there is no memory for the commands.
    """

    def __init__(self, launches: Sequence[GraphLaunch], runners: Sequence[MetalRunner]) -> None:
        self._context = context = runners[0].context
        self._launches = [_Launch(runner, launch) for runner, launch in zip(runners, launches, strict=True)]
        self._name = f"a graph of {', '.join(dict.fromkeys(runner.name for runner in runners))}"
        with context.lock, autorelease_pool():
            context.check()
            self._copies = [_Commands(context, self._launches) for _ in range(_COPIES)]

    def set_handle(self, launch: int, slot: int, handle: Block) -> None:
        """Use another block in one slot of launch number `launch`."""
        if self._launches[launch].set_block(slot, handle):
            self._mark(launch)

    def set_sizes(
        self, launch: int, values: tuple[int, ...], global_size: tuple[int, ...], local_size: tuple[int, ...]
    ) -> None:
        """Use other variable values and launch sizes for launch number `launch`.

        Raises:
            DeviceError: the threadgroup is too large.
        """
        self._launches[launch].set_sizes(values, global_size, local_size)
        self._mark(launch)

    def __call__(self, wait: bool = False) -> float | None:
        """Launch all; return the seconds they took on the GPU where `wait` asks for them.

        Raises:
            DeviceError: the GPU is lost, or, where it waits, a kernel failed.
        """
        context = self._context
        with context.lock, autorelease_pool():
            context.check()
            copy = self._copies.pop(0)
            self._copies.append(copy)
            commands = copy.commands_for_a_run()
            context.submit(commands, self._name, copy)
            if not wait:
                return None
            context.synchronize()
            return float(commands.GPUEndTime() - commands.GPUStartTime())

    def _mark(self, launch: int) -> None:
        for copy in self._copies:
            copy.changed.add(launch)


class _Launch:
    """The arguments and sizes of a launch at the next run."""

    def __init__(self, runner: MetalRunner, launch: GraphLaunch) -> None:
        self.runner = runner
        self.blocks: list[Block] = list(launch.handles)
        self.set_sizes(launch.values, launch.global_size, launch.local_size)

    def set_block(self, slot: int, block: Block) -> bool:
        """Exchange a block; say whether it was another one."""
        old = self.blocks[slot]
        if old.buffer is block.buffer and old.start == block.start:
            return False
        self.blocks[slot] = block
        return True

    def set_sizes(
        self, values: tuple[int, ...], global_size: tuple[int, ...], local_size: tuple[int, ...]
    ) -> None:
        """Exchange the variables and the launch sizes."""
        self.runner.check_group(local_size)
        self.values = values
        self.groups, self.items = three(global_size), three(local_size)

    def described(self) -> _Described:
        """Return the description of a command."""
        return self.groups, self.items, tuple([self.blocks[slot] for _, slot in self.runner.slots])


class _Commands:
    """An indirect command buffer, a command for each launch, with its variables' memory.

    Nothing of it may change while it runs.

    Attributes:
        changed: the launches that have changed since their commands were written.
    """

    def __init__(self, context: Context, launches: Sequence[_Launch]) -> None:
        self._context = context
        self._launches = launches
        self.changed = set(range(len(launches)))
        self._written: list[_Described | None] = [None] * len(launches)
        self._resources: list[Any] = []
        self._last: Any = None
        counts = [len(launch.values) for launch in launches]
        self._places = [sum(counts[:number]) * _VALUE_BYTES for number in range(len(counts))]
        self._values = new_block(context, sum(counts) * _VALUE_BYTES) if any(counts) else None
        self._buffer = self._new_buffer()
        self._range = metal().NSMakeRange(0, len(launches))

    def commands_for_a_run(self) -> Any:
        """Return a command buffer that runs all as it is now, to be committed."""
        if self.changed:
            self._update()
        self._last = commands = self._context.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        # the GPU sees what commands of an indirect buffer use only where it is told
        encoder.useResources_count_usage_(self._resources, len(self._resources), _READ_AND_WRITE)
        encoder.executeCommandsInBuffer_withRange_(self._buffer, self._range)
        encoder.endEncoding()
        return commands

    def _new_buffer(self) -> Any:
        launches = self._launches
        asked = metal().MTLIndirectCommandBufferDescriptor.alloc().init()
        asked.setCommandTypes_(_CONCURRENT_DISPATCH)
        asked.setInheritBuffers_(False)
        asked.setInheritPipelineState_(False)
        asked.setMaxKernelBufferBindCount_(max(len(x.runner.slots) + bool(x.values) for x in launches))
        make = self._context.device.newIndirectCommandBufferWithDescriptor_maxCommandCount_options_
        buffer = make(asked, len(launches), STORAGE_SHARED)
        if buffer is None:
            name = self._context.target.name
            raise DeviceOutOfMemory(f"{name} has no memory left for {len(launches)} commands", device=name)
        return buffer

    def _update(self) -> None:
        """Write changed commands and values after their last run is done."""
        if self._last is not None:
            self._last.waitUntilCompleted()
        for number in self.changed:
            self._write_values(number)
            described = self._launches[number].described()
            if described != self._written[number]:
                self._write(number, *described)
                self._written[number] = described
        self.changed.clear()
        used = [block.buffer for written in self._written if written for block in written[2]]
        used += [self._values.buffer] if self._values else []
        self._resources = list({id(buffer): buffer for buffer in used}.values())

    def _write_values(self, number: int) -> None:
        launch = self._launches[number]
        if self._values and launch.values:
            packed = launch.runner.pack(*launch.values)
            place = self._places[number]
            self._values.host[place : place + len(packed)] = packed

    def _write(self, number: int, groups: Dims, items: Dims, blocks: tuple[Block, ...]) -> None:
        launch, size = self._launches[number], metal().MTLSizeMake
        command = self._buffer.indirectComputeCommandAtIndex_(number)
        command.reset()
        command.setComputePipelineState_(launch.runner.state)
        for position, block in enumerate(blocks):
            command.setKernelBuffer_offset_atIndex_(block.buffer, block.start, position)
        if self._values and launch.values:
            command.setKernelBuffer_offset_atIndex_(self._values.buffer, self._places[number], len(blocks))
        if number:
            command.setBarrier()
        command.concurrentDispatchThreadgroups_threadsPerThreadgroup_(size(*groups), size(*items))
