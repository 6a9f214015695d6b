"""Spread copies over the work-items of a group: neighbours copy neighbours, by the widest accesses.

Which work-items there are is known when all optimisations are applied. One number counts them, so that those
which run in step are neighbours in the memory that they copy from, whatever axes they compute.
"""

import math

from plugrad.codegen.rebuild import all_ranges, at, exchange_range, gated, rebuild
from plugrad.target import Capabilities
from plugrad.uop import AxisType, Ops, UOp, simplify
from plugrad.uop.strides import coefficient, constant_size, is_multiple

_HOLD_COPIES = (Ops.BARRIER, Ops.COMMIT)
_OF_A_GROUP = (AxisType.LOCAL, AxisType.WARP)


def spread_copies(sink: UOp, capabilities: Capabilities) -> UOp:
    """Replace COPY ranges by the number of the work-item and its own steps.

    before: STORE(local[k, m], a(m, k), k, m) over COPY ranges of 8 and 128, in a group of 64 x 4
    after:  STORE(local[...], a(...), step, lane), where step * 256 + item is the number of a vector
    """
    ranges = all_ranges(sink)
    if not any(r.arg.kind is AxisType.COPY for r in ranges):
        return sink
    of_group = [r for r in ranges if r.arg.kind in _OF_A_GROUP]
    items = sorted(of_group, key=lambda r: (r.arg.kind is AxisType.WARP, r.arg.ident))
    free = max(r.arg.ident[0] for r in ranges) + 1
    sizes = [constant_size(r) or 1 for r in items]
    item = UOp.range(math.prod(sizes), (free,), AxisType.LOCAL)
    left = item
    for r, size in zip(reversed(items), reversed(sizes), strict=True):
        sink = exchange_range(sink, r, left % size, (item,))
        left = left // size
    sink = rebuild(sink, _with_each_loop_once)
    free += 1
    copies: list[UOp] = []

    def change(u: UOp) -> UOp | None:
        return u.replace(src=tuple(spread(s, u.op) for s in u.src)) if u.op in _HOLD_COPIES else None

    def spread(u: UOp, holder: Ops) -> UOp:
        if u.op is not Ops.STORE or not any(r.arg.kind is AxisType.COPY for r in u.src[2:]):
            return u
        copies.append(u)
        is_async = holder is Ops.COMMIT and u.src[0].dtype.itemsize in capabilities.async_copy_bytes
        return _spread(u, item, (free, len(copies)), capabilities, is_async=is_async)

    return simplify(rebuild(sink, change))


def _spread(
    store: UOp, item: UOp, ident: tuple[int, ...], capabilities: Capabilities, *, is_async: bool
) -> UOp:
    place, value, *axes = store.src
    places = [u for u in value.toposort() if u.op is Ops.INDEX]
    axes.sort(key=lambda r: _apart(places, r))
    sizes = [constant_size(r) or 1 for r in axes]
    items, numel = constant_size(item) or 1, math.prod(sizes)
    # a copy that goes on beside other work is one access on both sides
    both = [*places, place] if is_async else places
    widths = [n for n in (16, 8, 4, 2, 1) if _is_wide(both, axes[0], n, capabilities)]
    width = next((n for n in widths if numel % (n * items) == 0), widths[0])
    vectors = numel // width
    step = UOp.range(-(-vectors // items), (*ident, 0), AxisType.UPCAST)
    lane = UOp.range(width, (*ident, 1), AxisType.UPCAST)
    number = step * items + item
    left = number
    coordinates = dict[UOp, UOp]()
    for r, size in zip(axes, (sizes[0] // width, *sizes[1:]), strict=True):
        # beyond the end, items load some element again and store nothing
        coordinates[r] = left % size
        left = left // size
    coordinates[axes[0]] = coordinates[axes[0]] * width + lane
    for r, coordinate in coordinates.items():
        place, value = at(place, r, coordinate), at(value, r, coordinate)
    if vectors % items:
        place = gated(place, number < vectors)
    return place.store(value, step, lane)


def _apart(places: list[UOp], r: UOp) -> tuple[int, tuple[int, ...]]:
    steps = [coefficient(u.src[1], r) for u in places if r in u.ranges]
    return max((1 << 30 if step is None else abs(step) for step in steps), default=1 << 30), r.arg.ident


def _is_wide(places: list[UOp], r: UOp, count: int, capabilities: Capabilities) -> bool:
    """Say whether `count` neighbours along `r` are one access at each place."""
    if count == 1:
        return True
    if (constant_size(r) or 1) % count:
        return False
    return all(
        coefficient(u.src[1], r) == 1
        and count * u.dtype.itemsize * 8 <= capabilities.max_load_bits
        and is_multiple(at(u.src[1], r, 0), count)
        and not any(r in gate.ranges for gate in u.src[2:])
        for u in places
        if r in u.ranges
    )


def _with_each_loop_once(u: UOp) -> UOp | None:
    return u.replace(src=(*u.src[:2], *dict.fromkeys(u.src[2:]))) if u.op is Ops.STORE else None
