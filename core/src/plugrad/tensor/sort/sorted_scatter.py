"""Sums and writes by position where loops run, and on unordered grids.

Where loops run they are passes over the positions. A grid sorts the positions, or searches them.
"""

from typing import Any

from plugrad._frozen import frozen
from plugrad.tensor.lookup import counted, pick_first, pick_last, position_dtype
from plugrad.tensor.shapes import expanded
from plugrad.tensor.sort.row_utils import bit_number
from plugrad.tensor.sort.sorting import argsort_rows, search_rows
from plugrad.uop import Ops, UOp


def totals_of_runs(device: str, places: UOp, values: UOp, bits: UOp, size: int) -> UOp:
    """Return the sum of `values` at each of `size` places, sorting the writes.

    Sums run over equal places of the sorted writes, doubling their length: element `i` takes what the one
    before its run has. The last of each place then has all of it.

    Source: Hillis and Steele 1986, "Data parallel algorithms".
    """
    writes: Any = places.shape[0]
    keys = places.contiguous()
    order = argsort_rows(keys, bits).contiguous()
    ordered = pick_first(keys, order).contiguous()
    sums = pick_first(values, order).contiguous()
    place = UOp.iota(writes, order.dtype)
    one = UOp.const(order.dtype, 1)
    for bit in range((writes - 1).bit_length()):
        step = one << bit_number(bits, bit, device).cast(order.dtype)
        before = place - expanded(step, place.shape)
        is_one_run = pick_first(ordered, before).eq(ordered) & (before >= 0)
        more = pick_first(sums, before)
        mask = is_one_run.reshape((writes, *(1,) * (len(sums.shape) - 1))).expand(sums.shape)
        sums = (sums + mask.where(more, more.const_like(0))).contiguous()
    end, is_written = _ends_of_runs(ordered, size)
    found = pick_first(sums, end)
    mask = is_written.contiguous().reshape((size, *(1,) * (len(sums.shape) - 1))).expand(found.shape)
    return mask.where(found, found.const_like(0))


def _ends_of_runs(ordered: UOp, size: int) -> tuple[UOp, UOp]:
    """Return the last write to each place in sorted places, and whether there is one."""
    here = UOp.iota(size, ordered.dtype)
    end = search_rows(ordered, here, right=True).contiguous() - 1
    return end, pick_first(ordered, end).eq(here) & (end >= 0)


def last_of_runs(device: str, places: UOp, bits: UOp, size: int) -> UOp:
    """Return 1 + the last write to each of `size` places, or 0, sorting them."""
    keys = places.contiguous()
    order = argsort_rows(keys, bits).contiguous()
    end, is_written = _ends_of_runs(pick_first(keys, order).contiguous(), size)
    dtype = position_dtype(places.shape[0])
    return is_written.where(pick_first(order, end).cast(dtype) + 1, UOp.const(dtype, 0))


@frozen
class PositionsOfTruths:
    """The rule of positions of `count` truths: search running counts, or follow them in order.

    Steps behind one truth, up to the next one, have one number of truths before them. The last of those
    steps is that next truth, so each of them may write its position there, and none asks if it is one.
    """

    count: int

    def __call__(self, device: str, runs_loops: bool, inputs: tuple[UOp, ...]) -> UOp:
        """Return the positions of truths by their running number."""
        truths, running = inputs
        size: Any = running.shape[0]
        dtype = running.dtype
        numbers = counted(self.count, dtype, (self.count,), 0)
        if not runs_loops:
            return search_rows(running, numbers + 1, right=False).cast(dtype)
        shape = (self.count, size)
        before = (running - truths.cast(dtype)).reshape((1, size)).expand(shape)
        place = counted(size, dtype, shape, 1)
        found = counted(self.count, dtype, shape, 0).eq(before).where(place, place.const_like(0))
        total = running.shrink(((size - 1, size),)).expand((self.count,))
        found = found.reduce_axis(Ops.MAX, (1,)).reshape((self.count,))
        return (numbers < total).where(found, found.const_like(size))


def counts_of_numbers(device: str, keys: UOp, bits: UOp, bins: int) -> UOp:
    """Return the number of keys that equal each of 0..bins-1, by sorting them."""
    keys = keys.contiguous()
    ordered = pick_last(keys, argsort_rows(keys, bits).contiguous()).contiguous()
    below = search_rows(ordered, UOp.iota(bins + 1, keys.dtype), right=False).contiguous()
    return below.shrink(((1, bins + 1),)) - below.shrink(((0, bins),))
