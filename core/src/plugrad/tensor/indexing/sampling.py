"""Random choices: permutations and draws from given weights."""

from __future__ import annotations

import math

from plugrad.device import Device
from plugrad.dtype import dtypes, is_float, truncate
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.base import DTypeLike, Tensor, the_dtype
from plugrad.tensor.create.draws import random_bits
from plugrad.tensor.create.random import exponential_bits
from plugrad.tensor.host.host_data import as_count
from plugrad.tensor.lookup import counted, pick_last, position_dtype
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import Dim, check_sizes, show, size_today
from plugrad.uop import UOp, add_sizes, greatest

# Up to here, all are compared with all: as fast, and each order is equally likely.
_SORTED = 512


def randperm(
    cls: type[Tensor], n: Dim, *, dtype: DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Return the numbers `0..n-1` in random order: the same on every device for a seed.

    Raises:
        ShapeError: `n` is negative or no integer.
        DtypeError: `dtype` does not hold the numbers.

    Example:
        >>> sorted(Tensor.randperm(4).tolist())
        [0, 1, 2, 3]
    """
    n, chosen = as_count(n), the_dtype(dtype, dtypes.default_int)
    last = greatest(n) - 1
    if last > 0 and int(truncate(last, chosen)) != last:
        raise DtypeError(f"{chosen.name} does not hold all of 0..{last}. Pass a wider dtype, or none.")
    (n,) = check_sizes((n,))
    place = Device.present(device)
    if isinstance(n, int) and _SORTED < n <= MOST:
        bits, _ = random_bits((ROUNDS,), device)
        return cls._make(permutation(n, (bits >> 32).cast(dtypes.uint32)), place).cast(chosen)
    bits, _ = random_bits((n,), device)
    return cls._make(bits, place).argsort().cast(chosen)


def multinomial(self: Tensor, num_samples: Dim = 1, replacement: bool = False) -> Tensor:
    """Return positions drawn with probabilities in proportion to these weights: (n,) -> (samples,).

    Also row by row, (rows, n) -> (rows, samples). The weights need not add up to 1; they are taken to be
    finite, 0 or more, and not all 0. Without replacement no position comes twice, those of weight 0 last.

    Args:
        num_samples: how many positions to draw from each row.
        replacement: let a position be drawn again.

    Source: Efraimidis and Spirakis 2006, algorithm A, for draws without replacement.

    Raises:
        ArgumentError: there are fewer weights than samples without replacement.
        DtypeError: the weights are no floats.
        ShapeError: there is no axis, no weight, or more than two axes; or `num_samples` is negative or no
            integer.

    Example:
        >>> Tensor([0.0, 1.0, 0.0]).multinomial(2, replacement=True).tolist()
        [1, 1]
    """
    if not is_float(self.dtype):
        raise DtypeError(f"multinomial of {self.dtype.name}: weights are floats. Cast first: .float().")
    if self.ndim not in (1, 2) or not size_today(self.shape[-1]):
        raise ShapeError(f"multinomial of shape {show(self.shape)}: give weights (n,) or (rows, n).")
    count, have = as_count(num_samples), size_today(self.shape[-1])
    if size_today(count) > have and not replacement:
        raise ArgumentError(
            f"num_samples={size_today(count)} of {have} weights. Ask for 0 to {have}, or "
            "pass replacement=True."
        )
    wide = self.dtype if self.dtype is dtypes.float64 else dtypes.float32
    weights = self._make(self._graph.detach().cast(wide), self._device)
    drawn = (
        _draw_with_replacement(weights, count) if replacement else _draw_without_replacement(weights, count)
    )
    return drawn.cast(dtypes.default_int)


def _draw_with_replacement(x: Tensor, count: Dim) -> Tensor:
    rows, size = x.shape[:-1], x.shape[-1]
    below = x.cumsum(-1)
    below = below._like(below._graph.contiguous())
    total = interval(below, x.ndim - 1, add_sizes(size, -1), size)
    # less than the total, because the greatest random number is less than 1 by more than is rounded
    wanted = x.rand(*rows, count, dtype=x.dtype, device=x._device) * total
    found = below.searchsorted(wanted, right=True)
    # of weights that are all 0 none is found
    last = size - 1 if isinstance(size, int) else found._like((size - 1).cast(found.dtype))
    return found.minimum(last)


def _draw_without_replacement(x: Tensor, count: Dim) -> Tensor:
    # the least waiting times of events that come at these rates
    bits, dims = random_bits(x.shape, x._device)
    waits = x._make(exponential_bits(bits, x.dtype).reshape(dims), x._device) / x
    waits = (x > 0).where(waits, float("inf"))
    return interval(waits.argsort(-1), x.ndim - 1, 0, count)


#: How many random words a permutation takes. Four fail tests of randomness.
ROUNDS = 8
#: The greatest size of a permutation: products of a random half and a side of the grid have 32 bits.
MOST = 1 << 31

# Source: A. Appleby, MurmurHash3, 2011: factors that mix the bits of a word.
_FIRST, _SECOND = 0x85EBCA6B, 0xC2B2AE35


def permutation(size: int, keys: UOp) -> UOp:
    """Return the numbers `0..size-1` in the order that random words choose, without a sort.

    Positions are places in a grid of about as many rows as columns. Rounds turn each column of the grid by a
    random number of places, then each row: no two places meet. What comes to lie behind the last position is
    moved on until it is one of the positions, which leaves the permutation as random as it was.

    Args:
        size: from 4 to `MOST`.
        keys: a word of 32 bits for each of the `ROUNDS`.

    Source: Luby and Rackoff 1988, "How to construct pseudorandom permutations from pseudorandom functions";
    Black and Rogaway 2002, "Ciphers with arbitrary finite domains", for any size.
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
