"""Find extensions by other distributions: modules of `plugrad` and commands.

Both are entry points, read when a name is asked for that plugrad itself does not have. Nothing is imported
before.
"""

from typing import Any

from plugrad._util import metadata
from plugrad.errors import PluginError

#: `name = "package"`: the package is an attribute of `plugrad` under this name
MODULES = "plugrad.modules"
#: `name = "package.module"`: `main(words)` of the module runs `plugrad name words`, and returns its status
COMMANDS = "plugrad.commands"


def extension_names(group: str) -> dict[str, str]:
    """Return the names in a group of entry points, each with its distribution.

    Example:
        >>> "onnx" in extension_names(MODULES)  # doctest: +SKIP
        True
    """
    found = metadata.entry_points(group=group)
    return {entry.name: entry.dist.name if entry.dist else "" for entry in found}


def load_extension(group: str, name: str) -> Any:
    """Return the module of an entry point, or None if no distribution has it.

    Raises:
        PluginError: the module cannot be imported.
    """
    for entry in metadata.entry_points(group=group, name=name):
        owner = f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""
        try:
            return entry.load()
        except Exception as error:
            raise PluginError(
                f"{name!r} of {owner or 'a distribution without a name'} cannot be imported: "
                f"{type(error).__name__}: {error}. Install it again, or remove it.",
                plugin=name,
                distribution=owner,
            ) from error
    return None
