"""Tests of plugrad.observe.install."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugrad import events
from plugrad.events import KernelEvent, PassEvent, RewriteEvent, emit
from plugrad.observe import install, uninstall
from plugrad.settings import context

PROGRAM = """
from plugrad.dtype import dtypes
from plugrad.events import KernelEvent, PassEvent, RewriteEvent, emit
from plugrad.observe import install
from plugrad.uop.uop import UOp
install()
one = UOp.const(dtypes.int32, 1)
emit(RewriteEvent("fold", "a.py:1", one, one))
emit(PassEvent("codegen", "fold", one, one, 0.0))
emit(KernelEvent("k0", "NULL", seconds=0.5))
"""


@pytest.fixture(autouse=True)
def _nothing_installed() -> Iterator[None]:
    uninstall()
    yield
    uninstall()


def run(tmp_path: Path, **variables: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PLUGRAD_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == ""
    return done.stderr


def test_nothing_is_subscribed_when_no_setting_asks() -> None:
    before = events.active
    with context(DEBUG=0, PROFILE=0, VIZ=0, TRACK_MATCH_STATS=0):
        install()
    assert events.active == before


def test_debug_in_a_scope_prints_inside_and_is_silent_outside(capsys: pytest.CaptureFixture[str]) -> None:
    with context(DEBUG=2):
        install()
        install()
        emit(KernelEvent("inside", "NULL"))
    emit(KernelEvent("outside", "NULL"))
    text = capsys.readouterr().err
    assert text.count("inside") == 1
    assert "outside" not in text


def test_nobody_listens_behind_a_scope_that_printed() -> None:
    with context(DEBUG=0):
        before = [events.listening(kind) for kind in (KernelEvent, PassEvent)]
    with context(DEBUG=2):
        install()
        assert events.listening(KernelEvent)
    with context(DEBUG=0):
        # or each later call would be planned for it
        assert [events.listening(kind) for kind in (KernelEvent, PassEvent)] == before


def test_the_printer_does_not_ask_for_rewrites() -> None:
    before = events.listening(RewriteEvent)
    with context(DEBUG=7):
        install()
        assert events.listening(PassEvent)
        assert events.listening(RewriteEvent) == before


def test_profile_prints_a_table_at_exit(tmp_path: Path) -> None:
    assert "k0" in run(tmp_path, PROFILE="1")


def test_match_stats_are_printed_at_exit(tmp_path: Path) -> None:
    assert "time     tries      hits  rule" in run(tmp_path, TRACK_MATCH_STATS="1")


def test_viz_records_under_the_cache_directory_and_says_where(tmp_path: Path) -> None:
    text = run(tmp_path, VIZ="1")
    (path,) = (tmp_path / "viz").iterdir()
    assert f"recorded to {path}\nto look at it: plugrad viz {path}" in text
    assert '"kind":"end"' in path.read_text().splitlines()[-1]


def test_a_program_without_settings_prints_nothing(tmp_path: Path) -> None:
    assert run(tmp_path) == ""
