"""Show what kernels take of a GPU, compiled by the real NVRTC: `python benchmarks/gpu_kernels.py --help`.

Needs no GPU: nothing runs. The page docs/gpu-kernels.md is what this prints.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from suite.gpu_cases import CASES
from suite.gpu_resources import Resources, resources
from suite.table import markdown

from plugrad_cuda import nvrtc

PAGE = Path(__file__).parents[1] / "docs" / "gpu-kernels.md"
ARCHS = ("sm_80", "sm_90")
_HEADINGS = (
    "kernel",
    "blocks",
    "threads",
    "registers",
    "spills",
    "stack",
    "shared",
    "accesses",
    "128-bit",
    "matrix",
    "FLOP/byte",
)
_TEXT = """\
<!-- made by `python benchmarks/gpu_kernels.py --write` -->

# Kernels for GPUs

What NVRTC {version} makes of the kernels of a fixed list of programs, for compute capabilities 8.0 and 9.0.
No kernel ran for this page: its columns are facts of compiled code and of launches, not times. (Results are
checked by executing the same kernels on a stand-in for a GPU, evidence E2.)

- **blocks**, **threads**: the launch, and the threads in each block. An A100 has 108 multiprocessors, an H100
  has 132.
- **registers** of each thread; **spills** and **stack** in bytes of a thread, **shared** memory in bytes of a
  block.
- **accesses**: loads and stores of global memory in the code, each width in bits with its number;
  **128-bit**: the part of their bits that accesses of 128 bits move.
- **matrix**: matrix instructions in the code.
- **FLOP/byte**: the arithmetic for each byte that loads and stores of global memory move, cached or not.

A change of the code that changes a line here makes the page again, and is reviewed by it.
"""


def row(case: str, r: Resources) -> tuple[str, ...]:
    """Return the cells of one kernel."""
    accesses = " ".join(f"{width}x{count}" for width, count in r.accesses.items())
    numbers = (r.blocks, r.threads, r.registers, r.spilled_bytes, r.stack_bytes, r.shared_bytes)
    return (
        f"{case}: `{r.name}`",
        *map(str, numbers),
        accesses,
        f"{r.wide_percent} %",
        str(r.matrix),
        f"{r.flops_per_byte:.2f}",
    )


def table(arch: str, only: Sequence[str] = ()) -> str:
    """Return the table of one architecture, of the cases whose names hold a word of `only`."""
    chosen = {case: make for case, make in CASES.items() if not only or any(word in case for word in only)}
    rows = [row(case, r) for case, make in chosen.items() for r in resources(make(), arch)]
    return markdown([_HEADINGS, *rows])


def parts(archs: Sequence[str]) -> list[str]:
    """Return the parts of the page of the documentation: its text, and a table for each architecture."""
    version = ".".join(map(str, nvrtc.choose(90).version))
    return [_TEXT.format(version=version), *(f"## {arch}\n\n{table(arch)}" for arch in archs)]


def main() -> int:
    """Print tables, or write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--only", action="append", default=[], help="cases with this word (repeatable)")
    parser.add_argument("--arch", action="append", default=[], help=f"by default {' and '.join(ARCHS)}")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--check", action="store_true", help=f"fail where {PAGE.name} says something else")
    asked = parser.parse_args()
    if asked.write:
        PAGE.write_text("\n".join(parts(ARCHS)), encoding="utf-8")
    elif asked.check:
        text = PAGE.read_text(encoding="utf-8")
        if any(part not in text for part in parts(asked.arch or ARCHS)):
            print(f"{PAGE.name} differs: run `python benchmarks/gpu_kernels.py --write` and review it")
            return 1
    else:
        for arch in asked.arch or ARCHS:
            print(f"{arch}\n\n{table(arch, asked.only)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
