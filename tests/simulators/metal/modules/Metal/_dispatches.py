"""A launch of a kernel: what it needs, and its run."""

import ctypes
from dataclasses import dataclass

from Metal._checks import complain, refuse
from Metal._compiling import Parameter
from Metal._memory import MTLBuffer
from Metal._pipelines import MTLComputePipelineState
from Metal._runtime import runtime
from Metal._values import MISUSE, MOST_BUFFERS, MTLSize


@dataclass
class Dispatch:
    state: MTLComputePipelineState
    buffers: dict[int, tuple[MTLBuffer, int]]
    constants: dict[int, bytes]
    groups: MTLSize
    items: MTLSize

    def uses(self) -> "list[tuple[MTLBuffer, bool]]":
        """Return the buffers with whether they are only read."""
        return [
            (self.buffers[parameter.index][0], parameter.is_read_only)
            for parameter in self.state._kernel.buffers
            if parameter.index in self.buffers
        ]


def check_sizes(state: MTLComputePipelineState, groups: MTLSize, items: MTLSize) -> None:
    most = state.maxTotalThreadsPerThreadgroup()
    if items.width * items.height * items.depth > most:
        refuse(f"{tuple(items)} threads in a threadgroup, where {state._kernel.name} has {most} at most")
    if min(*groups, *items) < 1:
        refuse(f"a launch of {tuple(groups)} threadgroups of {tuple(items)}")


def check_place(buffer: MTLBuffer, offset: int, index: int, most: int) -> None:
    if not 0 <= index < most:
        refuse(f"there is no place {index} for a buffer, only {most}")
    if not 0 <= offset < buffer._nbytes:
        refuse(f"the offset {offset} is not inside a buffer of {buffer._nbytes} bytes")


def check_bound(
    name: str, parameter: Parameter, buffers: dict[int, tuple[MTLBuffer, int]], constants: dict[int, bytes]
) -> None:
    if parameter.index in constants:
        return
    if parameter.index not in buffers:
        refuse(f"{name} was launched without its buffer {parameter.index}")
    offset = buffers[parameter.index][1]
    if offset % parameter.element_bytes:
        refuse(f"{name} takes elements of {parameter.element_bytes} bytes, not from byte {offset} on")


def run_dispatch(dispatch: Dispatch) -> int:
    constants = {index: ctypes.create_string_buffer(data) for index, data in dispatch.constants.items()}
    addresses = [0] * MOST_BUFFERS
    for index, (buffer, offset) in dispatch.buffers.items():
        addresses[index] = buffer._address + offset
    for index, constant in constants.items():
        addresses[index] = ctypes.addressof(constant)
    fault = runtime.plugrad_run(
        dispatch.state._kernel.record,
        (ctypes.c_uint * 3)(*dispatch.groups),
        (ctypes.c_uint * 3)(*dispatch.items),
        (ctypes.c_void_p * MOST_BUFFERS)(*addresses),
    )
    if fault == MISUSE:
        complain(f"{dispatch.state._kernel.name}: {runtime.plugrad_complaint().decode()}")
    return fault
