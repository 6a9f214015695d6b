"""Colour the source of a kernel for terminals, in any language like C."""

import re

from plugrad.observe.style import Colour, paint

_KEYWORDS = (
    "static inline extern const constant volatile restrict __restrict__ struct typedef return if else for "
    "while do break continue switch case default void kernel device threadgroup global __kernel __global "
    "__local __private __global__ __device__ __shared__ __launch_bounds__ __attribute__"
)
_TYPES = (
    r"(?:unsigned\s+)?(?:bool|char|short|int|long(?:\s+long)?|float|double|half|bfloat|__bf16|_Float16)\d*"
    r"|u(?:char|short|int|long)\d*|u?int\d+_t|size_t|__half|__nv_bfloat16"
)
# the first group that matches says what a piece is
_PIECES = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r'|(?P<text>"(?:\\.|[^"\\\n])*")'
    r"|(?P<directive>^[ \t]*#[^\n]*)"
    rf"|(?P<type>\b(?:{_TYPES})\b)"
    rf"|(?P<keyword>\b(?:{'|'.join(_KEYWORDS.split())})\b)"
    r"|(?P<number>(?<![\w.])(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)[uUlLfFhH]*)"
    r"|(?P<call>\b[A-Za-z_]\w*(?=\())",
    re.DOTALL | re.MULTILINE,
)
_COLOURS: dict[str, Colour] = {
    "comment": "bright_black",
    "text": "green",
    "directive": "bright_black",
    "type": "cyan",
    "keyword": "magenta",
    "number": "yellow",
    "call": "bright_blue",
}


def highlighted(source: str) -> str:
    r"""Return `source` with the colours of a terminal; without them it is what it was.

    Example:
        >>> highlighted("int i = 3;")
        '\x1b[36mint\x1b[0m i = \x1b[33m3\x1b[0m;'
    """
    return _PIECES.sub(_painted, source)


def _painted(piece: re.Match[str]) -> str:
    # an escape for each line, so that a pager shows each of them right
    colour = _COLOURS[piece.lastgroup or "text"]
    return "\n".join(paint(line, colour) if line else line for line in piece[0].split("\n"))
