"""Stable sorting by digits, for devices whose kernels write by position in order.

Each pass sorts by four bits: an element goes behind all with a lesser digit, and behind those of its own that
stand before it, counted in earlier blocks and in its own. All passes are the same kernels: the place of their
bits reaches them in memory, not as a constant.

Source: Knuth 1998, "The Art of Computer Programming", volume 3, section 5.2.5.
"""

from typing import Any

from plugrad.dtype import dtype_min, dtypes
from plugrad.tensor.lookup import counted, pick_last, position_dtype
from plugrad.tensor.reduce.scan import scan
from plugrad.tensor.shapes import expanded, product
from plugrad.tensor.sort.row_utils import bit_number, sum_last, whole_blocks
from plugrad.uop import Ops, UOp

# Measured: wider digits have more counters than it saves passes, other blocks compare more or count more.
_DIGIT_BITS = 4
_DIGITS = 1 << _DIGIT_BITS
_BLOCK = 64
# Running counts in wide blocks take fewer kernels, which eager calls plan each time, but more additions:
# of more blocks than `_FEW`, additions take longer than that.
_SCANNED = 32
_NARROW = 8
_FEW = 4096
# Rows of so many blocks are counted as if they had a multiple of `_SCANNED`, which no level then fills up.
_MANY = 16 * _SCANNED


def radix_order(keys: UOp, bits: UOp, device: str) -> UOp:
    """Return the stable sorting positions of the last axis, for integers up to 32 bits.

    (*R, n) -> (*R, n); `bits` are `bit_numbers()`.
    """
    size: Any = keys.shape[-1]
    keys_of_rows = whole_blocks(keys.reshape((product(keys.shape[:-1]), size)), _BLOCK)
    # from 0, so that the highest bit is one like the others; the position goes along with its key
    wide = keys_of_rows.cast(dtypes.int64) - int(dtype_min(keys.dtype))
    state = ((wide << 32) | counted(wide.shape[-1], dtypes.int64, wide.shape, 1)).contiguous()
    for bit in range(32, 32 + keys.dtype.itemsize * 8, _DIGIT_BITS):
        state = _sort_by_digit(state, bit_number(bits, bit, device))
    state = state.shrink([(0, state.shape[0]), (0, size)]).reshape(keys.shape)
    return (state & 0x7FFFFFFF).cast(position_dtype(size))


def _sort_by_digit(state: UOp, bit: UOp) -> UOp:
    """Return rows in the order of the digit whose lowest bit is number `bit`."""
    rows, size = _int_shape(state)
    count = size // _BLOCK
    digit = ((state >> expanded(bit, state.shape)) & (_DIGITS - 1)).cast(dtypes.uint8)
    is_wide = rows * count <= _FEW
    # what fills rows up is no digit
    filled_up = whole_blocks(digit, _BLOCK * _SCANNED) if is_wide and count >= _MANY else digit
    counted_ones = filled_up.contiguous()
    wide_count = counted_ones.shape[1] // _BLOCK
    numbers = _count_digits(counted_ones.reshape((rows, wide_count, _BLOCK)))
    totals = numbers.permute((0, 2, 1)).reshape((rows, _DIGITS * wide_count))
    totals = totals if is_wide else totals.contiguous()
    begins = (scan(totals, Ops.ADD, 0, _SCANNED if is_wide else _NARROW) - totals).contiguous()
    digit = counted_ones.shrink([(0, rows), (0, size)])
    blocks = digit.reshape((rows, count, _BLOCK))
    block = counted(count, dtypes.int32, blocks.shape, 1).reshape((rows, size))
    begin = pick_last(begins, digit.cast(dtypes.int32) * wide_count + block)
    place = begin + _equal_before(blocks).reshape((rows, size)).contiguous().cast(dtypes.int32)
    return _scatter_rows(state, place.contiguous())


def _count_digits(blocks: UOp) -> UOp:
    rows, count, _ = _int_shape(blocks)
    shape = (rows, count, _DIGITS, _BLOCK)
    digits = blocks.reshape((rows, count, 1, _BLOCK)).expand(shape).cast(dtypes.int32)
    return sum_last(digits.eq(counted(_DIGITS, dtypes.int32, shape, 2)).cast(dtypes.int32)).contiguous()


def _equal_before(blocks: UOp) -> UOp:
    """Return the number of equal digits before each element in its block."""
    rows, count, _ = _int_shape(blocks)
    shape = (rows, count, _BLOCK, _BLOCK)
    mine = blocks.reshape((rows, count, _BLOCK, 1)).expand(shape)
    others = blocks.reshape((rows, count, 1, _BLOCK)).expand(shape)
    # counted in bytes, of which the most fit a vector
    is_before = counted(_BLOCK, dtypes.uint8, shape, 3) < counted(_BLOCK, dtypes.uint8, shape, 2)
    return sum_last((mine.eq(others) & is_before).cast(dtypes.uint8))


def _scatter_rows(state: UOp, place: UOp) -> UOp:
    """Write each element of the rows to its place by one sum by position."""
    rows, size = _int_shape(state)
    shape = (rows, size, size)
    elements = state.reshape((rows, 1, size)).expand(shape)
    places = place.reshape((rows, 1, size)).expand(shape)
    is_here = places.eq(counted(size, dtypes.int32, shape, 1))
    return sum_last(is_here.where(elements, elements.const_like(0))).contiguous()


def _int_shape(u: UOp) -> tuple[int, ...]:
    shape: Any = u.shape
    return shape
