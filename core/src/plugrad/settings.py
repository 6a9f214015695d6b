"""All settings in one typed table, read from the environment and overridden in a scope.

    from plugrad.settings import context, settings

    settings.DEBUG               # the innermost context(...) of this thread or task, else the environment
    with context(DEBUG=2): ...   # scoped; other threads do not see it

The environment variable of a setting has its name. It is parsed at the first read; after changing
`os.environ` call `settings.refresh()`. `DEVICE` alone is looked up at every read, since programs set it late.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeVar, overload

from plugrad._frozen import frozen
from plugrad._util import closest, did_you_mean, pathlib, platformdirs
from plugrad.errors import SettingsError

__all__ = ["Setting", "SettingValue", "Settings", "cache_dir", "context", "is_overridden", "settings"]

T = TypeVar("T")

_NO_OVERRIDES: Mapping[str, Any] = {}
# Settings that some context overrode. The values of all others lie at `settings` once they were read.
_overridden: set[str] = set()
_overrides: ContextVar[Mapping[str, Any]] = ContextVar("plugrad_settings", default=_NO_OVERRIDES)

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


class Setting(Generic[T]):
    """One setting: a descriptor that reads its value for the current context.

    What no context ever overrode is read once, and an attribute of `settings` from then on.

    Args:
        default: value when the environment has none; its type is the type of the setting.
        doc: one line for `plugrad env`.
        low: least legal value (integers only).
        high: greatest legal value (integers only).
        live: look the environment up at each read.
        follows: setting whose environment variable counts where this one's is not set.

    Example:
        >>> Settings.DEBUG.name, Settings.DEBUG.default
        ('DEBUG', 0)
    """

    def __init__(
        self,
        default: T,
        doc: str,
        *,
        low: int = 0,
        high: int | None = None,
        live: bool = False,
        follows: str = "",
    ) -> None:
        self.name = ""
        self.default = default
        self.doc = doc
        self.low = low
        self.high = high
        self.live = live
        self.follows = follows
        self._from_env: T | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Setting[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object, owner: type) -> Setting[T] | T:
        if instance is None:
            return self
        overrides = _overrides.get()
        if overrides and self.name in overrides:
            return overrides[self.name]
        if self.live:
            return self._read_environment()
        value = self._read_environment() if self._from_env is None else self._from_env
        if self.name not in _overridden:
            vars(instance)[self.name] = value
            if self.name in _overridden:
                # since then, by another thread
                vars(instance).pop(self.name, None)
        return value

    @property
    def type_name(self) -> str:
        """The type of the setting with its limits: "bool", "int 0..7", "int >= 0", "str".

        Example:
            >>> Settings.CACHELEVEL.type_name
            'int 0..2'
        """
        if type(self.default) is not int:
            return type(self.default).__name__
        return f"int >= {self.low}" if self.high is None else f"int {self.low}..{self.high}"

    def parse(self, value: object) -> T:
        """Return `value` (text, or a Python value) as a value of this setting.

        Raises:
            SettingsError: it is none.

        Example:
            >>> Settings.DEBUG.parse("2")
            2
        """
        parsed: Any
        match self.default:
            case bool():
                parsed = self._parse_bool(value)
            case int():
                parsed = self._parse_int(value)
            case _:
                parsed = str(value) if isinstance(value, (str, pathlib.Path)) else None
        if parsed is None:
            raise SettingsError(
                f"{self.name}={value!r} is not legal: it takes {self.type_name}. {self.doc} "
                "Run `plugrad env` for all settings.",
                name=self.name,
            )
        return parsed

    def environment_text(self) -> str | None:
        """Return the environment's text of a setting, or of the setting it follows.

        Example:
            >>> Settings.DEBUG.environment_text() == os.environ.get("DEBUG")
            True
        """
        return os.environ.get(self.name, os.environ.get(self.follows))

    def forget(self) -> None:
        """Read the environment again at the next use.

        Example:
            >>> Settings.DEBUG.forget()
            >>> settings.DEBUG == Settings.DEBUG.parse(os.environ.get("DEBUG", "0"))
            True
        """
        self._from_env = None
        vars(settings).pop(self.name, None)

    def _read_environment(self) -> T:
        text = self.environment_text()
        value = self.default if text is None else self.parse(text)
        self._from_env = value
        return value

    def _parse_bool(self, value: object) -> bool | None:
        if isinstance(value, int):
            return bool(value) if value in (0, 1) else None
        text = str(value).strip().lower()
        return True if text in _TRUE else False if text in _FALSE else None

    def _parse_int(self, value: object) -> int | None:
        if isinstance(value, str):
            try:
                value = int(value.strip() or str(self.default))
            except ValueError:
                return None
        if not isinstance(value, int) or value < self.low or (self.high is not None and value > self.high):
            return None
        return int(value)


@frozen
class SettingValue:
    """A row of the settings table: a value and the place it comes from.

    Example:
        >>> settings.describe()[0].name
        'DEVICE'
    """

    name: str
    type_name: str
    default: object
    value: object
    origin: str
    doc: str


class Settings:
    """The table of settings, one attribute each, in the order of `plugrad env`.

    Example:
        >>> with context(NOOPT=1):
        ...     settings.NOOPT
        True
    """

    DEVICE = Setting("", "Device to use, such as PYTHON or NAME:1; empty: the best one found.", live=True)
    PLUGRAD_PREFER = Setting(
        "", "Distributions, separated by commas, whose plugins are taken where several claim a device."
    )
    DEBUG = Setting(
        0,
        "1 realizes, 2 kernels, 3 opts, 4 source, 5 graph at each pass, 6 linear listing, 7 disassembly.",
        high=7,
    )
    NOOPT = Setting(False, "Generate plain loops: no kernel optimisations.")
    SPEC = Setting(False, "Verify the graph against the specification of its stage after each pass.")
    CHECK = Setting(
        False,
        "Report positions outside of their axis, and where NaN and infinity first appear; slow, without JIT.",
    )
    JIT = Setting(1, "Jitted functions: 0 never capture, 1 replay, 2 replay without a device graph.", high=2)
    DETERMINISTIC = Setting(False, "Add floats up in the same order each time: no atomic additions of them.")
    WINO = Setting(False, "Convolve by 3x3 windows with fewer multiplications and more rounding.")
    BEAM = Setting(
        0, "Search for the fastest optimisations of each kernel, from so many lists a step; 0: no search."
    )
    CACHELEVEL = Setting(2, "Caches of kernels: 0 none, 1 in memory, 2 in memory and on disk.", high=2)
    SHARE_SIZES = Setting(
        1, "Let kernels serve several sizes, from the second of them on: 0 none, 1 small ones, 2 all.", high=2
    )
    CACHE_KERNELS = Setting(
        4096, "Compiled kernels kept in memory; those unused for longest go first.", low=1
    )
    CACHE_SCHEDULES = Setting(1024, "Schedules kept in memory; those unused for longest go first.", low=1)
    CACHE_DISK_MB = Setting(
        1024, "Megabytes of kernels kept on disk; those unused for longest go first; 0: no limit."
    )
    PLUGRAD_CACHE = Setting("", "Directory of the disk cache; empty: the user's cache directory.")
    PLUGRAD_CPU = Setting(
        "", "Level of x86-64 that CPU kernels keep to, such as x86-64-v3; empty: all that the processor has."
    )
    PLUGRAD_CC = Setting("", "C compiler for devices that need one, name or path; empty: the best one found.")
    THREADS = Setting(0, "Threads for kernels on the host's processor; 0: one for each usable core.")
    VIZ = Setting(
        False,
        "Record each pass and rewrite in a file of JSON lines under the cache directory.",
        follows="REPLAY",
    )
    REPLAY = Setting(
        False, "Record as VIZ does; at exit, print how kernels differ from the program's recording before."
    )
    PROGRESS = Setting(True, "Show on a terminal how far compiling is where it takes over a second.")
    PROFILE = Setting(False, "Print a table of time by kernel when the process ends.")
    TRACK_MATCH_STATS = Setting(False, "Print a table of time, tries and hits by rewrite rule at exit.")

    @classmethod
    def table(cls) -> dict[str, Setting[Any]]:
        """Return all settings by name, in the order of the table.

        Example:
            >>> "DEBUG" in Settings.table()
            True
        """
        return {name: item for name, item in vars(cls).items() if isinstance(item, Setting)}

    def __setattr__(self, name: str, value: object) -> None:
        if name in _TABLE:
            raise SettingsError(
                f"cannot assign {value!r} to settings.{name}: settings change in a scope. "
                f"Use `with context({name}={value!r}):`, or set the environment variable {name}.",
                name=name,
            )
        super().__setattr__(name, value)

    def refresh(self) -> None:
        """Read the environment again at the next use of each setting.

        Example:
            >>> settings.refresh()
            >>> settings.DEBUG == Settings.DEBUG.parse(os.environ.get("DEBUG", "0"))
            True
        """
        for setting in _TABLE.values():
            setting.forget()

    def describe(self) -> list[SettingValue]:
        """Return a row for each setting.

        An illegal value in the environment is shown, not raised.

        Example:
            >>> len(settings.describe()) == len(Settings.table())
            True
        """
        return [self._row(setting) for setting in _TABLE.values()]

    def unknown_variables(self) -> dict[str, str | None]:
        """Return environment variables that look like a misspelled setting, with the closest name.

        Only names that start with PLUGRAD_ are looked at: others may belong to anybody.

        Example:
            >>> os.environ["PLUGRAD_DEBUGG"] = "1"
            >>> settings.unknown_variables()["PLUGRAD_DEBUGG"]
            'DEBUG'
            >>> del os.environ["PLUGRAD_DEBUGG"]
        """
        prefix = "PLUGRAD_"
        # compared without the prefix, which would make all of them look alike
        bare = {name.removeprefix(prefix): name for name in _TABLE}
        names = sorted(name for name in os.environ if name.startswith(prefix) and name not in _TABLE)
        found = {name: closest(name.removeprefix(prefix), bare) for name in names}
        return {name: bare[meant] if meant else None for name, meant in found.items()}

    def _row(self, setting: Setting[Any]) -> SettingValue:
        overridden = setting.name in _overrides.get()
        text = setting.environment_text()
        origin = "context" if overridden else "default" if text is None else "environment"
        value: object
        try:
            value = getattr(self, setting.name)
        except SettingsError:
            value, origin = text, "environment (illegal)"
        return SettingValue(setting.name, setting.type_name, setting.default, value, origin, setting.doc)


_TABLE: Mapping[str, Setting[Any]] = Settings.table()
settings = Settings()


@contextmanager
def context(**values: object) -> Generator[None]:
    """Override settings inside a `with` block or a decorated function, in this thread or task.

    Raises:
        SettingsError: a name is unknown or a value is not legal.

    Example:
        >>> with context(DEBUG=0, NOOPT=1):
        ...     settings.NOOPT
        True
    """
    parsed = {name: _setting(name).parse(value) for name, value in values.items()}
    for name in parsed:
        if name not in _overridden:
            _overridden.add(name)
            vars(settings).pop(name, None)
    token = _overrides.set({**_overrides.get(), **parsed})
    try:
        yield
    finally:
        _overrides.reset(token)


def is_overridden(name: str) -> bool:
    """Say whether a `context(...)` around the caller sets this setting.

    Example:
        >>> with context(NOOPT=1):
        ...     is_overridden("NOOPT")
        True
    """
    return name in _overrides.get()


def cache_dir() -> pathlib.Path:
    """Return the directory of all that plugrad keeps between processes; it may not exist yet.

    Example:
        >>> with context(PLUGRAD_CACHE="/var/kernels"):
        ...     cache_dir().name
        'kernels'
    """
    if settings.PLUGRAD_CACHE:
        return pathlib.Path(settings.PLUGRAD_CACHE).expanduser()
    return pathlib.Path(platformdirs.user_cache_dir("plugrad", appauthor=False))


def _setting(name: str) -> Setting[Any]:
    if name not in _TABLE:
        raise SettingsError(
            f"there is no setting {name!r}.{did_you_mean(name, _TABLE)} Run `plugrad env` for all settings.",
            name=name,
        )
    return _TABLE[name]
