"""Tests of plugrad.helpers: what programs for tinygrad import."""

import doctest
import importlib
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest

from plugrad import Tensor, TinyJit, events, helpers
from plugrad.errors import ArgumentError, DownloadError, SettingsError
from plugrad.helpers import Context, Counters, Timing, fetch, getenv
from plugrad.settings import context, settings


@pytest.fixture
def counters() -> Generator[Counters]:
    counters = Counters()
    yield counters
    counters.close()


def test_examples_show_what_happens() -> None:
    found = doctest.testmod(importlib.import_module("plugrad.helpers"), extraglobs={"Tensor": Tensor})
    assert found.failed == 0
    assert found.attempted


def test_names_of_tinygrad_are_here() -> None:
    theirs = pytest.importorskip("tinygrad")
    import plugrad

    for name in ("Context", "GlobalCounters", "TinyJit", "Tensor", "Variable", "Device", "dtypes", "getenv"):
        assert hasattr(theirs, name)
        assert hasattr(plugrad, name)
    for name in helpers.__all__:
        assert name == "Counters" or hasattr(theirs.helpers, name)


def test_a_context_holds_a_setting_in_a_block_and_in_a_function() -> None:
    @Context(NOOPT=1)
    def inside() -> bool:
        return settings.NOOPT

    with Context(NOOPT=1):
        assert settings.NOOPT
    assert inside()
    assert not settings.NOOPT


def test_a_context_trains_as_tinygrad_says_it() -> None:
    @Context(TRAINING=1)
    def inside() -> bool:
        return Tensor.training

    assert inside()
    assert not Tensor.training
    with Tensor.train(), Context(TRAINING=0, NOOPT=1):
        assert not Tensor.training
        assert settings.NOOPT
    with pytest.raises(ArgumentError, match="Context: TRAINING=2 is neither 0 nor 1"), Context(TRAINING=2):
        pass
    with pytest.raises(SettingsError, match="TRANING"), Context(TRANING=1):
        pass
    assert not Tensor.training


def test_launches_are_counted_from_a_reset_on(counters: Counters) -> None:
    x = Tensor(np.ones((4, 4), np.float32)).realize()
    (x + 1).realize()
    assert counters.kernel_count == 0
    counters.reset()
    (x * 3).realize()
    assert counters.kernel_count == 1
    assert counters.global_ops >= 16
    assert counters.global_mem >= 128
    assert counters.mem_used >= 128
    counters.reset()
    assert (counters.kernel_count, counters.global_ops) == (0, 0)


def test_launches_of_a_replay_are_counted(counters: Counters) -> None:
    @TinyJit
    def double(x: Tensor) -> Tensor:
        return (x * 2).realize()

    for _ in range(3):
        double(Tensor([1.0, 2.0]).realize())
    x = Tensor([1.0, 2.0]).realize()
    counters.reset()
    double(x)
    assert counters.kernel_count == 1


def test_nobody_listens_once_counters_are_closed(counters: Counters) -> None:
    was = events.active
    counters.reset()
    assert events.active
    counters.close()
    assert events.active == was


def test_time_is_printed_with_what_is_to_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    with Timing("sum: ", on_exit=lambda ns: f" {ns >= 0}"):
        pass
    line = capsys.readouterr().out
    assert line.startswith("sum: ")
    assert line.endswith(" ms True\n")


def test_variables_of_the_environment_are_what_the_default_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPS", "12")
    assert (getenv("STEPS"), getenv("STEPS", "a"), getenv("STEPS", 0.5), getenv("STEPS", None)) == (
        12,
        "12",
        12.0,
        "12",
    )
    assert (getenv("NO_STEPS"), getenv("NO_STEPS", "a"), getenv("NO_STEPS", None)) == (0, "a", None)
    monkeypatch.setenv("STEPS", "many")
    with pytest.raises(ArgumentError, match="getenv: STEPS='many' is no int"):
        getenv("STEPS", 3)


def test_a_file_is_fetched_by_the_name_it_is_to_have(tmp_path: Path) -> None:
    source = tmp_path / "weights"
    source.write_bytes(b"abc")
    with context(PLUGRAD_CACHE=str(tmp_path / "cache")):
        path = fetch(source.as_uri(), "w.bin", "models")
        assert path == tmp_path / "cache" / "downloads" / "models" / "w.bin"
        assert path.read_bytes() == b"abc"
        with pytest.raises(DownloadError, match="cannot fetch"):
            fetch((tmp_path / "missing").as_uri())


def test_counters_print_what_they_counted() -> None:
    counters = Counters()
    assert repr(counters) == "<Counters, which count from reset() on>"
    counters.reset()
    (Tensor([1.0, 2.0], device="PYTHON") + 1).realize()
    assert repr(counters).startswith("<Counters: 1 kernels, 2 operations, 16 bytes, ")
    counters.close()
