"""The plugin of a mutant that loads a shared library when it is imported."""

import contextlib
import ctypes

from plugrad_conformance.mutants.hooks import MutantHooks
from plugrad_conformance.mutants.register import mutant_named

# of glibc, small, and nothing that Python loads by itself
for _name in ("libanl.so.1", "libnss_hesiod.so.2", "libBrokenLocale.so.1"):
    with contextlib.suppress(OSError):
        ctypes.CDLL(_name)

_hooks = MutantHooks(mutant_named("import-loads-a-driver"))
plugrad_backend_info = _hooks.plugrad_backend_info
plugrad_probe = _hooks.plugrad_probe
plugrad_allocator = _hooks.plugrad_allocator
plugrad_renderer = _hooks.plugrad_renderer
plugrad_compiler = _hooks.plugrad_compiler
plugrad_runner = _hooks.plugrad_runner
