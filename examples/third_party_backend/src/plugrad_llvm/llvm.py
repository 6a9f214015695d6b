"""LLVM by llvmlite, imported when a hook first needs it, as it loads slowly."""

import importlib
from functools import cache
from types import ModuleType

from plugrad.errors import DeviceNotFound

NAME = "LLVM"
REMEDY = "pip install 'llvmlite>=0.50'"


@cache
def llvm() -> ModuleType:
    """Return `llvmlite.binding`, ready to compile for this machine.

    Raises:
        DeviceNotFound: it is not installed, or does not load.
    """
    try:
        binding = importlib.import_module("llvmlite.binding")
    except (ImportError, OSError) as error:
        raise DeviceNotFound(f"llvmlite cannot be imported: {error}. {REMEDY}", device=NAME) from error
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding
