"""From LLVM's language to machine code, without starting a process."""

from dataclasses import astuple
from functools import cache
from typing import Any

from plugrad.errors import CompileError
from plugrad.runtime.compiler import Compiler
from plugrad_llvm.llvm import llvm
from plugrad_llvm.machine import Machine, this_machine

ABI_VERSION = 1  # of the functions that the renderer writes
# Kernels come unrolled and with vectors, so the short pipeline does, with the loop vectoriser for what was
# left scalar. Measured on 66 kernels: 21 ms each, at level 3 with everything 33 ms; none runs faster for it.
_SPEED_LEVEL = 1
_CODE_LEVEL = 2


class LlvmCompiler(Compiler):
    r"""LLVM, for the machine it runs on. What it makes is an object file.

    Example:
        >>> LlvmCompiler().compile("define void @k() {\n  ret void\n}", "k")[:4]
        b'\x7fELF'
    """

    def __init__(self) -> None:
        machine = this_machine()
        version = ".".join(map(str, llvm().llvm_version_info))
        levels = f"O{_SPEED_LEVEL}{_CODE_LEVEL}"
        self.cache_key = " ".join(
            (f"abi{ABI_VERSION} llvm{version} {levels}", *astuple(machine), machine.arch)
        )

    def compile(self, source: str, name: str) -> bytes:
        """Return the object file of one kernel.

        Raises:
            CompileError: LLVM does not accept the source; carries it with LLVM's words.
        """
        binding, machine = llvm(), target_machine(this_machine())
        try:
            module = binding.parse_assembly(source, binding.create_context())
            module.verify()
        except RuntimeError as error:
            raise CompileError(
                f"LLVM does not accept the kernel {name}: {error}", source=source, log=str(error)
            ) from error
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        tuning = binding.create_pipeline_tuning_options(speed_level=_SPEED_LEVEL)
        tuning.loop_vectorization = True
        tuning.loop_unrolling = tuning.loop_interleaving = tuning.slp_vectorization = False
        builder = binding.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
        return machine.emit_object(module)


@cache
def target_machine(machine: Machine) -> Any:
    """Return LLVM's code generator for `machine`."""
    target = llvm().Target.from_triple(machine.triple)
    return target.create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=_CODE_LEVEL, reloc="pic", codemodel="small"
    )
