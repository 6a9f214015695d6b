"""CI skips levels of x86-64 on other processors."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(machine: str, level: str, folder: Path) -> str:
    uname = folder / "uname"
    uname.write_text(f"#!/bin/sh\necho {machine}\n")
    uname.chmod(0o755)
    path = os.pathsep.join((str(folder), os.environ["PATH"]))
    command = [
        ROOT / ".ci/at_level",
        f"PLUGRAD_CPU={level}",
        "A=1",
        "sh",
        "-c",
        "echo $A at ${PLUGRAD_CPU:-all}",
    ]
    done = subprocess.run(
        command, env={**os.environ, "PATH": path}, check=True, capture_output=True, text=True, timeout=60
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("machine", "level", "said"),
    [
        ("x86_64", "x86-64-v2", "1 at x86-64-v2"),
        ("x86_64", "", "1 at all"),
        ("arm64", "", "1 at all"),
        (
            "arm64",
            "x86-64-v2",
            "skipped: PLUGRAD_CPU=x86-64-v2 is a level of x86-64, and this machine is arm64",
        ),
    ],
)
def test_a_level_of_x86_is_skipped_on_other_processors(
    machine: str, level: str, said: str, tmp_path: Path
) -> None:
    assert run(machine, level, tmp_path) == said
