"""Launch kernels: one command buffer each, given to the queue without waiting unless asked."""

import math
import struct

from plugrad.errors import DeviceError
from plugrad.runtime.program import Program
from plugrad_metal.allocator import Block
from plugrad_metal.binding import autorelease_pool, metal
from plugrad_metal.compiler import compiler_flags, function_of, pipeline_of, unpack_image
from plugrad_metal.context import Context


class MetalRunner:
    """A loaded kernel.

    Raises:
        DeviceError: the image is none, has no kernel of that name, or the GPU does not take it.
    """

    __slots__ = ("_context", "_most", "_pack", "_size", "_slots", "_state", "name")

    def __init__(self, context: Context, program: Program) -> None:
        self.name = program.name
        self._context = context
        self._slots = tuple(enumerate(sorted({*program.outs, *program.ins})))
        self._pack = struct.Struct(f"{len(program.variables)}q").pack
        self._size = metal().MTLSizeMake
        source, archive = unpack_image(program.lib)
        with autorelease_pool():
            function = function_of(context, source, program.name, compiler_flags(context.target))
            self._state = pipeline_of(context, function, archive)
        self._most = int(self._state.maxTotalThreadsPerThreadgroup())

    def __call__(
        self,
        handles: tuple[Block, ...],
        values: tuple[int, ...] = (),
        global_size: tuple[int, ...] = (),
        local_size: tuple[int, ...] = (),
        wait: bool = False,
    ) -> float | None:
        """Launch the kernel; return the seconds it took on the GPU where `wait` asks for them.

        Raises:
            DeviceError: the threadgroup is too large, the GPU is lost, or, where it waits, a kernel failed.
        """
        if math.prod(local_size) > self._most:
            raise DeviceError(
                f"{self._context.target.name} runs {self.name} in threadgroups of up to {self._most} "
                f"threads, not of {'x'.join(map(str, local_size))}",
                device=self._context.target.name,
            )
        groups, items = (*global_size, 1, 1, 1)[:3], (*local_size, 1, 1, 1)[:3]
        context = self._context
        with context.lock, autorelease_pool():
            context.check()
            commands = context.queue.commandBuffer()
            encoder = commands.computeCommandEncoder()
            encoder.setComputePipelineState_(self._state)
            for position, slot in self._slots:
                block = handles[slot]
                encoder.setBuffer_offset_atIndex_(block.buffer, block.start, position)
            if values:
                packed = self._pack(*values)
                encoder.setBytes_length_atIndex_(packed, len(packed), len(self._slots))
            encoder.dispatchThreadgroups_threadsPerThreadgroup_(self._size(*groups), self._size(*items))
            encoder.endEncoding()
            context.submit(commands, self.name)
            if not wait:
                return None
            context.synchronize()
            return float(commands.GPUEndTime() - commands.GPUStartTime())
