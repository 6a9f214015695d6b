"""Subscribe the observers that the settings ask for."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from plugrad._util import LazyModule, pathlib
from plugrad.events import Subscription, subscribe
from plugrad.observe.style import terminal_width
from plugrad.settings import cache_dir, settings

if TYPE_CHECKING:
    from plugrad.observe import printer, profiler, recorder, replay, rules
else:
    # most programs ask for none of them
    printer, profiler, recorder, replay, rules = map(
        LazyModule,
        [f"plugrad.observe.{name}" for name in ("printer", "profiler", "recorder", "replay", "rules")],
    )

_HOW_TO_OPEN = "recorded to {0}\nto look at it: plugrad viz {0}   (of the distribution plugrad-viz)"
# what install() has subscribed by setting; `uninstall` clears it
_installed: dict[str, Subscription | None] = {}
_lock = threading.Lock()


def install() -> None:
    """Subscribe the observers that the settings ask for, each once.

    The engine calls it before each realize, so that `with context(DEBUG=2):` works.
    An observer stays once it is subscribed: another thread may still be in the scope that asked for it. The
    printer looks at the level of each event's context, so it is silent outside, and nothing is slower there.
    """
    if settings.DEBUG and "DEBUG" not in _installed:
        _add(
            "DEBUG",
            lambda: subscribe(printer.PRINTED_EVENTS, printer.Printer(), lambda: bool(settings.DEBUG)),
        )
    if settings.PROFILE and "PROFILE" not in _installed:
        _add("PROFILE", _profile)
    if settings.TRACK_MATCH_STATS and "TRACK_MATCH_STATS" not in _installed:
        _add("TRACK_MATCH_STATS", _match_stats)
    if settings.VIZ and "VIZ" not in _installed:
        _add("VIZ", _record)


def uninstall() -> None:
    """Close everything that `install` has subscribed; reports at exit still come."""
    with _lock:
        for subscription in filter(None, _installed.values()):
            subscription.close()
        _installed.clear()


def recording_path() -> pathlib.Path:
    """Return a new file name for a recording of this process."""
    return cache_dir() / "viz" / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.jsonl"


def _add(name: str, start: Callable[[], Subscription | None]) -> None:
    with _lock:
        if name not in _installed:
            _installed[name] = start()


def _profile() -> Subscription:
    observer = profiler.Profiler()
    atexit.register(lambda: print(observer.table(width=terminal_width()), file=sys.stderr))
    return subscribe(profiler.PROFILED_EVENTS, observer)


def _match_stats() -> None:
    atexit.register(lambda: print(rules.times_table(width=terminal_width()), file=sys.stderr))


def _record() -> Subscription:
    observer = recorder.Recorder(recording_path())
    if settings.REPLAY:
        atexit.register(replay.comparison_with(observer.path))
    # last registered, first called: nothing is recorded behind the message
    atexit.register(lambda: print(_HOW_TO_OPEN.format(observer.path), file=sys.stderr))
    atexit.register(observer.close)
    return subscribe(recorder.RECORDED_EVENTS, observer)
