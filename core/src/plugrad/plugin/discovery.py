"""Find the entry points of backends in the distributions on `sys.path`.

The only module that imports `importlib.metadata`, which takes a third of the budget of `import plugrad`.
`manager` imports it by name when a device is first looked up that is not built in, and `explain`, which only
the command line uses, at once; nothing else may.
"""

import importlib.metadata

from plugrad.plugin.hookspecs import ENTRY_POINT_GROUP
from plugrad.plugin.source import PluginSource

UNKNOWN = "(unknown distribution)"


def find_sources() -> tuple[PluginSource, ...]:
    """Return the entry points of all backends, sorted; imports none of them."""
    found = {
        PluginSource(
            entry_point.name.upper(),
            entry_point.value,
            entry_point.dist.name if entry_point.dist else UNKNOWN,
            entry_point.dist.version if entry_point.dist else "",
        )
        for entry_point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
    }
    return tuple(sorted(found, key=lambda source: (source.name, source.distribution, source.value)))


def version_of(distribution: str) -> str:
    """Return the installed version of a distribution, or an empty string where it runs from a source tree."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""
