"""Nodes as compact plain data for files."""

from typing import Any

from plugrad.errors import PlugradError
from plugrad.uop import MOVEMENT, Axis, Ops, UOp

# longer arguments are cut
_MOST_CHARACTERS = 400
# sizes are said by the shape
_SHAPED = MOVEMENT - {Ops.PERMUTE, Ops.FLIP}


def node_fields(u: UOp, line: str = "") -> dict[str, object]:
    """Return op, dtype and arg of a node, and shape, bounds and line if known.

    Example:
        >>> node_fields(UOp.variable("i", 0, 9) + 1)
        {'op': 'ADD', 'dtype': 'index', 'bounds': '1..10'}
    """
    shape = _shape(u)
    return facts_of(
        op=u.op.name,
        dtype=u.dtype.name,
        arg=None if u.op in _SHAPED else _arg(u),
        shape=", ".join(map(_size, shape)) if shape else None,
        bounds=_bounds(u),
        tag=None if u.tag is None else str(u.tag),
        line=line,
    )


def facts_of(**fields: object) -> dict[str, object]:
    """Return the fields that say something: neither None nor empty nor False, but zeros."""
    return {
        name: value for name, value in fields.items() if value or (value == 0 and type(value) in (int, float))
    }


def _arg(u: UOp) -> str | None:
    arg: Any = u.arg
    if arg is None:
        return None
    # a graph inside of a node would be written again and again
    text = f"{arg.op.name} of {len(arg.toposort())} nodes" if isinstance(arg, UOp) else _short_argument(arg)
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "..."


def _short_argument(arg: Any) -> str:
    if isinstance(arg, Axis):
        return f"{'.'.join(map(str, arg.ident))} {arg.kind.name}"
    return arg if isinstance(arg, str) else repr(arg)


def _shape(u: UOp) -> Any:
    try:
        return u.shape
    except PlugradError:
        # a node in the middle of being rewritten need not have one
        return None


def _size(size: Any) -> str:
    return str(size) if isinstance(size, int) else f"{size.vmin}..{size.vmax}"


def _bounds(u: UOp) -> str | None:
    """Return the bounds of an integer that say more than its dtype and argument do."""
    if u.dtype.kind not in ("int", "uint", "index") or u.op is Ops.CONST or u.dtype.count > 1:
        return None
    low, high = u.bounds
    return f"{low}..{high}" if abs(low) < 1 << 31 and abs(high) < (1 << 31) - 1 else None
