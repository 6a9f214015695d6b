"""Stable sorting as a graph, from comparisons and lookups.

An element's place is its rank: how many elements come before it. Short rows are sorted by counting those.
Longer ones, and many of fewer elements, are sorted by digits where loops run in order; longer ones on a grid
by a bitonic network, whose stages are all one kernel: distances reach it in memory, not as constants.

Source: Batcher 1968, "Sorting networks and their applications".
"""

from typing import Any

from plugrad.dtype import dtype_min, dtypes, is_bool, is_float, is_unsigned
from plugrad.tensor.lookup import counted, pick_last, position_dtype
from plugrad.tensor.reduce.scan import scan
from plugrad.tensor.shapes import expanded, int_shape, product
from plugrad.tensor.sort.row_utils import bit_number, bit_numbers, mask_behind, sum_last
from plugrad.uop import Ops, UOp

# Up to here, comparing each with each is cheaper than the stages of a network, or than planning digits.
_RANKED = 512
# Longest rows whose lesser elements are counted: as fast as halving, and vectors all through.
_COUNTED = 256
# Rows from which digits take less time than so many comparisons of all rows take.
_DIGITS_FROM = 192
_MANY_COMPARISONS = 1 << 24
_BLOCK = 256

_SIGNED = {1: dtypes.int8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}


def sort_keys(x: UOp, descending: bool) -> UOp:
    """Return integers in the order of `x`: signed, equal for equal elements, NaN above all."""
    key = _rising_keys(x)
    return ~key if descending else key


def _rising_keys(x: UOp) -> UOp:
    if is_bool(x.dtype):
        return x.cast(dtypes.int8)
    bits_dtype = _SIGNED[x.dtype.itemsize]
    top = x.dtype.itemsize * 8 - 1
    if is_unsigned(x.dtype):
        return (x ^ (1 << top)).bitcast(bits_dtype)
    if not is_float(x.dtype):
        return x
    # without its sign bit, the pattern of a float grows with the number; -0.0 equals 0.0
    bits = x.eq(0.0).where(x.const_like(0.0), x).bitcast(bits_dtype)
    highest = (1 << top) - 1
    ordered = (bits < 0).where(bits ^ highest, bits)
    return x.ne(x).where(bits.const_like(highest), ordered)


def argsort_rows(keys: UOp, bits: UOp | None = None) -> UOp:
    """Return the stable sorting positions of the last axis of signed integers."""
    order = _rank_order(keys)
    size: Any = keys.shape[-1]
    comparisons = product(keys.shape) * size
    are_many = isinstance(comparisons, int) and size >= _DIGITS_FROM and comparisons >= _MANY_COMPARISONS
    if size <= _RANKED and not are_many:
        return order
    return order.dispatch(_order_rule, keys, bit_numbers() if bits is None else bits)


def _order_rule(device: str, runs_loops: bool, inputs: tuple[UOp, ...]) -> UOp | None:
    """Return the order by digits or a network; None where comparisons take less time."""
    size: Any = inputs[0].shape[-1]
    return _long_order(device, runs_loops, inputs) if runs_loops or size > _RANKED else None


def _long_order(device: str, runs_loops: bool, inputs: tuple[UOp, ...]) -> UOp:
    keys, bits = inputs
    if keys.dtype.itemsize < 8 and runs_loops:
        return radix_order(keys, bits, device)
    if keys.dtype.itemsize < 8:
        return _network_order(keys.cast(dtypes.int32), bits, device)
    # by the lower half, then, stably, by the upper one
    low = keys.cast(dtypes.uint32) ^ (1 << 31)
    first = _long_order(device, runs_loops, (low.bitcast(dtypes.int32), bits)).contiguous()
    high = pick_last((keys >> 32).cast(dtypes.int32), first).contiguous()
    return pick_last(first, _long_order(device, runs_loops, (high, bits)).contiguous())


def _rank_order(keys: UOp) -> UOp:
    size: Any = keys.shape[-1]
    if size < 2:
        return counted(size, dtypes.int32, keys.shape, len(keys.shape) - 1)
    return _order_by_rank(
        _ranks(keys.contiguous()), counted(size, dtypes.int32, keys.shape, len(keys.shape) - 1)
    )


def _ranks(keys: UOp) -> UOp:
    """Return the number of keys before each in its row, ties by position."""
    size: Any = keys.shape[-1]
    shape = (*keys.shape, size)
    mine = keys.reshape((*keys.shape, 1)).expand(shape)
    others = keys.reshape((*keys.shape[:-1], 1, size)).expand(shape)
    place, other_place = (counted(size, dtypes.int32, shape, len(shape) - axis) for axis in (2, 1))
    is_before = (others < mine) | (others.eq(mine) & (other_place < place))
    return sum_last(is_before.cast(dtypes.int32))


def _order_by_rank(rank: UOp, values: UOp) -> UOp:
    size: Any = rank.shape[-1]
    shape = (*rank.shape, size)
    rank = rank.contiguous().reshape((*rank.shape[:-1], 1, size)).expand(shape)
    values = values.reshape((*values.shape[:-1], 1, size)).expand(shape)
    wanted = counted(size, dtypes.int32, shape, len(shape) - 2)
    return sum_last(rank.eq(wanted).where(values, values.const_like(0)))


def _network_order(keys: UOp, bits: UOp, device: str) -> UOp:
    size: Any = keys.shape[-1]
    # key and position in one number: no two are equal
    position = counted(size, dtypes.int64, keys.shape, len(keys.shape) - 1)
    packed = (keys.cast(dtypes.int64) << 32) | position
    state = _sort_by_network(packed.reshape((product(keys.shape[:-1]), size)), bits, device)
    return (state.reshape(keys.shape) & 0x7FFFFFFF).cast(position_dtype(size))


def _sort_by_network(words: UOp, bits: UOp, device: str) -> UOp:
    """Return rows of distinct numbers in order: (r, n) -> (r, n)."""
    size: Any = words.shape[1]
    width = 1 << (size - 1).bit_length()
    state = _sort_blocks(mask_behind(words.pad([(0, 0), (0, width - size)]), size).contiguous())
    levels = range((2 * _BLOCK).bit_length() - 1, width.bit_length())
    one = UOp.const(dtypes.int32, 1)
    powers = [one << bit_number(bits, bit, device).cast(dtypes.int32) for bit in range(width.bit_length())]
    places = UOp.iota(width, dtypes.int32)
    partners = [(places ^ expanded(p, places.shape)).contiguous() for p in powers[:-1]]
    for level in levels:
        for bit in range(level - 1, -1, -1):
            state = _compare_exchange(state, partners[bit], powers[bit], powers[level]).contiguous()
    return state.shrink([(0, state.shape[0]), (0, size)])


def _sort_blocks(state: UOp) -> UOp:
    """Return blocks sorted by rank, every second one descending, for the network to merge."""
    rows: Any = state.shape[0]
    width: Any = state.shape[1]
    blocks = state.reshape((rows, width // _BLOCK, _BLOCK))
    out = _order_by_rank(_ranks(blocks), blocks).contiguous()
    number = counted(width // _BLOCK, dtypes.int32, out.shape, 1)
    return (number & 1).eq(0).where(out, out.flip((2,))).reshape((rows, width)).contiguous()


def _compare_exchange(state: UOp, partner: UOp, distance: UOp, run: UOp) -> UOp:
    """Return one stage, which orders each element and its partner at `distance`."""
    other = pick_last(state, expanded(partner, state.shape))
    place = counted(state.shape[1], dtypes.int32, state.shape, 1)
    is_first = (place & expanded(distance, state.shape)).eq(0)
    is_rising = (place & expanded(run, state.shape)).eq(0)
    keeps_lesser = is_first.eq(is_rising)
    return (state < other).eq(keeps_lesser).where(state, other)


def search_rows(rows: UOp, values: UOp, right: bool) -> UOp:
    """Return the number of row elements before each value: (*R, n), (*R, m) -> (*R, m)."""
    size: Any = rows.shape[-1]
    dtype = position_dtype(size)
    if size <= _COUNTED:
        shape = (*values.shape, size)
        others = rows.reshape((*rows.shape[:-1], 1, size)).expand(shape)
        wanted = values.reshape((*values.shape, 1)).expand(shape)
        return sum_last(_is_before(others, wanted, right).cast(dtype))
    # halves without a branch: the bounds of `found` say that each place is inside of the row
    found = expanded(UOp.const(dtype, 0), values.shape)
    while size > 1:
        half = size // 2
        is_behind = _is_before(pick_last(rows, found + (half - 1)), values, right)
        found = is_behind.where(found + half, found)
        size -= half
    return found + _is_before(pick_last(rows, found), values, right).cast(dtype)


def _is_before(x: UOp, wanted: UOp, right: bool) -> UOp:
    return x <= wanted if right else x < wanted


_DIGIT_BITS = 8
_DIGITS = 1 << _DIGIT_BITS


def radix_order(keys: UOp, bits: UOp, device: str) -> UOp:
    """Return the stable sorting positions of the last axis, for integers up to 32 bits.

    (*R, n) -> (*R, n); `bits` are `bit_numbers()`. Each pass sorts by eight bits: an element goes behind all
    with a lesser digit, and behind those of its own that come before it. All passes are the same kernels.

    Source: Knuth 1998, "The Art of Computer Programming", volume 3, section 5.2.5.
    """
    size: Any = keys.shape[-1]
    rows = keys.reshape((product(keys.shape[:-1]), size))
    # from 0, so that the highest bit is one like the others; the position goes along with its key
    wide = rows.cast(dtypes.int64) - int(dtype_min(keys.dtype))
    words = (wide << 32) | counted(size, dtypes.int64, wide.shape, 1)
    state = words.contiguous()
    for bit in range(32, 32 + keys.dtype.itemsize * 8, _DIGIT_BITS):
        state = _sort_by_digit(state, bit_number(bits, bit, device))
    return (state.reshape(keys.shape) & 0x7FFFFFFF).cast(position_dtype(size))


def _sort_by_digit(state: UOp, bit: UOp) -> UOp:
    """Return rows in the order of the digit whose lowest bit is number `bit`."""
    digit = ((state >> expanded(bit, state.shape)) & (_DIGITS - 1)).cast(dtypes.uint8).contiguous()
    totals = _count_digits(digit)
    begins = (scan(totals, Ops.ADD, 0, 32) - totals).contiguous()
    place = pick_last(begins, digit.cast(dtypes.int32)) + _equal_before(digit)
    return _order_by_rank(place, state).contiguous()


def _count_digits(digit: UOp) -> UOp:
    rows, size = int_shape(digit)
    shape = (rows, _DIGITS, size)
    digits = digit.reshape((rows, 1, size)).expand(shape).cast(dtypes.int32)
    return sum_last(digits.eq(counted(_DIGITS, dtypes.int32, shape, 1)).cast(dtypes.int32)).contiguous()


def _equal_before(digit: UOp) -> UOp:
    """Return the number of equal digits before each element of a row: a running sum."""
    rows, size = int_shape(digit)
    shape = (rows, size, size)
    mine = digit.reshape((rows, size, 1)).expand(shape)
    others = digit.reshape((rows, 1, size)).expand(shape)
    is_before = counted(size, dtypes.int32, shape, 2) < counted(size, dtypes.int32, shape, 1)
    return sum_last((mine.eq(others) & is_before).cast(dtypes.int32))
