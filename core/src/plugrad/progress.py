"""Show on a terminal how far work is that takes over a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from plugrad._util import LazyModule
from plugrad.settings import settings

if TYPE_CHECKING:
    import rich.console as rich_console
    import rich.progress as rich_progress
else:
    # most work is done before anybody would want to know
    rich_console = LazyModule("rich.console")
    rich_progress = LazyModule("rich.progress")

# Work that takes no longer shows nothing.
_SHOWN_AFTER_SECONDS = 1.0
# A thread looks so often at what goes on: to start one for each piece of work would take longer than most.
_LOOKED_AT_SECONDS = 0.2


def progress(what: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
    """Give a function that is told how many of `total` pieces of work are done.

    Nothing is shown where the standard error is no terminal, nor with PROGRESS=0. What is shown goes away.

    Args:
        what: the pieces of work, such as "kernels".
        total: how many there are; None where nobody knows, and only the time is shown.
    """
    return _Bar(what, total) if settings.PROGRESS and sys.stderr.isatty() else _SILENT


@contextmanager
def one_wait() -> Generator[None]:
    """Count the time of all work inside from the beginning of the outermost block.

    For calls that do several kinds of work, each of which may be too short to be shown.
    """
    token = None if _waiting_since.get() else _waiting_since.set(time.monotonic())
    try:
        yield
    finally:
        if token is not None:
            _waiting_since.reset(token)


def _ignore(done: int) -> None:
    """Stand for a bar where none is shown."""


_SILENT = nullcontext(_ignore)
_waiting_since: ContextVar[float | None] = ContextVar("waiting_since", default=None)
# what is on the terminal; work inside of other work has a line below it
_displays: list[rich_progress.Progress] = []
_lock = threading.Lock()


class _Bar:
    """A bar that another thread may show at any time."""

    def __init__(self, what: str, total: int | None) -> None:
        self._what = what
        self._started = _waiting_since.get() or time.monotonic()
        self._total = total
        self._done = 0
        self._shown: tuple[rich_progress.Progress, Any] | None = None
        self._is_closed = False
        self._is_first = False

    def __enter__(self) -> Callable[[int], None]:
        _watcher.watch(self)
        return self.update

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def show_when_due(self) -> bool:
        """Show the bar where its work takes long; return False while that is open."""
        if self._is_closed:
            return True
        is_due = time.monotonic() - self._started >= _SHOWN_AFTER_SECONDS
        if is_due:
            self._show()
        return is_due

    def _show(self) -> None:
        columns = (
            rich_progress.TextColumn("{task.description}{task.fields[count]}"),
            rich_progress.BarColumn(),
            rich_progress.TimeElapsedColumn(),
        )
        with _lock:
            if self._is_closed:
                return
            if _displays:
                shown = _displays[-1]
            else:
                console = rich_console.Console(stderr=True)
                shown = rich_progress.Progress(*columns, console=console, transient=True)
                shown.start()
                _displays.append(shown)
                self._is_first = True
            task = shown.add_task(
                self._what, total=self._total, completed=self._done, count=self._count(self._done)
            )
            self._shown = shown, task

    def _count(self, done: int) -> str:
        return "" if self._total is None else f" {done}/{self._total}"

    def update(self, done: int) -> None:
        self._done = done
        if self._shown is not None:
            shown, task = self._shown
            shown.update(task, completed=done, count=self._count(done))

    def close(self) -> None:
        with _lock:
            self._is_closed = True
            if self._shown is None:
                return
            shown, task = self._shown
            if self._is_first:
                _displays.remove(shown)
                shown.stop()
            else:
                shown.remove_task(task)


class _Watcher:
    """A thread that shows bars once their work takes long; it starts with the first."""

    def __init__(self) -> None:
        self._bars: list[_Bar] = []
        self._has_bars = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, bar: _Bar) -> None:
        self._bars.append(bar)
        self._has_bars.set()
        # a forked child has the object, but not the thread
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while self._has_bars.wait():
            time.sleep(_LOOKED_AT_SECONDS)
            self._has_bars.clear()
            for bar in [*self._bars]:
                if bar.show_when_due():
                    self._bars.remove(bar)
            if self._bars:
                self._has_bars.set()


_watcher = _Watcher()
