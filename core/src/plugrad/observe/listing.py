"""A linear program as a numbered list, one line a node."""

from collections.abc import Sequence

from plugrad.uop import Ops, UOp

_OPENS = frozenset({Ops.RANGE, Ops.IF})
_CLOSES = frozenset({Ops.END, Ops.ENDIF})


def linear_listing(uops: Sequence[UOp]) -> str:
    """Return `uops` with their sources as line numbers, indented by loop and branch.

    Example:
           0 PARAM        float32    []                   (0, 16)
           1 CONST        int32      []                   0
           2 INDEX        float32    [0, 1]
    """
    numbers = {u: number for number, u in enumerate(uops)}
    lines: list[str] = []
    depth = 0
    for number, u in enumerate(uops):
        depth -= u.op in _CLOSES
        # constants that are not listed are shown themselves
        sources = ", ".join(str(numbers[s]) if s in numbers else f"{s.op.name}({s.arg})" for s in u.src)
        arg = "" if u.arg is None else f" {u.arg}"
        name = "  " * max(depth, 0) + u.op.name
        lines.append(f"{number:4d} {name:20s} {u.dtype.name:12s} [{sources}]{arg}")
        depth += u.op in _OPENS
    return "\n".join(lines)
