"""Tests of plugrad_conformance.harness.oracle_store."""

from pathlib import Path

import numpy as np
import pytest

from plugrad import context
from plugrad_conformance.harness import oracle_store
from plugrad_conformance.harness.oracle_store import remembered

ARRAYS = [np.array([[1.5, np.nan]]), np.zeros((0, 2)), np.float64(2.0)]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUGRAD_CACHE", str(tmp_path))


def never() -> list[np.ndarray]:
    raise AssertionError("it was computed again")


def test_a_case_is_computed_once() -> None:
    remembered("relu/reals", lambda: ARRAYS)
    found = remembered("relu/reals", never)
    assert len(found) == 3
    for got, want in zip(found, ARRAYS, strict=True):
        np.testing.assert_array_equal(got, want, strict=True)


def test_another_case_is_computed() -> None:
    remembered("relu/reals", lambda: ARRAYS)
    assert remembered("relu/edges", lambda: []) == []


def test_other_sources_compute_again(monkeypatch: pytest.MonkeyPatch) -> None:
    remembered("relu/reals", lambda: ARRAYS)
    monkeypatch.setattr(oracle_store, "_sources", lambda: b"edited")
    assert remembered("relu/reals", lambda: []) == []


def test_no_cache_on_disk_computes_again() -> None:
    with context(CACHELEVEL=1):
        remembered("relu/reals", lambda: ARRAYS)
        assert remembered("relu/reals", lambda: []) == []
