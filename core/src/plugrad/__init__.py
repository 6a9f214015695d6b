"""A tensor compiler whose devices are plugins.

from plugrad import Tensor

(Tensor([1.0, 2.0]) + 1).tolist()
"""

import importlib
import sys as _sys
from typing import TYPE_CHECKING, Any

import plugrad.builtin as _builtin  # registers the devices that need no plugin
from plugrad._util import VERSION as __version__
from plugrad.device import Device
from plugrad.dtype import dtypes
from plugrad.extensions import MODULES as _MODULES
from plugrad.extensions import ModuleFinder as _ModuleFinder
from plugrad.extensions import load_extension as _load_extension
from plugrad.plugin.hints import ADDED_MODULES as _ADDED_MODULES
from plugrad.settings import context
from plugrad.tensor import Tensor
from plugrad.tensor.migration_hints import missing_name as _missing_name
from plugrad.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite

if TYPE_CHECKING:
    from plugrad import array_api, helpers, nn, transforms
    from plugrad.helpers import Context, GlobalCounters, getenv
    from plugrad.jit import TinyJit, jit
    from plugrad.nn.state import load, save
    from plugrad.observe.memory import memory
    from plugrad.transforms import function

#: `Variable(name, lowest, highest)`: a symbolic size; `.bind(value)` gives it a value.
Variable = UOp.variable

# Functions that PyTorch and NumPy have at the top.
arange = Tensor.arange
cat = Tensor.cat
einsum = Tensor.einsum
empty = Tensor.empty
empty_like = Tensor.empty_like
eye = Tensor.eye
full = Tensor.full
full_like = Tensor.full_like
linspace = Tensor.linspace
manual_seed = Tensor.manual_seed
meshgrid = Tensor.meshgrid
no_grad = Tensor.no_grad
ones = Tensor.ones
ones_like = Tensor.ones_like
rand = Tensor.rand
rand_like = Tensor.rand_like
randint = Tensor.randint
randn = Tensor.randn
randn_like = Tensor.randn_like
randperm = Tensor.randperm
stack = Tensor.stack
where = Tensor.where
zeros = Tensor.zeros
zeros_like = Tensor.zeros_like

__all__ = [
    "Context",
    "Device",
    "GlobalCounters",
    "Ops",
    "PatternMatcher",
    "Tensor",
    "TinyJit",
    "UOp",
    "UPat",
    "Variable",
    "__version__",
    "arange",
    "array_api",
    "cat",
    "context",
    "dtypes",
    "einsum",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "function",
    "getenv",
    "graph_rewrite",
    "helpers",
    "jit",
    "linspace",
    "load",
    "manual_seed",
    "memory",
    "meshgrid",
    "nn",
    "no_grad",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "save",
    "stack",
    "transforms",
    "where",
    "zeros",
    "zeros_like",
]

# Packages that are imported when they are asked for: many programs need none of them. `jit` can be called.
_LATER = ("array_api", "helpers", "jit", "nn", "transforms")
# names of these, which programs for tinygrad or PyTorch have here
_NAMES = {
    "Context": "helpers",
    "GlobalCounters": "helpers",
    "TinyJit": "jit",
    "function": "transforms",
    "getenv": "helpers",
    "load": "nn.state",
    "memory": "observe.memory",
    "save": "nn.state",
}

_sys.meta_path.append(_ModuleFinder(__name__))

del _builtin


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"plugrad.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(f"plugrad.{_NAMES[name]}"), name)
    if not name.startswith("_") and (module := _load_extension(_MODULES, name)):
        return module
    if program := _ADDED_MODULES.get(name):
        hint = f"it comes with {program.requirement}. Install it: {program.install_line}"
        raise AttributeError(f"module 'plugrad' has no attribute {name!r}: {hint}", name=name)
    raise _missing_name(__name__, name, Tensor)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
