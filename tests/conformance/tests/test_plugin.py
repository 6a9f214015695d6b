"""Tests of plugrad_conformance.plugin, in a process of its own."""

import os
import subprocess
import sys

PROGRAM = """
import sys
from plugrad_conformance.cli.conformance import main
from plugrad_conformance.harness.bench import Bench
plan = Bench.plan
Bench.plan = lambda bench, cases: print("planned", *(case.id for case in cases)) or plan(bench, cases)
sys.exit(main(["--device", "PYTHON", "--profile", "minimal", "-k", "kernels and add"]))
"""


def test_kernels_of_deselected_cases_are_not_compiled() -> None:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    (planned,) = (line.split()[1:] for line in done.stdout.splitlines() if line.startswith("planned"))
    assert planned
    assert all("add" in case for case in planned)
