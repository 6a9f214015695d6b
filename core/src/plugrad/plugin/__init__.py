"""How backends plug in: the hooks, the loader that keeps plugins apart, and the report of what it found.

A backend's author needs `hookspecs`, whose one page is the whole surface, and the names below.
"""

from plugrad.plugin.backend import BackendInfo, Probe, ProbedDevice
from plugrad.plugin.hookspecs import hookimpl

__all__ = ["BackendInfo", "Probe", "ProbedDevice", "hookimpl"]
