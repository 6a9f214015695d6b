"""Format colours, units and columns of text by hand, since importing rich is slow."""

import os
import re
import textwrap
from typing import Literal, TextIO

from plugrad._util import shutil

Colour = Literal["red", "green", "yellow", "blue", "magenta", "cyan", "bright_blue", "bright_black"]

_CODES: dict[Colour, int] = {
    "red": 31,
    "green": 32,
    "yellow": 33,
    "blue": 34,
    "magenta": 35,
    "cyan": 36,
    "bright_blue": 94,
    "bright_black": 90,
}
_ESCAPE = re.compile(r"\x1b\[[\d;]*m")

AXIS_COLOURS: dict[str, Colour] = {
    "GLOBAL": "blue",
    "THREAD": "bright_blue",
    "LOCAL": "cyan",
    "REDUCE": "red",
    "ORDERED": "red",
    "UPCAST": "yellow",
    "LANE": "yellow",
    "UNROLL": "magenta",
    "PARTIAL": "magenta",
    "GROUP_REDUCE": "green",
    "WARP": "cyan",
    "COPY": "cyan",
}


def terminal_width() -> int | None:
    """Return the columns of the terminal, or None without one."""
    return shutil.get_terminal_size((0, 0)).columns or None


def wants_colour(stream: TextIO) -> bool:
    """Say whether to colour `stream`, by NO_COLOR, then FORCE_COLOR, then isatty."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def paint(text: str, colour: Colour | None) -> str:
    """Return `text` in `colour`; None leaves it alone."""
    return text if colour is None else f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def plain(text: str) -> str:
    """Return `text` without colours."""
    return _ESCAPE.sub("", text)


def pad(text: str, width: int) -> str:
    """Return `text` filled up with spaces to `width` columns, colours not counted."""
    return text + " " * (width - len(plain(text)))


def cut(text: str, width: int | None) -> str:
    """Return `text` without what is beyond `width` columns; None keeps all of it."""
    return text if width is None or len(text) <= width else f"{text[: width - 3]}..."


def fold(text: str, width: int | None, values_at: int = 0) -> str:
    """Fold lines of more than `width` columns at spaces; None keeps all of them.

    Args:
        text: lines without colours. A + or - in front, as of differences, is repeated.
        width: the columns of the terminal.
        values_at: the column where what is folded begins, for lines that are not indented further.
    """
    if width is None:
        return text
    return "\n".join(
        line if len(line) <= width else _folded(line, width, values_at) for line in text.split("\n")
    )


def _folded(line: str, width: int, values_at: int) -> str:
    mark = line[: line[:1] in ("+", "-")]
    body = line[len(mark) :]
    words = body.lstrip()
    # at least half of the columns is for words
    indent = min(len(body) - len(words), width // 2)
    first, rest = mark + " " * indent, mark + " " * min(max(values_at, indent + 4), width // 2)
    wrapped = textwrap.TextWrapper(
        width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
    return wrapped.fill(words)


def duration(seconds: float) -> str:
    """Return a time with a unit: `duration(2.5e-5) == "25.00us"`."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.2f}us"
    return f"{seconds * 1e3:.2f}ms" if seconds < 10 else f"{seconds:.2f}s"


def rate(amount: float, seconds: float | None) -> str:
    """Return `amount` per second in units of 1e9, or a dash for none."""
    return f"{amount / seconds / 1e9:.2f}" if amount and seconds else "-"
