"""The plugin without a device: effects of its import, promises of hooks, rendered sources."""

import functools
import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from plugrad.codegen.lower import lower
from plugrad.dtype import dtypes
from plugrad.errors import CompileError
from plugrad.plugin.contracts import check_result, check_spec_version
from plugrad.plugin.hookspecs import HOOK_NAMES
from plugrad.target import Capabilities
from plugrad.uop import AxisType, KernelInfo, Ops, UOp
from plugrad.uop.ops import UPDATING
from plugrad_conformance.case import Case
from plugrad_conformance.fragments import faults_of
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.facts import IMPORT_SECONDS, PROBE_SECONDS

GARBAGE = "this is no program in any language @@ {{{"


def sample_kernels(capabilities: Capabilities) -> list[tuple[str, Sequence[UOp]]]:
    """Return a few lowered kernels that every device can run: elementwise, a reduction, integers."""
    return [(k.name, k.program) for k in (lower(ast, capabilities) for ast in _asts())]


def _asts() -> list[UOp]:
    n, m = 24, 10
    f32, i32 = dtypes.float32, dtypes.int32
    i = UOp.range(n, (0,), AxisType.LOOP)
    j = UOp.range(m, (1,), AxisType.REDUCE)

    def param(slot: int, dtype: Any, numel: int) -> UOp:
        return UOp(Ops.PARAM, dtype, (), (slot, numel))

    a, b = (param(slot, f32, n).index(i).load() for slot in (1, 2))
    add = param(0, f32, n).index(i).store(a * 2.0 + b, i)
    rows = param(1, f32, n * m).index(i * m + j).load()
    total = param(0, f32, n).index(i).store(rows.reduce(Ops.ADD, j), i)
    k = param(1, i32, n).index(i).load()
    ints = param(0, i32, n).index(i).store((k // 7) ^ (k * 3), i)
    return [
        UOp.sink(store, arg=KernelInfo(f"sample_{name}"))
        for name, store in (("add", add), ("sum", total), ("ints", ints))
    ]


def _renderer(bench: Bench) -> Any:
    return bench.facts.backend.renderer(bench.facts.target)


def _compiler(bench: Bench) -> Any:
    return bench.facts.backend.compiler(bench.facts.target)


def sources_of(renderer: Any) -> list[tuple[str, str]]:
    """Return (name, source) of the sample kernels."""
    return [(name, renderer.render(program, name)) for name, program in sample_kernels(renderer.capabilities)]


def import_is_quick(bench: Bench) -> str:
    """Importing the plugin's module takes less than 50 ms of the processor."""
    seconds = bench.facts.watched.importing["cpu_seconds"]
    assert seconds < IMPORT_SECONDS, (
        f"importing {bench.facts.source.value} takes {seconds * 1e3:.0f} ms, and may take "
        f"{IMPORT_SECONDS * 1e3:.0f}: import what is heavy in the hook that needs it"
    )
    return f"{seconds * 1e3:.1f} ms"


def import_opens_nothing(bench: Bench) -> None:
    """Importing the plugin's module loads no driver, starts no thread and opens no device file."""
    seen = bench.facts.watched.importing
    assert not seen["libraries"], f"importing it loads {', '.join(seen['libraries'])}: load drivers in a hook"
    _same_state(seen, "importing it")


def probe_is_quick(bench: Bench) -> str:
    """Probing takes less than a second."""
    probe = bench.facts.watched.probing
    assert not probe["failure"], f"plugrad_probe raised {probe['failure']}"
    assert probe["seconds"] < PROBE_SECONDS, (
        f"plugrad_probe takes {probe['seconds']:.2f} s, and may take {PROBE_SECONDS:g}"
    )
    return f"{probe['seconds'] * 1e3:.0f} ms"


def probe_opens_nothing(bench: Bench) -> None:
    """Probing opens no context: it starts no thread, leaves no process."""
    _same_state(bench.facts.watched.probing, "plugrad_probe")


def probe_explains(bench: Bench) -> None:
    """A probe that finds no device says why, and what would help."""
    probe = bench.facts.watched.probing
    explained = probe["reason"] and probe["remedy"]
    assert probe["devices"] or explained, "plugrad_probe found no device: it must give reason and remedy"


def probe_lists_each_device_once(bench: Bench) -> str:
    """Devices are this backend's, each with its own index, none above the backend's rank."""
    backend = bench.facts.backend
    targets = [device.target for device in backend.probe().devices]
    names = [target.name for target in targets]
    assert len(set(names)) == len(names), f"plugrad_probe lists a device twice: {', '.join(names)}"
    foreign = [target.name for target in targets if target.device != backend.info.name]
    assert not foreign, f"plugrad_probe lists {', '.join(foreign)}, which is no device of {backend.info.name}"
    highest = backend.info.priority
    ranks = [highest if d.priority is None else d.priority for d in backend.probe().devices]
    assert max(ranks, default=highest) <= highest, f"a device ranks {max(ranks)}, its backend {highest}"
    return f"ranks {', '.join(map(str, ranks))}" if ranks else "no device"


def _same_state(seen: dict[str, Any], what: str) -> None:
    before, after = seen["before"], seen["after"]
    started = after["threads"] - before["threads"]
    assert started <= 0, f"{what} starts {started} threads: open the device in plugrad_allocator"
    assert not set(after["children"]) - set(before["children"]), f"{what} leaves a process running"
    opened = set(after["devices"]) - set(before["devices"])
    assert not opened, f"{what} leaves {', '.join(sorted(opened))} open"


def hooks_are_known(bench: Bench) -> str:
    """The module implements hooks of the specification, and the required ones."""
    hooks = bench.facts.loaded.hooks
    assert hooks <= HOOK_NAMES, f"no hook of the specification: {sorted(hooks - HOOK_NAMES)}"
    missing = {"plugrad_backend_info", "plugrad_probe", "plugrad_allocator"} - hooks
    assert not missing, f"every backend needs {sorted(missing)}"
    return f"{len(hooks)} hooks"


def info_is_pure_data(bench: Bench) -> None:
    """plugrad_backend_info says the same each time, can be pickled, and names its entry point."""
    module: Any = bench.facts.loaded.module
    first, second = module.plugrad_backend_info(), module.plugrad_backend_info()
    assert first == second == pickle.loads(pickle.dumps(first)), f"it says {first}, and then {second}"
    assert first.name.upper() == bench.facts.backend_name, (
        f"the entry point is {bench.facts.backend_name}, it is {first.name}"
    )
    wrong = check_spec_version(first.spec_version)
    assert wrong is None, wrong


def hook_results_fulfil_protocols(bench: Bench) -> None:
    """The results of the hooks have every member that the specification asks for."""
    backend, target = bench.facts.backend, bench.facts.target
    for hook, result in (
        ("plugrad_probe", backend.probe()),
        ("plugrad_renderer", backend.renderer(target)),
        ("plugrad_compiler", backend.compiler(target)),
    ):
        wrong = check_result(hook, result)
        assert wrong is None, wrong


def capabilities_are_consistent(bench: Bench) -> None:
    """The declared capabilities fit each other, and hold what every device needs."""
    c = _renderer(bench).capabilities
    assert hash(c) == hash(pickle.loads(pickle.dumps(c))), "capabilities are frozen data that pickles"
    needed = {dtypes.bool, dtypes.int32, dtypes.float32}
    assert needed <= c.storage_dtypes, (
        f"every device stores {sorted(d.name for d in needed - c.storage_dtypes)} too"
    )
    assert c.compute_dtypes <= c.storage_dtypes, "it computes in dtypes that it cannot store"
    assert len(c.max_grid) >= c.grid_dims, (
        f"max_grid {c.max_grid} has no limit for each of {c.grid_dims} dimensions"
    )
    assert not c.max_workgroup or c.max_workgroup_dims, "workgroups need max_workgroup_dims"
    if c.grid_dims:
        assert c.compute_units >= 1, f"a grid runs on compute units, and there are {c.compute_units}"
        assert c.warp_size >= 1, f"work-items run in step, one at least: not {c.warp_size}"
        assert c.thread_registers <= c.unit_registers, (
            f"a work-item may have {c.thread_registers} registers, and its unit has {c.unit_registers}"
        )
        assert not c.unit_memory_bytes or c.unit_memory_bytes >= c.local_memory_bytes, (
            f"a group may have {c.local_memory_bytes} bytes, and its unit has {c.unit_memory_bytes}"
        )
    assert c.memory_bandwidth >= 0, f"memory moves {c.memory_bandwidth} bytes a second; 0 is not known"
    rates = [dtype.name for dtype, _ in c.flop_rates]
    assert rates == sorted(set(rates)), f"flop_rates name {rates}: each dtype once, by name"
    assert all(rate > 0 for _, rate in c.flop_rates), f"leave out what is not known of {c.flop_rates}"
    unknown = [op for op in c.native_ops if op not in Ops.__members__]
    assert not unknown, f"native_ops names no ops: {unknown}"
    updating = {op.name for op in UPDATING}
    wrong = [(op, d.name) for op, d in c.atomic_ops if op not in updating or d not in c.compute_dtypes]
    assert not wrong, f"atomic_ops has {wrong}: each is one of {sorted(updating)} of a dtype it computes in"


def tensor_cores_hold_whole_tiles(bench: Bench) -> str:
    """The threads of a matrix instruction hold each element of the matrices exactly once."""
    capabilities = _renderer(bench).capabilities
    faults = faults_of(capabilities)
    assert not faults, "; ".join(faults)
    return f"{len(capabilities.tensor_cores)} instructions"


def renderer_pickles(bench: Bench) -> None:
    """A renderer that went through pickle renders the same text."""
    renderer = _renderer(bench)
    assert sources_of(pickle.loads(pickle.dumps(renderer))) == sources_of(renderer), (
        "the copy renders another text"
    )


_RENDER = """
import hashlib, sys
{setup}
from plugrad_conformance.cases.contract import sources_of
from plugrad_conformance.harness.facts import PluginFacts
facts = PluginFacts(sys.argv[1])
print(hashlib.sha256(repr(sources_of(facts.backend.renderer(facts.target))).encode()).hexdigest())
"""


def rendering_is_deterministic(bench: Bench) -> str:
    """The same kernels give the same text in another process, with another hash seed."""
    here = hashlib.sha256(repr(sources_of(_renderer(bench))).encode()).hexdigest()
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "4711",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    script = _RENDER.format(setup=bench.facts.setup)
    command = [sys.executable, "-c", script, bench.facts.backend_name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert done.returncode == 0, f"rendering in another process failed: {done.stderr[-1000:]}"
    there = done.stdout.split()[-1]
    assert there == here, "another process renders another text: iterate over sorted sets, name by position"
    return f"sources {here[:12]}"


def sources_compile(bench: Bench) -> str:
    """The compiler accepts what the renderer writes."""
    units = sources_of(_renderer(bench))
    libs = _compiler(bench).compile_many(units)
    assert len(libs) == len(units), f"compile_many returned {len(libs)} binaries of {len(units)} sources"
    assert all(isinstance(lib, bytes) and lib for lib in libs), "a binary is bytes, and not empty"
    return f"{sum(map(len, libs))} bytes"


def compile_error_is_typed(bench: Bench) -> None:
    """An invalid source raises CompileError, alone and among others, with the source inside."""
    compiler = _compiler(bench)
    good = sources_of(_renderer(bench))[0]
    for what, attempt in (
        ("compile", lambda: compiler.compile(GARBAGE, "garbage")),
        ("compile_many", lambda: compiler.compile_many([good, ("garbage", GARBAGE)])),
    ):
        raised = _compile_error_of(attempt)
        assert raised is not None, f"{what} of nonsense raised no CompileError"
        assert raised.source or raised.log, f"{what}: the CompileError carries neither source nor log"


def _compile_error_of(attempt: Callable[[], object]) -> CompileError | None:
    try:
        attempt()
    except CompileError as error:
        return error
    return None


def cache_key_names_the_architecture(bench: Bench) -> str:
    """Compiler.cache_key is stable, and names the architecture it compiles for."""
    compiler, target = _compiler(bench), bench.facts.target
    assert compiler.cache_key == _compiler(bench).cache_key, "two compilers of one target have different keys"
    assert target.arch.lower() in compiler.cache_key.lower(), (
        f"cache_key {compiler.cache_key!r} does not name the architecture {target.arch!r}: another machine "
        "would take binaries made for this one"
    )
    return compiler.cache_key[:60]


def every_binary_has_its_own_kernel(bench: Bench) -> None:
    """Sources that differ in dtypes only give binaries that differ."""
    renderer, compiler = _renderer(bench), _compiler(bench)
    units: list[tuple[str, str]] = []
    for dtype in (dtypes.float32, dtypes.int32):
        i = UOp.range(8, (0,), AxisType.LOOP)
        out, a, b = (UOp(Ops.PARAM, dtype, (), (slot, 8)).index(i) for slot in range(3))
        ast = UOp.sink(out.store(a.load() + b.load(), i), arg=KernelInfo("both"))
        units.append(("both", renderer.render(lower(ast, renderer.capabilities).program, "both")))
    libs = [compiler.compile(source, name) for name, source in units]
    assert units[0][1] != units[1][1], "kernels of float32 and int32 render the same text"
    assert libs[0] != libs[1], "kernels of float32 and int32 give the same binary"


_TESTS: tuple[Callable[[Bench], str | None], ...] = (
    import_is_quick,
    import_opens_nothing,
    probe_is_quick,
    probe_opens_nothing,
    probe_explains,
    probe_lists_each_device_once,
    hooks_are_known,
    info_is_pure_data,
    hook_results_fulfil_protocols,
    capabilities_are_consistent,
    tensor_cores_hold_whole_tiles,
    renderer_pickles,
    rendering_is_deterministic,
    sources_compile,
    compile_error_is_typed,
    cache_key_names_the_architecture,
    every_binary_has_its_own_kernel,
)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", "").replace("_", "-")


CASES = tuple(
    Case(f"contract/plugin/{_name(test)}", run=functools.partial(test), layer="plugin") for test in _TESTS
)
