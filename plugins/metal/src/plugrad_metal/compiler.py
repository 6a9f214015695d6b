"""Compile MSL to bytes for a runner: the source and the GPU's archive of it.

Metal's public interface gives no library as bytes. A binary archive holds what the second half of the
compilation makes; the first half, from source to a library, is done again when a kernel is loaded.
"""

import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plugrad.errors import CompileError, DeviceError
from plugrad.runtime.compiler import Compiler
from plugrad.target import Target
from plugrad_metal.binding import autorelease_pool, metal, text_of
from plugrad_metal.capabilities import can_replay, language_of
from plugrad_metal.context import Context, open_context

MAGIC = b"plugrad MSL 1\n"
_SAFE, _PRECISE = 0, 1  # enums MTLMathMode, MTLMathFloatingPointFunctions
_MATH_MODES_SINCE = (3, 2)


class MetalCompiler(Compiler):
    """Compiles with the system's compiler for one GPU."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.flags = compiler_flags(target)
        system = f"{platform.system()} {platform.release()}"
        indirect = "indirect" if can_replay(target) else ""
        self.cache_key = "|".join((system, target.get("device"), target.arch, indirect, *self.flags))

    def compile(self, source: str, name: str) -> bytes:
        """Return the image of one kernel: see `pack_image`.

        Raises:
            CompileError: the compiler refused; carries source, log and options.
            DeviceError: the source has no such kernel.
        """
        context = open_context(self.target)
        with autorelease_pool():
            function = function_of(context, source, name, self.flags)
            return pack_image(source, _archive(context, function))

    def disassemble(self, lib: bytes) -> str:
        """Return the source: Metal shows no machine code."""
        source, archive = unpack_image(lib)
        return f"{source}\n{len(archive)} bytes of the GPU's code, which Metal has no way to show\n"


def compiler_flags(target: Target) -> tuple[str, ...]:
    """Return the options of every compilation as a command line would have them."""
    return (f"-std=metal{'.'.join(map(str, language_of(target)))}", "-fno-fast-math")


def pack_image(source: str, archive: bytes) -> bytes:
    r"""Return the bytes for the cache: a magic number, the source's length, source, archive.

    Example:
        >>> unpack_image(pack_image("kernel void k() {}", b"code"))
        ('kernel void k() {}', b'code')
    """
    text = source.encode()
    return b"".join((MAGIC, len(text).to_bytes(8, "little"), text, archive))


def unpack_image(image: bytes) -> tuple[str, bytes]:
    """Return the source and the archive of an image.

    Raises:
        DeviceError: the bytes are none.
    """
    head = len(MAGIC) + 8
    nbytes = int.from_bytes(image[len(MAGIC) : head], "little")
    if not image.startswith(MAGIC) or len(image) < head + nbytes:
        raise DeviceError(
            f"{len(image)} bytes that begin with {image[:16]!r} are no kernel for Metal, or a part of one. "
            "Clear the cache of compiled kernels if they came from there.",
            device="METAL",
        )
    return image[head : head + nbytes].decode(), image[head + nbytes :]


def function_of(context: Context, source: str, name: str, flags: tuple[str, ...]) -> Any:
    """Return Metal's function of the kernel `name` in a source.

    Raises:
        CompileError: the compiler refused the source.
        DeviceError: the source has no such kernel.
    """
    context.check()
    options = compile_options(context.target)
    library, error = context.device.newLibraryWithSource_options_error_(source, options, None)
    if library is None:
        raise CompileError(
            f"{context.target.name} ({context.target.get('device')}) refused the kernel {name}",
            source=source,
            log=str(error.localizedDescription()),
            command=("newLibraryWithSource:options:error:", *flags),
        )
    function = library.newFunctionWithName_(name)
    if function is None:
        there = ", ".join(map(str, library.functionNames())) or "none"
        raise DeviceError(f"the source has no kernel {name!r}, only {there}", device=context.target.name)
    return function


def compile_options(target: Target) -> Any:
    """Return the options of every compilation: no liberties with floating point."""
    options = metal().MTLCompileOptions.alloc().init()
    version = language_of(target)
    options.setLanguageVersion_(version[0] << 16 | version[1])
    if version >= _MATH_MODES_SINCE:
        options.setMathMode_(_SAFE)
        options.setMathFloatingPointFunctions_(_PRECISE)
    else:
        options.setFastMathEnabled_(False)
    return options


def pipeline_of(context: Context, function: Any, archive: bytes) -> Any:
    """Return the pipeline of a function, from an archive if possible.

    Some functions cannot stand in indirect command buffers, and are refused where they are asked to: those
    are loaded without.

    Raises:
        DeviceError: the GPU does not take the kernel, or the archive is damaged.
    """
    make = context.device.newComputePipelineStateWithDescriptor_options_reflection_error_
    error: Any = None
    with tempfile.TemporaryDirectory(prefix="plugrad-") as folder:
        path = Path(folder) / "archive"
        path.write_bytes(archive)
        opened = [_open_archive(context, path)] if archive else []
        for descriptor in _descriptors(context.target, function):
            descriptor.setBinaryArchives_(opened)
            state, error = make(descriptor, 0, None, None)
            if state is not None:
                return state
    raise DeviceError(
        f"{context.target.name} does not load {function.name()}: {text_of(error)}",
        device=context.target.name,
    )


def _archive(context: Context, function: Any) -> bytes:
    """Return the GPU's code of a function, empty for GPUs without archives.

    Virtual ones keep none.
    """
    archive, _ = context.device.newBinaryArchiveWithDescriptor_error_(
        metal().MTLBinaryArchiveDescriptor.alloc().init(), None
    )
    if archive is None:
        return b""
    add = archive.addComputePipelineFunctionsWithDescriptor_error_
    added = any(add(descriptor, None)[0] for descriptor in _descriptors(context.target, function))
    with tempfile.TemporaryDirectory(prefix="plugrad-") as folder:
        path = Path(folder) / "archive"
        written, _ = archive.serializeToURL_error_(_url(path), None) if added else (False, None)
        return path.read_bytes() if written else b""


def _open_archive(context: Context, path: Path) -> Any:
    asked = metal().MTLBinaryArchiveDescriptor.alloc().init()
    asked.setUrl_(_url(path))
    archive, error = context.device.newBinaryArchiveWithDescriptor_error_(asked, None)
    if archive is None:
        raise DeviceError(
            f"{context.target.name} does not load an archive of {path.stat().st_size} bytes: "
            f"{text_of(error)}. Clear the cache of compiled kernels.",
            device=context.target.name,
        )
    return archive


def _descriptors(target: Target, function: Any) -> Iterator[Any]:
    """Yield the descriptors of a function: for indirect command buffers first, then without."""
    for is_indirect in (True, False) if can_replay(target) else (False,):
        descriptor = metal().MTLComputePipelineDescriptor.alloc().init()
        descriptor.setComputeFunction_(function)
        descriptor.setSupportIndirectCommandBuffers_(is_indirect)
        yield descriptor


def _url(path: Path) -> Any:
    return metal().NSURL.fileURLWithPath_(str(path))
