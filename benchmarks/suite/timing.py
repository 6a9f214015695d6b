"""Time what a library builds, in whichever library's process this runs."""

import time
from collections.abc import Callable


def least_seconds(build: Callable[[], object], count: int) -> float:
    """Return the seconds of the fastest of `count` calls, whose results are dropped in between."""
    times: list[float] = []
    for _ in range(count):
        started = time.perf_counter()
        made = build()
        times.append(time.perf_counter() - started)
        del made  # nodes that are still there would be found
    return min(times)
