"""Load one plugin by itself: whatever goes wrong is recorded, and touches no other plugin."""

import importlib
import time

from plugrad._frozen import frozen
from plugrad.plugin.contracts import HookOptions, check_hooks, hook_options, implemented, wrapped
from plugrad.plugin.failures import PluginFailure, failure_of, remedy_for
from plugrad.plugin.source import ENTRY_POINT_GROUP, WRAPPER_GROUP, PluginSource


@frozen
class LoadedPlugin:
    """An imported plugin with checked hooks."""

    source: PluginSource
    module: object
    options: HookOptions
    hooks: frozenset[str]
    wraps: frozenset[str]
    import_seconds: float


def load_plugin(source: PluginSource) -> LoadedPlugin | PluginFailure:
    """Import a plugin and check its hooks; return the failure of one that is unusable."""
    start = time.perf_counter()
    try:
        module = _import(source.value)
        options = hook_options(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: a plugin may not end the process of its user
        return failure_of(source, "importing it raised", error)
    hooks, wraps = implemented(options), wrapped(options)
    wrong = check_hooks(module, options)
    if wrong is None and source.is_wrapper and hooks:
        names = ", ".join(sorted(hooks))
        wrong = (
            f"an entry point of {WRAPPER_GROUP} only wraps, and it implements {names}: name it after a "
            f"device, in {ENTRY_POINT_GROUP}"
        )
    if wrong is not None:
        return PluginFailure(source, wrong, remedy=remedy_for(source))
    return LoadedPlugin(source, module, options, hooks, wraps, time.perf_counter() - start)


def _import(value: str) -> object:
    module_name, _, attributes = value.partition(":")
    found: object = importlib.import_module(module_name.strip())
    for attribute in filter(None, attributes.split("[")[0].strip().split(".")):
        found = getattr(found, attribute)
    return found
