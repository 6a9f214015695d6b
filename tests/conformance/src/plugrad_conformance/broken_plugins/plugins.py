"""The broken plugins, as data: the defect, its place, and its report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

#: Where a defect shows: when the plugin is loaded, in what it answers when asked for devices, when a device
#: opens, when a kernel is loaded; or it takes the process along, in which plugins are loaded and probed.
Shows = Literal["load", "probe", "allocator", "renderer", "compiler", "runner", "graph", "compute", "process"]

_PROBE = "    return Probe("
_ALLOCATOR = "def plugrad_allocator(target): return Memory()"


@dataclass(frozen=True, slots=True)
class BrokenPlugin:
    """One broken plugin.

    Attributes:
        name: in lower case with dashes.
        shows: where.
        says: parts of the report: the hook, what was expected and what came, where the defect has these.
        source: the whole module; None: the good backend's, with `changes`.
        changes: texts of the good backend, and what they become.
        device: the name of its entry point, where that is the defect.
        value: what the entry point imports, where that is the defect.
    """

    name: str
    shows: Shows
    says: tuple[str, ...]
    source: str | None = None
    changes: Mapping[str, str] = field(default_factory=dict[str, str])
    device: str = ""
    value: str = ""

    @property
    def entry_point(self) -> str:
        """The name of its device, in lower case."""
        return self.device or self.name.replace("-", "_")

    @property
    def distribution(self) -> str:
        """Return the name of its distribution."""
        return f"plugrad-broken-{self.name}"

    @property
    def module(self) -> str:
        """Its module."""
        return f"broken_{self.name.replace('-', '_')}"


def _changed(name: str, shows: Shows, old: str, new: str, *says: str) -> BrokenPlugin:
    return BrokenPlugin(name, shows, says, changes={old: new})


_IMPORTS = (
    BrokenPlugin(
        "import-error",
        "load",
        ("importing it raised ModuleNotFoundError", "no_such_module_at_all"),
        "import no_such_module_at_all",
    ),
    BrokenPlugin("syntax-error", "load", ("importing it raised SyntaxError",), "def (:"),
    BrokenPlugin("system-exit", "load", ("importing it raised SystemExit: 3",), "raise SystemExit(3)"),
    BrokenPlugin(
        "base-exception",
        "load",
        ("importing it raised Odd: odd",),
        "class Odd(BaseException): pass\nraise Odd('odd')",
    ),
    BrokenPlugin(
        "missing-module", "load", ("No module named 'broken_not_there'",), "", value="broken_not_there.plugin"
    ),
    BrokenPlugin(
        "missing-object", "load", ("no attribute 'nothing'",), "", value="broken_missing_object:nothing"
    ),
)
_HOOKS = (
    BrokenPlugin("no-hooks", "load", ("it implements no hook",), "x = 1"),
    BrokenPlugin(
        "not-marked", "load", ("plugrad_probe is not marked with @hookimpl",), "def plugrad_probe(): pass"
    ),
    BrokenPlugin(
        "unknown-hook",
        "load",
        ("plugrad_alocator, which is no hook of spec", "Did you mean 'plugrad_allocator'"),
        "from plugrad.plugin import hookimpl\n@hookimpl\ndef plugrad_alocator(target): pass",
    ),
    _changed(
        "other-arguments",
        "load",
        "def plugrad_allocator(target)",
        "def plugrad_allocator(device)",
        "plugrad_allocator",
        "'device'",
    ),
    _changed(
        "wrong-spec-major",
        "load",
        'spec_version="1.0"',
        'spec_version="2.0"',
        "written for spec 2.0, this plugrad has 1.",
        "upgrade plugrad-core",
    ),
    _changed(
        "no-spec-version",
        "load",
        'spec_version="1.0"',
        'spec_version="one"',
        "spec_version 'one' is not MAJOR.MINOR",
    ),
    BrokenPlugin("reserved-name", "load", ("NULL is the name of a built-in device",), device="null"),
    BrokenPlugin(
        "another-name",
        "load",
        ("its entry point is not named like its device ANOTHER_NAME",),
        device="misnamed",
    ),
)
_ANSWERS = (
    _changed(
        "info-is-a-dict",
        "load",
        "return BackendInfo(",
        "return dict(name=",
        "plugrad_backend_info must return a BackendInfo, got dict",
    ),
    _changed(
        "info-with-a-wrong-field",
        "load",
        "priority=50",
        "priority='high'",
        "plugrad_backend_info: priority is str 'high', not int",
    ),
    _changed(
        "probe-raises", "probe", _PROBE, f"    1 / 0\n{_PROBE}", "plugrad_probe raised ZeroDivisionError"
    ),
    _changed(
        "probe-returns-a-list",
        "probe",
        "return Probe(tuple(",
        "return list((",
        "plugrad_probe must return a Probe, got list",
    ),
    _changed(
        "probe-returns-nothing",
        "probe",
        _PROBE,
        f"    return None\n{_PROBE}",
        "plugrad_probe must return a Probe, got None",
    ),
    _changed(
        "probe-lists-strings",
        "probe",
        _PROBE,
        f"    return Probe(('a chip',))\n{_PROBE}",
        "plugrad_probe: devices[0] is str 'a chip', not ProbedDevice",
    ),
    _changed(
        "info-with-a-wrong-alias",
        "load",
        'aliases=("OTHER",)',
        "aliases=(1,)",
        "plugrad_backend_info: aliases[0] is int 1, not str",
    ),
    _changed(
        "probe-gives-a-reason-that-is-no-text",
        "probe",
        _PROBE,
        f"    return Probe(reason=5)\n{_PROBE}",
        "plugrad_probe: reason is int 5, not str",
    ),
    _changed(
        "device-without-a-target",
        "probe",
        'Target("DEVICE_WITHOUT_A_TARGET", i, "v1")',
        "'a target'",
        "plugrad_probe: devices[0].target is str 'a target', not Target",
    ),
    _changed(
        "device-with-an-index-that-is-a-word",
        "probe",
        'Target("DEVICE_WITH_AN_INDEX_THAT_IS_A_WORD", i, "v1")',
        'Target("DEVICE_WITH_AN_INDEX_THAT_IS_A_WORD", "first", "v1")',
        "plugrad_probe: devices[0].target.index is str 'first', not int",
    ),
    _changed(
        "claims-another-device",
        "probe",
        'Target("CLAIMS_ANOTHER_DEVICE", i, "v1")',
        'Target("CHIP", i, "v1")',
        "plugrad_probe gives a target of the device 'CHIP'",
        "plugrad_backend_info says 'CLAIMS_ANOTHER_DEVICE'",
    ),
    _changed(
        "counts-one-device-twice",
        "probe",
        'Target("COUNTS_ONE_DEVICE_TWICE", i, "v1")',
        'Target("COUNTS_ONE_DEVICE_TWICE", 1, "v1")',
        "plugrad_probe gives COUNTS_ONE_DEVICE_TWICE:1 twice",
    ),
    _changed(
        "claims-a-rank",
        "probe",
        'f"chip {i}"',
        'f"chip {i}", priority=50 + i',
        "plugrad_probe gives CLAIMS_A_RANK:1 the priority 51",
        "plugrad_backend_info says 50 at most",
    ),
    _changed(
        "allocator-raises",
        "allocator",
        "return Memory()",
        "raise KeyError('x')",
        "plugrad_allocator raised KeyError",
    ),
    _changed(
        "allocator-is-a-number",
        "allocator",
        "return Memory()",
        "return 5",
        "plugrad_allocator must return an Allocator, got int 5",
    ),
    _changed(
        "allocator-is-an-object",
        "allocator",
        "return Memory()",
        "return object()",
        "plugrad_allocator must return an Allocator, got object",
        "has no alloc, free, copyin, copyout, offset",
    ),
    _changed(
        "allocator-is-abstract",
        "allocator",
        "    def copyin(self, handle, source): handle[:] = source\n",
        "",
        "plugrad_allocator raised TypeError",
        "copyin",
    ),
    _changed(
        "claims-a-device",
        "allocator",
        _ALLOCATOR,
        _ALLOCATOR.replace("Memory()", "None"),
        "plugrad_allocator returned None for Target",
        "a device that its probe lists",
    ),
    _changed(
        "renderer-without-capabilities",
        "renderer",
        "return Text()",
        "t = Text(); t.capabilities = None; return t",
        "plugrad_renderer must return a Renderer whose capabilities are Capabilities",
        "got Text",
    ),
    _changed(
        "renderer-with-a-width-in-words",
        "renderer",
        "frozenset({dtypes.float32}))",
        "frozenset({dtypes.float32}), vector_bits='wide')",
        "plugrad_renderer: capabilities.vector_bits is str 'wide', not int",
    ),
    _changed(
        "claims-an-op",
        "renderer",
        "frozenset({dtypes.float32}))",
        "frozenset({dtypes.float32}), native_ops=frozenset({'FDIVIDE'}))",
        "plugrad_renderer: capabilities.native_ops has FDIVIDE",
        "Did you mean 'FDIV'",
    ),
    _changed(
        "compiler-without-a-key",
        "compiler",
        '"bytes-1"',
        '""',
        "plugrad_compiler must return a Compiler whose cache_key names toolchain",
        "got ''",
    ),
    _changed(
        "runner-is-a-string",
        "runner",
        "return launch",
        "return 'launch'",
        "plugrad_runner must return a Runner, got str 'launch'",
    ),
    _changed(
        "graph-is-a-number",
        "graph",
        f"@hookimpl\n{_ALLOCATOR}",
        f"@hookimpl\ndef plugrad_graph(target, launches): return 5\n\n@hookimpl\n{_ALLOCATOR}",
        "plugrad_graph must return a Graph, got int 5",
    ),
    _changed(
        "claims-to-compute",
        "compute",
        "@hookimpl\ndef plugrad_runner(target, program): return launch\n",
        "",
        "a device that computes also needs plugrad_runner",
    ),
)
_PROCESSES = (
    BrokenPlugin(
        "crashes-when-imported",
        "process",
        ("crashed the process: SIGSEGV",),
        "import ctypes; ctypes.string_at(0)",
    ),
    _changed(
        "crashes-when-probed",
        "process",
        _PROBE,
        f"    import ctypes; ctypes.string_at(0)\n{_PROBE}",
        "crashed the process: SIGSEGV",
    ),
    _changed(
        "ends-the-process",
        "process",
        _PROBE,
        f"    import os; os._exit(3)\n{_PROBE}",
        "ended the process with status 3",
    ),
    _changed(
        "leaves-in-silence",
        "process",
        _PROBE,
        f"    import os; os._exit(0)\n{_PROBE}",
        "ended the process before it answered",
    ),
    _changed(
        "hangs", "process", _PROBE, f"    import time; time.sleep(600)\n{_PROBE}", "did not answer within"
    ),
)

#: All of them by name. `PluginSite` makes two more: rivals for one name, and one that is slow to import.
BROKEN = {broken.name: broken for broken in (*_IMPORTS, *_HOOKS, *_ANSWERS, *_PROCESSES)}
