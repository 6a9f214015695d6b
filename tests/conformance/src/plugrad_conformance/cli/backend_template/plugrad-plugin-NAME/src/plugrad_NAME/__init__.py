"""$DEVICE: C on the host, to be replaced by the device's memory, language and compiler."""

import ctypes
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plugrad.dtype import dtypes, is_unsigned
from plugrad.errors import CompileError, DeviceError
from plugrad.plugin import BackendInfo, Probe, ProbedDevice, hookimpl
from plugrad.renderer.cstyle import OPERATORS, CStyleRenderer
from plugrad.renderer.scope import Scope
from plugrad.runtime.allocator import LruAllocator
from plugrad.runtime.compiler import Compiler
from plugrad.runtime.program import Program
from plugrad.target import Capabilities, Target
from plugrad.uop import Ops, UOp

FLAGS = "-O2 -shared -fPIC -fwrapv -ffp-contract=off -include math.h -include stdbool.h -xc"
NUMBERS = frozenset(CStyleRenderer.type_names) - {dtypes.void, dtypes.float16, dtypes.bfloat16}
NATIVE_OPS = (*OPERATORS, Ops.NEG, Ops.RECIP, Ops.SQRT, Ops.TRUNC, Ops.MAX, Ops.WHERE)


class Memory(LruAllocator[Any]):  # a handle is an array of bytes
    def _alloc(self, nbytes: int) -> Any:
        return (ctypes.c_char * nbytes)()

    def copyin(self, handle: Any, source: memoryview) -> None:
        memoryview(handle).cast("B")[: source.nbytes] = source.cast("B")

    def copyout(self, dest: memoryview, handle: Any) -> None:
        dest.cast("B")[:] = memoryview(handle).cast("B")[: dest.nbytes]

    def offset(self, handle: Any, nbytes: int, offset_bytes: int) -> Any:
        return (ctypes.c_char * nbytes).from_buffer(handle, offset_bytes)


class Dialect(CStyleRenderer):  # where the language differs from the one that CStyleRenderer writes
    def assemble(self, scope: Scope, name: str) -> str:
        values = [f"bufs[{slot}]" for slot in scope.params]  # scalars follow, in the order of their names
        values += [f"vals[{i}]" for i in range(len(scope.variables))]
        arguments = [f"  {d} = {v};" for d, v in zip(self.parameters(scope), values, strict=True)]
        head = f"void {name}(void **bufs, const long long *vals) {{"
        return "\n".join((head, *arguments, *scope.lines, "}"))

    def bitcast(self, scope: Scope, u: UOp, value: str) -> str:
        to, source = self.type_name(scope, u.dtype), self.type_name(scope, u.src[0].dtype)
        name, union = f"{to}_of_{source}".replace(" ", "_"), f"union {{ {source} from; {to} to; }}"
        body = f"static inline {to} {name}({source} x) {{ return ({union}){{x}}.to; }}"
        return f"{scope.define(name, body)}({value})"

    def alu(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        if u.op not in (Ops.CDIV, Ops.CMOD):
            return super().alu(scope, u, args)
        a, b = args  # by 0 gives 0, and by -1 wraps: C would end the process
        minus = "" if is_unsigned(u.dtype) else f"{b} == -1 ? {f'-{a}' if u.op is Ops.CDIV else '0'} : "
        return self.narrow(scope, u, f"({b} == 0 ? 0 : {minus}{a} {OPERATORS[u.op]} {b})")


class HostCompiler(Compiler):
    def __init__(self, arch: str) -> None:
        version = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout
        self.cache_key = f"{arch} {version.splitlines()[0]} {FLAGS}"

    def compile(self, source: str, name: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            command = ["cc", *FLAGS.split(), "-", "-o", f"{folder}/kernel.so", "-lm"]
            done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
            if done.returncode:
                raise CompileError(f"cc refused {name}", source=source, log=done.stderr, command=command)
            return Path(folder, "kernel.so").read_bytes()


class HostRunner:
    def __init__(self, program: Program) -> None:
        try:
            with tempfile.NamedTemporaryFile(suffix=".so") as file:
                Path(file.name).write_bytes(program.lib)
                self._kernel = getattr(ctypes.CDLL(file.name), program.name)
        except (OSError, AttributeError) as error:
            raise DeviceError(f"{program.name} does not load: {error}", device="$DEVICE") from error

    def __call__(self, handles: Any, values: Any, groups: Any, items: Any, wait: bool = False) -> Any:
        buffers = (ctypes.c_void_p * len(handles))(*map(ctypes.addressof, handles))
        started = time.perf_counter()
        self._kernel(buffers, (ctypes.c_longlong * len(values))(*values))
        return time.perf_counter() - started if wait else None


@hookimpl
def plugrad_backend_info() -> BackendInfo:
    return BackendInfo("$DEVICE", spec_version="$spec", priority=1, summary="a new device")


@hookimpl
def plugrad_probe() -> Probe:
    if shutil.which("cc") is None:
        return Probe(reason="there is no cc on PATH", remedy="Install a C compiler.")
    return Probe((ProbedDevice(Target("$DEVICE", arch=platform.machine()), "C on the host"),))


@hookimpl
def plugrad_allocator(target: Target) -> Memory:
    return Memory()


@hookimpl
def plugrad_renderer(target: Target) -> Dialect:
    return Dialect(Capabilities(NUMBERS, NUMBERS, native_ops=frozenset(op.name for op in NATIVE_OPS)))


@hookimpl
def plugrad_compiler(target: Target) -> HostCompiler:
    return HostCompiler(target.arch)


@hookimpl
def plugrad_runner(target: Target, program: Program) -> HostRunner:
    return HostRunner(program)
