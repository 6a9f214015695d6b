"""Connect backends: the hooks, the loader that isolates plugins, and the report on them.

A backend's author needs `hookspecs`, whose one page is the whole surface, and the names below.
"""

import importlib
from typing import TYPE_CHECKING, Any

from plugrad.plugin.backend import BackendInfo, Probe, ProbedDevice

if TYPE_CHECKING:
    from plugrad.plugin.hookspecs import hookimpl

__all__ = ["BackendInfo", "Probe", "ProbedDevice", "hookimpl"]


def __getattr__(name: str) -> Any:
    # with it comes pluggy, which nobody needs who opens no device
    if name == "hookimpl":
        return importlib.import_module("plugrad.plugin.hookspecs").hookimpl
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
