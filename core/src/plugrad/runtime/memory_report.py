"""Explain an out-of-memory error by the holders of the device's memory."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from plugrad._frozen import frozen
from plugrad.errors import DeviceOutOfMemory
from plugrad.runtime.origin import Origin

if TYPE_CHECKING:
    from plugrad.runtime.buffer import Buffer

_SHOWN = 5
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


@frozen
class Holder:
    """Live values of one shape and dtype that one line asked for."""

    count: int
    nbytes: int
    description: str

    def __str__(self) -> str:
        """Return a line of the report."""
        times = f"{self.count} x " if self.count > 1 else ""
        return f"{times}{self.description}"


def holders_of(buffers: "Iterable[Buffer]") -> list[Holder]:
    """Return the holders of memory, the largest first; buffers described alike count together."""
    by_text: dict[str, list[Buffer]] = {}
    for buffer in buffers:
        by_text.setdefault(describe(buffer), []).append(buffer)
    holders = [Holder(len(own), sum(b.nbytes for b in own), text) for text, own in by_text.items()]
    return sorted(holders, key=lambda holder: -holder.nbytes)


def explain_out_of_memory(
    wanted: "Buffer", live: "Sequence[Buffer]", cause: DeviceOutOfMemory
) -> DeviceOutOfMemory:
    """Return the error for a failed allocation, with the largest holders of memory."""
    holders = holders_of(b for b in live if b.handle is not None and b.device == wanted.device)
    total = sum(holder.nbytes for holder in holders)
    lines = [
        f"{wanted.device} has no room for {describe(wanted)}: {str(cause).rstrip('.')}.",
        f"{sum(holder.count for holder in holders)} live buffers hold {show_bytes(total)} there"
        + (", most of all:" if holders else "."),
        *(f"  {holder}" for holder in holders[:_SHOWN]),
        "Drop references to tensors that are not needed, use a smaller batch or a narrower dtype.",
    ]
    return DeviceOutOfMemory("\n".join(lines), device=wanted.device, requested_bytes=wanted.nbytes)


def describe(buffer: "Buffer") -> str:
    """Return size, element type, shape and label of a buffer in one line.

    Example:
        `4.19 MB, float32[1024, 1024] (train.py:12 in main)`
    """
    label = buffer.label
    shape = label.shape if isinstance(label, Origin) else (buffer.size,)
    text = str(label)
    numbers = ", ".join(map(str, shape))
    return f"{show_bytes(buffer.nbytes)}, {buffer.dtype.name}[{numbers}]" + (f" ({text})" if text else "")


def show_bytes(nbytes: int) -> str:
    """Return a number of bytes in the unit a person would choose.

    Example:
        >>> show_bytes(3_000_000)
        '3.00 MB'
    """
    amount = float(nbytes)
    unit = 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount /= 1000
        unit += 1
    return f"{nbytes} bytes" if unit == 0 else f"{amount:.2f} {_UNITS[unit]}"
