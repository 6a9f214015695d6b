"""A stand-in for PyObjC's module of the Metal framework: kernels are compiled as C++ and run on the CPU.

It is stricter than a Mac, so that mistakes of the host side show:
- Command buffers do nothing until somebody waits for them; until then the host cannot touch their memory.
- What a call needs is checked as Metal's validation layer does: objects of other devices, encoders that were
  not ended, arguments that were not bound, more buffers, threads or bytes than there may be.
- Commands of an indirect command buffer see only the memory that the encoder was told of, stay as they are
  while they run, and are checked for what they change without a barrier.
- Objects that Metal hands out unowned must be made inside an autorelease pool, or they would never go.
- What is left at the end of the process is reported.

Settings: PLUGRAD_SIM_DEVICES, PLUGRAD_SIM_FAMILY (1009, Apple9), PLUGRAD_SIM_LANGUAGE (3.1),
PLUGRAD_SIM_MEMORY (bytes), PLUGRAD_SIM_THREADS (of a pipeline, 1024), PLUGRAD_SIM_ARCHIVES (0: it has none),
PLUGRAD_SIM_INDIRECT (0: it refuses kernels for indirect command buffers).
"""

from Metal._checks import Misuse
from Metal._commands import MTLCommandBuffer, MTLCommandQueue, MTLComputeCommandEncoder
from Metal._devices import MTLCopyAllDevices, MTLDevice
from Metal._indirect import (
    MTLIndirectCommandBuffer,
    MTLIndirectCommandBufferDescriptor,
    MTLIndirectComputeCommand,
)
from Metal._memory import MTLBuffer
from Metal._pipelines import (
    MTLBinaryArchive,
    MTLBinaryArchiveDescriptor,
    MTLComputePipelineDescriptor,
    MTLComputePipelineState,
    MTLFunction,
    MTLLibrary,
)
from Metal._values import NSURL, MTLCompileOptions, MTLSize, MTLSizeMake, NSError, NSMakeRange, NSRange

plugrad_stand_in = "stand-in for Metal: kernels run on the CPU"

__all__ = [
    "NSURL",
    "MTLBinaryArchive",
    "MTLBinaryArchiveDescriptor",
    "MTLBuffer",
    "MTLCommandBuffer",
    "MTLCommandQueue",
    "MTLCompileOptions",
    "MTLComputeCommandEncoder",
    "MTLComputePipelineDescriptor",
    "MTLComputePipelineState",
    "MTLCopyAllDevices",
    "MTLDevice",
    "MTLFunction",
    "MTLIndirectCommandBuffer",
    "MTLIndirectCommandBufferDescriptor",
    "MTLIndirectComputeCommand",
    "MTLLibrary",
    "MTLSize",
    "MTLSizeMake",
    "Misuse",
    "NSError",
    "NSMakeRange",
    "NSRange",
    "plugrad_stand_in",
]
