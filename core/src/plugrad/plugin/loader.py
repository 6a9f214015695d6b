"""Load one plugin by itself: whatever goes wrong is recorded, and touches no other plugin."""

import importlib
import time

from plugrad._frozen import frozen
from plugrad._util import traceback
from plugrad.errors import PluginError
from plugrad.plugin.contracts import check_hooks, hooks_of
from plugrad.plugin.source import PluginFailure, PluginSource


@frozen
class LoadedPlugin:
    """A plugin that was imported and whose hooks exist.

    Attributes:
        source: where it comes from.
        module: the object whose functions are the hooks.
        hooks: the hooks it implements.
        import_seconds: how long importing it took.
    """

    source: PluginSource
    module: object
    hooks: frozenset[str]
    import_seconds: float


def load_plugin(source: PluginSource) -> LoadedPlugin | PluginFailure:
    """Import a plugin and check the names of its hooks; return why it cannot be used where it cannot."""
    start = time.perf_counter()
    try:
        module = _import(source.value)
        hooks = hooks_of(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: a plugin may not end the process of its user
        return failure_of(source, "importing it raised", error)
    wrong = check_hooks(module, hooks)
    if wrong is not None:
        return PluginFailure(source, wrong, remedy=remedy_for(source))
    return LoadedPlugin(source, module, hooks, time.perf_counter() - start)


def _import(value: str) -> object:
    module_name, _, attributes = value.partition(":")
    found: object = importlib.import_module(module_name.strip())
    for attribute in filter(None, attributes.split("[")[0].strip().split(".")):
        found = getattr(found, attribute)
    return found


def failure_of(source: PluginSource, doing: str, error: BaseException) -> PluginFailure:
    """Return the record of an exception in a plugin's code."""
    text = str(error).strip()
    reason = f"{doing} {type(error).__name__}" + (f": {text}" if text else "")
    return PluginFailure(source, reason, "".join(traceback.format_exception(error)), remedy_for(source))


def remedy_for(source: PluginSource) -> str:
    """Return what to do about a plugin that does not work."""
    return f"Upgrade or uninstall {source.distribution}; `plugrad devices --traceback` shows where."


class PluginRefused(PluginError):
    """A plugin cannot be used. A `PluginError` that carries its record.

    Attributes:
        failure: what went wrong, with the traceback.
    """

    def __init__(self, failure: PluginFailure) -> None:
        super().__init__(
            f"{failure.source} is not used: {failure.reason.rstrip('.')}. {failure.remedy}".rstrip(),
            plugin=failure.source.name.lower(),
            distribution=failure.source.owner,
        )
        self.failure = failure
