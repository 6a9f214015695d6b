"""Keep which line of the user's program each node of a graph comes from.

Tensors say it of their nodes. Buffers and variables are renamed before a graph is scheduled, and passes
rewrite it: lines follow nodes to what becomes of them.
"""

import weakref

from plugrad.events import Event, PassEvent, RenameEvent, RewriteEvent, TensorEvent
from plugrad.uop import UOp
from plugrad.uop.passes import graph_of

LINE_EVENTS = (TensorEvent, RenameEvent, RewriteEvent, PassEvent)
# the pipeline whose graphs are still made of the user's operations
_PIPELINE = "schedule"


class UserLines:
    """Observer of `LINE_EVENTS` that answers for nodes.

    Example:
        lines = UserLines()
        with subscribe(LINE_EVENTS, lines):
            tensor.realize()
        lines.of(node)  # "train.py:12 in step"
    """

    def __init__(self) -> None:
        self._lines: weakref.WeakKeyDictionary[UOp, str] = weakref.WeakKeyDictionary()

    def of(self, node: UOp) -> str:
        """Return the line of a node, empty where none is known."""
        return self._lines.get(node, "")

    def __call__(self, event: Event) -> None:
        """Learn what `event` says of lines."""
        match event:
            case TensorEvent(UOp() as node, line):
                self._assign_line(node, line)
            case RenameEvent(names):
                for renamed in names:
                    for before, after in renamed.items():
                        self._follow(before, after)
            case RewriteEvent(_, _, UOp() as before, UOp() as after):
                self._follow(before, after)
            case PassEvent(pipeline, _, before, after, _) if pipeline == _PIPELINE and self._lines:
                self._follow_all(graph_of(before), graph_of(after))
            case _:
                pass

    def _assign_line(self, node: UOp, line: str) -> None:
        """Give `line` to a node and its sources, down to nodes that have one."""
        self._lines.pop(node, None)
        todo = [node]
        while todo:
            u = todo.pop()
            # numbers are the same everywhere
            if u not in self._lines and (u.src or u is node):
                self._lines[u] = line
                todo += u.src

    def _follow(self, before: UOp, after: UOp) -> None:
        line = self._lines.get(before)
        if line and after is not before:
            self._assign_line(after, line)

    def _follow_all(self, before: UOp, after: UOp) -> None:
        """Follow the nodes of a graph whose sources were rewritten."""
        seen: set[tuple[UOp, UOp]] = set()
        todo = [(before, after)]
        while todo:
            pair = todo.pop()
            old, new = pair
            if old is new or pair in seen or old.op is not new.op or len(old.src) != len(new.src):
                continue
            seen.add(pair)
            if new not in self._lines:
                self._follow(old, new)
            todo += zip(old.src, new.src, strict=True)
