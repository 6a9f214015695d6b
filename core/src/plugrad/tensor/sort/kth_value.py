"""The least elements of rows without a sort: a bitwise search by rank.

Each step counts the keys below a limit, and so finds one bit of the key: 32 sums over a row, where sorting it
would take hundreds of passes. All steps are one kernel: the bit reaches it in memory, not as a constant.

Source: Knuth 1998, "The Art of Computer Programming", volume 3, section 5.3.3: selection by counting.
"""

from typing import Any

from plugrad.dtype import dtype_min, dtypes
from plugrad.tensor.lookup import counted, pick_last, position_dtype
from plugrad.tensor.reduce.scan import scan
from plugrad.tensor.shapes import expanded
from plugrad.tensor.sort.row_utils import number_on_device, sum_last, whole_blocks
from plugrad.tensor.sort.sorting import argsort_rows, search_rows
from plugrad.uop import Ops, UOp

# Shorter rows are sorted in less time than it takes to launch so many sums.
_SHORT = 128
_BLOCK = 32


def is_searched(size: int, count: int) -> bool:
    """Say whether searching the `count` least of `size` elements is faster than sorting."""
    return size > _SHORT and 4 * count <= size


def place_of_rank(keys: UOp, rank: UOp, device: str) -> UOp:
    """Return the position of the key of rank `rank`: (*R, n) and (*R, m) -> (*R, m).

    Equal keys come in the order of their positions.

    Args:
        keys: signed integers, in memory.
        rank: from 0 to n - 1, in the dtype of positions.
    """
    rows: Any = rank.shape
    size: Any = keys.shape[-1]
    key = _key_of_rank(keys, rank, device)
    keys = whole_blocks(keys, _BLOCK).contiguous()
    shape: Any = (*rows, keys.shape[-1])
    keys = keys.reshape((*keys.shape[:-1], 1, keys.shape[-1])).expand(shape)
    limit = key.reshape((*rows, 1)).expand(shape)
    wanted = rank - sum_last((keys < limit).cast(rank.dtype)) + 1
    wanted = wanted.reshape((*rows, 1)).contiguous()
    found = _selected_places(keys, key, wanted, wanted, is_kth=True)
    return found.reshape(rows).cast(position_dtype(size))


def places_of_least(keys: UOp, count: int, device: str) -> UOp:
    """Return the positions of the `count` least keys in stable order: (*R, n) -> (*R, count).

    Args:
        keys: signed integers, in memory.
        count: from 1 to n.
    """
    rows: Any = keys.shape[:-1]
    dtype = position_dtype(keys.shape[-1])
    last = UOp.const(dtype, count - 1).reshape((1,) * (len(rows) + 1)).expand((*rows, 1))
    key = _key_of_rank(keys, last, device).reshape(rows)
    keys = whole_blocks(keys, _BLOCK).contiguous()
    limit = key.reshape((*rows, 1)).expand(keys.shape)
    equal = (last.reshape(rows) + 1 - sum_last((keys < limit).cast(dtype))).reshape((*rows, 1)).contiguous()
    wanted = counted(count, dtype, (*rows, count), len(rows)) + 1
    places = _selected_places(keys, key, equal, wanted, is_kth=False).contiguous()
    order = argsort_rows(pick_last(keys, places).contiguous())
    return pick_last(places, order.contiguous())


def _key_of_rank(keys: UOp, rank: UOp, device: str) -> UOp:
    """Return the key of each rank, found bit by bit: (*R, m)."""
    bits = keys.dtype.itemsize * 8
    wide = keys.dtype if bits == 64 else dtypes.int32
    shape: Any = (*rank.shape, keys.shape[-1])
    rows = keys.reshape((*keys.shape[:-1], 1, keys.shape[-1])).expand(shape).cast(wide)
    key = UOp.const(wide, dtype_min(keys.dtype)).reshape((1,) * len(rank.shape)).expand(rank.shape)
    for bit in reversed(range(bits)):
        # the highest one is the sign, which the least key has
        step = number_on_device(1 << bit if bit < bits - 1 else int(dtype_min(keys.dtype)), device, wide)
        limit = key ^ expanded(step, key.shape)
        before = sum_last((rows < limit.reshape((*key.shape, 1)).expand(shape)).cast(rank.dtype))
        key = (before <= rank).where(limit, key).contiguous()
    return key.cast(keys.dtype)


def _selected_places(keys: UOp, key: UOp, equal: UOp, wanted: UOp, is_kth: bool) -> UOp:
    """Return the positions of the chosen by their number in a row.

    (*R, n), (*R), (*R, 1), (*R, m) -> (*R, m)
    """
    rows: Any = key.shape
    many: Any = wanted.shape
    size: Any = keys.shape[-1]
    blocks: Any = (*rows, size // _BLOCK)
    limits = key.reshape((*rows, 1))
    marks = _key_marks(keys, limits, is_kth).reshape((*blocks, _BLOCK))
    ends = scan(sum_last(marks).contiguous(), Ops.ADD, 0).contiguous()
    block = search_rows(
        _selected_counts(ends, equal).contiguous(), wanted.contiguous(), right=False
    ).contiguous()
    before = pick_last(ends, block - 1)
    wide: Any = (*many, _BLOCK)
    dtype = wanted.dtype
    place = (block.cast(dtype) * _BLOCK).reshape((*many, 1)).expand(wide) + counted(
        _BLOCK, dtype, wide, len(many)
    )
    flat: Any = (*rows, many[-1] * _BLOCK)
    inside = _key_marks(pick_last(keys, place.reshape(flat).contiguous()), limits, is_kth).reshape(wide)
    running = before.reshape((*many, 1)).expand(wide) + scan(inside.contiguous(), Ops.ADD, 0)
    is_before = _selected_counts(running, equal.reshape((*rows, 1, 1))) < wanted.reshape((*many, 1)).expand(
        wide
    )
    return block.cast(dtype) * _BLOCK + sum_last(is_before.cast(dtype))


def _key_marks(keys: UOp, key: UOp, is_kth: bool) -> UOp:
    """Return numbers whose upper half counts keys that are less, the lower half equal ones."""
    key = key.expand(keys.shape)
    is_equal = keys.eq(key).cast(dtypes.int64)
    return is_equal if is_kth else (keys < key).where(is_equal.const_like(1 << 32), is_equal)


def _selected_counts(marks: UOp, equal: UOp) -> UOp:
    counts, most = marks & 0xFFFFFFFF, equal.cast(marks.dtype).expand(marks.shape)
    return ((marks >> 32) + (counts < most).where(counts, most)).cast(equal.dtype)
