"""What an out-of-memory error says: who holds the device's memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugrad.errors import DeviceOutOfMemory

if TYPE_CHECKING:
    from plugrad.runtime.buffer import Buffer

_SHOWN = 5
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def explain_out_of_memory(
    wanted: "Buffer", live: "Sequence[Buffer]", cause: DeviceOutOfMemory
) -> DeviceOutOfMemory:
    """Return the error for a buffer that could not be allocated, naming the largest that hold memory."""
    holders = [b for b in live if b.handle is not None and b.device == wanted.device]
    holders.sort(key=lambda b: b.nbytes, reverse=True)
    total = sum(b.nbytes for b in holders)
    lines = [
        f"{wanted.device} has no room for {describe(wanted)}: {cause}.",
        f"{len(holders)} live buffers hold {show_bytes(total)} there"
        + (", most of all:" if holders else "."),
        *(f"  {describe(b)}" for b in holders[:_SHOWN]),
        "Drop references to tensors that are not needed, use a smaller batch or a narrower dtype.",
    ]
    return DeviceOutOfMemory("\n".join(lines), device=wanted.device, requested_bytes=wanted.nbytes)


def describe(buffer: "Buffer") -> str:
    """Return size, element type and label of a buffer in one line.

    Example:
        `4.00 MB, float32[1048576] (weight)`
    """
    label = f" ({buffer.label})" if buffer.label else ""
    return f"{show_bytes(buffer.nbytes)}, {buffer.dtype.name}[{buffer.size}]{label}"


def show_bytes(nbytes: int) -> str:
    """Return a number of bytes in the unit a person would choose.

    Example:
        >>> show_bytes(3 << 20)
        '3.00 MB'
    """
    amount = float(nbytes)
    unit = 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount /= 1024
        unit += 1
    return f"{nbytes} bytes" if unit == 0 else f"{amount:.2f} {_UNITS[unit]}"
