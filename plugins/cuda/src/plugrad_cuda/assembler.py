"""Assemble PTX by the driver, so that no assembler has to be installed."""

from plugrad.errors import CompileError
from plugrad.runtime.compiler import Compiler
from plugrad.target import Target
from plugrad_cuda.compiler import listing
from plugrad_cuda.context import open_context
from plugrad_cuda.native import ffi
from plugrad_cuda.ptx.renderer import BEHIND_ALIGNED

# Numbers of the driver API (enums CUjit_option and CUjitInputType).
_ERROR_LOG = 5
_ERROR_LOG_BYTES = 6
_PTX = 1
_LOG_BYTES = 16 << 10


class PtxAssembler(Compiler):
    """The driver's linker for the device of a target, opened at the first source.

    Args:
        target: the device; `driver` in its detail is the driver's CUDA version.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self.cache_key = f"PTX|{target.arch}|driver {target.get('driver')}"

    def compile(self, source: str, name: str) -> bytes:
        """Return the machine code that the driver loads.

        Raises:
            CompileError: the driver refused; carries source and log.
            DeviceError: the device cannot be opened.
        """
        return self._assemble(source.partition(BEHIND_ALIGNED)[0], name)

    def compile_unaligned(self, source: str, name: str) -> bytes:
        """Return the machine code for buffers that do not begin where vectors may."""
        return self._assemble(source.partition(BEHIND_ALIGNED)[2], name)

    def disassemble(self, lib: bytes) -> str:
        """Return machine code as text where the toolkit's nvdisasm is installed."""
        return listing(lib)

    def _assemble(self, text: str, name: str) -> bytes:
        context = open_context(self._target)
        library = context.driver.library
        log = ffi.new("char[]", _LOG_BYTES)
        # the link looks at these as long as it lives
        options = ffi.new("int[]", [_ERROR_LOG, _ERROR_LOG_BYTES])
        values = ffi.new("void *[]", [log, ffi.cast("void *", _LOG_BYTES)])
        with context.lock:
            context.enter()
            link = ffi.new("void **")
            context.check(library.cuLinkCreate_v2(2, options, values, link), f"assembling {name}")
            try:
                image, nbytes = ffi.new("void **"), ffi.new("size_t *")
                ptx = ffi.from_buffer(text.encode() + b"\0")
                status = library.cuLinkAddData_v2(
                    link[0], _PTX, ptx, len(ptx), name.encode(), 0, ffi.NULL, ffi.NULL
                ) or library.cuLinkComplete(link[0], image, nbytes)
                if not status:
                    return bytes(ffi.buffer(image[0], nbytes[0]))
            finally:
                library.cuLinkDestroy(link[0])
        raise CompileError(
            f"the driver did not accept the PTX of {name}: {context.driver.describe(status)}",
            source=text,
            log=bytes(ffi.string(log)).decode(errors="replace").strip(),
            command=("ptxas", f"-arch={self._target.arch}"),
        )
