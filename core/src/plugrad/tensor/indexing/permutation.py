"""Random permutations as a formula of the position, without a sort.

Positions are places in a grid of about as many rows as columns. Rounds turn each column of the grid by a
random number of places, then each row: no two places meet. What comes to lie behind the last position is
moved on until it is one of the positions, which leaves the permutation as random as it was.

Source: Luby and Rackoff 1988, "How to construct pseudorandom permutations from pseudorandom functions";
Black and Rogaway 2002, "Ciphers with arbitrary finite domains", for any size.
"""

import math

from plugrad.dtype import dtypes
from plugrad.tensor.lookup import counted, pick_last, position_dtype
from plugrad.uop import UOp

#: How many random words a permutation takes. Four fail tests of randomness.
ROUNDS = 8
#: The greatest size of a permutation: products of a random half and a side of the grid have 32 bits.
MOST = 1 << 31

# Source: A. Appleby, MurmurHash3, 2011: factors that mix the bits of a word.
_FIRST, _SECOND = 0x85EBCA6B, 0xC2B2AE35


def permutation(size: int, keys: UOp) -> UOp:
    """Return the numbers `0..size-1` in the order that random words choose.

    Args:
        size: from 4 to `MOST`.
        keys: a word of 32 bits for each of the `ROUNDS`.
    """
    rows, columns = _grid(size)
    turned = _turned_grid(rows, columns, keys.reshape((ROUNDS, 1, 1)).contiguous())
    whole = turned.cast(position_dtype(size)).reshape((rows * columns,))
    if rows * columns == size:
        return whole
    whole = whole.contiguous()
    behind = whole.shrink([(size, rows * columns)])
    # each time, places are moved on twice as far
    for _ in range((rows * columns - size).bit_length()):
        behind = _moved_on(behind, behind, size).contiguous()
    return _moved_on(whole.shrink([(0, size)]), behind, size)


def _grid(size: int) -> tuple[int, int]:
    """Return rows and columns of a grid with few places more than asked for.

    There is an even number of rows: turning an odd number of places is never an odd permutation.
    """
    root = math.isqrt(size)
    rows = min(range(root - root % 2, root // 2, -2), key=lambda rows: -size % rows)
    return rows, -(-size // rows)


def _moved_on(places: UOp, behind: UOp, size: int) -> UOp:
    """Replace places from `size` on by those that `behind` has for them."""
    return (places < size).where(places, pick_last(behind, places - size))


def _turned_grid(rows: int, columns: int, keys: UOp) -> UOp:
    """Return the new place of each place: (1, rows, columns)."""
    shape = (1, rows, columns)
    row, column = counted(rows, dtypes.uint32, shape, 1), counted(columns, dtypes.uint32, shape, 2)
    for number in range(0, ROUNDS, 2):
        first, second = (
            keys.shrink([(n, n + 1), (0, 1), (0, 1)]).expand(shape) for n in (number, number + 1)
        )
        row = _turned(row, rows, column, first)
        column = _turned(column, columns, row, second)
    return row * columns + column


def _turned(place: UOp, size: int, other: UOp, key: UOp) -> UOp:
    """Turn a ring of `size` places by a random number for each `other`."""
    bits = other * _FIRST + key
    bits = (bits ^ (bits >> 15)) * _SECOND
    moved = place + ((bits >> 16) * size >> 16)
    return (moved < size).where(moved, moved - size)
