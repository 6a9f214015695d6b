"""Report memory by owner: values by line, arenas, blocks kept for reuse."""

from collections.abc import Iterable

from plugrad._frozen import frozen
from plugrad.device import Device
from plugrad.runtime.buffer import live_buffers
from plugrad.runtime.memory_report import Holder, holders_of, show_bytes
from plugrad.runtime.origin import ARENA

__all__ = ["DeviceMemory", "Holder", "MemoryReport", "memory"]


@frozen
class DeviceMemory:
    """The memory of one device.

    Attributes:
        device: its name.
        holders: who holds the values of tensors and captures, the largest first.
        arena_nbytes: bytes of intermediate values, which jitted functions keep for their next call.
        kept_nbytes: bytes of freed blocks that wait for the next request of their size.
    """

    device: str
    holders: tuple[Holder, ...]
    arena_nbytes: int
    kept_nbytes: int

    @property
    def nbytes(self) -> int:
        """The bytes of all live values; arenas and kept blocks not among them."""
        return sum(holder.nbytes for holder in self.holders)

    @property
    def summary(self) -> str:
        """One line on the sums."""
        live, arenas, kept = map(show_bytes, (self.nbytes, self.arena_nbytes, self.kept_nbytes))
        return f"{self.device}: {live} live, {arenas} of intermediate values, {kept} kept for reuse"


@frozen
class MemoryReport:
    """The memory of all open devices. Printed, it is a table."""

    devices: tuple[DeviceMemory, ...]

    def __str__(self) -> str:
        """Return the table."""
        lines = [line for one in self.devices for line in (one.summary, *(f"  {h}" for h in one.holders))]
        return "\n".join(lines) or "no memory is held"

    def __repr__(self) -> str:
        return str(self)


def memory() -> MemoryReport:
    """Return the owners of memory on each open device, the largest first.

    Values are listed with the line that had them computed. Those that were never computed have no memory.

    Example:
        >>> x = Tensor.ones(256, 256, device="PYTHON").contiguous().realize()
        >>> (python,) = [one for one in memory().devices if one.device == "PYTHON"]
        >>> python.nbytes >= 256 * 256 * 4
        True
        >>> any("float32[256, 256]" in str(holder) for holder in python.holders)
        True
    """
    found = (_memory_of(device.name, device.allocator.cached_bytes) for device in Device.opened())
    return MemoryReport(tuple(one for one in found if one.holders or one.arena_nbytes or one.kept_nbytes))


def memory_lines(devices: Iterable[str]) -> str:
    """Return the sums of the devices with these names, a line each."""
    return "\n".join(_memory_of(name, Device[name].allocator.cached_bytes).summary for name in devices)


def _memory_of(device: str, kept_nbytes: int) -> DeviceMemory:
    held = [buffer for buffer in live_buffers(device) if buffer.handle is not None]
    arena_nbytes = sum(buffer.nbytes for buffer in held if buffer.label == ARENA)
    holders = holders_of(buffer for buffer in held if buffer.label != ARENA)
    return DeviceMemory(device, tuple(holders), arena_nbytes, kept_nbytes)
