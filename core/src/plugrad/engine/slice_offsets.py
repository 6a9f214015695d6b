"""Turn offsets of slices into variables, so that slices of one length share kernels.

Before:  SHRINK(BUFFER of (100, 8), ((3, 4), (0, 8)))
After:   SHRINK(BUFFER of (100, 8), ((offset, offset + 1), (0, 8)))    offset: a variable in 0..99, bound to 3
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from plugrad.device import Device
from plugrad.schedule.versions import IN_PLACE, memory_of
from plugrad.uop.ops import Ops
from plugrad.uop.shape import pairs_of
from plugrad.uop.uop import UOp

_NAME = "_offset"
# As many elements as the widest vector.
_LANES = 16
# Between memory and the slice: all of the elements, in their order.
_BELOW = frozenset({Ops.RESHAPE, Ops.BITCAST})


def variable_offsets(graph: Iterable[UOp]) -> dict[UOp, UOp]:
    """Return the slices along memory's first axis, each with its offset's BIND.

    Left as they are: slices of memory that the graph writes to, since only fixed offsets show that two of
    them do not overlap; several slices of one memory, which kernels may load together; and what is copied
    to another device, which takes no kernel.
    """
    graph = tuple(graph)
    if not any([u.op is Ops.SHRINK for u in graph]):
        return {}
    slices: dict[UOp, UOp] = {}
    fixed: set[UOp] = set()
    for u in graph:
        if u.op is Ops.SHRINK and (memory := _memory_below(u)) is not None:
            slices[u] = memory
        elif u.op in IN_PLACE or u.op is Ops.COPY:
            fixed.add(memory_of(u.src[0]))
    of_memory = Counter(slices.values())
    alone = [u for u, memory in slices.items() if of_memory[memory] == 1 and memory not in fixed]
    cut = [u for u in alone if _is_cut(*_first_pair(u), u.src[0].shape[0])]
    return {u: _offset(u, f"{_NAME}{place}") for place, u in enumerate(cut)}


def with_offset(sliced: UOp, src: Sequence[UOp], offset: UOp) -> UOp:
    """Return the slice with sources `src`, but beginning at a multiple of a variable."""
    begin, end = _first_pair(sliced)
    first: Any = offset * _alignment(sliced)
    return UOp(Ops.SHRINK, sliced.dtype, (src[0], first, first + (end - begin), *src[3:]))


def _is_cut(begin: Any, end: Any, size: Any) -> bool:
    is_fixed = isinstance(begin, int) and isinstance(end, int) and isinstance(size, int)
    return is_fixed and (begin, end) != (0, size)


def _memory_below(view: UOp) -> UOp | None:
    below = view.src[0]
    while below.op in _BELOW:
        below = below.src[0]
    return below if below.op is Ops.BUFFER and Device[below.arg.device].can_compute else None


def _first_pair(sliced: UOp) -> tuple[int, int]:
    begin: Any
    end: Any
    begin, end = pairs_of(sliced)[0]
    return begin, end


def _offset(sliced: UOp, name: str) -> UOp:
    begin, end = _first_pair(sliced)
    size: Any = sliced.src[0].shape[0]
    step = _alignment(sliced)
    return UOp.variable(name, 0, (size - (end - begin)) // step).bind(begin // step)


def _alignment(sliced: UOp) -> int:
    """Return a divisor of the offset, in elements. Vectors are loaded from multiples of it."""
    begin, end = _first_pair(sliced)
    if len(sliced.src[0].shape) > 1 or end - begin == 1:
        return 1
    return math.gcd(begin, _LANES)
