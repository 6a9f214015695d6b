"""A simulated OpenCL device finds what real ones do in silence (evidence E2)."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[3] / "tests" / "simulators" / "oclgrind.py"

_PROGRAM = """
from plugrad import Device, Tensor
from plugrad_opencl.renderer import OpenClRenderer
{change}
assert Device["OPENCL"].evidence.name == "E2"
x = Tensor.ones(8, 1003, device="OPENCL").contiguous().realize()
print(x.sum(1).tolist())
"""


@pytest.fixture
def simulate():
    """Run a Python program on the simulated device."""
    if not RUN.is_file():
        pytest.skip(f"the simulated device comes with the repository only: no {RUN}")
    if runpy.run_path(str(RUN))["find_driver"]() is None:
        pytest.skip("there is no oclgrind: `apt install oclgrind`")

    def run(program: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, RUN, sys.executable, "-c", program]
        # a kernel of the cache has its barriers
        environment = os.environ | {"CACHELEVEL": "0"}
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    return run


def test_a_group_that_shares_a_sum_has_no_race(simulate):
    done = simulate(_PROGRAM.format(change=""))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str([1003.0] * 8))


def test_a_removed_barrier_is_reported(simulate):
    done = simulate(_PROGRAM.format(change="OpenClRenderer.barrier = ';'"))
    assert done.returncode == 1
    assert "data race" in done.stderr


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_work_items_that_update_one_element_are_no_race(simulate, dtype):
    program = f"""
from plugrad import Tensor, dtypes
rows = (Tensor.arange(2000, device="OPENCL") % 300).realize()
x, start = (Tensor.ones(n, dtype=dtypes.{dtype}, device="OPENCL").contiguous().realize() for n in (2000, 300))
out = start.index_add(0, rows, x)
assert any(call.ast.src[0].arg for call in out.schedule())
print(out.tolist())
"""
    done = simulate(program)
    assert done.returncode == 0, done.stderr
    number = float if dtype == "float32" else int
    assert done.stdout.startswith(str([number(8 if row < 200 else 7) for row in range(300)]))
