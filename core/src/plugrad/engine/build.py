"""Build a program from a kernel's graph: lowering, rendering, launch data."""

import time
from typing import TYPE_CHECKING, Any

from plugrad import events
from plugrad._util import LazyModule, collector_paused
from plugrad.device import OpenDevice
from plugrad.engine.plugin_errors import blaming_plugin, plugin_error
from plugrad.plugin.fields import show
from plugrad.runtime.program import Program
from plugrad.uop import UOp

if TYPE_CHECKING:
    from plugrad.codegen import lower as codegen
    from plugrad.codegen.opt.opt_ops import Opt
else:
    # a process that finds its kernels in the cache runs no codegen, and should not wait for its import
    codegen = LazyModule("plugrad.codegen.lower")


def lower(device: OpenDevice, ast: UOp, opts: "tuple[Opt, ...] | None") -> "codegen.Lowered":
    """Return a kernel's linear program; None leaves its optimisations to the heuristic."""
    started = time.perf_counter()
    with collector_paused():
        kernel = codegen.lower(ast, device.capabilities, opts, extra_rules(device))
    if events.active:
        seconds = time.perf_counter() - started
        events.emit(events.LowerEvent(kernel.name, device.name, ast, kernel.program, seconds))
    return kernel


def render(device: OpenDevice, kernel: "codegen.Lowered") -> str:
    """Return the source that the device's renderer writes.

    Raises:
        PluginError: the renderer failed, or returned no text.
    """
    with blaming_plugin(device, "plugrad_renderer", f"rendering {kernel.name}"):
        source: Any = device.renderer.render(kernel.program, kernel.name)
    if not isinstance(source, str):
        what = f"render must return a str, got {show(source)}"
        raise plugin_error(device, "plugrad_renderer", what, device.renderer)
    return source


def program(kernel: "codegen.Lowered", source: str, lib: bytes) -> Program:
    """Return the program of a compiled kernel."""
    return Program(
        name=kernel.name,
        source=source,
        lib=lib,
        global_size=kernel.global_size,
        local_size=kernel.local_size,
        threads=kernel.threads,
        variables=kernel.variables,
        outs=kernel.outs,
        ins=kernel.ins,
        estimates=kernel.estimates,
        opts=kernel.opts,
        axes=kernel.axes,
    )


def extra_rules(device: OpenDevice) -> Any:
    """Return the rules that a renderer adds to lowering, none where it lacks them."""
    return getattr(device.renderer, "extra_rules", None)
