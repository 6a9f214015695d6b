"""Define the events that plugrad emits while it works, for any listener.

Emitters (pipelines, rewriting, engine, runtime) write

    if events.active:
        events.emit(KernelEvent(...))

which costs a module attribute when nobody listens. Where already building the event is dear, such as one for
each rewrite, they ask `events.listening(RewriteEvent)` once and keep the answer. Observers subscribe to one
kind, or to all with None. An exception of an observer is not caught: the verifier stops a run that way.

Graph nodes appear as `object`, since this module lies below the IR.
"""

import atexit
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from plugrad._frozen import field, frozen


@frozen
class Event:
    """Base of all events."""


@frozen
class PassEvent(Event):
    """A pass of a pipeline ran. Emitted by `Pipeline.run`."""

    pipeline: str
    name: str
    before: object
    after: object
    seconds: float


@frozen
class RewriteEvent(Event):
    """A rule replaced `before` by `after`. Emitted by `graph_rewrite`, once for each replacement."""

    rewrite: str
    """The rewrite that was running, usually named as its pass."""
    rule: object
    """The rule; its text begins with its place, such as "uop/symbolic.py:42"."""
    before: object
    after: object


@frozen
class LowerEvent(Event):
    """A kernel was lowered to a linear program.

    Emitted by the engine, not for kernels out of a cache.
    """

    name: str
    device: str
    ast: object
    linear: Sequence[object]
    seconds: float


@frozen
class CompileEvent(Event):
    """A kernel was compiled, or its binary came from a cache.

    Emitted by the engine once for each kernel.
    """

    name: str
    device: str
    source: str
    nbytes: int
    seconds: float
    cached: bool = False
    opts: Sequence[object] = ()
    disassemble: Callable[[], str] | None = None
    """Returns the listing of the binary; dear, so called only by who prints it."""


@frozen
class SearchEvent(Event):
    """The optimisations of a kernel were searched for.

    Emitted by the engine, with BEAM, before the kernel is compiled.
    """

    name: str
    device: str
    before: Sequence[object]
    """The heuristic's list."""
    after: Sequence[object]
    """The fastest list found, which may be the same."""
    seconds_before: float
    """Of the fastest run of the heuristic's kernel."""
    seconds_after: float
    tried: int
    """Lists that were lowered."""
    refused: int
    """Kernels whose results were not those of the plain loops."""


@frozen
class KernelEvent(Event):
    """A kernel was launched. Emitted by the engine."""

    name: str
    device: str
    global_size: tuple[int, ...] = ()
    local_size: tuple[int, ...] = ()
    threads: int = 1
    seconds: float | None = None
    """Device time; None when the launch was not waited for."""
    flops: int = 0
    bytes_accessed: int = 0
    memory_used: int = 0
    """Bytes that live buffers hold on the device."""
    opts: Sequence[object] = ()
    axes: Sequence[tuple[str, str]] = ()
    """(size, kind) of each axis, outermost first: (("64", "GLOBAL"), ("4", "UPCAST"))."""
    replayed: bool = False
    """Launched by the JIT's replay."""


@frozen
class CopyEvent(Event):
    """Bytes were copied between devices. Emitted by the engine."""

    source: str
    destination: str
    nbytes: int
    seconds: float


@frozen
class TensorEvent(Event):
    """A tensor was made. Emitted by tensors, whose node the user's line asked for."""

    node: object
    line: str
    """File and line of the user's program, such as "train.py:12 in step"."""


@frozen
class RenameEvent(Event):
    """Nodes of the user's graph got other names in a schedule; sent by the engine."""

    names: Sequence[Mapping[Any, Any]]
    """To be applied one after the other."""


@frozen
class MemoryEvent(Event):
    """A buffer, not a view, got memory or gave it back.

    Giving back may happen in a garbage collection, at any line of any thread: observers wait for no lock.
    """

    device: str
    address: int
    """A number for the buffer, which a later one may get once it is gone."""
    nbytes: int
    """Negative where memory was given back."""
    label: object = ""
    """Its text says what the buffer was made for."""


@frozen
class RealizeEvent(Event):
    """Tensors were realized: all kernels of one schedule were launched. Emitted by the engine."""

    kernels: int
    seconds: float
    copies: int = 0
    devices: tuple[str, ...] = ()


Observer = Callable[[Any], None]
E = TypeVar("E", bound=Event)

active: bool = False
"""Whether anybody listens to anything. Read it as `events.active`: it changes."""

_lock = threading.Lock()
_subscriptions: "tuple[Subscription, ...]" = ()


@frozen(eq=False)
class Subscription:
    """An observer that listens until `close()`; also usable in a `with` block."""

    kind: type[Event] | tuple[type[Event], ...] | None
    observer: Observer = field(repr=False)
    is_on: Callable[[], bool] | None = field(default=None, repr=False)

    def close(self) -> None:
        """Stop listening. Closing twice does nothing."""
        with _lock:
            _replace(tuple(s for s in _subscriptions if s is not self))

    def __enter__(self) -> "Subscription":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def subscribe(
    kind: type[E] | tuple[type[E], ...] | None,
    observer: Callable[[E], None],
    is_on: Callable[[], bool] | None = None,
) -> Subscription:
    """Call `observer` with each event of `kind` (one, several, or None for all), subclasses included.

    Ask for no more than you use: some events are built only when somebody listens to their kind.

    Observers are called in the order in which they subscribed, on the thread that emits.

    Args:
        kind: the events to listen to.
        observer: called with each.
        is_on: says whether the observer wants events now; None: always. While it does not, nothing is done
            for it that takes time, and an event that is made for others may still reach it.

    Example:
        with subscribe(KernelEvent, lambda event: print(event.name)):
            tensor.realize()
    """
    subscription = Subscription(kind, observer, is_on)
    with _lock:
        _replace((*_subscriptions, subscription))
    return subscription


def emit(event: Event) -> None:
    """Hand `event` to everybody who listens to its kind."""
    for subscription in _subscriptions:
        if subscription.kind is None or isinstance(event, subscription.kind):
            subscription.observer(event)


def listening(kind: type[Event]) -> bool:
    """Return whether anybody listens to events of `kind` now."""
    return any(
        [
            (s.kind is None or issubclass(kind, s.kind)) and (s.is_on is None or s.is_on())
            for s in _subscriptions
        ]
    )


def _replace(subscriptions: tuple[Subscription, ...]) -> None:
    global active, _subscriptions
    _subscriptions = subscriptions
    active = bool(subscriptions)


# modules are taken apart after this, and buffers that go then must not look for observers
atexit.register(_replace, ())
