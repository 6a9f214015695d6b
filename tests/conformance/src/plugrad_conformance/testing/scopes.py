"""Context managers for tests."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from plugrad.events import Event, subscribe
from plugrad.settings import context

E = TypeVar("E", bound=Event)


@contextmanager
def recorded_events(kind: type[E]) -> Generator[list[E]]:
    """Yield a list that collects events of `kind` in the block, on any thread.

    Example:
        with recorded_events(KernelEvent) as launches:
            tensor.realize()
        assert len(launches) == 1
    """
    events: list[E] = []
    with subscribe(kind, events.append):
        yield events


@contextmanager
def temporary_cache() -> Generator[Path]:
    """Use an empty cache directory inside the block, on this thread; it is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="plugrad-cache-") as folder, context(PLUGRAD_CACHE=folder):
        yield Path(folder)
