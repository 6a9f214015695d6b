"""Print events, in the detail of DEBUG.

1 one line a realize; 2 one line a kernel and copy; 3 the opts of each kernel; 4 its source; 5 the graph after
each pass; 6 the linear program; 7 the disassembly. Each level shows what those below it show.
"""

import sys
from typing import TextIO

from plugrad.events import CompileEvent, CopyEvent, Event, KernelEvent, LowerEvent, PassEvent, RealizeEvent
from plugrad.observe.listing import linear_listing
from plugrad.observe.style import AXIS_COLOURS, duration, nbytes, pad, paint, plain, rate, wants_colour
from plugrad.settings import settings
from plugrad.uop.uop import UOp

PRINTED_EVENTS = (RealizeEvent, KernelEvent, CopyEvent, CompileEvent, PassEvent, LowerEvent)
_NAME_WIDTH = 36


class Printer:
    """Observer of `PRINTED_EVENTS` that writes lines to a stream.

    The level is that of the thread that emits, so `with context(DEBUG=2):` stays in its scope.

    Args:
        stream: where to write; None is standard error at the time of writing.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._kernels = 0

    def __call__(self, event: Event) -> None:
        """Print `event` if the level of this context shows it."""
        level = settings.DEBUG
        if not level:
            return
        text = self._text(event, level)
        if text is None:
            return
        stream = self._stream or sys.stderr
        # one write a message: threads may print at the same time
        stream.write((text if wants_colour(stream) else plain(text)) + "\n")
        stream.flush()

    def _text(self, event: Event, level: int) -> str | None:
        match event:
            case RealizeEvent():
                return realize_line(event)
            case KernelEvent() if level >= 2:
                self._kernels += 1
                return kernel_line(event, self._kernels)
            case CopyEvent() if level >= 2:
                return copy_line(event)
            case CompileEvent() if level >= 3:
                return compile_text(event, level)
            case PassEvent() if level >= 5:
                return pass_text(event)
            case LowerEvent() if level >= 6:
                return lower_text(event)
            case _:
                return None


def realize_line(event: RealizeEvent) -> str:
    """Return the line of DEBUG=1."""
    copies = f", {_count(event.copies, 'copy', 'copies')}" if event.copies else ""
    on = f" on {', '.join(event.devices)}" if event.devices else ""
    return f"realize: {_count(event.kernels, 'kernel', 'kernels')}{copies}{on} in {duration(event.seconds)}"


def kernel_line(event: KernelEvent, number: int) -> str:
    """Return the line of DEBUG=2: name, launch, time, speed and memory."""
    seconds = event.seconds
    columns = (
        paint(f"*** {event.device:8s}{number:5d}", "magenta" if event.replayed else None),
        pad(coloured_name(event), _NAME_WIDTH),
        f"{launch(event):18s}",
        f"{duration(seconds) if seconds is not None else '-':>10s}",
        f"{rate(event.flops, seconds):>9s} GFLOP/s",
        f"{rate(event.bytes_accessed, seconds):>8s} GB/s",
        f"mem {nbytes(event.memory_used):>9s}",
    )
    return " ".join(columns)


def coloured_name(event: KernelEvent) -> str:
    """Return the kernel's name with its axes coloured by what they were made into.

    Names end in the sizes of the axes (`r_64_4`), which are coloured in place; other names are followed by
    the axes.
    """
    if not event.axes:
        return event.name
    sizes = [size for size, _ in event.axes]
    axes = "_".join(paint(size, AXIS_COLOURS.get(kind)) for size, kind in event.axes)
    stem = event.name.removesuffix("_" + "_".join(sizes))
    return f"{stem}_{axes}" if stem != event.name else f"{event.name} [{axes}]"


def launch(event: KernelEvent) -> str:
    """Return the launch dimensions, such as `64x8 @ 32` (groups @ items), or `2 threads`."""
    grid = "x".join(map(str, event.global_size))
    group = "x".join(map(str, event.local_size))
    threads = f"{event.threads} threads" if event.threads > 1 else ""
    return " ".join(part for part in (grid, f"@ {group}" if group else "", threads) if part) or "-"


def copy_line(event: CopyEvent) -> str:
    """Return the line of a copy for DEBUG=2."""
    route = f"{event.source} -> {event.destination}"
    speed = rate(event.nbytes, event.seconds)
    return f"*** {'copy':13s} {route:{_NAME_WIDTH}s} {nbytes(event.nbytes):18s} " + (
        f"{duration(event.seconds):>10s} {speed:>26s} GB/s"
    )


def compile_text(event: CompileEvent, level: int) -> str:
    """Return what DEBUG=3, 4 and 7 show of a kernel."""
    origin = "from the cache" if event.cached else f"compiled in {duration(event.seconds)}"
    lines = [f"{event.name} on {event.device}: {origin}, {nbytes(event.nbytes)}"]
    lines.append("  opts: " + (", ".join(map(str, event.opts)) or "none"))
    if level >= 4:
        lines.append(event.source.rstrip())
    if level >= 7 and event.disassemble is not None:
        lines.append(event.disassemble().rstrip())
    return "\n".join(lines)


def pass_text(event: PassEvent) -> str:
    """Return the graph after a pass for DEBUG=5; an unchanged one is one line."""
    head = paint(f"--- {event.pipeline}: {event.name} ({duration(event.seconds)})", "bright_black")
    return f"{head} unchanged" if event.after is event.before else f"{head}\n{event.after}"


def lower_text(event: LowerEvent) -> str:
    """Return the linear program for DEBUG=6."""
    head = paint(f"--- linear: {event.name} ({duration(event.seconds)})", "bright_black")
    return f"{head}\n{linear_listing([u for u in event.linear if isinstance(u, UOp)])}"


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"
