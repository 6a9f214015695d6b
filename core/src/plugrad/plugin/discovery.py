"""Find the entry points of backends in the distributions on `sys.path`.

Folders are read here, as `importlib.metadata` reads them: importing that brings sockets, archives and mail
along, which takes a tenth of the time to a first result. It is asked where something else than folders may
provide distributions: archives, eggs, import hooks.
"""

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder

from plugrad._util import metadata
from plugrad.plugin.source import ENTRY_POINT_GROUP, WRAPPER_GROUP, PluginSource

UNKNOWN = "(unknown distribution)"

_GROUPS = (ENTRY_POINT_GROUP, WRAPPER_GROUP)
_INFO_FOLDERS = (".dist-info", ".egg-info")
_UNREADABLE = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)


def find_sources() -> tuple[PluginSource, ...]:
    """Return the entry points of all backends and wrappers, sorted; imports none of them."""
    found = set(_from_folders() if _has_only_folders() else _from_everything())
    return tuple(sorted(found, key=lambda source: (source.name, source.distribution, source.value)))


def version_of(distribution: str) -> str:
    """Return the installed version of a distribution, or an empty string for a source tree."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _has_only_folders() -> bool:
    """Say whether all distributions that can be found are folders in folders."""
    hooks = [f for f in sys.meta_path if f is not PathFinder and hasattr(f, "find_distributions")]
    return not hooks and not any(path.lower().endswith(".egg") or os.path.isfile(path) for path in sys.path)


def _from_everything() -> Iterator[PluginSource]:
    for group in _GROUPS:
        for entry_point in metadata.entry_points(group=group):
            owner = (entry_point.dist.name, entry_point.dist.version) if entry_point.dist else (UNKNOWN, "")
            yield _source(group, entry_point.name, entry_point.value, owner)


def _from_folders() -> Iterator[PluginSource]:
    seen: set[str] = set()
    for path in sys.path:
        for child in _children(path or "."):
            stem, extension = os.path.splitext(child)
            if extension.lower() not in _INFO_FOLDERS:
                continue
            # of two distributions of one name, Python imports the one that comes first on its path
            distribution = re.sub(r"[-_.]+", "-", stem.partition("-")[0]).lower()
            if distribution not in seen:
                seen.add(distribution)
                yield from _entry_points(os.path.join(path, child))


def _children(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _entry_points(info: str) -> Iterator[PluginSource]:
    """Read the entry points of the distribution with the metadata folder `info`."""
    text = _read(os.path.join(info, "entry_points.txt"))
    if not any(group in text for group in _GROUPS):
        return
    headers = _headers(_read(os.path.join(info, "METADATA")) or _read(os.path.join(info, "PKG-INFO")))
    section = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, value = line.partition("=")
        if line.startswith("[") and line.endswith("]"):
            section = line.strip("[]")
        elif section in _GROUPS and equals and not line.startswith("#"):
            owner = headers.get("name", UNKNOWN), headers.get("version", "")
            yield _source(section, name, value, owner)


def _source(group: str, name: str, value: str, owner: tuple[str, str]) -> PluginSource:
    return PluginSource(name.strip().upper(), value.strip(), *owner, is_wrapper=group == WRAPPER_GROUP)


def _headers(text: str) -> dict[str, str]:
    """Return the fields before the description, by their names in lower case."""
    pairs = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _read(path: str) -> str:
    """Return the text of a file, or nothing where there is none."""
    with contextlib.suppress(*_UNREADABLE), open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""
