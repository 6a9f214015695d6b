"""Where a plugin comes from, and what became of it: plain data."""

from plugrad._frozen import frozen


@frozen
class PluginSource:
    """One entry point.

    Attributes:
        name: the device it is for (or an alias), in upper case.
        value: what to import, as `package.module` or `package.module:object`.
        distribution: the distribution that brings it.
        version: the distribution's version.
        is_builtin: whether it is part of the core.
    """

    name: str
    value: str
    distribution: str
    version: str = ""
    is_builtin: bool = False

    def __str__(self) -> str:
        return f"plugin {self.name.lower()!r} ({self.value} of {self.owner})"

    @property
    def owner(self) -> str:
        """Distribution and version, as a message names them."""
        return f"{self.distribution} {self.version}".rstrip()


@frozen
class PluginFailure:
    """Why a plugin is not used.

    Attributes:
        source: which plugin.
        reason: what happened, in one sentence.
        traceback: where, as Python prints it; empty when no code of the plugin raised.
        remedy: what would help.
        is_broken: whether the plugin is to blame: not where hardware is absent, or another plugin preferred.
    """

    source: PluginSource
    reason: str
    traceback: str = ""
    remedy: str = ""
    is_broken: bool = True
