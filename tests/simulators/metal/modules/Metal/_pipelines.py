"""Libraries, functions, pipelines, and the archives that hold them."""

import hashlib
from typing import TYPE_CHECKING

from Metal._checks import is_a, setting
from Metal._compiling import Compiled, Kernel
from Metal._values import MOST_THREADS, NSURL, NSError, Object

if TYPE_CHECKING:
    from Metal._devices import MTLDevice


class MTLLibrary(Object):
    def __init__(self, device: "MTLDevice", source: str, compiled: Compiled) -> None:
        self._device, self._source, self._compiled = device, source, compiled

    def functionNames(self) -> tuple[str, ...]:
        return tuple(kernel.name for kernel in self._compiled.kernels)

    def newFunctionWithName_(self, name: str) -> "MTLFunction | None":
        found = next((kernel for kernel in self._compiled.kernels if kernel.name == name), None)
        return MTLFunction(self, found) if found else None


class MTLFunction(Object):
    def __init__(self, library: MTLLibrary, kernel: Kernel) -> None:
        self._library, self._kernel = library, kernel

    def name(self) -> str:
        return self._kernel.name

    def _fingerprint(self, is_indirect: bool) -> str:
        text = f"{self._library._device._arch}|{is_indirect}|{self._kernel.name}|{self._library._source}"
        return hashlib.sha256(text.encode()).hexdigest()


class MTLComputePipelineDescriptor(Object):
    def __init__(self) -> None:
        self._function: MTLFunction | None = None
        self._archives: list[MTLBinaryArchive] = []
        self._is_indirect = False

    def setSupportIndirectCommandBuffers_(self, supports: bool) -> None:
        self._is_indirect = bool(supports)

    def setComputeFunction_(self, function: MTLFunction) -> None:
        is_a(function, MTLFunction, "setComputeFunction:")
        self._function = function

    def setBinaryArchives_(self, archives: "list[MTLBinaryArchive]") -> None:
        for archive in archives:
            is_a(archive, MTLBinaryArchive, "setBinaryArchives:")
        self._archives = list(archives)

    @property
    def _fingerprint(self) -> str:
        return self._function._fingerprint(self._is_indirect)

    @property
    def _refusal(self) -> NSError | None:
        if self._is_indirect and not setting("PLUGRAD_SIM_INDIRECT", 1):
            return NSError("Compute function cannot be used with indirect command buffers", 3)
        return None


class MTLBinaryArchiveDescriptor(Object):
    def __init__(self) -> None:
        self._url: NSURL | None = None

    def setUrl_(self, url: NSURL) -> None:
        is_a(url, NSURL, "setUrl:")
        self._url = url


class MTLBinaryArchive(Object):
    """Names what it holds: the stand-in compiles so fast that the code itself need not be kept."""

    HEAD = "plugrad stand-in archive"

    def __init__(self, fingerprints: list[str]) -> None:
        self._fingerprints = fingerprints

    def addComputePipelineFunctionsWithDescriptor_error_(self, descriptor, error):
        is_a(descriptor, MTLComputePipelineDescriptor, "addComputePipelineFunctionsWithDescriptor:")
        if descriptor._refusal:
            return False, descriptor._refusal
        self._fingerprints.append(descriptor._fingerprint)
        return True, None

    def serializeToURL_error_(self, url, error):
        is_a(url, NSURL, "serializeToURL:")
        url._path.write_text("\n".join((self.HEAD, *self._fingerprints)))
        return True, None


class MTLComputePipelineState(Object):
    def __init__(
        self, device: "MTLDevice", kernel: Kernel, library: MTLLibrary, is_indirect: bool = False
    ) -> None:
        self._device, self._kernel, self._library = device, kernel, library
        self._is_indirect = is_indirect

    def supportIndirectCommandBuffers(self) -> bool:
        return self._is_indirect

    def maxTotalThreadsPerThreadgroup(self) -> int:
        return min(self._kernel.most_threads, setting("PLUGRAD_SIM_THREADS", MOST_THREADS))

    def threadExecutionWidth(self) -> int:
        return 32

    def staticThreadgroupMemoryLength(self) -> int:
        return self._kernel.local_bytes
