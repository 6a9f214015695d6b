"""The plugin of a mutant whose import takes long."""

import time

from plugrad_conformance.mutants.hooks import MutantHooks
from plugrad_conformance.mutants.register import mutant_named

_end = time.process_time() + 0.1
while time.process_time() < _end:
    pass

_hooks = MutantHooks(mutant_named("import-is-slow"))
plugrad_backend_info = _hooks.plugrad_backend_info
plugrad_probe = _hooks.plugrad_probe
plugrad_allocator = _hooks.plugrad_allocator
plugrad_renderer = _hooks.plugrad_renderer
plugrad_compiler = _hooks.plugrad_compiler
plugrad_runner = _hooks.plugrad_runner
