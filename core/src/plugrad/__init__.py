"""A tensor compiler whose devices are plugins.

from plugrad import Tensor

(Tensor([1.0, 2.0]) + 1).tolist()
"""

import importlib
from typing import TYPE_CHECKING, Any

import plugrad.builtin as _builtin  # registers the devices that need no plugin
from plugrad._util import VERSION as __version__
from plugrad.device import Device
from plugrad.dtype import dtypes
from plugrad.settings import context
from plugrad.tensor import Tensor
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad import array_api, nn, transforms
    from plugrad.jit import TinyJit, jit

#: `Variable(name, lowest, highest)`: a symbolic size; `.bind(value)` gives it a value.
Variable = UOp.variable

__all__ = [
    "Device",
    "Tensor",
    "TinyJit",
    "Variable",
    "__version__",
    "array_api",
    "context",
    "dtypes",
    "jit",
    "nn",
    "transforms",
]

# Packages that are imported when they are asked for: many programs need none of them. `jit` can be called.
_LATER = ("array_api", "jit", "nn", "transforms")

del _builtin


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"plugrad.{name}")
    if name == "TinyJit":
        return importlib.import_module("plugrad.jit").TinyJit
    raise AttributeError(f"module 'plugrad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
