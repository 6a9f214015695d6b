"""The order in which graphs are walked: sources first, without recursion."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plugrad.uop.uop import UOp


def toposort(root: "UOp", gate: "Callable[[UOp], bool] | None" = None) -> "dict[UOp, None]":
    """Return `root` and every node below it that `gate` lets in, sources first, in a stable order."""
    out: dict[UOp, None] = {}
    closed: set[UOp] = set()
    if gate is not None and not gate(root):
        return out
    stack: list[UOp] = [root]
    while stack:
        node = stack[-1]
        if node in out:
            stack.pop()
            continue
        depth = len(stack)
        for s in node.src[::-1]:
            if s in out or s in closed:
                continue
            if gate is None or gate(s):
                stack.append(s)
            else:
                closed.add(s)
        if len(stack) == depth:
            out[node] = None
            stack.pop()
    return out
