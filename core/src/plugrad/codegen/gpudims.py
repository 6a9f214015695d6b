"""Put axes on the launch: the grid, the workgroup, CPU threads.

GLOBAL and LOCAL ranges become expressions of the launch's own indices. A launch has few dimensions of limited
size, so ranges are merged into dimensions and taken apart again by division.
"""

import math
from collections.abc import Sequence
from functools import reduce
from operator import mul

from plugrad.codegen.rebuild import all_ranges
from plugrad.dtype import dtypes
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp


def add_launch_dims(sink: UOp, capabilities: Capabilities) -> UOp:
    """Replace GLOBAL, LOCAL, GROUP_REDUCE, WARP and THREAD ranges by SPECIALs.

    before: GLOBAL ranges of 4 and 8
    after:  gidx1, gidx0 of 4 and 8; or gidx0 of 32, as gidx0 // 8 and gidx0 % 8
    """
    ranges = all_ranges(sink)
    by_kind = {kind: [r for r in ranges if r.arg.kind is kind] for kind in AxisType}
    grid = _on_dims("gidx", by_kind[AxisType.GLOBAL], capabilities.grid_dims, capabilities.max_grid)
    # a warp is what stands side by side on the fastest axis
    group_ranges = by_kind[AxisType.LOCAL] + by_kind[AxisType.GROUP_REDUCE] + by_kind[AxisType.WARP]
    group = _on_dims("lidx", group_ranges, max(capabilities.grid_dims, 1), capabilities.max_workgroup_dims)
    threads = _on_dims("thread", by_kind[AxisType.THREAD], 1, ())
    values = {**grid, **group, **threads}
    if not values:
        return sink
    sink = sink.substitute(values)
    stores = tuple(
        s.replace(src=(*s.src[:2], *(r for r in s.src[2:] if r.op is Ops.RANGE))) for s in sink.src
    )
    return simplify(sink.replace(src=stores))


def _on_dims(name: str, ranges: Sequence[UOp], dims: int, limits: Sequence[int]) -> dict[UOp, UOp]:
    """Return ranges as expressions of at most `dims` launch indices, the last on the fastest."""
    if not ranges:
        return {}
    out: dict[UOp, UOp] = {}
    for number, group in enumerate(_merged([[r] for r in reversed(ranges)], dims, limits)):
        if not group:
            continue
        sizes = [r.src[0] for r in group]
        called = name if name == "thread" else f"{name}{number}"
        left = UOp(Ops.SPECIAL, dtypes.index, (simplify(reduce(mul, sizes)),), called)
        for r in group[:-1]:
            out[r] = left % r.src[0]
            left = left // r.src[0]
        out[group[-1]] = left
    return out


def _merged(groups: list[list[UOp]], dims: int, limits: Sequence[int]) -> list[list[UOp]]:
    """Merge neighbours, smallest product first, until they fit `dims`; the fastest dimension comes first."""
    while len(groups) > dims:
        at = min(range(len(groups) - 1), key=lambda i: _product(groups[i]) * _product(groups[i + 1]))
        groups = [*groups[:at], groups[at] + groups[at + 1], *groups[at + 2 :]]
    for number, group in enumerate(groups):
        if number < len(limits) and _product(group) > limits[number]:
            return _spread(groups, limits)
    return groups


def _spread(groups: list[list[UOp]], limits: Sequence[int]) -> list[list[UOp]]:
    """Find an assignment of whole ranges to dimensions that keeps to the limits, in order."""
    ranges = [r for group in groups for r in group]
    out: list[list[UOp]] = [[]]
    for r in ranges:
        if _product([*out[-1], r]) > limits[len(out) - 1]:
            if len(out) == len(limits) or _size(r) > limits[len(out)]:
                sizes = ", ".join(str(_size(q)) for q in ranges)
                raise KernelOptError(f"axes of {sizes} steps do not fit a launch limited to {tuple(limits)}.")
            out.append([])
        out[-1].append(r)
    return out


def _product(ranges: Sequence[UOp]) -> int:
    return math.prod(_size(r) for r in ranges)


def _size(r: UOp) -> int:
    return int(r.src[0].vmax)
