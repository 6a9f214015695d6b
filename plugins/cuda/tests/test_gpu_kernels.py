"""The page docs/gpu-kernels.md is what NVRTC makes of today's kernels, and no kernel of it spills."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from plugrad_cuda import nvrtc

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "gpu-kernels.md"


@pytest.fixture(scope="module")
def page() -> str:
    """The text of the page."""
    if not PAGE.is_file():
        pytest.skip(f"the page comes with the repository only: no {PAGE}")
    return PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("arch", [pytest.param("sm_80", marks=pytest.mark.wide), "sm_90"])
def test_the_page_is_up_to_date(page: str, arch: str, nvrtc_library: None) -> None:
    made_by = re.search(r"NVRTC (\d+)\.(\d+)", page)
    assert made_by is not None
    version = int(made_by[1]), int(made_by[2])
    if (here := nvrtc.choose(90).version) != version:
        pytest.skip(f"the page is made by NVRTC {version}; another one, here {here}, counts other registers")
    command = [sys.executable, ROOT / "benchmarks" / "gpu_kernels.py", "--check", "--arch", arch]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_kernel_spills(page: str) -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line[:1] == "|"]
    spilled = rows[0].index("spills")
    kernels = [row for row in rows if "`" in row[0]]
    assert kernels
    assert not [row[0] for row in kernels if int(row[spilled]) or int(row[spilled + 1])]
