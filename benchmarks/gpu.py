"""Time operations and whole models on a GPU beside PyTorch: `python benchmarks/gpu.py --help`."""

import os

os.environ.setdefault("DEVICE", "CUDA")

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from models import make_calls
from suite.gpu_work import Work, works
from suite.models.cases import Case, cases
from suite.sections import section_body
from suite.table import markdown

import plugrad
from plugrad import Tensor, dtypes, jit

PAGE = Path(__file__).parents[1] / "docs" / "gpu-benchmarks.md"
WHERE = "cuda" if torch.cuda.is_available() else "cpu"
ROUNDS = 7
#: How far results may differ, of the norm: float32 sums in another order, factors of 8 or 11 bits.
TOLERANCES = {"float32": 1e-4, "float16": 2e-3, "bfloat16": 1e-2}
_TEXT = """\
The device: {device}. Limits, measured by PyTorch in the same process: copying memory {copy:.0f} GB/s
(read and written), products of matrices {float32:.0f} TFLOP/s in float32 and {bfloat16:.0f} in bfloat16.

Each figure is the median over {rounds} rounds, in which the libraries take turns, of a call's part of the
time that many calls take until the device is done. plugrad is jitted, PyTorch eager, without tf32.
**of the limit** is the least time that the arithmetic or the bytes need at these limits, as a part of
plugrad's time. Results are compared before anything is timed; `differs` says that they are too far apart.
Models read their result, or their loss, in each call.
"""
Call = Callable[[], Any]


def wait() -> None:
    """Return when the device has nothing to do."""
    plugrad.Device[None].synchronize()
    if WHERE == "cuda":
        torch.cuda.synchronize()


def seconds_of(calls: Mapping[str, Call]) -> dict[str, float]:
    """Return the time of a call of each, taking turns."""
    counts: dict[str, int] = {}
    for name, call in calls.items():
        for _ in range(3):
            call()
        counts[name] = max(1, min(1000, int(0.03 / _timed(call, 1))))
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            samples[name].append(_timed(call, counts[name]))
    return {name: statistics.median(times) for name, times in samples.items()}


def _timed(call: Call, count: int) -> float:
    wait()
    started = time.perf_counter()
    for _ in range(count):
        call()
    wait()
    return (time.perf_counter() - started) / count


def limits(quick: bool) -> dict[str, float]:
    """Return bytes copied a second, and operations a second of products of matrices of each dtype."""
    size = 256 if quick else 8192
    source = torch.randn(size * size * 4, device=WHERE)
    target = torch.empty_like(source)
    found = {"copy": 2 * 4 * source.numel() / seconds_of({"": lambda: target.copy_(source)})[""]}
    for name in ("float32", "bfloat16"):
        a = torch.randn(size, size, device=WHERE, dtype=getattr(torch, name))
        found[name] = 2 * size**3 / seconds_of({"": lambda a=a: a @ a})[""]
    return found


def calls_of(work: Work) -> tuple[dict[str, Call], bool]:
    """Return both calls, and whether their results agree."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape, dtype=np.float32) for shape in work.shapes]
    ours = [Tensor(a).cast(getattr(dtypes, work.dtype)).contiguous().realize() for a in arrays]
    theirs = [torch.from_numpy(a).to(WHERE, getattr(torch, work.dtype)) for a in arrays]
    replayed = jit(lambda *inputs: work.ours(*inputs).realize())
    for _ in range(3):
        result = replayed(*ours)
    expected = work.theirs(*theirs).to("cpu", torch.float64).numpy()
    difference = np.linalg.norm(result.cast(dtypes.float32).numpy().astype(np.float64) - expected)
    agrees = difference <= TOLERANCES[work.dtype] * np.linalg.norm(expected)
    return {"plugrad": lambda: replayed(*ours), "torch": lambda: work.theirs(*theirs)}, bool(agrees)


def show(seconds: float) -> str:
    """Return a time in a unit of three digits or so."""
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def row_of(work: Work, bounds: Mapping[str, float]) -> list[str]:
    """Return the cells of an operation."""
    try:
        calls, agrees = calls_of(work)
        seconds = seconds_of(calls)
    except Exception as error:  # one operation that fails leaves the others their row
        return [work.title, f"fails: {type(error).__name__}: {str(error)[:80]}", "", "", ""]
    ours, theirs = seconds["plugrad"], seconds["torch"]
    rate = bounds["float32" if work.dtype == "float32" else "bfloat16"]
    least = max(work.flop / rate, work.nbytes / bounds["copy"])
    return [
        work.title,
        show(ours) if agrees else f"differs ({show(ours)})",
        show(theirs),
        f"{theirs / ours:.2f}",
        f"{least / ours:.0%}",
    ]


def row_of_model(case: Case) -> list[str]:
    """Return the cells of a model."""
    try:
        seconds = seconds_of(make_calls(case, WHERE))
    except Exception as error:  # as above
        return [case.title, f"fails: {type(error).__name__}: {str(error)[:80]}", "", "", ""]
    ours, theirs = seconds["plugrad"], seconds["torch"]
    return [case.title, show(ours), show(theirs), f"{theirs / ours:.2f}", ""]


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line, measure, print, and write the page where that is asked for."""
    parser = argparse.ArgumentParser(description="Operations and models on a GPU, timed beside PyTorch.")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run at all?")
    parser.add_argument("--only", action="append", default=[], help="rows whose titles have this in them")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args(arguments)
    torch.backends.cudnn.allow_tf32 = False
    bounds = limits(options.quick)
    rows = [["operation", "plugrad", "torch", "torch / plugrad", "of the limit"]]
    todo: list[tuple[str, Callable[[], list[str]]]] = [
        *((w.title, lambda w=w: row_of(w, bounds)) for w in works(options.quick)),
        *((c.title, lambda c=c: row_of_model(c)) for c in cases(options.quick)),
    ]
    for title, measure in todo:
        if not options.only or any(part in title for part in options.only):
            rows.append(measure())
            print(*rows[-1], sep=" | ", flush=True)
            gc.collect()
    device = torch.cuda.get_device_name() if WHERE == "cuda" else "CPU, in place of a GPU"
    text = _TEXT.format(
        device=device,
        copy=bounds["copy"] / 1e9,
        float32=bounds["float32"] / 1e12,
        bfloat16=bounds["bfloat16"] / 1e12,
        rounds=ROUNDS,
    )
    page = f"# GPUs\n\n{section_body('gpu.py', (torch,), markdown(rows), text)}"
    if options.write:
        PAGE.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
