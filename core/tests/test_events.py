"""Tests of plugrad.events."""

import subprocess
import sys

import pytest

from plugrad import events
from plugrad.events import CopyEvent, Event, KernelEvent, RealizeEvent, emit, listening, subscribe


def test_an_observer_gets_events_of_its_kind_until_it_closes() -> None:
    seen: list[KernelEvent] = []
    subscription = subscribe(KernelEvent, seen.append)
    emit(KernelEvent("k0", "NULL"))
    emit(RealizeEvent(1, 0.5))
    subscription.close()
    emit(KernelEvent("k1", "NULL"))
    assert [event.name for event in seen] == ["k0"]


def test_an_observer_of_none_gets_every_event() -> None:
    seen: list[Event] = []
    with subscribe(None, seen.append):
        emit(KernelEvent("k0", "NULL"))
        emit(CopyEvent("PYTHON", "NULL", 4, 0.0))
    assert [type(event) for event in seen] == [KernelEvent, CopyEvent]


def test_active_says_whether_anybody_listens() -> None:
    before = events.active
    with subscribe(KernelEvent, lambda event: None):
        assert events.active
    assert events.active == before


def test_an_observer_that_is_off_does_not_listen() -> None:
    before = listening(CopyEvent)
    with subscribe(CopyEvent, lambda event: None, lambda: False):
        assert listening(CopyEvent) == before
    with subscribe(CopyEvent, lambda event: None, lambda: True):
        assert listening(CopyEvent)


def test_listening_tells_kinds_apart() -> None:
    before = listening(CopyEvent)
    with subscribe(KernelEvent, lambda event: None):
        assert listening(KernelEvent)
        assert listening(CopyEvent) == before
    with subscribe(None, lambda event: None):
        assert listening(CopyEvent)


def test_observers_are_called_in_the_order_in_which_they_subscribed() -> None:
    order: list[int] = []
    with subscribe(KernelEvent, lambda e: order.append(1)), subscribe(KernelEvent, lambda e: order.append(2)):
        emit(KernelEvent("k0", "NULL"))
    assert order == [1, 2]


def test_an_exception_of_an_observer_reaches_the_emitter() -> None:
    def stop(event: KernelEvent) -> None:
        raise RuntimeError(event.name)

    with subscribe(KernelEvent, stop), pytest.raises(RuntimeError, match="k0"):
        emit(KernelEvent("k0", "NULL"))


def test_closing_twice_leaves_other_observers_alone() -> None:
    seen: list[Event] = []
    first = subscribe(KernelEvent, lambda event: None)
    with subscribe(KernelEvent, seen.append):
        first.close()
        first.close()
        emit(KernelEvent("k0", "NULL"))
    assert len(seen) == 1


def test_an_observer_of_several_kinds_gets_each_of_them() -> None:
    seen: list[Event] = []
    with subscribe((KernelEvent, CopyEvent), seen.append):
        emit(KernelEvent("k0", "NULL"))
        emit(RealizeEvent(1, 0.5))
        emit(CopyEvent("PYTHON", "NULL", 4, 0.0))
        assert listening(CopyEvent)
    assert [type(event) for event in seen] == [KernelEvent, CopyEvent]


def test_nobody_listens_once_modules_are_taken_apart() -> None:
    program = (
        "import atexit, sys\n"
        # registered first, so called last
        "atexit.register(lambda: print(sys.modules['plugrad.events'].active))\n"
        "from plugrad import events\n"
        "events.subscribe(events.MemoryEvent, print)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
