"""Queues, command buffers and their encoders."""

import time
from collections import deque
from typing import TYPE_CHECKING

from Metal._checks import complain, is_a, needs_a_pool, refuse
from Metal._dispatches import Dispatch, check_bound, check_place, check_sizes, run_dispatch
from Metal._indirect import MTLIndirectCommandBuffer, check_order
from Metal._memory import MTLBuffer
from Metal._pipelines import MTLComputePipelineState
from Metal._runtime import runtime
from Metal._values import BAD_ADDRESS, MOST_BUFFERS, MTLSize, NSError, NSRange, Object

if TYPE_CHECKING:
    from Metal._devices import MTLDevice

MOST_BYTES = 4096  # of setBytes
COMMAND_BUFFERS = 64  # of one queue, not done yet
READ, WRITE = 1, 2  # enum MTLResourceUsage
NOT_ENQUEUED, COMMITTED, COMPLETED, ERROR = 0, 2, 4, 5  # enum MTLCommandBufferStatus
PAGE_FAULT, INTERNAL = 3, 1  # enum MTLCommandBufferError


class MTLCommandQueue(Object):
    def __init__(self, device: "MTLDevice") -> None:
        self._device = device
        self._committed: deque[MTLCommandBuffer] = deque()

    def commandBuffer(self) -> "MTLCommandBuffer":
        needs_a_pool("a command buffer")
        while len(self._committed) >= COMMAND_BUFFERS:
            self._run_next()
        return MTLCommandBuffer(self)

    def _run_next(self) -> None:
        self._committed.popleft()._run()


class MTLCommandBuffer(Object):
    def __init__(self, queue: MTLCommandQueue) -> None:
        self._queue = queue
        self._encoder: MTLComputeCommandEncoder | None = None
        self._dispatches: list[Dispatch] = []
        self._indirect: list[MTLIndirectCommandBuffer] = []
        self._status = NOT_ENQUEUED
        self._error: NSError | None = None
        self._start = self._end = 0.0

    def __del__(self) -> None:
        if self._encoder is not None and not self._encoder._is_ended:
            complain("an encoder was released without endEncoding")

    def computeCommandEncoder(self) -> "MTLComputeCommandEncoder":
        needs_a_pool("an encoder")
        if self._status != NOT_ENQUEUED:
            refuse("a command buffer was encoded to after its commit")
        if self._encoder is not None and not self._encoder._is_ended:
            refuse("a second encoder was made before endEncoding")
        self._encoder = MTLComputeCommandEncoder(self)
        return self._encoder

    def commit(self) -> None:
        if self._status != NOT_ENQUEUED:
            refuse("a command buffer was committed twice")
        if self._encoder is not None and not self._encoder._is_ended:
            refuse("a command buffer was committed before endEncoding")
        self._status = COMMITTED
        for buffer, is_read_only in self._uses():
            (buffer._readers if is_read_only else buffer._writers).add(id(self))
            buffer._protect()
        for indirect in self._indirect:
            indirect._running.add(id(self))
        self._queue._committed.append(self)

    def waitUntilCompleted(self) -> None:
        if self._status == NOT_ENQUEUED:
            refuse("a command buffer was waited for before its commit")
        while self._status == COMMITTED:
            self._queue._run_next()

    def status(self) -> int:
        return self._status

    def error(self) -> NSError | None:
        return self._error

    def GPUStartTime(self) -> float:
        return self._start

    def GPUEndTime(self) -> float:
        return self._end

    def _uses(self) -> list[tuple[MTLBuffer, bool]]:
        return [use for dispatch in self._dispatches for use in dispatch.uses()]

    def _run(self) -> None:
        uses = self._uses()
        for buffer, _ in uses:
            runtime.plugrad_protect(buffer._address, 2)
        self._start = time.monotonic()
        fault = next(filter(None, map(run_dispatch, self._dispatches)), 0)
        self._end = time.monotonic()
        for buffer, _ in uses:
            buffer._readers.discard(id(self))
            buffer._writers.discard(id(self))
            buffer._protect()
        for indirect in self._indirect:
            indirect._running.discard(id(self))
        self._status = ERROR if fault else COMPLETED
        if fault:
            is_page_fault = fault == BAD_ADDRESS
            text = "Caused GPU Address Fault Error" if is_page_fault else "Caused GPU Internal Error"
            self._error = NSError(text, PAGE_FAULT if is_page_fault else INTERNAL)


class MTLComputeCommandEncoder(Object):
    def __init__(self, commands: MTLCommandBuffer) -> None:
        self._commands = commands
        self._is_ended = False
        self._state: MTLComputePipelineState | None = None
        self._buffers: dict[int, tuple[MTLBuffer, int]] = {}
        self._constants: dict[int, bytes] = {}
        self._usage: dict[int, int] = {}  # of the memory that indirect commands may see

    def setComputePipelineState_(self, state: MTLComputePipelineState) -> None:
        is_a(state, MTLComputePipelineState, "setComputePipelineState:")
        self._check_device(state._device)
        self._state = state

    def setBuffer_offset_atIndex_(self, buffer: MTLBuffer, offset: int, index: int) -> None:
        is_a(buffer, MTLBuffer, "setBuffer:offset:atIndex:")
        self._check_device(buffer._device)
        check_place(buffer, offset, index, MOST_BUFFERS)
        self._buffers[index] = (buffer, offset)

    def setBytes_length_atIndex_(self, data: bytes, length: int, index: int) -> None:
        if not 0 <= index < MOST_BUFFERS:
            refuse(f"there is no place {index} for bytes, only {MOST_BUFFERS}")
        if length > MOST_BYTES or length > len(data):
            refuse(f"setBytes: takes {MOST_BYTES} bytes at most and what there is, not {length}")
        self._constants[index] = bytes(data[:length])

    def dispatchThreadgroups_threadsPerThreadgroup_(self, groups: MTLSize, items: MTLSize) -> None:
        if self._is_ended:
            refuse("a launch after endEncoding")
        state = self._state
        if state is None:
            refuse("a launch without a pipeline")
        check_sizes(state, groups, items)
        for parameter in state._kernel.buffers:
            check_bound(state._kernel.name, parameter, self._buffers, self._constants)
        self._commands._dispatches.append(
            Dispatch(state, dict(self._buffers), dict(self._constants), MTLSize(*groups), MTLSize(*items))
        )

    def useResources_count_usage_(self, resources: list[MTLBuffer], count: int, usage: int) -> None:
        if count > len(resources):
            refuse(f"useResources: got {len(resources)} of {count} resources")
        for resource in resources[:count]:
            is_a(resource, MTLBuffer, "useResources:count:usage:")
            self._check_device(resource._device)
            self._usage[id(resource)] = self._usage.get(id(resource), 0) | usage

    def executeCommandsInBuffer_withRange_(self, indirect: MTLIndirectCommandBuffer, chosen: NSRange) -> None:
        is_a(indirect, MTLIndirectCommandBuffer, "executeCommandsInBuffer:withRange:")
        self._check_device(indirect._device)
        if self._is_ended:
            refuse("commands were executed after endEncoding")
        first, count = chosen
        if first < 0 or first + count > indirect.size():
            refuse(f"commands {first} to {first + count} of {indirect.size()} were executed")
        commands = indirect._commands[first : first + count]
        for number, command in enumerate(commands, first):
            if command._dispatch is None:
                refuse(f"command {number} was executed, which has no dispatch")
            for buffer, is_read_only in command._dispatch.uses():
                needed = READ if is_read_only else WRITE
                if not self._usage.get(id(buffer), 0) & needed:
                    refuse(f"command {number} uses memory that useResource: did not name")
        check_order(commands)
        self._commands._dispatches.extend(command._dispatch for command in commands)
        self._commands._indirect.append(indirect)

    def endEncoding(self) -> None:
        if self._is_ended:
            refuse("endEncoding was called twice")
        self._is_ended = True

    def _check_device(self, device: "MTLDevice") -> None:
        if device is not self._commands._queue._device:
            refuse("an object of another device")
