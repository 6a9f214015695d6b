"""Find extensions by other distributions: modules of `plugrad` and commands.

Both are entry points, read when a name is asked for that plugrad itself does not have. Nothing is imported
before. A module that is an attribute of `plugrad` can be imported by that name as well.
"""

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
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


class _SameModule:
    """A loader that gives a module a second name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave the empty module to Python."""

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = self._module


def _same_module(name: str, module: ModuleType) -> ModuleSpec:
    # not a subclass of `Loader`, whose module takes time to import
    return ModuleSpec(name, _SameModule(module))  # pyright: ignore[reportArgumentType]


class ModuleFinder:
    """Finds the modules of a package that are its attributes only, for `from package.name import x`.

    It is asked last: what lies in the folder of the package is found before.
    """

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the module called `name`, or None where it is for others to find.

        Raises:
            ModuleNotFoundError: the package has no such attribute; says why.
        """
        package, _, attribute = name.rpartition(".")
        if package != self._package or attribute.startswith("_"):
            return None
        try:
            module = getattr(sys.modules[package], attribute)
        except AttributeError as error:
            if error.obj is not None:  # there is no more to say than what Python says itself
                return None
            # without a name, which `from package import name` would take for permission to say less
            raise ModuleNotFoundError(str(error)) from None
        if not isinstance(module, ModuleType) or module.__name__ == name:
            return None
        sys.meta_path.insert(0, _InsideFinder(name, module.__name__))
        return _same_module(name, module)


class _InsideFinder:
    """Finds what lies inside a module with a second name; nothing is imported twice."""

    def __init__(self, name: str, real_name: str) -> None:
        self._name = name
        self._real_name = real_name

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith(f"{self._name}."):
            return None
        module = importlib.import_module(self._real_name + name.removeprefix(self._name))
        return _same_module(name, module)
