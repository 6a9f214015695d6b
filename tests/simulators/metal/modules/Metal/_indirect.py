"""Indirect command buffers: launches that are encoded once and run often."""

from typing import TYPE_CHECKING

from Metal._checks import complain, is_a, needs_a_pool, refuse
from Metal._dispatches import Dispatch, check_bound, check_place, check_sizes
from Metal._memory import MTLBuffer
from Metal._pipelines import MTLComputePipelineState
from Metal._values import MOST_BUFFERS, MTLSize, Object

if TYPE_CHECKING:
    from Metal._devices import MTLDevice


class MTLIndirectCommandBufferDescriptor(Object):
    def __init__(self) -> None:
        self._types = 0
        self._inherits_buffers = self._inherits_state = True
        self._most_buffers = 0

    def setCommandTypes_(self, types: int) -> None:
        self._types = types

    def setInheritBuffers_(self, inherits: bool) -> None:
        self._inherits_buffers = bool(inherits)

    def setInheritPipelineState_(self, inherits: bool) -> None:
        self._inherits_state = bool(inherits)

    def setMaxKernelBufferBindCount_(self, most: int) -> None:
        if not 0 <= most <= MOST_BUFFERS:
            refuse(f"a command takes up to {MOST_BUFFERS} buffers, not {most}")
        self._most_buffers = most


class MTLIndirectCommandBuffer(Object):
    def __init__(self, device: "MTLDevice", most_buffers: int, count: int) -> None:
        self._device, self._most_buffers = device, most_buffers
        self._commands = [MTLIndirectComputeCommand(self) for _ in range(count)]
        self._running: set[int] = set()  # command buffers that nobody waited for

    def size(self) -> int:
        return len(self._commands)

    def indirectComputeCommandAtIndex_(self, index: int) -> "MTLIndirectComputeCommand":
        needs_a_pool("a command of an indirect command buffer")
        if not 0 <= index < len(self._commands):
            refuse(f"there is no command {index}, only {len(self._commands)}")
        return self._commands[index]

    def _check_idle(self) -> None:
        if self._running:
            refuse("a command was changed that runs, or is about to")


class MTLIndirectComputeCommand(Object):
    def __init__(self, owner: MTLIndirectCommandBuffer) -> None:
        self._owner = owner
        self._clear()

    def _clear(self) -> None:
        self._state: MTLComputePipelineState | None = None
        self._buffers: dict[int, tuple[MTLBuffer, int]] = {}
        self._has_barrier = False
        self._dispatch: Dispatch | None = None

    def reset(self) -> None:
        self._owner._check_idle()
        self._clear()

    def setComputePipelineState_(self, state: MTLComputePipelineState) -> None:
        is_a(state, MTLComputePipelineState, "setComputePipelineState:")
        self._check_open(state._device)
        if not state._is_indirect:
            refuse(f"the pipeline of {state._kernel.name} does not support indirect command buffers")
        self._state = state

    def setKernelBuffer_offset_atIndex_(self, buffer: MTLBuffer, offset: int, index: int) -> None:
        is_a(buffer, MTLBuffer, "setKernelBuffer:offset:atIndex:")
        self._check_open(buffer._device)
        check_place(buffer, offset, index, self._owner._most_buffers)
        self._buffers[index] = (buffer, offset)

    def setBarrier(self) -> None:
        self._check_open(self._owner._device)
        self._has_barrier = True

    def clearBarrier(self) -> None:
        self._check_open(self._owner._device)
        self._has_barrier = False

    def concurrentDispatchThreadgroups_threadsPerThreadgroup_(self, groups: MTLSize, items: MTLSize) -> None:
        self._check_open(self._owner._device)
        if self._state is None:
            refuse("a command without a pipeline")
        check_sizes(self._state, groups, items)
        for parameter in self._state._kernel.buffers:
            check_bound(self._state._kernel.name, parameter, self._buffers, {})
        self._dispatch = Dispatch(self._state, dict(self._buffers), {}, MTLSize(*groups), MTLSize(*items))

    def _check_open(self, device: "MTLDevice") -> None:
        self._owner._check_idle()
        if device is not self._owner._device:
            refuse("an object of another device")
        if self._dispatch is not None:
            refuse("a command was changed after its dispatch, without a reset")


def check_order(commands: list[MTLIndirectComputeCommand]) -> None:
    """Complain of commands that use what another changes, or change what it uses, at the same time."""
    used: dict[int, bool] = {}
    for number, command in enumerate(commands):
        if command._has_barrier:
            used.clear()
        uses = command._dispatch.uses()
        for buffer, is_read_only in uses:
            if not (is_read_only and used.get(id(buffer), True)) and id(buffer) in used:
                complain(f"command {number} has no barrier, and uses memory that one before it changes")
        for buffer, is_read_only in uses:
            used[id(buffer)] = used.get(id(buffer), True) and is_read_only
