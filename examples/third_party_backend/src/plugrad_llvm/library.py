"""Machine code in this process: a library an object file, freed with its kernel."""

import itertools
from functools import cache
from typing import Any

from plugrad.errors import DeviceError
from plugrad_llvm.compiler import target_machine
from plugrad_llvm.llvm import NAME, llvm
from plugrad_llvm.machine import this_machine

_numbers = itertools.count()


class Library:
    """One object file, linked.

    Args:
        data: what the compiler made.
        name: the function to find in it.

    Attributes:
        address: where that function is, as long as this object lives.

    Raises:
        DeviceError: it is no object file, or has no such function.
    """

    def __init__(self, data: bytes, name: str) -> None:
        builder = llvm().JITLibraryBuilder().add_object_img(data).add_current_process().export_symbol(name)
        try:
            self._tracker = builder.link(_linker(), f"{name}-{next(_numbers)}")
        except RuntimeError as error:
            raise DeviceError(
                f"cannot load the kernel {name} from {len(data)} bytes: {error}", device=NAME
            ) from error
        self.address: int = self._tracker[name]


@cache
def _linker() -> Any:
    return llvm().create_lljit_compiler(target_machine(this_machine()), suppress_errors=True)
