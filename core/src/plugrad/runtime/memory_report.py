"""Explain an out-of-memory error by the holders of the device's memory."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugrad.errors import DeviceOutOfMemory
from plugrad.runtime.origin import Origin

if TYPE_CHECKING:
    from plugrad.runtime.buffer import Buffer

_SHOWN = 5
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def explain_out_of_memory(
    wanted: "Buffer", live: "Sequence[Buffer]", cause: DeviceOutOfMemory
) -> DeviceOutOfMemory:
    """Return the error for a failed allocation, with the largest holders of memory.

    Buffers of one size from one line count together, as those of a loop.
    """
    holders = [b for b in live if b.handle is not None and b.device == wanted.device]
    total = sum(b.nbytes for b in holders)
    nbytes_of = {describe(b): b.nbytes for b in holders}
    counts = Counter(map(describe, holders))
    largest = sorted(counts, key=lambda text: counts[text] * nbytes_of[text], reverse=True)
    lines = [
        f"{wanted.device} has no room for {describe(wanted)}: {str(cause).rstrip('.')}.",
        f"{len(holders)} live buffers hold {show_bytes(total)} there"
        + (", most of all:" if holders else "."),
        *(f"  {f'{counts[text]} x ' if counts[text] > 1 else ''}{text}" for text in largest[:_SHOWN]),
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
