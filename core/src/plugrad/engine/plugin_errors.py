"""Say which plugin is to blame when what its hooks gave does not do what it should."""

from collections.abc import Generator
from contextlib import contextmanager

from plugrad.device import OpenDevice
from plugrad.errors import PluginError, PlugradError

__all__ = ["blaming_plugin", "plugin_error", "raise_plugin_error"]


def plugin_error(device: OpenDevice, hook: str, what: str) -> PluginError:
    """Return the error that what `hook` gave is broken, with its plugin and distribution."""
    info = device.info
    owner = f"{info.distribution} {info.version}".rstrip()
    return PluginError(
        f"plugin {info.name.lower()!r} ({owner}), or one that replaces a part of it: of what {hook} gave, "
        f"{what}. `plugrad devices` shows who implements which hook.",
        plugin=info.name.lower(),
        distribution=owner,
    )


def raise_plugin_error(device: OpenDevice, hook: str, doing: str, error: Exception) -> None:
    """Raise the error that names the plugin, unless `error` is one of plugrad's own: those say enough.

    Raises:
        PluginError: with `error` as its cause.
    """
    if not isinstance(error, PlugradError):
        said = f"{type(error).__name__}: {error}"
        raise plugin_error(device, hook, f"{doing} raised {said.rstrip('.: ')}") from error


@contextmanager
def blaming_plugin(device: OpenDevice, hook: str, doing: str) -> Generator[None]:
    """Blame the plugin of a device for what is raised inside."""
    try:
        yield
    except Exception as error:
        raise_plugin_error(device, hook, doing, error)
        raise
