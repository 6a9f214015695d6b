"""Tests of plugrad_conformance.testing.scopes."""

from plugrad.events import KernelEvent, RealizeEvent, emit
from plugrad.settings import cache_dir
from plugrad_conformance.testing import recorded_events, temporary_cache


def test_events_of_one_kind_are_recorded_inside_the_block() -> None:
    with recorded_events(KernelEvent) as kernels:
        emit(KernelEvent("k0", "NULL"))
        emit(RealizeEvent(1, 0.1))
    emit(KernelEvent("k1", "NULL"))
    assert [event.name for event in kernels] == ["k0"]


def test_a_temporary_cache_is_empty_and_goes_away() -> None:
    before = cache_dir()
    with temporary_cache() as folder:
        assert cache_dir() == folder
        assert list(folder.iterdir()) == []
    assert not folder.exists()
    assert cache_dir() == before
