"""Connect backends: the hooks, the loader that isolates plugins, and the report on them.

A backend's author needs `hookspecs`, whose one page is the whole surface, and the names below.
"""

from plugrad.plugin.backend import BackendInfo, Probe, ProbedDevice
from plugrad.plugin.hookspecs import hookimpl

__all__ = ["BackendInfo", "Probe", "ProbedDevice", "hookimpl"]
