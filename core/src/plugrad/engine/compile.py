"""From kernel graphs to loaded kernels: from memory, the disk cache, or a compiler.

A kernel's identity is its canonical graph. With the target, its toolchain and the settings that change code,
it keys everything that follows, so a second process runs no codegen, and equal kernels of one model are
compiled once. The process keeps the `CACHE_KERNELS` that were used last.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from plugrad import events
from plugrad._frozen import field, frozen
from plugrad._util import VERSION, LazyModule, collector_paused, dataclasses, hashlib, pickle
from plugrad.codegen import __file__ as codegen_file
from plugrad.device import OpenDevice
from plugrad.engine import build
from plugrad.engine.compile_queue import Compiled, compile_queue
from plugrad.engine.schedule_cache import recipes
from plugrad.engine.sizes import families
from plugrad.progress import progress
from plugrad.renderer import __file__ as renderer_file
from plugrad.runtime.disk_cache import kernel_cache
from plugrad.runtime.lru_cache import LruCache
from plugrad.runtime.program import LaunchDims, Program
from plugrad.runtime.runner import Runner
from plugrad.settings import settings
from plugrad.target import Capabilities
from plugrad.uop import UOp
from plugrad.uop import __file__ as uop_file

if TYPE_CHECKING:
    from plugrad.codegen import lower as codegen
    from plugrad.codegen.opt.opt_ops import Opt
    from plugrad.engine.search import results as search_results
    from plugrad.engine.search import search
else:
    # most processes search for nothing
    search = LazyModule("plugrad.engine.search.search")
    search_results = LazyModule("plugrad.engine.search.results")


@frozen(eq=False)
class CompiledKernel:
    """A program and what launches it.

    Attributes:
        program: the program.
        runner: it, loaded.
        device: where.
        slots: the number of buffers that it is launched with. Codegen may find that the last are not needed.
        launch_dims: its launch dimensions; None where they depend on variables of the program that asks.
        values: of the variables that stand for sizes of the graph it was asked for.
    """

    program: Program
    runner: Runner
    device: OpenDevice
    slots: int
    launch_dims: LaunchDims | None
    values: Mapping[str, int] = field(default_factory=dict[str, int])


# DEBUG from which on the graph at each pass is shown, as with VIZ: a kernel from the disk went through none.
_SHOWS_PASSES = 5

_loaded: LruCache[tuple[OpenDevice, UOp, tuple[Opt, ...] | None, int], CompiledKernel] = LruCache()
# Kernels that serve other graphs as well, by the graph that was asked for.
_shared: LruCache[tuple[OpenDevice, UOp], CompiledKernel] = LruCache()


def compile_shared_kernels(device: OpenDevice, asts: Sequence[UOp]) -> list[CompiledKernel]:
    """Return kernels of `asts`, where one may serve several that differ in sizes.

    Which do depends on what this process has asked for, and not on what lies on disk: a program computes the
    same bits each time.
    """
    if not settings.SHARE_SIZES or settings.DETERMINISTIC or settings.NOOPT or settings.BEAM:
        return compile_kernels(device, asts)
    found: dict[UOp, CompiledKernel] = {}
    unknown: list[UOp] = []
    for ast in dict.fromkeys(asts):
        kernel = _shared.get((device, ast)) or _loaded.get((device, ast, None, settings.BEAM))
        if kernel is None:
            unknown.append(ast)
        else:
            found[ast] = kernel
    if unknown:
        instances = families.instances(device, unknown)
        kernels = compile_kernels(device, [graph for graph, _ in instances.values()])
        for (ast, (_, values)), kernel in zip(instances.items(), kernels, strict=True):
            found[ast] = bound = _bound(kernel, values)
            _shared.put((device, ast), bound, settings.CACHE_KERNELS)
    return [found[ast] for ast in asts]


def compile_kernels(
    device: OpenDevice, asts: Sequence[UOp], opts: tuple[Opt, ...] | None = None
) -> list[CompiledKernel]:
    """Return the kernels of `asts` for `device`, compiling missing ones in one go.

    Args:
        device: where they will run.
        asts: kernels as the scheduler makes them.
        opts: the optimisations of all of them; None leaves the choice to the settings.
    """
    opts = () if opts is None and settings.NOOPT else opts
    kernels: dict[UOp, CompiledKernel] = {}
    unknown: list[UOp] = []
    blobs: dict[bytes, bytes | None] = {}
    for ast in dict.fromkeys(asts):
        kernel = _loaded.get((device, ast, opts, settings.BEAM))
        if kernel is None:
            program = _from_disk(device, ast, opts, blobs)
            if program is None:
                unknown.append(ast)
                continue
            kernel = _load(device, ast, opts, program)
            _announce(device, program, 0.0, cached=True)
        kernels[ast] = kernel
    if unknown:
        kernels.update(zip(unknown, _compile(device, unknown, opts), strict=True))
    return [kernels[ast] for ast in asts]


def clear_loaded() -> None:
    """Forget the kernels of this process; the disk cache keeps them."""
    _loaded.clear()
    _shared.clear()
    families.clear_families()
    recipes.clear()


def _bound(kernel: CompiledKernel, values: Mapping[str, int]) -> CompiledKernel:
    if not values:
        return kernel
    program = kernel.program
    sizes = [size for size in (*program.global_size, *program.local_size) if isinstance(size, UOp)]
    is_fixed = all(variable.arg[0] in values for size in sizes for variable in size.variables())
    return dataclasses.replace(
        kernel, launch_dims=program.launch_dims(values) if is_fixed else None, values=values
    )


def _compile(device: OpenDevice, asts: Sequence[UOp], opts: tuple[Opt, ...] | None) -> list[CompiledKernel]:
    sources: list[tuple[codegen.Lowered, str]] = []
    kernels: list[CompiledKernel] = []

    def finish(compiled: Sequence[Compiled]) -> None:
        blobs = {lib: kernel_cache().put_blob(lib) for lib, _ in compiled}
        for lib, seconds in compiled:
            program = build.program(*sources[len(kernels)], lib)
            ast = asts[len(kernels)]
            _to_disk(device, ast, opts, program, blobs[lib])
            kernels.append(_load(device, ast, opts, program))
            _announce(device, program, seconds, cached=False)
            report(len(kernels))

    searches = opts is None and settings.BEAM > 0
    # between two kernels the collector would look through all nodes of the last one
    with (
        collector_paused(),
        progress("kernels", len(asts)) as report,
        compile_queue(device, len(asts)) as queue,
    ):
        for ast in asts:
            kernel = build.lower(device, ast, _searched(device, ast) if searches else opts)
            source = build.render(device, kernel)
            sources.append((kernel, source))
            finish(queue.put((kernel.name, source)))
        finish(queue.drain())
    return kernels


def _searched(device: OpenDevice, ast: UOp) -> tuple[Opt, ...]:
    """Return the fastest optimisations, from an earlier search where there was one."""
    results = search_results.search_results()
    # unlike kernels, lists stay good where sources of plugrad lie elsewhere, or were edited
    parts = (VERSION, repr(device.target), _stable(device.capabilities), device.compiler.cache_key)
    key = hashlib.sha256(repr((*parts, ast.key, settings.BEAM)).encode()).hexdigest()
    opts = results.get(key)
    if opts is None or not search.is_applicable(device, ast, opts):
        opts = search.search(device, ast, settings.BEAM)
        results.put(key, opts)
    return opts


def _load(device: OpenDevice, ast: UOp, opts: tuple[Opt, ...] | None, program: Program) -> CompiledKernel:
    slots = 1 + max((*program.outs, *program.ins))
    dims = program.launch_dims({}) if program.has_fixed_launch else None
    kernel = CompiledKernel(program, device.runner(program), device, slots, dims)
    _loaded.put((device, ast, opts, settings.BEAM), kernel, settings.CACHE_KERNELS)
    return kernel


def _announce(device: OpenDevice, program: Program, seconds: float, *, cached: bool) -> None:
    if not events.active:
        return
    events.emit(
        events.CompileEvent(
            program.name,
            device.name,
            program.source,
            len(program.lib),
            seconds,
            cached,
            program.opts,
            lambda: device.compiler.disassemble(program.lib),
        )
    )


def _to_disk(
    device: OpenDevice, ast: UOp, opts: tuple[Opt, ...] | None, program: Program, blob: bytes
) -> None:
    """Store `program`; its library is a blob, which kernels of one compiler run share."""
    payload = pickle.dumps((dataclasses.replace(program, lib=b""), blob))
    kernel_cache().put(_disk_key(device, ast, opts), payload)


def _from_disk(
    device: OpenDevice, ast: UOp, opts: tuple[Opt, ...] | None, blobs: dict[bytes, bytes | None]
) -> Program | None:
    """Return the stored program, or None. `blobs` keeps the blobs of earlier reads."""
    if settings.DEBUG >= _SHOWS_PASSES or settings.VIZ:
        return None
    payload = kernel_cache().get(_disk_key(device, ast, opts))
    if payload is None:
        return None
    try:
        program, blob = pickle.loads(payload)
    except (pickle.UnpicklingError, AttributeError, ImportError, EOFError, TypeError, ValueError):
        # an entry of another build of plugrad under the same version, as during its development
        return None
    if not isinstance(program, Program) or not isinstance(blob, bytes):
        return None
    if blob not in blobs:
        blobs[blob] = kernel_cache().get_blob(blob)
    lib = blobs[blob]
    return None if lib is None else dataclasses.replace(program, lib=lib)


def _disk_key(device: OpenDevice, ast: UOp, opts: tuple[Opt, ...] | None) -> bytes:
    return b"|".join((ast.key, _target_key(device), repr((opts, settings.BEAM)).encode()))


@cache
def _target_key(device: OpenDevice) -> bytes:
    """Name everything about a device that changes the code made for it."""
    parts = (VERSION, repr(device.target), _stable(device.capabilities), device.compiler.cache_key)
    makers = (type(device.renderer), type(device.compiler))
    shared = (codegen_file, renderer_file, uop_file)
    files = [*shared, *(sys.modules[maker.__module__].__file__ for maker in makers)]
    stamps = [_stamp(folder) for folder in dict.fromkeys(map(os.path.dirname, filter(None, files)))]
    return hashlib.sha256(repr((*parts, *makers, stamps)).encode()).digest()


def _stamp(package: str) -> list[tuple[str, int, int]]:
    """Return a digest of a package's sources: an edited pass invalidates old kernels."""
    files = (os.path.join(folder, name) for folder, _, names in os.walk(package) for name in names)
    sources = [(file, os.stat(file)) for file in sorted(files) if file.endswith(".py")]
    return [(file, info.st_size, info.st_mtime_ns) for file, info in sources]


def _stable(capabilities: Capabilities) -> str:
    """Write capabilities the same way in every process: sets have no order of their own."""

    def plain(value: Any) -> Any:
        return sorted(map(str, cast("frozenset[Any]", value))) if isinstance(value, frozenset) else value

    return repr([(f.name, plain(getattr(capabilities, f.name))) for f in dataclasses.fields(capabilities)])
