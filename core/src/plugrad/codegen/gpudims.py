"""Put axes on the launch: the grid, the workgroup, CPU threads.

GLOBAL and LOCAL ranges become expressions of the launch's own indices. A launch has few dimensions of limited
size, so ranges are merged into dimensions and taken apart again by division.
"""

import math
from collections.abc import Sequence
from functools import reduce
from operator import mul

from plugrad._frozen import frozen
from plugrad.codegen.rebuild import UNROLLED, all_ranges, with_sums
from plugrad.dtype import dtypes
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities
from plugrad.uop import AxisType, Ops, UOp, simplify
from plugrad.uop.strides import coefficient, constant_size

# Bytes that a device reads together, whichever of them it needs.
_SECTOR = 32


def add_launch_dims(sink: UOp, capabilities: Capabilities) -> UOp:
    """Replace GLOBAL, LOCAL, GROUP_REDUCE, WARP and THREAD ranges by SPECIALs.

    before: GLOBAL ranges of 4 and 8
    after:  gidx1, gidx0 of 4 and 8; or gidx0 of 32, as gidx0 // 8 and gidx0 % 8
    """
    ranges = all_ranges(sink)
    by_kind = {kind: [r for r in ranges if r.arg.kind is kind] for kind in AxisType}
    grid = _on_dims("gidx", by_kind[AxisType.GLOBAL], capabilities.grid_dims, capabilities.max_grid)
    shared = by_kind[AxisType.LOCAL] + by_kind[AxisType.GROUP_REDUCE]
    # a warp is what stands side by side on the fastest axis
    group_ranges = _furthest_first(sink, shared) + by_kind[AxisType.WARP]
    group = _on_dims("lidx", group_ranges, max(capabilities.grid_dims, 1), capabilities.max_workgroup_dims)
    threads = _on_dims("thread", by_kind[AxisType.THREAD], 1, ())
    values = {**grid, **group, **threads}
    if not values:
        return sink
    sink = sink.substitute(with_sums(sink, values))
    stores = tuple(
        s.replace(src=(*s.src[:2], *(r for r in s.src[2:] if r.op is Ops.RANGE))) for s in sink.src
    )
    return simplify(sink.replace(src=stores))


def _furthest_first(sink: UOp, ranges: list[UOp]) -> list[UOp]:
    """Return ranges in the order of launch dimensions: neighbours on the last access neighbours."""
    if len(ranges) < 2:
        return ranges
    places = [u for u in sink.toposort() if u.op is Ops.INDEX and u.src[0].op is Ops.PARAM]

    def apart(r: UOp) -> int:
        return sum(_bytes_apart(place, r) * _copies(place) for place in places)

    return sorted(ranges, key=apart, reverse=True)


def _bytes_apart(place: UOp, r: UOp) -> int:
    step = coefficient(place.src[1], r)
    return _SECTOR if step is None else min(abs(step) * place.dtype.itemsize, _SECTOR)


def _copies(place: UOp) -> int:
    """Return the number of accesses that unrolling and separate lanes make of one."""
    return math.prod(
        constant_size(r) or 1
        for r in place.ranges
        if r.arg.kind in UNROLLED or (r.arg.kind is AxisType.LANE and coefficient(place.src[1], r) != 1)
    )


@frozen
class _Digit:
    """A part of a range: its size and its stride in the range."""

    of: UOp
    size: UOp
    step: int = 1


def _on_dims(name: str, ranges: Sequence[UOp], dims: int, limits: Sequence[int]) -> dict[UOp, UOp]:
    """Return ranges as expressions of at most `dims` launch indices, the last on the fastest."""
    out: dict[UOp, UOp] = {}
    digits = [[_Digit(r, r.src[0])] for r in reversed(ranges)]
    for number, group in enumerate(_merged(digits, dims, limits)):
        if not group:
            continue
        called = name if name == "thread" else f"{name}{number}"
        size = simplify(reduce(mul, (digit.size for digit in group)))
        left = UOp(Ops.SPECIAL, dtypes.index, (size,), called)
        for digit in group:
            value = left if digit is group[-1] else left % digit.size
            left = left // digit.size
            out[digit.of] = out.get(digit.of, digit.of.const_like(0)) + value * digit.step
    return out


def _merged(groups: list[list[_Digit]], dims: int, limits: Sequence[int]) -> list[list[_Digit]]:
    """Merge neighbours, smallest product first, until they fit `dims`; the fastest dimension comes first."""
    while len(groups) > dims:
        at = min(range(len(groups) - 1), key=lambda i: _product(groups[i]) * _product(groups[i + 1]))
        groups = [*groups[:at], groups[at] + groups[at + 1], *groups[at + 2 :]]
    for number, group in enumerate(groups):
        if number < len(limits) and _product(group) > limits[number]:
            return _assign_to_dims([digit for group in groups for digit in group], limits)
    return groups


def _assign_to_dims(digits: list[_Digit], limits: Sequence[int]) -> list[list[_Digit]]:
    """Assign ranges to dimensions in order, within the limits, cutting those too long."""
    out: list[list[_Digit]] = [[]]
    waiting = digits[::-1]
    while waiting:
        digit = waiting.pop()
        room = limits[len(out) - 1] // _product(out[-1])
        if _size(digit) <= room:
            out[-1].append(digit)
            continue
        part = _largest_part(digit, room) if _size(digit) > max(limits[len(out) :], default=0) else 1
        if part > 1:
            count = digit.size.const_like(part)
            out[-1].append(_Digit(digit.of, count, digit.step))
            digit = _Digit(digit.of, digit.size.const_like(_size(digit) // part), digit.step * part)
        if len(out) == len(limits):
            sizes = ", ".join(str(int(d.of.src[0].vmax)) for d in digits)
            raise KernelOptError(f"axes of {sizes} steps do not fit a launch limited to {tuple(limits)}.")
        out.append([])
        waiting.append(digit)
    return out


def _largest_part(digit: _Digit, room: int) -> int:
    """Return the most steps, within `room`, that divide a digit of constant size."""
    if digit.size.op is not Ops.CONST:
        return 1
    return next((n for n in range(min(room, 1 << 16), 1, -1) if digit.size.arg % n == 0), 1)


def _product(digits: Sequence[_Digit]) -> int:
    return math.prod(_size(d) for d in digits)


def _size(digit: _Digit) -> int:
    return int(digit.size.vmax)
