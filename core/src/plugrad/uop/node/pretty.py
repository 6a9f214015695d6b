"""Write a graph down as Python that evaluates back to it."""

import math
from typing import TYPE_CHECKING, Any

from plugrad.uop.ops import Ops

if TYPE_CHECKING:
    from plugrad.uop.uop import UOp


# Python reads 200 parentheses inside each other, and a node takes three. Half of them: what a KERNEL holds is
# written inside of it.
_DEEPEST = 30


def pretty(root: "UOp", most: int | None = None, prefix: str = "x") -> str:
    """Return the graph as nested Python that evaluates back to the same object.

    Nodes that are used more than once get a name at their first place: `x0:=UOp(...)`. Of a graph that is too
    deep for Python to read, some nodes get one and come first, the root last: `(x0:=UOp(...), UOp(...))[-1]`.

    Args:
        root: the graph.
        most: write no more nodes than this; `...` stands for the others.
        prefix: how names start.
    """
    uses: dict[UOp, int] = {}
    for node in root.toposort():
        for s in node.src:
            uses[s] = uses.get(s, 0) + 1
    ahead = _written_ahead(root) if most is None else {}
    names: dict[UOp, str] = {}
    out: list[str] = []
    written = 0
    # a stack of text still to write: nodes at an indentation, or finished pieces
    todo: list[tuple[UOp, int] | str] = [(root, 0)]
    if ahead:
        todo = [")[-1]", (root, 1)]
        for node in reversed(ahead):
            todo += [",\n  ", (node, 1)]
        out.append("(\n  ")
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        node, depth = item
        if node in names:
            out.append(names[node])
            continue
        written += 1
        if most is not None and written > most:
            out.append("...")
            continue
        head = f"UOp({node.op!r}, {node.dtype!r}, arg={_pretty_arg(node, prefix)}"
        head += f", tag={node.tag!r}" if node.tag is not None else ""
        close = ")"
        if uses.get(node, 0) > 1 or node in ahead:
            names[node] = f"{prefix}{len(names)}"
            head = f"({names[node]}:={head}"
            close = "))"
        out.append(head)
        if not node.src:
            out.append(f", src=(){close}")
            continue
        out.append(", src=(\n")
        todo.append(f",){close}")
        for position, s in reversed(list(enumerate(node.src))):
            todo.append((s, depth + 1))
            todo.append((",\n" if position else "") + "  " * min(depth + 1, _DEEPEST))
    return "".join(out)


def _written_ahead(root: "UOp") -> "dict[UOp, None]":
    """Return nodes that cut the graph into shallow pieces for Python's parser, sources first."""
    heights: dict[UOp, int] = {}
    ahead: dict[UOp, None] = {}
    for node in root.toposort():
        height = 1 + max([heights[s] for s in node.src], default=0)
        if height == _DEEPEST and node is not root:
            ahead[node] = None
            height = 0
        heights[node] = height
    return ahead


def _pretty_arg(node: "UOp", prefix: str) -> str:
    if node.op is Ops.KERNEL:
        # a kernel is a graph of its own, with names of its own
        return pretty(node.arg, prefix=prefix + "k")
    arg: Any = node.arg
    return f'float("{arg}")' if isinstance(arg, float) and not math.isfinite(arg) else repr(arg)
