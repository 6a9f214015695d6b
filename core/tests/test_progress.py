"""A bar on a terminal for work that takes over a second."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from plugrad.progress import progress

pty = pytest.importorskip("pty", reason="only Unix has pseudo terminals")

_SLOW = """
import time
from plugrad.progress import progress
with progress("kernels", 5) as report:
    for done in range(5):
        time.sleep({pause})
        report(done + 1)
"""


def _on_terminal(code: str, folder: Path, **settings: str) -> str:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **settings}
    with subprocess.Popen(
        [sys.executable, "-c", code], stderr=theirs, cwd=folder, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                more = os.read(ours, 4096)
            except OSError:  # Linux says so when the other end is closed
                more = b""
            if not more:
                break
            shown += more
        os.close(ours)
    assert process.returncode == 0
    return shown.decode()


def test_slow_work_is_shown_and_goes_away(tmp_path: Path) -> None:
    shown = _on_terminal(_SLOW.format(pause=0.4), tmp_path)
    assert re.search("kernels [345]/5", shown)
    assert shown.rstrip().endswith("\x1b[2K")  # the line is erased at the end


def test_quick_work_shows_nothing(tmp_path: Path) -> None:
    assert _on_terminal(_SLOW.format(pause=0), tmp_path) == ""


def test_a_setting_turns_it_off(tmp_path: Path) -> None:
    assert _on_terminal(_SLOW.format(pause=0.3), tmp_path, PROGRESS="0") == ""


def test_without_a_terminal_it_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    with progress("kernels", 2) as report:
        report(1)
    assert capfd.readouterr() == ("", "")


_NESTED = """
import time
from plugrad.progress import progress
with progress("batches", 2) as batch:
    time.sleep(1.2)
    with progress("kernels", 5) as report:
        report(2)
        time.sleep(1.3)
    batch(1)
    time.sleep(0.3)
"""


def test_work_inside_of_work_is_shown_below_it(tmp_path: Path) -> None:
    shown = _on_terminal(_NESTED, tmp_path)
    assert "kernels 2/5" in shown
    assert "kernels" not in shown.split("batches 1/2")[-1]


_PHASES = """
import time
from plugrad.progress import one_wait, progress
with one_wait():
    with progress("scheduling", None):
        time.sleep({pause})
    with one_wait(), progress("kernels", 5):
        time.sleep({pause})
"""


def test_the_time_of_a_wait_is_that_of_all_its_phases(tmp_path: Path) -> None:
    shown = _on_terminal(_PHASES.format(pause=0.8), tmp_path)
    assert "kernels 0/5" in shown
    assert "scheduling" not in shown
    assert _on_terminal(_PHASES.format(pause=0.1), tmp_path) == ""


def test_phases_of_one_call_are_one_wait(tmp_path: Path) -> None:
    code = """
import time
from plugrad import Tensor, jit
from plugrad.engine import plan
from plugrad.engine.execute import Launch
run, prepare = Launch.run, plan.prepare
def slowly(function):
    def slow(*arguments):
        time.sleep(0.7)
        return function(*arguments)
    return slow
plan.prepare, Launch.run = slowly(prepare), slowly(run)
(Tensor([1.0, 2.0], device="PYTHON") + 1).realize()
plan.prepare, Launch.run = slowly(prepare), run
@jit.jit
def twice(x):
    y = (x + 1).realize()
    return (y * 2).realize()
twice(Tensor([1.0, 2.0], device="PYTHON"))
"""
    shown = _on_terminal(code, tmp_path)
    assert "launches 0/1" in shown
    assert "scheduling" in shown


def test_slow_scheduling_is_shown(tmp_path: Path) -> None:
    code = """
import time
from plugrad import Tensor
from plugrad.engine import plan
prepare = plan.prepare
def slow(schedule):
    time.sleep(3)
    return prepare(schedule)
plan.prepare = slow
(Tensor([1.0, 2.0], device="PYTHON") + 1).realize()
"""
    shown = _on_terminal(code, tmp_path)
    assert re.search(r"scheduling \d+ operations", shown)


def test_slow_kernels_are_shown(tmp_path: Path) -> None:
    code = """
import time
from plugrad import Tensor
from plugrad.engine.execute import Launch
run = Launch.run
def slow(*arguments):
    time.sleep(3)
    run(*arguments)
Launch.run = slow
(Tensor([1.0, 2.0], device="PYTHON") + 1).realize()
"""
    assert "launches 0/1" in _on_terminal(code, tmp_path)


def test_work_in_a_forked_child_is_shown(tmp_path: Path) -> None:
    code = f"""
import os
from plugrad.progress import progress
with progress("kernels", 1):
    pass
if os.fork():
    os.wait()
else:
    {_SLOW.format(pause=0.4).strip().replace(chr(10), chr(10) + "    ")}
"""
    assert re.search("kernels [345]/5", _on_terminal(code, tmp_path))
