"""From a source in the Metal language to kernels: it is compiled as C++."""

import ctypes
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from Metal._values import MOST_THREADS

_INCLUDE = Path(__file__).parents[2] / "include"
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


@dataclass
class Parameter:
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
class Kernel:
    name: str
    most_threads: int
    parameters: list[Parameter]
    local_bytes: int
    record: int = 0

    @property
    def buffers(self) -> list[Parameter]:
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


def _kernels_of(source: str) -> list[Kernel]:
    local_bytes = sum(_BYTES.get(kind, 4) * int(count) for _, kind, _, count in _LOCAL.findall(source))
    found = []
    for threads, name, parameters in _KERNEL.findall(source):
        parsed = []
        for text in filter(None, (part.strip() for part in re.split(r",(?![^(]*\))", parameters))):
            match = _PARAMETER.match(text)
            if match is None or match[3] not in ("buffer", *_POSITIONS):
                raise SyntaxError(f"the parameter {text!r} has no attribute that this stand-in knows")
            parsed.append(Parameter(match[1], match[3], int(match[4] or 0)))
        found.append(Kernel(name, int(threads or MOST_THREADS), parsed, local_bytes))
    return found


def _as_cpp(source: str, kernels: list[Kernel]) -> str:
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
class Compiled:
    kernels: list[Kernel]
    log: str = ""
    library: ctypes.PyDLL | None = field(default=None, repr=False)


_compiled: dict[tuple[str, int], Compiled] = {}
_folder = tempfile.TemporaryDirectory(prefix="plugrad-metal-")


def compile_source(source: str, version: int) -> Compiled:
    known = _compiled.get((source, version))
    if known is None:
        known = _compiled[source, version] = _compile_new(source, version)
    return known


def _compile_new(source: str, version: int) -> Compiled:
    try:
        kernels = _kernels_of(source)
    except SyntaxError as error:
        return Compiled([], log=str(error))
    stem = Path(_folder.name) / str(len(_compiled))
    cpp, library = stem.with_suffix(".cpp"), stem.with_suffix(".so")
    cpp.write_text(_as_cpp(source, kernels))
    command = [
        *(os.environ["PLUGRAD_SIM_COMPILER"], "-std=c++14", "-O0", "-w", "-shared", "-fPIC"),
        *("-fvisibility=hidden", "-ffp-contract=off", "-fno-fast-math", "-fno-exceptions", "-fno-rtti"),
        *("-fsigned-char", f"-D__METAL_VERSION__={(version >> 16) * 100 + (version & 0xFFFF) * 10}"),
        *("-include", str(_INCLUDE / "metal_stdlib"), f"-I{_INCLUDE}"),
        # without libstdc++ and what programs start from: saves a third of the time. Halves that groups share
        # have a constructor, but one group runs at a time, so nothing of that library need guard them
        *("-nostdlib", "-fno-threadsafe-statics", str(cpp), "-o", str(library), "-lgcc"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return Compiled([], log=done.stderr.replace(str(cpp), "program_source"))
    loaded = ctypes.PyDLL(str(library))
    for kernel in kernels:
        kernel.record = ctypes.addressof(_Record.in_dll(loaded, f"plugrad_kernel_{kernel.name}"))
    return Compiled(kernels, library=loaded)
