"""Record the steps that run while a function is called, so that they can run again without it."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from plugrad.engine.execute import Step


@dataclass(slots=True, eq=False)
class Capture:
    """The steps of one call, in order, and the values of the variables they ran with."""

    steps: list[Step] = field(default_factory=list[Step])
    values: dict[str, int] = field(default_factory=dict[str, int])


_current: ContextVar[Capture | None] = ContextVar("capture", default=None)


def current_capture() -> Capture | None:
    """Return the capture that is recording in this context, if one is."""
    return _current.get()


@contextmanager
def capturing() -> Generator[Capture]:
    """Record every step that runs inside the block."""
    capture = Capture()
    token = _current.set(capture)
    try:
        yield capture
    finally:
        _current.reset(token)
