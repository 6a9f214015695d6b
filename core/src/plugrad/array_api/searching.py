"""Sorting, and elements by value."""

from typing import Literal, NamedTuple

from plugrad.errors import ArgumentError
from plugrad.tensor import Tensor


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: Tensor
    inverse_indices: Tensor


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return the elements in order along an axis."""
    return x.sort(axis, descending)[0]


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return the positions of the elements in order along an axis; equal ones stay in theirs."""
    return x.argsort(axis, descending)


def searchsorted(
    x1: Tensor, x2: Tensor, /, *, side: Literal["left", "right"] = "left", sorter: Tensor | None = None
) -> Tensor:
    """Return where the elements of `x2` belong in `x1`, (n,), which is in order, or is by `sorter`.

    Raises:
        ArgumentError: `side` is none of both.
    """
    if side not in ("left", "right"):
        raise ArgumentError(f"searchsorted with side={side!r}: pass 'left' or 'right'.")
    return (x1 if sorter is None else x1[sorter]).searchsorted(x2, side == "right")


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Return the positions of the elements other than 0, axis by axis. Computes `x`, for their number."""
    found = x.nonzero()
    return tuple(found[:, axis] for axis in range(x.ndim))


def unique_values(x: Tensor, /) -> Tensor:
    """Return the different elements in order. Computes `x`, for their number."""
    return x.flatten().unique()


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """Return the different elements in order, and how often each is there."""
    return UniqueCounts(*x.flatten().unique(return_counts=True))


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """Return the different elements in order, and for each of `x` which it is."""
    values, inverse = x.flatten().unique(return_inverse=True)
    return UniqueInverse(values, inverse.reshape(x.shape))


def unique_all(x: Tensor, /) -> UniqueAll:
    """Return the different elements in order, the first position, which it is, and how often each is there.

    Example:
        >>> unique_all(Tensor([3, 1, 3])).indices.tolist()
        [1, 0]
    """
    flat = x.flatten()
    values, inverse, counts = flat.unique(return_inverse=True, return_counts=True)
    order = flat.argsort()
    indices = order[(counts.cumsum() - counts).cast(order.dtype)] if len(values) else counts
    return UniqueAll(values, indices, inverse.reshape(x.shape), counts)
