"""Limits of devices, measured by `plugrad bench`, and the share that a kernel reaches.

They are kept in a file beside the kernels, since what a machine can do does not change from run to run.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from plugrad._frozen import frozen
from plugrad.runtime.private_folder import make_private
from plugrad.settings import cache_dir


@frozen
class MachineLimits:
    """The limits of one device.

    Attributes:
        flops: operations on float32 in a second.
        bandwidth: bytes read and written in a second.
        launch_seconds: the time of a kernel that does next to nothing.
    """

    flops: float
    bandwidth: float
    launch_seconds: float

    def share(self, flops: int, nbytes: int, seconds: float | None) -> float | None:
        """Return the part of the nearer limit that a kernel reaches.

        Example:
            >>> MachineLimits(100e9, 10e9, 1e-6).share(flops=50_000, nbytes=2_000, seconds=1e-6)
            0.5
        """
        if not seconds:
            return None
        return max(flops / self.flops, nbytes / self.bandwidth) / seconds


def known_limits(device: str) -> MachineLimits | None:
    """Return the limits of a device, if they were measured on this machine."""
    return _read(_file()).get(device)


def has_limits() -> bool:
    """Say whether the limits of any device are known: tables have a column then."""
    return bool(_read(_file()))


def limit_cells(device: str, flops: int, nbytes: int, seconds: float | None) -> tuple[str, ...]:
    """Return the cell of a kernel's share of the limits, where some are known."""
    if not has_limits():
        return ()
    limits = known_limits(device)
    share = None if limits is None else limits.share(flops, nbytes, seconds)
    return ("-" if share is None else f"{share:.0%}",)


def keep_limits(device: str, limits: MachineLimits) -> None:
    """Keep what was measured for a device."""
    found = {**_read(_file()), device: limits}
    make_private(_file().parent)
    entries = {name: [one.flops, one.bandwidth, one.launch_seconds] for name, one in found.items()}
    _file().write_text(json.dumps(entries), encoding="utf-8")
    _read.cache_clear()


def _file() -> Path:
    return cache_dir() / "limits.json"


@cache
def _read(file: Path) -> dict[str, MachineLimits]:
    try:
        entries: Any = json.loads(file.read_text(encoding="utf-8"))
        return {str(name): MachineLimits(*map(float, numbers)) for name, numbers in entries.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        # never measured, or by another version
        return {}
