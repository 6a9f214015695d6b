"""Turn offsets of slices into variables, so that slices of one length share kernels.

Before:  SHRINK(BUFFER of (100, 8), ((3, 4), (0, 8)))
After:   SHRINK(BUFFER of (100, 8), ((offset, offset + 1), (0, 8)))    offset: a variable in 0..99, bound to 3
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plugrad.device import Device
from plugrad.schedule.versions import IN_PLACE, memory_of
from plugrad.uop import Ops, UOp, greatest
from plugrad.uop.shape import pairs_of

_NAME = "_offset"
# As many elements as the widest vector.
_LANES = 16
# Each is an argument of the kernel: a sum of a hundred elements is no loop over elements.
_POSITIONS = 4
# Slices, and what keeps slices of the same memory as they are.
_DECIDE = frozenset({Ops.SHRINK, Ops.COPY, *IN_PLACE})
# Between memory and the slice: all of the elements, in their order.
_BELOW = frozenset({Ops.RESHAPE, Ops.BITCAST})


def variable_offsets(graph: Iterable[UOp]) -> dict[UOp, dict[int, UOp]]:
    """Return the BINDs of each slice's offsets, by axis.

    Those are the offset along the first axis, and integer indices of all others. Left as they are: slices of
    memory that the graph writes to, since only fixed offsets show that two of them do not overlap; several
    slices of one memory, which kernels may load together, unless they are few positions of its first axis;
    and what is copied to another device, which takes no kernel.
    """
    slices: dict[UOp, list[UOp]] = {}
    fixed: set[UOp] = set()
    for u in [u for u in graph if u.op in _DECIDE]:
        if u.op is not Ops.SHRINK:
            fixed.add(memory_of(u.src[0]))
        elif (memory := _memory_below(u)) is not None:
            slices.setdefault(memory, []).append(u)
    found: dict[UOp, dict[int, UOp]] = {}
    for memory, of_memory in slices.items():
        if memory not in fixed and (len(of_memory) == 1 or _are_positions(of_memory)):
            for u in of_memory:
                if axes := [axis for axis in range(len(pairs_of(u))) if _is_offset(u, axis)]:
                    found[u] = {axis: _bound(u, axis, f"{_NAME}{len(found)}_{axis}") for axis in axes}
    return found


def with_offsets(sliced: UOp, src: Sequence[UOp], offsets: Mapping[int, UOp]) -> UOp:
    """Return the slice of `src` that begins at a multiple of a variable."""
    cut: list[Any] = list(src)
    for axis, offset in offsets.items():
        begin, end = pairs_of(sliced)[axis]
        first: Any = offset * alignment(sliced, axis)
        cut[1 + 2 * axis : 3 + 2 * axis] = first, first + (end - begin)
    return UOp(Ops.SHRINK, sliced.dtype, tuple(cut))


def _are_positions(slices: Sequence[UOp]) -> bool:
    """Whether the slices are few positions of a longer first axis, as in `x[i] > x[j]`.

    The seeds of a drawing are two elements: blocks of one graph, each with seeds of its own, share kernels by
    fixed positions, where variables of each would have names of their own.
    """
    are_few = len(slices) <= _POSITIONS < min([greatest(u.src[0].shape[0]) for u in slices])
    return are_few and all([_is_position(*pairs_of(u)[0]) for u in slices])


def _is_offset(sliced: UOp, axis: int) -> bool:
    begin, end = pairs_of(sliced)[axis]
    size: Any = sliced.src[0].shape[axis]
    is_fixed = isinstance(begin, int) and isinstance(end, int) and isinstance(size, int)
    if is_fixed and begin == 0 and end > 1 and len(sliced.src[0].shape) == 1:
        # those of all lengths share kernels, which a variable that can only be 0 would tell apart
        return False
    # what is longer than a position, along an inner axis, decides which loads are contiguous
    return is_fixed and (begin, end) != (0, size) and (axis == 0 or end - begin == 1)


def _is_position(begin: Any, end: Any) -> bool:
    return isinstance(begin, int) and isinstance(end, int) and end - begin == 1


def _memory_below(view: UOp) -> UOp | None:
    below = view.src[0]
    while below.op in _BELOW:
        below = below.src[0]
    return below if below.op is Ops.BUFFER and Device[below.arg.device].can_compute else None


def _bound(sliced: UOp, axis: int, name: str) -> UOp:
    begin: Any
    end: Any
    begin, end = pairs_of(sliced)[axis]
    size: Any = sliced.src[0].shape[axis]
    step = alignment(sliced, axis)
    return UOp.variable(name, 0, (size - (end - begin)) // step).bind(begin // step)


def alignment(sliced: UOp, axis: int) -> int:
    """Return a divisor of the offset, in elements. Vectors are loaded from multiples of it."""
    begin: Any
    end: Any
    begin, end = pairs_of(sliced)[axis]
    if len(sliced.src[0].shape) > 1 or end - begin == 1:
        return 1
    return math.gcd(begin, _LANES)
