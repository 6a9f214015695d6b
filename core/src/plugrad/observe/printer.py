"""Print events, in the detail of DEBUG.

1 one line a realize; 2 one line a kernel and copy, and the memory that is held afterwards; 3 the opts of each
kernel; 4 its source; 5 what each pass changed; 6 the linear program; 7 the disassembly. Each level shows what
those below it show.
"""

import sys
from typing import TYPE_CHECKING, TextIO

from plugrad._util import LazyModule, difflib, shutil
from plugrad.events import CompileEvent, CopyEvent, Event, KernelEvent, LowerEvent, PassEvent, RealizeEvent
from plugrad.observe.listing import linear_listing
from plugrad.observe.machine_limits import has_limits, limit_cells
from plugrad.observe.memory import memory_lines
from plugrad.observe.style import (
    AXIS_COLOURS,
    Colour,
    duration,
    fold,
    pad,
    paint,
    plain,
    rate,
    wants_colour,
)
from plugrad.runtime.memory_report import show_bytes
from plugrad.settings import settings
from plugrad.uop import UOp

if TYPE_CHECKING:
    import rich.console as rich_console
    import rich.syntax as rich_syntax
else:
    # slow to import, and only sources take them
    rich_console, rich_syntax = LazyModule("rich.console"), LazyModule("rich.syntax")

PRINTED_EVENTS = (RealizeEvent, KernelEvent, CopyEvent, CompileEvent, PassEvent, LowerEvent)
_DEVICE_WIDTH, _LAUNCH_WIDTH = 8, 18
_CHANGES: dict[str, Colour] = {"+": "green", "-": "red", "@": "bright_black"}
# of time, GFLOP/s, GB/s, memory, and the share of the device's limits where they were measured
_NUMBER_WIDTHS = (9, 9, 8, 9, 6)
# from so many columns on, launches are shown
_WIDE = 100
# where sources of a linear program begin
_SOURCES_AT = 40


class Printer:
    """Observer of `PRINTED_EVENTS` that writes lines to a stream.

    The level is that of the thread that emits, so `with context(DEBUG=2):` stays in its scope.

    Args:
        stream: where to write; None is standard error at the time of writing.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._kernels = 0
        self._has_header = False

    def __call__(self, event: Event) -> None:
        """Print `event` if the level of this context shows it."""
        level = settings.DEBUG
        if not level:
            return
        stream = self._stream or sys.stderr
        width = shutil.get_terminal_size((120, 24)).columns
        text = self._lines_for_event(event, level, width)
        if text is None:
            return
        coloured = wants_colour(stream)
        if not self._has_header and isinstance(event, (KernelEvent, CopyEvent)):
            self._has_header = True
            text = f"{header(width, coloured)}\n{text}"
        # one write a message: threads may print at the same time
        stream.write((text if coloured else plain(text)) + "\n")
        stream.flush()

    def _lines_for_event(self, event: Event, level: int, width: int) -> str | None:
        match event:
            case RealizeEvent():
                return realize_line(event) + (f"\n{memory_lines(event.devices)}" if level >= 2 else "")
            case KernelEvent() if level >= 2:
                self._kernels += 1
                return kernel_line(event, self._kernels, width)
            case CopyEvent() if level >= 2:
                return copy_line(event, width)
            case CompileEvent() if level >= 3:
                return compile_text(event, level, width)
            case PassEvent() if level >= 5:
                return pass_text(event, width)
            case LowerEvent() if level >= 6:
                return lower_text(event, width)
            case _:
                return None


def realize_line(event: RealizeEvent) -> str:
    """Return the line of DEBUG=1."""
    copies = f", {_count(event.copies, 'copy', 'copies')}" if event.copies else ""
    on = f" on {', '.join(event.devices)}" if event.devices else ""
    return f"realize: {_count(event.kernels, 'kernel', 'kernels')}{copies}{on} in {duration(event.seconds)}"


def header(width: int, coloured: bool) -> str:
    """Return the heading of DEBUG=2: columns, and the meaning of colours."""
    numbers = ("time", "GFLOP/s", "GB/s", "memory", *(("limit",) if has_limits() else ()))
    columns = _row("#", "device", "kernel", "launch", numbers, width)
    return f"{columns}\n{_legend(width)}" if coloured else columns


def _legend(width: int) -> str:
    """Return the colours of sizes of kernels in lines that fit `width` columns."""
    lines = ["sizes of kernels:"]
    for kind, colour in AXIS_COLOURS.items():
        if len(plain(lines[-1])) + 1 + len(kind) > width:
            lines.append(" ")
        lines[-1] += f" {paint(kind.lower(), colour)}"
    return "\n".join(lines)


def kernel_line(event: KernelEvent, number: int, width: int = 120) -> str:
    """Return the line of DEBUG=2: name, launch, time, speed and memory."""
    seconds = event.seconds
    cells = (
        duration(seconds) if seconds is not None else "-",
        rate(event.flops, seconds),
        rate(event.bytes_accessed, seconds),
        show_bytes(event.memory_used),
        *limit_cells(event.device, event.flops, event.bytes_accessed, seconds),
    )
    device = paint(event.device, "magenta" if event.replayed else None)
    return _row(str(number), device, coloured_name(event), launch(event), cells, width)


def _row(number: str, device: str, name: str, where: str, cells: tuple[str, ...], width: int) -> str:
    """Return a row of the table of DEBUG=2, which fits `width` columns.

    A launch is shown where there is room. A name that is too long has a line of its own, so that no number is
    broken.
    """
    numbers = " ".join(cell.rjust(size) for cell, size in zip(cells, _NUMBER_WIDTHS, strict=False))
    head = f"{number:>5} {pad(device, _DEVICE_WIDTH)} "
    if width >= _WIDE:
        numbers = f"{where:{_LAUNCH_WIDTH}s} {numbers}"
    room = width - len(plain(head)) - len(numbers) - 1
    if len(plain(name)) > room:
        return f"{head}{name}\n{' ' * (width - len(numbers))}{numbers}"
    return f"{head}{pad(name, room)} {numbers}"


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


def copy_line(event: CopyEvent, width: int = 120) -> str:
    """Return the line of a copy for DEBUG=2."""
    cells = (duration(event.seconds), "-", rate(event.nbytes, event.seconds), show_bytes(event.nbytes))
    cells = (*cells, "-") if has_limits() else cells
    return _row("", "copy", f"{event.source} -> {event.destination}", "", cells, width)


def compile_text(event: CompileEvent, level: int, width: int = 120) -> str:
    """Return the text of a kernel for DEBUG=3, 4 and 7."""
    origin = "from the cache" if event.cached else f"compiled in {duration(event.seconds)}"
    lines = [f"{event.name} on {event.device}: {origin}, {show_bytes(event.nbytes)}"]
    lines.append(fold("  opts: " + (", ".join(map(str, event.opts)) or "none"), width))
    if level >= 4:
        lines.append(highlighted(event.source.rstrip()))
    if level >= 7 and event.disassemble is not None:
        lines.append(event.disassemble().rstrip())
    return "\n".join(lines)


def highlighted(source: str) -> str:
    """Return a kernel's source, in any language like C, with the colours of a terminal."""
    console = rich_console.Console(force_terminal=True, color_system="standard", no_color=False)
    text = rich_syntax.Syntax("", "c", theme="ansi_dark").highlight(source)
    with console.capture() as captured:
        console.print(text, soft_wrap=True, end="")
    return captured.get().rstrip("\n")


def pass_text(event: PassEvent, width: int = 120) -> str:
    """Return the changes of a pass for DEBUG=5, or the graph if shorter."""
    head = paint(f"--- {event.pipeline}: {event.name} ({duration(event.seconds)})", "bright_black")
    before, after = str(event.before).splitlines(), str(event.after).splitlines()
    if before == after:
        return f"{head} unchanged"
    # the first two lines name files
    changes = list(difflib.unified_diff(before, after, lineterm="", n=1))[2:]
    is_difference = len(changes) < len(after)
    lines = fold("\n".join(changes if is_difference else after), width).splitlines()
    colours = _CHANGES if is_difference else {}
    return "\n".join([head, *(paint(line, colours.get(line[:1])) for line in lines)])


def lower_text(event: LowerEvent, width: int = 120) -> str:
    """Return the linear program for DEBUG=6."""
    head = paint(f"--- linear: {event.name} ({duration(event.seconds)})", "bright_black")
    listing = linear_listing([u for u in event.linear if isinstance(u, UOp)])
    return f"{head}\n{fold(listing, width, _SOURCES_AT)}"


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"
