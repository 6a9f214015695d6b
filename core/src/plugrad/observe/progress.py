"""Show on a terminal how far work is that takes over a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
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


@contextmanager
def progress(what: str, total: int) -> Generator[Callable[[int], None]]:
    """Give a function that is told how many of `total` pieces of work are done.

    Nothing is shown where the standard error is no terminal, nor with PROGRESS=0. What is shown goes away.

    Args:
        what: the pieces of work, such as "kernels".
        total: how many there are.
    """
    if not (settings.PROGRESS and sys.stderr.isatty()):
        yield lambda _: None
        return
    bar = _Bar(what, total)
    timer = threading.Timer(_SHOWN_AFTER_SECONDS, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar.update
    finally:
        timer.cancel()
        bar.close()


# what is on the terminal; work inside of other work has a line below it
_displays: list[rich_progress.Progress] = []
_lock = threading.Lock()


class _Bar:
    """A bar that another thread may show at any time."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._shown: tuple[rich_progress.Progress, Any] | None = None
        self._is_closed = False
        self._is_first = False

    def show(self) -> None:
        columns = (
            rich_progress.TextColumn("{task.description} {task.completed}/{task.total}"),
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
            self._shown = shown, shown.add_task(self._what, total=self._total, completed=self._done)

    def update(self, done: int) -> None:
        self._done = done
        if self._shown is not None:
            shown, task = self._shown
            shown.update(task, completed=done)

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
