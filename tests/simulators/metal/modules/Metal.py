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

import atexit
import ctypes
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

import objc

plugrad_stand_in = "stand-in for Metal: kernels run on the CPU"

MOST_BUFFERS = 31
MOST_BYTES = 4096  # of setBytes
MOST_THREADS = 1024
MOST_COMMANDS = 0x4000  # of one indirect command buffer
CONCURRENT_DISPATCH = 1 << 5  # enum MTLIndirectCommandType
READ, WRITE = 1, 2  # enum MTLResourceUsage
LOCAL_BYTES = 32 << 10
COMMAND_BUFFERS = 64  # of one queue, not done yet
NOT_ENQUEUED, COMMITTED, COMPLETED, ERROR = 0, 2, 4, 5  # enum MTLCommandBufferStatus
PAGE_FAULT, INTERNAL = 3, 1  # enum MTLCommandBufferError
BAD_ADDRESS, MISUSE = 1, 3  # enum Fault of runtime.cpp
FAIL_ON_ARCHIVE_MISS = 4  # enum MTLPipelineOption

_INCLUDE = Path(__file__).parents[1] / "include"
_KERNEL = re.compile(
    r"(?:\[\[kernel(?:, *max_total_threads_per_threadgroup\((\d+)\))?\]\]|kernel)"
    r"\s*void (\w+)\(([^{]*)\)\s*{"
)
_PARAMETER = re.compile(r"^(.*?)(\w+)\s*\[\[(\w+)(?:\((\d+)\))?\]\]$")
_WAITING = re.compile(r"\b(?:threadgroup_barrier|simd_\w+|simdgroup_\w+)\s*\(")
_LOCAL = re.compile(r"^(\s*)threadgroup (\w+) (\w+)\[(\d+)\];", re.MULTILINE)
_BYTES = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "half": 2, "bfloat": 2, "long": 8, "ulong": 8}
_POSITIONS = {
    "threadgroup_position_in_grid": "plugrad_group",
    "thread_position_in_threadgroup": "plugrad_item",
}

_runtime = ctypes.PyDLL(os.environ["PLUGRAD_SIM_RUNTIME"])
_runtime.plugrad_alloc.restype = ctypes.c_void_p
_runtime.plugrad_alloc.argtypes = (ctypes.c_size_t,)
_runtime.plugrad_protect.argtypes = (ctypes.c_void_p, ctypes.c_int)
_runtime.plugrad_is_whole.argtypes = (ctypes.c_void_p,)
_runtime.plugrad_release.argtypes = (ctypes.c_void_p,)
_runtime.plugrad_run.argtypes = (ctypes.c_void_p,) * 4
_runtime.plugrad_complaint.restype = ctypes.c_char_p
_runtime.plugrad_start()


class Misuse(Exception):
    """A call that Metal's validation layer would end the process for."""


def _refuse(what: str) -> NoReturn:
    _complain(what)
    raise Misuse(what)


def _complain(what: str) -> None:
    print(f"Metal stand-in: {what}", file=sys.stderr, flush=True)


def _setting(name: str, otherwise: int) -> int:
    return int(os.environ.get(name) or otherwise)


def _is_a(thing: object, kind: type, what: str) -> None:
    if not isinstance(thing, kind):
        _refuse(f"{what} takes a {kind.__name__}, not {thing!r}")


def _needs_a_pool(what: str) -> None:
    if not objc.pool_depth():
        _complain(f"{what} was made without an autorelease pool, and will never go")


class MTLSize(NamedTuple):
    width: int
    height: int
    depth: int


def MTLSizeMake(width: int, height: int, depth: int) -> MTLSize:
    return MTLSize(width, height, depth)


class NSRange(NamedTuple):
    location: int
    length: int


def NSMakeRange(location: int, length: int) -> NSRange:
    return NSRange(location, length)


class _Object:
    @classmethod
    def alloc(cls):
        return cls.__new__(cls)

    def init(self):
        self.__init__()
        return self


class NSError(_Object):
    def __init__(self, text: str = "", code: int = 0) -> None:
        self._text, self._code = text, code

    def localizedDescription(self) -> str:
        return self._text

    def code(self) -> int:
        return self._code


class NSURL(_Object):
    def __init__(self, path: str = "") -> None:
        self._path = Path(path)

    @classmethod
    def fileURLWithPath_(cls, path: str) -> "NSURL":
        return cls(path)


class MTLCompileOptions(_Object):
    def __init__(self) -> None:
        major, _, minor = (os.environ.get("PLUGRAD_SIM_LANGUAGE") or "3.1").partition(".")
        self._newest = self._version = int(major) << 16 | int(minor)
        self._is_fast = True

    def languageVersion(self) -> int:
        return self._version

    def setLanguageVersion_(self, version: int) -> None:
        if version > self._newest:
            _refuse(f"this macOS has no MSL {version >> 16}.{version & 0xFFFF}")
        self._version = version

    def setFastMathEnabled_(self, fast: bool) -> None:
        self._is_fast = bool(fast)

    def setMathMode_(self, mode: int) -> None:
        self._is_fast = mode != 0

    def setMathFloatingPointFunctions_(self, functions: int) -> None:
        if self._newest < (3 << 16 | 2):
            _refuse("setMathFloatingPointFunctions: came with MSL 3.2")


# --- compiling ---


@dataclass
class _Parameter:
    declaration: str
    attribute: str
    index: int

    @property
    def is_buffer(self) -> bool:
        return self.attribute == "buffer"

    @property
    def is_read_only(self) -> bool:
        return "constant" in self.declaration or "const " in self.declaration

    @property
    def element_bytes(self) -> int:
        return _BYTES.get(re.sub(r"\b(?:device|constant|const)\b|[*\s]", "", self.declaration), 4)

    @property
    def argument(self) -> str:
        if self.is_buffer:
            return f"({self.declaration.strip()})arguments[{self.index}]"
        return _POSITIONS[self.attribute]


@dataclass
class _Kernel:
    name: str
    most_threads: int
    parameters: list[_Parameter]
    local_bytes: int
    record: int = 0

    @property
    def buffers(self) -> list[_Parameter]:
        return [p for p in self.parameters if p.is_buffer]


class _Record(ctypes.Structure):
    """As `Kernel` in runtime.cpp."""

    _fields_ = (
        ("invoke", ctypes.c_void_p),
        ("waits", ctypes.c_int),
        ("group", ctypes.c_void_p),
        ("item", ctypes.c_void_p),
        ("barrier", ctypes.c_void_p),
        ("exchange", ctypes.c_void_p),
        ("refuse", ctypes.c_void_p),
    )


def _kernels_of(source: str) -> list[_Kernel]:
    local_bytes = sum(_BYTES.get(kind, 4) * int(count) for _, kind, _, count in _LOCAL.findall(source))
    found = []
    for threads, name, parameters in _KERNEL.findall(source):
        parsed = []
        for text in filter(None, (part.strip() for part in re.split(r",(?![^(]*\))", parameters))):
            match = _PARAMETER.match(text)
            if match is None or match[3] not in ("buffer", *_POSITIONS):
                raise SyntaxError(f"the parameter {text!r} has no attribute that this stand-in knows")
            parsed.append(_Parameter(match[1], match[3], int(match[4] or 0)))
        found.append(_Kernel(name, int(threads or MOST_THREADS), parsed, local_bytes))
    return found


def _as_cpp(source: str, kernels: list[_Kernel]) -> str:
    """Return the source with what calls its kernels; threadgroup memory becomes static."""
    parts = [_LOCAL.sub(r"\1alignas(16) static \2 \3[\4];", source)]
    waits = int(_WAITING.search(source) is not None)
    for kernel in kernels:
        call = ", ".join(parameter.argument for parameter in kernel.parameters)
        parts.append(
            f"static void plugrad_invoke_{kernel.name}(void **arguments) {{ {kernel.name}({call}); }}\n"
            f"struct plugrad_kernel_{kernel.name}_ {{ void (*invoke)(void **); int waits; "
            "metal::uint3 *group, *item; void (**barrier)(void); "
            "const char *(**exchange)(const void *, uint, const char *, uint *, uint *); "
            "void (**refuse)(const char *); };\n"
            f'extern "C" __attribute__((visibility("default"))) plugrad_kernel_{kernel.name}_ '
            f"plugrad_kernel_{kernel.name} = {{plugrad_invoke_{kernel.name}, {waits}, &plugrad_group, "
            "&plugrad_item, &plugrad_barrier, &plugrad_exchange, &plugrad_refuse};\n"
        )
    return "\n".join(parts)


@dataclass
class _Compiled:
    kernels: list[_Kernel]
    log: str = ""
    library: ctypes.PyDLL | None = field(default=None, repr=False)


_compiled: dict[tuple[str, int], _Compiled] = {}
_folder = tempfile.TemporaryDirectory(prefix="plugrad-metal-")


def _compile(source: str, version: int) -> _Compiled:
    known = _compiled.get((source, version))
    if known is None:
        known = _compiled[source, version] = _compile_new(source, version)
    return known


def _compile_new(source: str, version: int) -> _Compiled:
    try:
        kernels = _kernels_of(source)
    except SyntaxError as error:
        return _Compiled([], log=str(error))
    stem = Path(_folder.name) / str(len(_compiled))
    cpp, library = stem.with_suffix(".cpp"), stem.with_suffix(".so")
    cpp.write_text(_as_cpp(source, kernels))
    command = [
        *(os.environ["PLUGRAD_SIM_COMPILER"], "-std=c++14", "-O1", "-w", "-shared", "-fPIC"),
        *("-fvisibility=hidden", "-ffp-contract=off", "-fno-fast-math", "-fno-exceptions", "-fno-rtti"),
        *("-fsigned-char", f"-D__METAL_VERSION__={(version >> 16) * 100 + (version & 0xFFFF) * 10}"),
        *("-include", str(_INCLUDE / "metal_stdlib"), f"-I{_INCLUDE}"),
        *(str(cpp), "-o", str(library), "-lm"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return _Compiled([], log=done.stderr.replace(str(cpp), "program_source"))
    loaded = ctypes.PyDLL(str(library))
    for kernel in kernels:
        kernel.record = ctypes.addressof(_Record.in_dll(loaded, f"plugrad_kernel_{kernel.name}"))
    return _Compiled(kernels, library=loaded)


class MTLLibrary(_Object):
    def __init__(self, device: "MTLDevice", source: str, compiled: _Compiled) -> None:
        self._device, self._source, self._compiled = device, source, compiled

    def functionNames(self) -> tuple[str, ...]:
        return tuple(kernel.name for kernel in self._compiled.kernels)

    def newFunctionWithName_(self, name: str) -> "MTLFunction | None":
        found = next((kernel for kernel in self._compiled.kernels if kernel.name == name), None)
        return MTLFunction(self, found) if found else None


class MTLFunction(_Object):
    def __init__(self, library: MTLLibrary, kernel: _Kernel) -> None:
        self._library, self._kernel = library, kernel

    def name(self) -> str:
        return self._kernel.name

    def _fingerprint(self, is_indirect: bool) -> str:
        text = f"{self._library._device._arch}|{is_indirect}|{self._kernel.name}|{self._library._source}"
        return hashlib.sha256(text.encode()).hexdigest()


class MTLComputePipelineDescriptor(_Object):
    def __init__(self) -> None:
        self._function: MTLFunction | None = None
        self._archives: list[MTLBinaryArchive] = []
        self._is_indirect = False

    def setSupportIndirectCommandBuffers_(self, supports: bool) -> None:
        self._is_indirect = bool(supports)

    def setComputeFunction_(self, function: MTLFunction) -> None:
        _is_a(function, MTLFunction, "setComputeFunction:")
        self._function = function

    def setBinaryArchives_(self, archives: "list[MTLBinaryArchive]") -> None:
        for archive in archives:
            _is_a(archive, MTLBinaryArchive, "setBinaryArchives:")
        self._archives = list(archives)

    @property
    def _fingerprint(self) -> str:
        return self._function._fingerprint(self._is_indirect)

    @property
    def _refusal(self) -> NSError | None:
        if self._is_indirect and not _setting("PLUGRAD_SIM_INDIRECT", 1):
            return NSError("Compute function cannot be used with indirect command buffers", 3)
        return None


class MTLBinaryArchiveDescriptor(_Object):
    def __init__(self) -> None:
        self._url: NSURL | None = None

    def setUrl_(self, url: NSURL) -> None:
        _is_a(url, NSURL, "setUrl:")
        self._url = url


class MTLBinaryArchive(_Object):
    """Names what it holds: the stand-in compiles so fast that the code itself need not be kept."""

    HEAD = "plugrad stand-in archive"

    def __init__(self, fingerprints: list[str]) -> None:
        self._fingerprints = fingerprints

    def addComputePipelineFunctionsWithDescriptor_error_(self, descriptor, error):
        _is_a(descriptor, MTLComputePipelineDescriptor, "addComputePipelineFunctionsWithDescriptor:")
        if descriptor._refusal:
            return False, descriptor._refusal
        self._fingerprints.append(descriptor._fingerprint)
        return True, None

    def serializeToURL_error_(self, url, error):
        _is_a(url, NSURL, "serializeToURL:")
        url._path.write_text("\n".join((self.HEAD, *self._fingerprints)))
        return True, None


class MTLComputePipelineState(_Object):
    def __init__(
        self, device: "MTLDevice", kernel: _Kernel, library: MTLLibrary, is_indirect: bool = False
    ) -> None:
        self._device, self._kernel, self._library = device, kernel, library
        self._is_indirect = is_indirect

    def supportIndirectCommandBuffers(self) -> bool:
        return self._is_indirect

    def maxTotalThreadsPerThreadgroup(self) -> int:
        return min(self._kernel.most_threads, _setting("PLUGRAD_SIM_THREADS", MOST_THREADS))

    def threadExecutionWidth(self) -> int:
        return 32

    def staticThreadgroupMemoryLength(self) -> int:
        return self._kernel.local_bytes


# --- memory ---


class _VariableList:
    """PyObjC's objc.varlist: memory whose length only the caller knows."""

    def __init__(self, buffer: "MTLBuffer") -> None:
        self._buffer = buffer

    def as_buffer(self, count: int) -> memoryview:
        if count > self._buffer._nbytes:
            _refuse(f"a buffer of {self._buffer._nbytes} bytes has no {count}")
        return memoryview((ctypes.c_char * count).from_address(self._buffer._address)).cast("B")


class MTLBuffer(_Object):
    def __init__(self, device: "MTLDevice", address: int, nbytes: int) -> None:
        self._device, self._address, self._nbytes = device, address, nbytes
        self._readers: set[int] = set()  # command buffers that nobody waited for
        self._writers: set[int] = set()

    def __del__(self) -> None:
        _runtime.plugrad_protect(self._address, 2)  # it may belong to a command buffer that never ran
        if not _runtime.plugrad_is_whole(self._address):
            _complain(f"a write behind a buffer of {self._nbytes} bytes")
        self._device._used -= self._nbytes
        _runtime.plugrad_release(self._address)

    def length(self) -> int:
        return self._nbytes

    def contents(self) -> _VariableList:
        return _VariableList(self)

    def _protect(self) -> None:
        access = 0 if self._writers else 1 if self._readers else 2
        _runtime.plugrad_protect(self._address, access)


# --- running ---


class MTLCommandQueue(_Object):
    def __init__(self, device: "MTLDevice") -> None:
        self._device = device
        self._committed: deque[MTLCommandBuffer] = deque()

    def commandBuffer(self) -> "MTLCommandBuffer":
        _needs_a_pool("a command buffer")
        while len(self._committed) >= COMMAND_BUFFERS:
            self._run_next()
        return MTLCommandBuffer(self)

    def _run_next(self) -> None:
        self._committed.popleft()._run()


@dataclass
class _Dispatch:
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


def _check_sizes(state: MTLComputePipelineState, groups: MTLSize, items: MTLSize) -> None:
    most = state.maxTotalThreadsPerThreadgroup()
    if items.width * items.height * items.depth > most:
        _refuse(f"{tuple(items)} threads in a threadgroup, where {state._kernel.name} has {most} at most")
    if min(*groups, *items) < 1:
        _refuse(f"a launch of {tuple(groups)} threadgroups of {tuple(items)}")


def _check_place(buffer: MTLBuffer, offset: int, index: int, most: int) -> None:
    if not 0 <= index < most:
        _refuse(f"there is no place {index} for a buffer, only {most}")
    if not 0 <= offset < buffer._nbytes:
        _refuse(f"the offset {offset} is not inside a buffer of {buffer._nbytes} bytes")


def _check_bound(
    name: str, parameter: _Parameter, buffers: dict[int, tuple[MTLBuffer, int]], constants: dict[int, bytes]
) -> None:
    if parameter.index in constants:
        return
    if parameter.index not in buffers:
        _refuse(f"{name} was launched without its buffer {parameter.index}")
    offset = buffers[parameter.index][1]
    if offset % parameter.element_bytes:
        _refuse(f"{name} takes elements of {parameter.element_bytes} bytes, not from byte {offset} on")


class MTLIndirectCommandBufferDescriptor(_Object):
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
            _refuse(f"a command takes up to {MOST_BUFFERS} buffers, not {most}")
        self._most_buffers = most


class MTLIndirectCommandBuffer(_Object):
    def __init__(self, device: "MTLDevice", most_buffers: int, count: int) -> None:
        self._device, self._most_buffers = device, most_buffers
        self._commands = [MTLIndirectComputeCommand(self) for _ in range(count)]
        self._running: set[int] = set()  # command buffers that nobody waited for

    def size(self) -> int:
        return len(self._commands)

    def indirectComputeCommandAtIndex_(self, index: int) -> "MTLIndirectComputeCommand":
        _needs_a_pool("a command of an indirect command buffer")
        if not 0 <= index < len(self._commands):
            _refuse(f"there is no command {index}, only {len(self._commands)}")
        return self._commands[index]

    def _check_idle(self) -> None:
        if self._running:
            _refuse("a command was changed that runs, or is about to")


class MTLIndirectComputeCommand(_Object):
    def __init__(self, owner: MTLIndirectCommandBuffer) -> None:
        self._owner = owner
        self._clear()

    def _clear(self) -> None:
        self._state: MTLComputePipelineState | None = None
        self._buffers: dict[int, tuple[MTLBuffer, int]] = {}
        self._has_barrier = False
        self._dispatch: _Dispatch | None = None

    def reset(self) -> None:
        self._owner._check_idle()
        self._clear()

    def setComputePipelineState_(self, state: MTLComputePipelineState) -> None:
        _is_a(state, MTLComputePipelineState, "setComputePipelineState:")
        self._check_open(state._device)
        if not state._is_indirect:
            _refuse(f"the pipeline of {state._kernel.name} does not support indirect command buffers")
        self._state = state

    def setKernelBuffer_offset_atIndex_(self, buffer: MTLBuffer, offset: int, index: int) -> None:
        _is_a(buffer, MTLBuffer, "setKernelBuffer:offset:atIndex:")
        self._check_open(buffer._device)
        _check_place(buffer, offset, index, self._owner._most_buffers)
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
            _refuse("a command without a pipeline")
        _check_sizes(self._state, groups, items)
        for parameter in self._state._kernel.buffers:
            _check_bound(self._state._kernel.name, parameter, self._buffers, {})
        self._dispatch = _Dispatch(self._state, dict(self._buffers), {}, MTLSize(*groups), MTLSize(*items))

    def _check_open(self, device: "MTLDevice") -> None:
        self._owner._check_idle()
        if device is not self._owner._device:
            _refuse("an object of another device")
        if self._dispatch is not None:
            _refuse("a command was changed after its dispatch, without a reset")


def _check_order(commands: list[MTLIndirectComputeCommand]) -> None:
    """Complain of commands that use what another changes, or change what it uses, at the same time."""
    used: dict[int, bool] = {}
    for number, command in enumerate(commands):
        if command._has_barrier:
            used.clear()
        uses = command._dispatch.uses()
        for buffer, is_read_only in uses:
            if not (is_read_only and used.get(id(buffer), True)) and id(buffer) in used:
                _complain(f"command {number} has no barrier, and uses memory that one before it changes")
        for buffer, is_read_only in uses:
            used[id(buffer)] = used.get(id(buffer), True) and is_read_only


class MTLCommandBuffer(_Object):
    def __init__(self, queue: MTLCommandQueue) -> None:
        self._queue = queue
        self._encoder: MTLComputeCommandEncoder | None = None
        self._dispatches: list[_Dispatch] = []
        self._indirect: list[MTLIndirectCommandBuffer] = []
        self._status = NOT_ENQUEUED
        self._error: NSError | None = None
        self._start = self._end = 0.0

    def __del__(self) -> None:
        if self._encoder is not None and not self._encoder._is_ended:
            _complain("an encoder was released without endEncoding")

    def computeCommandEncoder(self) -> "MTLComputeCommandEncoder":
        _needs_a_pool("an encoder")
        if self._status != NOT_ENQUEUED:
            _refuse("a command buffer was encoded to after its commit")
        if self._encoder is not None and not self._encoder._is_ended:
            _refuse("a second encoder was made before endEncoding")
        self._encoder = MTLComputeCommandEncoder(self)
        return self._encoder

    def commit(self) -> None:
        if self._status != NOT_ENQUEUED:
            _refuse("a command buffer was committed twice")
        if self._encoder is not None and not self._encoder._is_ended:
            _refuse("a command buffer was committed before endEncoding")
        self._status = COMMITTED
        for buffer, is_read_only in self._uses():
            (buffer._readers if is_read_only else buffer._writers).add(id(self))
            buffer._protect()
        for indirect in self._indirect:
            indirect._running.add(id(self))
        self._queue._committed.append(self)

    def waitUntilCompleted(self) -> None:
        if self._status == NOT_ENQUEUED:
            _refuse("a command buffer was waited for before its commit")
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
            _runtime.plugrad_protect(buffer._address, 2)
        self._start = time.monotonic()
        fault = next(filter(None, map(_run_dispatch, self._dispatches)), 0)
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


def _run_dispatch(dispatch: _Dispatch) -> int:
    constants = {index: ctypes.create_string_buffer(data) for index, data in dispatch.constants.items()}
    addresses = [0] * MOST_BUFFERS
    for index, (buffer, offset) in dispatch.buffers.items():
        addresses[index] = buffer._address + offset
    for index, constant in constants.items():
        addresses[index] = ctypes.addressof(constant)
    fault = _runtime.plugrad_run(
        dispatch.state._kernel.record,
        (ctypes.c_uint * 3)(*dispatch.groups),
        (ctypes.c_uint * 3)(*dispatch.items),
        (ctypes.c_void_p * MOST_BUFFERS)(*addresses),
    )
    if fault == MISUSE:
        _complain(f"{dispatch.state._kernel.name}: {_runtime.plugrad_complaint().decode()}")
    return fault


class MTLComputeCommandEncoder(_Object):
    def __init__(self, commands: MTLCommandBuffer) -> None:
        self._commands = commands
        self._is_ended = False
        self._state: MTLComputePipelineState | None = None
        self._buffers: dict[int, tuple[MTLBuffer, int]] = {}
        self._constants: dict[int, bytes] = {}
        self._usage: dict[int, int] = {}  # of the memory that indirect commands may see

    def setComputePipelineState_(self, state: MTLComputePipelineState) -> None:
        _is_a(state, MTLComputePipelineState, "setComputePipelineState:")
        self._check_device(state._device)
        self._state = state

    def setBuffer_offset_atIndex_(self, buffer: MTLBuffer, offset: int, index: int) -> None:
        _is_a(buffer, MTLBuffer, "setBuffer:offset:atIndex:")
        self._check_device(buffer._device)
        _check_place(buffer, offset, index, MOST_BUFFERS)
        self._buffers[index] = (buffer, offset)

    def setBytes_length_atIndex_(self, data: bytes, length: int, index: int) -> None:
        if not 0 <= index < MOST_BUFFERS:
            _refuse(f"there is no place {index} for bytes, only {MOST_BUFFERS}")
        if length > MOST_BYTES or length > len(data):
            _refuse(f"setBytes: takes {MOST_BYTES} bytes at most and what there is, not {length}")
        self._constants[index] = bytes(data[:length])

    def dispatchThreadgroups_threadsPerThreadgroup_(self, groups: MTLSize, items: MTLSize) -> None:
        if self._is_ended:
            _refuse("a launch after endEncoding")
        state = self._state
        if state is None:
            _refuse("a launch without a pipeline")
        _check_sizes(state, groups, items)
        for parameter in state._kernel.buffers:
            _check_bound(state._kernel.name, parameter, self._buffers, self._constants)
        self._commands._dispatches.append(
            _Dispatch(state, dict(self._buffers), dict(self._constants), MTLSize(*groups), MTLSize(*items))
        )

    def useResources_count_usage_(self, resources: list[MTLBuffer], count: int, usage: int) -> None:
        if count > len(resources):
            _refuse(f"useResources: got {len(resources)} of {count} resources")
        for resource in resources[:count]:
            _is_a(resource, MTLBuffer, "useResources:count:usage:")
            self._check_device(resource._device)
            self._usage[id(resource)] = self._usage.get(id(resource), 0) | usage

    def executeCommandsInBuffer_withRange_(self, indirect: MTLIndirectCommandBuffer, chosen: NSRange) -> None:
        _is_a(indirect, MTLIndirectCommandBuffer, "executeCommandsInBuffer:withRange:")
        self._check_device(indirect._device)
        if self._is_ended:
            _refuse("commands were executed after endEncoding")
        first, count = chosen
        if first < 0 or first + count > indirect.size():
            _refuse(f"commands {first} to {first + count} of {indirect.size()} were executed")
        commands = indirect._commands[first : first + count]
        for number, command in enumerate(commands, first):
            if command._dispatch is None:
                _refuse(f"command {number} was executed, which has no dispatch")
            for buffer, is_read_only in command._dispatch.uses():
                needed = READ if is_read_only else WRITE
                if not self._usage.get(id(buffer), 0) & needed:
                    _refuse(f"command {number} uses memory that useResource: did not name")
        _check_order(commands)
        self._commands._dispatches.extend(command._dispatch for command in commands)
        self._commands._indirect.append(indirect)

    def endEncoding(self) -> None:
        if self._is_ended:
            _refuse("endEncoding was called twice")
        self._is_ended = True

    def _check_device(self, device: "MTLDevice") -> None:
        if device is not self._commands._queue._device:
            _refuse("an object of another device")


# --- devices ---


class MTLDevice(_Object):
    def __init__(self, index: int) -> None:
        self._index = index
        self._arch = _setting("PLUGRAD_SIM_FAMILY", 1009)
        self._memory = _setting("PLUGRAD_SIM_MEMORY", 4 << 30)
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
            _refuse(f"this stand-in has shared memory only, not options {options}")
        if not 0 < nbytes <= self._memory:
            _refuse(f"a buffer of {nbytes} bytes, where maxBufferLength is {self._memory}")
        if self._used + nbytes > self._memory:
            return None
        address = _runtime.plugrad_alloc(nbytes)
        if address is None:
            return None
        self._used += nbytes
        return MTLBuffer(self, address, nbytes)

    def newLibraryWithSource_options_error_(self, source, options, error):
        _is_a(options, MTLCompileOptions, "newLibraryWithSource:options:error:")
        if options._is_fast:
            _complain("a kernel was compiled with fast math, which this stand-in does not imitate")
        compiled = _compile(str(source), options._version)
        if compiled.library is None:
            return None, NSError(f"program_source: compilation failed:\n{compiled.log}", 3)
        return MTLLibrary(self, str(source), compiled), None

    def newBinaryArchiveWithDescriptor_error_(self, descriptor, error):
        _is_a(descriptor, MTLBinaryArchiveDescriptor, "newBinaryArchiveWithDescriptor:error:")
        if not _setting("PLUGRAD_SIM_ARCHIVES", 1):
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
        _is_a(descriptor, MTLComputePipelineDescriptor, "newComputePipelineStateWithDescriptor:")
        function = descriptor._function
        if function._library._device is not self:
            _refuse("a pipeline of another device's function")
        if descriptor._refusal:
            return None, descriptor._refusal
        held = [f for archive in descriptor._archives for f in archive._fingerprints]
        if descriptor._archives and descriptor._fingerprint not in held:
            _complain(f"the archive does not hold {function.name()}")
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
        _is_a(descriptor, MTLIndirectCommandBufferDescriptor, "newIndirectCommandBufferWithDescriptor:")
        if descriptor._types != CONCURRENT_DISPATCH or options:
            _refuse("this stand-in has commands that launch threadgroups only, in shared memory")
        if descriptor._inherits_buffers or descriptor._inherits_state:
            _refuse("this stand-in has commands only that inherit nothing of the encoder")
        if not 0 < count <= MOST_COMMANDS:
            _refuse(f"an indirect command buffer of {count} commands, of up to {MOST_COMMANDS}")
        return MTLIndirectCommandBuffer(self, descriptor._most_buffers, count)


_devices = [MTLDevice(index) for index in range(_setting("PLUGRAD_SIM_DEVICES", 1))]


def MTLCopyAllDevices() -> list[MTLDevice]:
    return list(_devices)


@atexit.register
def _report() -> None:
    for device in _devices:
        left = sum(len(queue._committed) for queue in device._queues)
        if left:
            _complain(f"{left} command buffers were committed, and nobody waited for them")
