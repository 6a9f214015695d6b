"""Sorting, and elements by value."""

from typing import Literal, NamedTuple

from plugrad.dtype import is_complex, is_inexact
from plugrad.errors import ShapeError
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import fixed_shape, show

__all__ = [
    "argsort",
    "nonzero",
    "searchsorted",
    "sort",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


class UniqueAll(NamedTuple):
    """Result of `unique_all`."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Result of `unique_counts`."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Result of `unique_inverse`."""

    values: Tensor
    inverse_indices: Tensor


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return the elements in order along an axis.

    Example:
        >>> sort(Tensor([3, 1, 2])).tolist()
        [1, 2, 3]
    """
    return x.sort(axis, descending)[0]


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    return x.argsort(axis, descending)


def searchsorted(
    x1: Tensor, x2: Tensor, /, *, side: Literal["left", "right"] = "left", sorter: Tensor | None = None
) -> Tensor:
    """Return the insertion points of `x2` in `x1`, (n,), sorted or by `sorter`.

    Raises:
        ArgumentError: `side` is none of both.
        ShapeError: `x1` has not one axis, or `sorter` another shape.

    Example:
        >>> searchsorted(Tensor([1, 3, 5]), Tensor([3, 4])).tolist()
        [1, 2]
    """
    if x1.ndim != 1 or (sorter is not None and sorter.shape != x1.shape):
        order = "" if sorter is None else f" by a sorter {show(sorter.shape)}"
        raise ShapeError(f"searchsorted in {show(x1.shape)}{order}: pass one axis, and as many positions.")
    return (x1 if sorter is None else x1[sorter]).searchsorted(x2, side=side)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Return the positions of nonzero elements, axis by axis, computing `x`.

    Raises:
        ShapeError: `x` has no axes.

    Example:
        >>> [x.tolist() for x in nonzero(Tensor([[0, 1], [2, 0]]))]
        [[0, 1], [1, 0]]
    """
    if not x.ndim:
        raise ShapeError("nonzero of an array without axes: positions are along axes. Reshape it to (1,).")
    return x.nonzero(as_tuple=True)


def unique_values(x: Tensor, /) -> Tensor:
    """Return the different elements in order; each NaN is one. Computes `x`, for their number.

    Example:
        >>> unique_values(Tensor([2.0, float("nan"), 2.0, float("nan")])).tolist()
        [2.0, nan, nan]
    """
    return unique_all(x).values if is_inexact(x.dtype) else x.unique()


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """Return the distinct elements in order, each NaN apart, and their counts.

    Example:
        >>> unique_counts(Tensor([3, 1, 3])).counts.tolist()
        [1, 2]
    """
    if not is_inexact(x.dtype):
        return UniqueCounts(*x.unique(return_counts=True))
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """Return the distinct elements in order and, for each of `x`, its index there.

    Example:
        >>> unique_inverse(Tensor([3, 1, 3])).inverse_indices.tolist()
        [1, 0, 1]
    """
    if not is_inexact(x.dtype):
        return UniqueInverse(*x.unique(return_inverse=True))
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_all(x: Tensor, /) -> UniqueAll:
    """Return the distinct elements, their first positions, inverse indices and counts.

    Complex ones are ordered by their real, then their imaginary parts. NaNs are no two alike: each is an
    element of its own.

    Example:
        >>> unique_all(Tensor([3, 1, 3])).indices.tolist()
        [1, 0]
    """
    flat = x.flatten()
    count = fixed_shape(flat.shape)[0]
    if is_complex(x.dtype):
        order = flat.imag.argsort()
        order = order[flat.real[order].argsort()]
    else:
        order = flat.argsort()
    ordered = flat[order]
    if not count:
        return UniqueAll(ordered, order, order.reshape(x.shape), order)
    is_new = Tensor([True], device=flat.device).cat(ordered[1:] != ordered[:-1])
    starts = is_new.nonzero().flatten()
    ends = starts[1:].cat(Tensor([count], dtype=starts.dtype, device=flat.device))
    inverse = order.zeros_like().scatter(0, order, (is_new.cumsum(0, order.dtype) - 1))
    return UniqueAll(ordered[starts], order[starts], inverse.reshape(x.shape), ends - starts)
