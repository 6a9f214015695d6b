"""Launch kernels: one command buffer each, given to the queue without waiting unless asked."""

import math
import struct

from plugrad.errors import DeviceError
from plugrad.runtime.program import Program
from plugrad_metal.allocator import Block
from plugrad_metal.binding import autorelease_pool, metal
from plugrad_metal.compiler import compiler_flags, function_of, pipeline_of, unpack_image
from plugrad_metal.context import Context

Dims = tuple[int, int, int]


def three(size: tuple[int, ...]) -> Dims:
    """Return a launch size in all three dimensions."""
    x, y, z = (*size, 1, 1, 1)[:3]
    return x, y, z


class MetalRunner:
    """A loaded kernel.

    Attributes:
        name: of the kernel.
        context: the open GPU.
        slots: (position among the kernel's arguments, slot) of each buffer that it takes.
        pack: makes bytes of the values of its variables.
        state: Metal's object that launches it.
        can_replay: whether it may stand in an indirect command buffer.

    Raises:
        DeviceError: the image is none, has no kernel of that name, or the GPU does not take it.
    """

    __slots__ = ("_most", "_size", "can_replay", "context", "name", "pack", "slots", "state")

    def __init__(self, context: Context, program: Program) -> None:
        self.name = program.name
        self.context = context
        self.slots = tuple(enumerate(sorted({*program.outs, *program.ins})))
        self.pack = struct.Struct(f"{len(program.variables)}q").pack
        self._size = metal().MTLSizeMake
        source, archive = unpack_image(program.lib)
        with autorelease_pool():
            function = function_of(context, source, program.name, compiler_flags(context.target))
            self.state = pipeline_of(context, function, archive)
        self.can_replay = bool(self.state.supportIndirectCommandBuffers())
        self._most = int(self.state.maxTotalThreadsPerThreadgroup())

    def __call__(
        self,
        handles: tuple[Block, ...],
        values: tuple[int, ...] = (),
        global_size: tuple[int, ...] = (),
        local_size: tuple[int, ...] = (),
        wait: bool = False,
    ) -> float | None:
        """Launch the kernel; return its seconds on the GPU where `wait` asks for them.

        Raises:
            DeviceError: the threadgroup is too large, the GPU is lost, or, where it waits, a kernel failed.
        """
        self.check_group(local_size)
        context = self.context
        with context.lock, autorelease_pool():
            context.check()
            commands = context.queue.commandBuffer()
            encoder = commands.computeCommandEncoder()
            encoder.setComputePipelineState_(self.state)
            for position, slot in self.slots:
                block = handles[slot]
                encoder.setBuffer_offset_atIndex_(block.buffer, block.start, position)
            if values:
                packed = self.pack(*values)
                encoder.setBytes_length_atIndex_(packed, len(packed), len(self.slots))
            groups, items = self._size(*three(global_size)), self._size(*three(local_size))
            encoder.dispatchThreadgroups_threadsPerThreadgroup_(groups, items)
            encoder.endEncoding()
            context.submit(commands, self.name)
            if not wait:
                return None
            context.synchronize()
            return float(commands.GPUEndTime() - commands.GPUStartTime())

    def check_group(self, local_size: tuple[int, ...]) -> None:
        """Do nothing where the GPU runs the kernel in threadgroups of that size.

        Raises:
            DeviceError: it does not.
        """
        if math.prod(local_size) > self._most:
            name = self.context.target.name
            raise DeviceError(
                f"{name} runs {self.name} in threadgroups of up to {self._most} threads, not of "
                f"{'x'.join(map(str, local_size))}",
                device=name,
            )
