"""The digits example: it learns, its file holds what it learnt, and every device takes the same steps."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits.py"


def run(folder: Path, *arguments: str, **environment: str) -> str:
    """Run the example in `folder`, with its cache there, and return what it prints."""
    settings = {"PLUGRAD_CACHE": str(folder / "cache"), "SPEC": "0", "NO_COLOR": "1", "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), *arguments],
        cwd=folder,
        env={**os.environ, **settings, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers(pattern: str, text: str) -> list[float]:
    found = [float(number) for number in re.findall(pattern, text)]
    assert found, text
    return found


def test_it_reads_98_percent_of_new_digits_and_again_from_its_file(tmp_path: Path) -> None:
    first = run(tmp_path)
    assert numbers(r"accuracy +([\d.]+)%", first)[0] >= 98
    assert numbers(r"accuracy +([\d.]+)%", first) == numbers(r"reloaded +([\d.]+)%", first)
    assert numbers(r"time +([\d.]+) s", first)
    assert (tmp_path / "digits.safetensors").is_file()
    second = run(tmp_path, "--steps", "2")
    assert numbers(r"kernels +\d+: (\d+) compiled", second) == [0]


def test_the_interpreter_takes_the_same_steps(tmp_path: Path) -> None:
    fast = numbers(r"loss \d+ ([\d.]+)", run(tmp_path, "--steps", "3"))
    exact = numbers(r"loss \d+ ([\d.]+)", run(tmp_path, "--steps", "3", DEVICE="PYTHON"))
    assert len(fast) == 3
    assert exact == pytest.approx(fast, rel=1e-3)


def test_a_device_that_is_not_there_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="DeviceNotFound: there is no device 'NOWHERE'"):
        run(tmp_path, "--steps", "1", DEVICE="NOWHERE")
