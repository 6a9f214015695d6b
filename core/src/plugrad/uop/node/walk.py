"""The order in which graphs are walked: sources first, without recursion."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugrad.uop.ops import Ops

if TYPE_CHECKING:
    from plugrad.uop.uop import UOp


def toposort(root: "UOp", gate: "Callable[[UOp], bool] | None" = None) -> "dict[UOp, None]":
    """Return `root` and the nodes below it, sources first, in a stable order.

    `gate` decides which nodes are entered.
    """
    if gate is not None:
        return _let_in(root, gate)
    if root.op is not Ops.SINK:
        return _all_below(root)
    # passes walk the graph of a kernel several times: all but the first copy this, which leaves out its owner
    below = root._below  # pyright: ignore[reportPrivateUsage]
    if below is None:
        below = _all_below(root)
        del below[root]
        object.__setattr__(root, "_below", below)
    return {**below, root: None}


# A node comes off the stack once for each use. The first time its sources go onto the stack, above the node
# itself; when it comes the second time, they are done. Later times change nothing: a key of a dict stays
# where it came first.


def _all_below(root: "UOp") -> "dict[UOp, None]":
    out: dict[UOp, None] = {}
    entered: set[UOp] = set()
    stack: list[UOp] = [root]
    pop, push, extend, enter = stack.pop, stack.append, stack.extend, entered.add
    while stack:
        node = pop()
        src = node.src
        if not src or node in entered:
            out[node] = None
            continue
        enter(node)
        push(node)
        extend(src[::-1])
    return out


def _let_in(root: "UOp", gate: "Callable[[UOp], bool]") -> "dict[UOp, None]":
    out: dict[UOp, None] = {}
    entered: set[UOp] = set()
    closed: set[UOp] = set()
    stack: list[UOp] = [root]
    while stack:
        node = stack.pop()
        if node in entered:
            out[node] = None
        elif node not in closed:
            if gate(node):
                entered.add(node)
                stack.append(node)
                stack.extend(node.src[::-1])
            else:
                closed.add(node)
    return out
