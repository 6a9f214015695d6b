"""Measure one case in this process: `python -m suite.worker LIBRARY CASE SECONDS [--quick]` prints JSON."""

import importlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from suite import with_numpy
from suite.cases import CASES, Case

_LEAST_SAMPLES = 5
_BATCH_SECONDS = 1e-3  # calls shorter than this are timed together, so that reading the clock costs nothing
_WARM_UP_CALLS = 6  # a jitted function has recorded by then


def main(library: str, name: str, seconds: float, quick: bool) -> dict[str, float]:
    """Measure one case and return its figures; none if the library's module does not have it."""
    case = next(case for case in CASES if case.name == name)
    work = getattr(importlib.import_module(f"suite.with_{library}"), case.work, None)
    if work is None:
        return {}
    done = work(**case.arguments(quick))
    if case.kind == "rate":
        return {"rate": done}
    check(case, done, quick)
    return time_calls(done, seconds)


def check(case: Case, call: Callable[[], Any], quick: bool) -> None:
    """Call until a jitted function replays, and check its result.

    Raises:
        AssertionError: it is not.
    """
    results = [_array(call()) for _ in range(_WARM_UP_CALLS)]
    if case.work.endswith("_step"):
        # random labels, the same in each step: what learns at all learns them by heart
        assert 0 < results[-1] < results[0] < 10, f"{case.name}: the loss goes {results}"
        return
    expected = np.asarray(getattr(with_numpy, case.work)(**case.arguments(quick))(), np.float64)
    for found in (results[0], results[-1]):
        error = float(np.abs(found.reshape(expected.shape) - expected).max())
        scale = float(np.abs(expected).max())
        assert error <= 1e-3 * scale, f"{case.name}: off by {error:.3g}, values up to {scale:.3g}"


def _array(result: Any) -> Any:
    return np.array(result.numpy() if hasattr(result, "numpy") else result, np.float64)


def time_calls(call: Callable[[], Any], seconds: float) -> dict[str, float]:
    """Call again and again for so many seconds; return the least and the median time of a call."""
    for _ in range(_WARM_UP_CALLS):
        call()
    once = _time(call, 1)
    batch = max(1, round(_BATCH_SECONDS / max(once, 1e-9)))
    samples: list[float] = []
    end = time.perf_counter() + seconds
    while len(samples) < _LEAST_SAMPLES or time.perf_counter() < end:
        samples.append(_time(call, batch))
    samples.sort()
    return {"best": samples[0], "median": samples[len(samples) // 2]}


def _time(call: Callable[[], Any], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - started) / count


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], float(sys.argv[3]), "--quick" in sys.argv)))
