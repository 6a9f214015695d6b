"""Identify the entry point of a plugin: plain data."""

from plugrad._frozen import frozen

#: The groups of the entry points of backends, and of wrappers.
ENTRY_POINT_GROUP = "plugrad.backends"
WRAPPER_GROUP = "plugrad.wrappers"


@frozen
class PluginSource:
    """One entry point.

    Attributes:
        name: the device it is for (or an alias), in upper case; of a wrapper, its own name.
        value: what to import, as `package.module` or `package.module:object`.
        distribution: the distribution that brings it.
        version: the distribution's version.
        is_builtin: whether it is part of the core.
        is_wrapper: whether it wraps the hooks of every device.
    """

    name: str
    value: str
    distribution: str
    version: str = ""
    is_builtin: bool = False
    is_wrapper: bool = False

    def __str__(self) -> str:
        kind = "wrapper" if self.is_wrapper else "plugin"
        return f"{kind} {self.name.lower()!r} ({self.value} of {self.owner})"

    @property
    def package(self) -> str:
        """The top-level package that its code is in."""
        return self.value.partition(":")[0].partition(".")[0].strip()

    @property
    def owner(self) -> str:
        """Distribution and version, as a message names them."""
        return f"{self.distribution} {self.version}".rstrip()
