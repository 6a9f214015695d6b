"""Check that a plugin keeps the contract of `hookspecs`: names, versions and results.

Each returns a sentence that says what is wrong, or None. Interfaces are checked by what an object has, not by
what it derives from, so an author may write one from scratch.
"""

import inspect

import pluggy

from plugrad._util import did_you_mean
from plugrad.plugin.backend import BackendInfo, Probe
from plugrad.plugin.fields import show, type_mismatch
from plugrad.plugin.hookspecs import HOOK_NAMES, PROJECT, SPEC_VERSION
from plugrad.target import Capabilities
from plugrad.uop import Ops

_PREFIX = "plugrad_"

#: What the object that a hook returns is called in messages, and the names that it must have.
INTERFACES: dict[str, tuple[str, str]] = {
    "plugrad_allocator": (
        "an Allocator",
        "alloc free copyin copyout offset as_memoryview from_host synchronize free_cache",
    ),
    "plugrad_renderer": ("a Renderer", "render"),
    "plugrad_compiler": ("a Compiler", "compile compile_many disassemble"),
    "plugrad_runner": ("a Runner", "__call__"),
    "plugrad_graph": ("a Graph", "set_handle set_sizes __call__"),
}

HookOptions = dict[str, pluggy.HookimplOpts]


def hook_options(plugin: object) -> HookOptions:
    """Return the attributes of `plugin` that are marked as hooks, with their options."""
    manager = pluggy.PluginManager(PROJECT)
    options = ((name, manager.parse_hookimpl_opts(plugin, name)) for name in dir(plugin))
    return {name: opts for name, opts in options if opts is not None}


def implemented(options: HookOptions) -> frozenset[str]:
    """Return the names of the hooks that a plugin implements, whether or not they exist."""
    return frozenset(opts["specname"] or name for name, opts in options.items() if not _is_wrapper(opts))


def wrapped(options: HookOptions) -> frozenset[str]:
    """Return the names of the hooks that a plugin wraps, whether or not they exist."""
    return frozenset(opts["specname"] or name for name, opts in options.items() if _is_wrapper(opts))


def _is_wrapper(opts: pluggy.HookimplOpts) -> bool:
    return opts["wrapper"] or opts["hookwrapper"]


def check_hooks(plugin: object, options: HookOptions) -> str | None:
    """Return the fault of a plugin's hooks: unknown, not marked, or no callable wrapper."""
    hooks = implemented(options) | wrapped(options)
    unknown = sorted(hooks - HOOK_NAMES)
    if unknown:
        return (
            f"it implements {', '.join(unknown)}, which is no hook of spec {SPEC_VERSION}."
            f"{did_you_mean(unknown[0], HOOK_NAMES)}"
        )
    others = (name for name in dir(plugin) if name in HOOK_NAMES - hooks)
    unmarked = sorted(n for n in others if inspect.isroutine(inspect.getattr_static(plugin, n, None)))
    if unmarked:
        return f"{', '.join(unmarked)} is not marked with @hookimpl (from plugrad.plugin import hookimpl)"
    if not hooks:
        return f"it implements no hook: mark functions named {_PREFIX}... with @hookimpl"
    wrong = (_check_wrapper(plugin, name, opts) for name, opts in options.items() if _is_wrapper(opts))
    return next(filter(None, wrong), None)


def _check_wrapper(plugin: object, name: str, opts: pluggy.HookimplOpts) -> str | None:
    hook = opts["specname"] or name
    if opts["hookwrapper"]:
        return f"{name} is marked hookwrapper=True: mark it wrapper=True, and return what `yield` gave"
    if not inspect.isgeneratorfunction(getattr(plugin, name)):
        return f"{name} is marked wrapper=True and has no yield, which stands for the call of {hook}"
    if hook == "plugrad_backend_info":
        return f"{name} wraps plugrad_backend_info, which is asked before wrappers are there"
    return None


def check_spec_version(version: object) -> str | None:
    """Return the reason that spec `version` is incompatible with ours, if any."""
    theirs = _parse_version(version)
    ours = _parse_version(SPEC_VERSION)
    assert ours is not None, "our own spec version is MAJOR.MINOR"
    if theirs is None:
        return f"its spec_version {version!r} is not MAJOR.MINOR, such as {SPEC_VERSION!r}"
    if theirs[0] == ours[0] and theirs[1] <= ours[1]:
        return None
    newer = "plugrad-core" if theirs > ours else "the plugin"
    return f"it was written for spec {version}, this plugrad has {SPEC_VERSION}: upgrade {newer}"


def _parse_version(version: object) -> tuple[int, int] | None:
    parts = version.split(".") if isinstance(version, str) else []
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        return None
    return int(parts[0]), int(parts[1])


def check_result(hook: str, result: object) -> str | None:
    """Return the fault of a hook's `result`, or None; the caller judges a missing one."""
    if hook in _RECORDS:
        return _check_record(hook, result)
    expected, names = INTERFACES[hook]
    if isinstance(result, type):
        return f"{hook} must return {expected}, got the class {result.__name__}: call it"
    lacking = [name for name in names.split() if not callable(getattr(result, name, None))]
    if lacking:
        return f"{hook} must return {expected}, got {show(result)}, which has no {', '.join(lacking)}"
    if hook == "plugrad_renderer":
        capabilities = getattr(result, "capabilities", None)
        if not isinstance(capabilities, Capabilities):
            return f"{hook} must return a Renderer whose capabilities are Capabilities, got {show(result)}"
        wrong = type_mismatch(capabilities, Capabilities, "capabilities")
        unknown = sorted(capabilities.native_ops - Ops.__members__.keys()) if wrong is None else []
        if unknown:
            meant = did_you_mean(unknown[0], Ops.__members__)
            wrong = (
                f"capabilities.native_ops has {', '.join(unknown)}, not the name of one of the Ops.{meant}"
            )
        return f"plugrad_renderer: {wrong}" if wrong else None
    key = getattr(result, "cache_key", "")
    if hook == "plugrad_compiler" and (not isinstance(key, str) or not key):
        return (
            f"{hook} must return a Compiler whose cache_key names toolchain, version, architecture and "
            f"flags, got {key!r} from {show(result)}"
        )
    return None


def _check_record(hook: str, result: object) -> str | None:
    kind = _RECORDS[hook]
    if not isinstance(result, kind):
        return f"{hook} must return a {kind.__name__}, got {show(result)}"
    wrong = type_mismatch(result, kind, "")
    return f"{hook}: {wrong}" if wrong else None


_RECORDS: dict[str, type] = {"plugrad_backend_info": BackendInfo, "plugrad_probe": Probe}
