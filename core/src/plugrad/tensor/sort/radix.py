"""Stable sorting by digits, for devices whose kernels write by position in order.

Each pass sorts by eight bits: an element goes behind all with a lesser digit, and behind those of its own
that come before it, counted as they come. All passes are the same kernels: the place of their bits reaches
them in memory, not as a constant.

Source: Knuth 1998, "The Art of Computer Programming", volume 3, section 5.2.5.
"""

from typing import Any

from plugrad.dtype import dtype_min, dtypes
from plugrad.tensor.lookup import counted, pick_last, position_dtype
from plugrad.tensor.reduce.scan import scan
from plugrad.tensor.shapes import expanded, product
from plugrad.tensor.sort.row_utils import bit_number, sum_last
from plugrad.uop import Ops, UOp

_DIGIT_BITS = 8
_DIGITS = 1 << _DIGIT_BITS


def radix_order(keys: UOp, bits: UOp, device: str) -> UOp:
    """Return the stable sorting positions of the last axis, for integers up to 32 bits.

    (*R, n) -> (*R, n); `bits` are `bit_numbers()`.
    """
    size: Any = keys.shape[-1]
    rows = keys.reshape((product(keys.shape[:-1]), size))
    # from 0, so that the highest bit is one like the others; the position goes along with its key
    wide = rows.cast(dtypes.int64) - int(dtype_min(keys.dtype))
    words = (wide << 32) | counted(size, dtypes.int64, wide.shape, 1)
    words = _sort_words(words, bits, range(32, 32 + keys.dtype.itemsize * 8), device)
    return (words.reshape(keys.shape) & 0x7FFFFFFF).cast(position_dtype(size))


def _sort_words(words: UOp, bits: UOp, digits: range, device: str) -> UOp:
    """Sort rows of int64 by some of their bits, a multiple of 8.

    Shapes: (r, n) -> (r, n). Words with equal bits keep their order.
    """
    state = words.contiguous()
    for bit in digits[::_DIGIT_BITS]:
        state = _sort_by_digit(state, bit_number(bits, bit, device))
    return state


def _sort_by_digit(state: UOp, bit: UOp) -> UOp:
    """Return rows in the order of the digit whose lowest bit is number `bit`."""
    digit = ((state >> expanded(bit, state.shape)) & (_DIGITS - 1)).cast(dtypes.uint8).contiguous()
    totals = _count_digits(digit)
    begins = (scan(totals, Ops.ADD, 0, 32) - totals).contiguous()
    place = pick_last(begins, digit.cast(dtypes.int32)) + _equal_before(digit)
    return _scatter_rows(state, place.contiguous())


def _count_digits(digit: UOp) -> UOp:
    rows, size = _int_shape(digit)
    shape = (rows, _DIGITS, size)
    digits = digit.reshape((rows, 1, size)).expand(shape).cast(dtypes.int32)
    return sum_last(digits.eq(counted(_DIGITS, dtypes.int32, shape, 1)).cast(dtypes.int32)).contiguous()


def _equal_before(digit: UOp) -> UOp:
    """Return the number of equal digits before each element of a row: a running sum."""
    rows, size = _int_shape(digit)
    shape = (rows, size, size)
    mine = digit.reshape((rows, size, 1)).expand(shape)
    others = digit.reshape((rows, 1, size)).expand(shape)
    is_before = counted(size, dtypes.int32, shape, 2) < counted(size, dtypes.int32, shape, 1)
    return sum_last((mine.eq(others) & is_before).cast(dtypes.int32))


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
