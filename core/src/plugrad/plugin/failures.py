"""Records of plugins that are not used, and why."""

import warnings

from plugrad._frozen import frozen
from plugrad._util import traceback
from plugrad.errors import PluginError
from plugrad.plugin.source import PluginSource


@frozen
class PluginFailure:
    """The reason for not using a plugin.

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

    def __str__(self) -> str:
        return f"{self.source} is not used: {self.reason.rstrip('.')}. {self.remedy}".rstrip()


class PluginRefused(PluginError):
    """A plugin cannot be used. A `PluginError` that carries its record."""

    def __init__(self, failure: PluginFailure) -> None:
        super().__init__(str(failure), plugin=failure.source.name.lower(), distribution=failure.source.owner)
        self.failure = failure


class FailureLog:
    """The failures of one manager's plugins, the latest of each."""

    def __init__(self) -> None:
        self._failures: dict[PluginSource, PluginFailure] = {}
        self._warned: set[PluginSource] = set()

    def __contains__(self, source: PluginSource) -> bool:
        return source in self._failures

    def all(self) -> tuple[PluginFailure, ...]:
        """Return the failures in the order in which plugins first failed."""
        return tuple(self._failures.values())

    def add(self, failure: PluginFailure) -> None:
        """Record a failure in place of an earlier one of the same plugin."""
        self._failures[failure.source] = failure

    def add_first(self, failure: PluginFailure) -> None:
        """Record a failure of a plugin that has none yet."""
        self._failures.setdefault(failure.source, failure)

    def drop(self, failure: PluginFailure) -> None:
        """Record the failure of a plugin that others can do without, and warn of it."""
        self.add(failure)
        self.warn(failure)

    def warn(self, failure: PluginFailure) -> None:
        """Warn of a failure, once for each plugin."""
        if self.is_first_warning(failure.source):
            warnings.warn(str(failure), RuntimeWarning, stacklevel=4)

    def is_first_warning(self, source: PluginSource) -> bool:
        """Tell whether nobody has asked this about `source` before."""
        is_first = source not in self._warned
        self._warned.add(source)
        return is_first


def failure_of(source: PluginSource, doing: str, error: BaseException) -> PluginFailure:
    """Return the record of an exception in a plugin's code."""
    text = str(error).strip()
    reason = f"{doing} {type(error).__name__}" + (f": {text}" if text else "")
    return PluginFailure(source, reason, "".join(traceback.format_exception(error)), remedy_for(source))


def broken(source: PluginSource, reason: str) -> PluginRefused:
    """Return the error of a plugin that breaks its contract."""
    return PluginRefused(PluginFailure(source, reason, remedy=remedy_for(source)))


def remedy_for(source: PluginSource) -> str:
    """Return the remedy for a broken plugin."""
    return f"Upgrade or uninstall {source.distribution}; `plugrad devices --traceback` shows where."
