"""Sum the time of launches and copies by kernel."""

import threading
from dataclasses import dataclass

from plugrad.events import CopyEvent, Event, KernelEvent, Subscription, subscribe
from plugrad.observe.machine_limits import has_limits, limit_cells
from plugrad.observe.style import duration, rate

PROFILED_EVENTS = (KernelEvent, CopyEvent)
_HEADER = ("device", "kernel", "count", "total", "mean", "share", "GFLOP/s", "GB/s")
_LIMIT = "limit"


@dataclass(slots=True)
class ProfileRow:
    """All launches of one kernel, or all copies between two devices."""

    device: str
    name: str
    count: int = 0
    timed_count: int = 0
    seconds: float = 0.0
    flops: int = 0
    nbytes: int = 0

    def add(self, seconds: float | None, flops: int, nbytes: int) -> None:
        """Count one more; work without a time is counted, but not taken into speeds."""
        self.count += 1
        if seconds is None:
            return
        self.timed_count += 1
        self.seconds += seconds
        self.flops += flops
        self.nbytes += nbytes


class Profiler:
    """Observer that sums kernels and copies; a `with` block limits it.

    Example:
        with Profiler() as profile:
            tensor.realize()
        print(profile.table())
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], ProfileRow] = {}
        self._lock = threading.Lock()
        self._subscription: Subscription | None = None

    def __enter__(self) -> "Profiler":
        self._subscription = subscribe(PROFILED_EVENTS, self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._subscription is not None:
            self._subscription.close()

    def __call__(self, event: Event) -> None:
        """Take `event` into the sums if it is a launch or a copy."""
        match event:
            case KernelEvent():
                self._add(event.device, event.name, event.seconds, event.flops, event.bytes_accessed)
            case CopyEvent():
                self._add(event.destination, f"copy from {event.source}", event.seconds, 0, event.nbytes)
            case _:
                pass

    def rows(self) -> list[ProfileRow]:
        """Return the sums, the longest first."""
        with self._lock:
            return sorted(self._rows.values(), key=lambda row: -row.seconds)

    def table(self, limit: int = 30, width: int | None = None) -> str:
        """Return the `limit` longest as text of at most `width` columns.

        A name that leaves no room has a line of its own, so that no number is broken.
        """
        rows = self.rows()
        total = sum(row.seconds for row in rows)
        header = (*_HEADER, *((_LIMIT,) if has_limits() else ()))
        cells = [header, *(_cells(row, total) for row in rows[:limit])]
        widths = [max(len(line[column]) for line in cells) for column in range(len(header))]
        lines = [_join_cells(line, widths, width) for line in cells]
        if len(rows) > limit:
            lines.append(f"... and {len(rows) - limit} more")
        lines.append(f"total {duration(total)}, {sum(row.count for row in rows)} launches and copies")
        return "\n".join(lines)

    def _add(self, device: str, name: str, seconds: float | None, flops: int, nbytes: int) -> None:
        with self._lock:
            row = self._rows.setdefault((device, name), ProfileRow(device, name))
            row.add(seconds, flops, nbytes)


def _cells(row: ProfileRow, total: float) -> tuple[str, ...]:
    mean = duration(row.seconds / row.timed_count) if row.timed_count else "-"
    share = f"{row.seconds / total:.1%}" if total else "-"
    speeds = (rate(row.flops, row.seconds), rate(row.nbytes, row.seconds))
    limits = limit_cells(row.device, row.flops, row.nbytes, row.seconds)
    return (row.device, row.name, str(row.count), duration(row.seconds), mean, share, *speeds, *limits)


def _join_cells(cells: tuple[str, ...], widths: list[int], width: int | None) -> str:
    """Join cells to a line: the two names to the left, numbers to the right."""
    device, name, *numbers = cells
    right = "".join(f"  {cell:>{size}}" for cell, size in zip(numbers, widths[2:], strict=True))
    head = f"{device:{widths[0]}}  "
    room = widths[1] if width is None else min(widths[1], width - len(head) - len(right))
    if len(name) > room:
        return f"{head}{name}\n{' ' * (len(head) + room)}{right}"
    return f"{head}{name:{max(room, 0)}}{right}"
