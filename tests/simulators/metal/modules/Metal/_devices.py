"""Devices: where everything else begins."""

import atexit

from Metal._checks import complain, is_a, refuse, setting
from Metal._commands import MTLCommandQueue
from Metal._compiling import compile_source
from Metal._indirect import MTLIndirectCommandBuffer, MTLIndirectCommandBufferDescriptor
from Metal._memory import MTLBuffer
from Metal._pipelines import (
    MTLBinaryArchive,
    MTLBinaryArchiveDescriptor,
    MTLComputePipelineDescriptor,
    MTLComputePipelineState,
    MTLLibrary,
)
from Metal._runtime import runtime
from Metal._values import MOST_BUFFERS, MOST_THREADS, MTLCompileOptions, MTLSize, NSError, Object

MOST_COMMANDS = 0x4000  # of one indirect command buffer
CONCURRENT_DISPATCH = 1 << 5  # enum MTLIndirectCommandType
LOCAL_BYTES = 32 << 10
FAIL_ON_ARCHIVE_MISS = 4  # enum MTLPipelineOption


class MTLDevice(Object):
    def __init__(self, index: int) -> None:
        self._index = index
        self._arch = setting("PLUGRAD_SIM_FAMILY", 1009)
        self._memory = setting("PLUGRAD_SIM_MEMORY", 4 << 30)
        self._used = 0
        self._queues: list[MTLCommandQueue] = []

    def name(self) -> str:
        return f"simulated Apple GPU {self._index}"

    def supportsFamily_(self, family: int) -> bool:
        return family == self._arch or 1000 < family <= self._arch < 2000

    def hasUnifiedMemory(self) -> bool:
        return True

    def recommendedMaxWorkingSetSize(self) -> int:
        return self._memory

    def currentAllocatedSize(self) -> int:
        return self._used

    def maxBufferLength(self) -> int:
        return self._memory

    def maxThreadgroupMemoryLength(self) -> int:
        return LOCAL_BYTES

    def maxThreadsPerThreadgroup(self) -> MTLSize:
        return MTLSize(MOST_THREADS, MOST_THREADS, MOST_THREADS)

    def newCommandQueue(self) -> MTLCommandQueue:
        queue = MTLCommandQueue(self)
        self._queues.append(queue)
        return queue

    def newBufferWithLength_options_(self, nbytes: int, options: int) -> MTLBuffer | None:
        if options:
            refuse(f"this stand-in has shared memory only, not options {options}")
        if not 0 < nbytes <= self._memory:
            refuse(f"a buffer of {nbytes} bytes, where maxBufferLength is {self._memory}")
        if self._used + nbytes > self._memory:
            return None
        address = runtime.plugrad_alloc(nbytes)
        if address is None:
            return None
        self._used += nbytes
        return MTLBuffer(self, address, nbytes)

    def newLibraryWithSource_options_error_(self, source, options, error):
        is_a(options, MTLCompileOptions, "newLibraryWithSource:options:error:")
        if options._is_fast:
            complain("a kernel was compiled with fast math, which this stand-in does not imitate")
        compiled = compile_source(str(source), options._version)
        if compiled.library is None:
            return None, NSError(f"program_source: compilation failed:\n{compiled.log}", 3)
        return MTLLibrary(self, str(source), compiled), None

    def newBinaryArchiveWithDescriptor_error_(self, descriptor, error):
        is_a(descriptor, MTLBinaryArchiveDescriptor, "newBinaryArchiveWithDescriptor:error:")
        if not setting("PLUGRAD_SIM_ARCHIVES", 1):
            return None, NSError("this device has no binary archives", 1)
        if descriptor._url is None:
            return MTLBinaryArchive([]), None
        head, *fingerprints = descriptor._url._path.read_text(errors="replace").split("\n")
        if head != MTLBinaryArchive.HEAD:
            return None, NSError("the file is no archive", 1)
        return MTLBinaryArchive(fingerprints), None

    def newComputePipelineStateWithDescriptor_options_reflection_error_(
        self, descriptor, options, reflection, error
    ):
        is_a(descriptor, MTLComputePipelineDescriptor, "newComputePipelineStateWithDescriptor:")
        function = descriptor._function
        if function._library._device is not self:
            refuse("a pipeline of another device's function")
        if descriptor._refusal:
            return None, descriptor._refusal
        held = [f for archive in descriptor._archives for f in archive._fingerprints]
        if descriptor._archives and descriptor._fingerprint not in held:
            complain(f"the archive does not hold {function.name()}")
            if options & FAIL_ON_ARCHIVE_MISS:
                return None, NSError("not in the archive", 1)
        kernel = function._kernel
        if kernel.local_bytes > LOCAL_BYTES:
            text = f"Threadgroup memory size ({kernel.local_bytes}) exceeds the maximum ({LOCAL_BYTES})"
            return None, NSError(text, 3)
        if any(parameter.index >= MOST_BUFFERS for parameter in kernel.buffers):
            return None, NSError(f"more than {MOST_BUFFERS} buffers", 3)
        return MTLComputePipelineState(self, kernel, function._library, descriptor._is_indirect), None

    def newIndirectCommandBufferWithDescriptor_maxCommandCount_options_(self, descriptor, count, options):
        is_a(descriptor, MTLIndirectCommandBufferDescriptor, "newIndirectCommandBufferWithDescriptor:")
        if descriptor._types != CONCURRENT_DISPATCH or options:
            refuse("this stand-in has commands that launch threadgroups only, in shared memory")
        if descriptor._inherits_buffers or descriptor._inherits_state:
            refuse("this stand-in has commands only that inherit nothing of the encoder")
        if not 0 < count <= MOST_COMMANDS:
            refuse(f"an indirect command buffer of {count} commands, of up to {MOST_COMMANDS}")
        return MTLIndirectCommandBuffer(self, descriptor._most_buffers, count)


_devices = [MTLDevice(index) for index in range(setting("PLUGRAD_SIM_DEVICES", 1))]


def MTLCopyAllDevices() -> list[MTLDevice]:
    return list(_devices)


@atexit.register
def _report() -> None:
    for device in _devices:
        left = sum(len(queue._committed) for queue in device._queues)
        if left:
            complain(f"{left} command buffers were committed, and nobody waited for them")
