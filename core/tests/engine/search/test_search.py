"""Tests of plugrad.engine.search: on PYTHON, where every list of optimisations computes the same."""

from collections.abc import Callable

import pytest

from plugrad import Tensor
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.engine.compile import clear_loaded
from plugrad.engine.search.results import search_results
from plugrad.engine.search.trial import Trial, Variant
from plugrad.events import CompileEvent, SearchEvent, subscribe
from plugrad.settings import context
from plugrad_conformance.testing import temporary_cache

Timing = Callable[[Trial, Variant], float]


def run(timing: Timing, monkeypatch: pytest.MonkeyPatch, size: int = 24) -> tuple[list[SearchEvent], object]:
    """Return the searches of one sum of rows whose runs take the seconds that `timing` says."""
    monkeypatch.setattr(Trial, "_run", _timed(timing))
    found: list[SearchEvent] = []
    with temporary_cache(), context(BEAM=1), subscribe(SearchEvent, found.append):
        clear_loaded()
        value = (
            Tensor(list(range(size * 2)), dtype="float32", device="PYTHON").reshape(size, 2).sum(1).tolist()
        )
    return found, value


def _timed(timing: Timing) -> Callable[[Trial, Variant], float]:
    launch = Trial._run  # pyright: ignore[reportPrivateUsage]

    def timed(trial: Trial, variant: Variant) -> float:
        launch(trial, variant)
        return timing(trial, variant)

    return timed


def most_upcast(trial: Trial, variant: Variant) -> float:
    return 1 / (1 + sum(opt.arg for opt in variant.program.opts if isinstance(opt.arg, int)))


def test_a_faster_list_is_found_and_computes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found, value = run(most_upcast, monkeypatch)
    assert value == [4 * i + 1 for i in range(24)]
    (event,) = found
    assert event.seconds_after < event.seconds_before
    assert event.after != event.before
    assert event.tried > 3
    assert event.refused == 0


def test_the_heuristics_list_stays_where_nothing_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    (event,), _ = run(lambda trial, variant: 1.0, monkeypatch)
    assert event.after == event.before


def test_a_wrong_kernel_is_refused_however_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    agrees = Trial.agrees

    def right_without_tiles(trial: Trial, variant: Variant) -> bool:
        return agrees(trial, variant) and not any(opt.op is OptOps.UPCAST for opt in variant.program.opts)

    monkeypatch.setattr(Trial, "agrees", right_without_tiles)
    (event,), _ = run(most_upcast, monkeypatch)
    assert event.refused > 0
    assert not any(opt.op is OptOps.UPCAST for opt in event.after)  # type: ignore[attr-defined]


def test_runs_have_other_memory_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the first caches would hold what models read from further away."""
    handles: list[object] = []

    def remembered(trial: Trial, variant: Variant) -> float:
        handles.append(trial._buffers[0].handle)  # pyright: ignore[reportPrivateUsage]
        return 1.0

    run(remembered, monkeypatch)
    assert len({id(handle) for handle in handles}) > 8
    assert handles[-1] is not handles[-2]


def test_a_gain_within_the_noise_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    (event,), _ = run(lambda trial, variant: 1 + most_upcast(trial, variant) / 100, monkeypatch)
    assert event.after == event.before


def test_a_list_is_searched_once() -> None:
    searched: list[SearchEvent] = []
    with temporary_cache(), context(BEAM=1), subscribe(SearchEvent, searched.append):
        x = Tensor([1.0, 2.0], device="PYTHON").realize()
        for level in (2, 2, 1):
            clear_loaded()
            with context(CACHELEVEL=level):
                (x * 3).tolist()
        assert len(search_results()) == 1
    assert len(searched) == 1


def test_a_list_that_does_not_apply_is_searched_again() -> None:
    compiled: list[CompileEvent] = []
    with temporary_cache(), context(BEAM=1, CACHELEVEL=2), subscribe(CompileEvent, compiled.append):
        clear_loaded()
        x = Tensor([1.0, 2.0, 3.0], device="PYTHON").realize()
        (x * 5).tolist()
        (key,) = search_results()._read_all()  # pyright: ignore[reportPrivateUsage]
        wrong = (Opt(compiled[0].opts[0].op, (9,), 2),) if compiled[0].opts else ()  # type: ignore[attr-defined]
        search_results().put(key, wrong)
        with context(CACHELEVEL=1):
            clear_loaded()
            assert (x * 5).tolist() == [5.0, 10.0, 15.0]
