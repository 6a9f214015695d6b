"""Give kernels the parts of memory that they read, instead of places in the whole.

Small parameters of all layers lie in one memory, at offsets of their own. A kernel that is launched with the
part it reads has no offset in its code, so identical layers share it.
"""

import itertools
from collections.abc import Callable

from plugrad._frozen import frozen
from plugrad.schedule.memory_planner import ALIGNMENT
from plugrad.uop.ops import Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp

# Each is an argument of the kernel.
_MOST_PARTS = 4


@frozen
class MemoryPart:
    """The memory that a PARAM stands for, and its first element there."""

    whole: UOp
    begin: int


def take_parts(
    ast: UOp, may_take: Callable[[UOp], bool], most_buffers: int = 0
) -> tuple[UOp, dict[UOp, MemoryPart]]:
    """Return a kernel whose PARAMs are parts of memory, and these parts.

    Parts do not overlap, and begin where temporaries may begin, so that vectors are loaded as before.

    before: INDEX(PARAM of 4096, i + 768), i < 384
    after:  INDEX(PARAM of 384, i)

    Args:
        ast: the kernel's STORE.
        may_take: whether a PARAM may be replaced by parts of it.
        most_buffers: how many the kernel may take (0: no limit).
    """
    places: dict[UOp, list[UOp]] = {}
    for u in ast.toposort():
        if u.op is Ops.INDEX:
            places.setdefault(u.src[0], []).append(u)
    slots = itertools.count(1 + max(memory.arg[0] for memory in places))
    parts: dict[UOp, MemoryPart] = {}
    taken: dict[UOp, UOp] = {}
    for whole, read in places.items():
        for first, last in _spans(read) if may_take(whole) else ():
            part = whole.replace(arg=(next(slots), last + 1 - first))
            parts[part] = MemoryPart(whole, first)
            taken.update((place, part) for place in read if first <= _span(place)[0] <= last)
    buffers = len(places.keys() - {part.whole for part in parts.values()}) + len(parts)
    if not parts or (most_buffers and buffers > most_buffers):
        return ast, {}
    return _moved(ast, taken, parts), parts


def _spans(read: list[UOp]) -> list[tuple[int, int]]:
    """Return the first and last element of each part that is read of a memory.

    None where that is all of the memory, and where parts are many or begin at odd places.
    """
    spans: list[tuple[int, int]] = []
    for first, last in sorted(map(_span, read)):
        if spans and first <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], last)
        else:
            spans.append((first, last))
    memory = read[0].src[0]
    step = max(1, ALIGNMENT // memory.dtype.itemsize)
    are_parts = len(spans) <= _MOST_PARTS and all(first % step == 0 for first, _ in spans)
    return spans if are_parts and spans != [(0, memory.arg[1] - 1)] else []


def _span(place: UOp) -> tuple[int, int]:
    """Return the first and the last element that an INDEX may mean."""
    index = place.src[1]
    return max(0, index.vmin), min(index.vmax, place.src[0].arg[1] - 1)


def _moved(ast: UOp, taken: dict[UOp, UOp], parts: dict[UOp, MemoryPart]) -> UOp:
    done: dict[UOp, UOp] = {}
    for u in ast.toposort():
        src = tuple([done[s] for s in u.src])
        if (part := taken.get(u)) is not None:
            src = (part, simplify(src[1] - parts[part].begin), *src[2:])
        done[u] = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
    return done[ast]
