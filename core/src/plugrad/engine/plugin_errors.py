"""Name the plugin whose objects break their contract."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from plugrad._util import traceback
from plugrad.device import OpenDevice
from plugrad.errors import PluginError, PlugradError
from plugrad.plugin.source import PluginSource


def plugin_error(device: OpenDevice, hook: str, what: str, made: object) -> PluginError:
    """Return the error for the broken object `made` of `hook`, with its plugin."""
    return _error_of(_owner(device, [type(made).__module__]), hook, what)


def raise_plugin_error(device: OpenDevice, hook: str, doing: str, error: Exception) -> None:
    """Raise the error that names the plugin. Errors of plugrad's own say enough and pass.

    Raises:
        PluginError: with `error` as its cause.
    """
    if not isinstance(error, PlugradError):
        said = f"{type(error).__name__}: {error}"
        frames = traceback.walk_tb(error.__traceback__)
        modules = [str(frame.f_globals.get("__name__")) for frame, _ in frames]
        source = _owner(device, modules)
        raise _error_of(source, hook, f"{doing} raised {said.rstrip('.: ')}") from error


@contextmanager
def blaming_plugin(device: OpenDevice, hook: str, doing: str) -> Generator[None]:
    """Blame the plugin of a device for what is raised inside."""
    try:
        yield
    except Exception as error:
        raise_plugin_error(device, hook, doing, error)
        raise


def _owner(device: OpenDevice, modules: Sequence[str]) -> PluginSource:
    """Return the plugin that the last of `modules` belongs to; otherwise the device's own."""
    owners = {source.package: source for source in reversed(device.plugins)}
    named = (owners.get(module.partition(".")[0]) for module in reversed(modules))
    return next(filter(None, named), device.plugins[0])


def _error_of(source: PluginSource, hook: str, what: str) -> PluginError:
    return PluginError(
        f"{source}: of what {hook} gave, {what}. `plugrad devices` shows who implements which hook.",
        plugin=source.name.lower(),
        distribution=source.owner,
    )
