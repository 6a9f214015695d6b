"""Join and split along numbered axes: rows, columns, depth."""

from __future__ import annotations

from typing import Any, Unpack

from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.base import Tensor
from plugrad.tensor.keywords import AxisNames, renamed
from plugrad.tensor.shape.joins import equal_parts, joined_tensors
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import as_int, greater, is_sequence, lesser, one_axis, several, show, size_today
from plugrad.uop import add_sizes

# parts are tensors, which all lie in one tuple
_MOST_PARTS = 1 << 20


def atleast_1d(self: Tensor) -> Tensor:
    """Return this with one axis if it has none.

    Example:
        >>> Tensor(3).atleast_1d().tolist()
        [3]
    """
    return self if self.ndim else self.reshape(1)


def atleast_2d(self: Tensor) -> Tensor:
    """Return this as a matrix, of one row, if it has fewer than two axes.

    Example:
        >>> Tensor([1, 2]).atleast_2d().tolist()
        [[1, 2]]
    """
    return self if self.ndim > 1 else self.reshape(1, -1)


def atleast_3d(self: Tensor) -> Tensor:
    """Return this with three axes at least: (n,) -> (1, n, 1), (n, m) -> (n, m, 1).

    Example:
        >>> Tensor([1, 2]).atleast_3d().shape
        (1, 2, 1)
    """
    return self if self.ndim > 2 else self.atleast_2d().unsqueeze(-1)


def hstack(self: Tensor, *others: Tensor) -> Tensor:
    """Return tensors side by side: `cat` along axis 1, of vectors along axis 0.

    Also `Tensor.hstack(a, b)` or `Tensor.hstack([a, b])`.

    Raises:
        DtypeError: one of them is no tensor.
        ShapeError: other axes differ in size.

    Example:
        >>> Tensor([[1], [2]]).hstack(Tensor([[3, 4], [5, 6]])).tolist()
        [[1, 3, 4], [2, 5, 6]]
    """
    given, _ = joined_tensors("hstack", self, others)
    first, *rest = [part.atleast_1d() for part in given]
    return first.cat(*rest, axis=0 if first.ndim == 1 else 1)


def vstack(self: Tensor, *others: Tensor) -> Tensor:
    """Return tensors on top of each other: `cat` along axis 0, vectors as rows.

    Raises:
        DtypeError: one of them is no tensor.
        ShapeError: other axes differ in size.

    Example:
        >>> Tensor([1, 2]).vstack(Tensor([[3, 4], [5, 6]])).tolist()
        [[1, 2], [3, 4], [5, 6]]
    """
    given, _ = joined_tensors("vstack", self, others)
    return given[0].atleast_2d().cat(*[part.atleast_2d() for part in given[1:]])


def dstack(self: Tensor, *others: Tensor) -> Tensor:
    """Return tensors behind each other: `cat` along axis 2, after `atleast_3d`.

    Raises:
        DtypeError: one of them is no tensor.
        ShapeError: other axes differ in size.

    Example:
        >>> Tensor([1, 2]).dstack(Tensor([3, 4])).tolist()
        [[[1, 3], [2, 4]]]
    """
    given, _ = joined_tensors("dstack", self, others)
    return given[0].atleast_3d().cat(*[part.atleast_3d() for part in given[1:]], axis=2)


def column_stack(self: Tensor, *others: Tensor) -> Tensor:
    """Return tensors side by side: `cat` along axis 1, vectors as columns.

    Raises:
        DtypeError: one of them is no tensor.
        ShapeError: other axes differ in size.

    Example:
        >>> Tensor([1, 2]).column_stack(Tensor([3, 4])).tolist()
        [[1, 3], [2, 4]]
    """
    given, _ = joined_tensors("column_stack", self, others)
    first, *rest = [part if part.ndim > 1 else part.reshape(-1, 1) for part in given]
    return first.cat(*rest, axis=1)


def block_diag(self: Tensor, *others: Tensor) -> Tensor:
    """Return a matrix with these on its diagonal, 0 elsewhere; a vector is one row.

    Raises:
        DtypeError: one of them is no tensor.
        ShapeError: one has more than two axes.

    Example:
        >>> Tensor([[1, 2]]).block_diag(Tensor([[3], [4]])).tolist()
        [[1, 2, 0], [0, 0, 3], [0, 0, 4]]
    """
    given, _ = joined_tensors("block_diag", self, others)
    if high := [part for part in given if part.ndim > 2]:
        raise ShapeError(f"block_diag of shape {show(high[0].shape)}: it takes matrices, of two axes.")
    blocks = [part.atleast_2d() for part in given]
    widths = [block.shape[1] for block in blocks]
    total = add_sizes(*widths)
    left, rows = 0, list[Any]()
    for block, width in zip(blocks, widths, strict=True):
        right = add_sizes(left, width)
        rows.append(block.pad((left, add_sizes(total, -right))))
        left = right
    return rows[0].cat(*rows[1:])


def tensor_split(
    self: Tensor, indices_or_sections: Any, axis: int = 0, **names: Unpack[AxisNames]
) -> tuple[Tensor, ...]:
    """Split an axis at given places, or into nearly equal parts, longer ones first.

    Args:
        indices_or_sections: how many parts; or a sequence or tensor of the places where to cut, which
            count as the ends of slices do. A tensor is computed at once.
        axis: along which axis.

    Raises:
        ArgumentError: a place or the number is no integer, or the number less than 1.
        AxisError: the axis does not exist.

    Example:
        >>> [part.tolist() for part in Tensor.arange(5).tensor_split(2)]
        [[0, 1, 2], [3, 4]]
        >>> [part.tolist() for part in Tensor.arange(5).tensor_split((1, 3))]
        [[0], [1, 2], [3, 4]]
    """
    if names:
        (axis,) = renamed(self.tensor_split, names, axis=axis)
    return _split(self, indices_or_sections, axis)


def hsplit(self: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split evenly along axis 1, of a vector along axis 0, as `tensor_split`.

    Raises:
        ArgumentError: a place or the number is no integer, or the number less than 1.
        ShapeError: there is no axis, or the number does not divide its size.

    Example:
        >>> [part.tolist() for part in Tensor([[1, 2], [3, 4]]).hsplit(2)]
        [[[1], [3]], [[2], [4]]]
    """
    return _equal(self, indices_or_sections, 0 if self.ndim == 1 else 1, max(min(self.ndim, 2), 1))


def vsplit(self: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Return `tensor_split` along axis 0; a number must divide that axis.

    Raises:
        ArgumentError: a place or the number is no integer, or the number less than 1.
        ShapeError: there are fewer than two axes, or the number does not divide its size.

    Example:
        >>> [part.tolist() for part in Tensor([[1, 2], [3, 4]]).vsplit(2)]
        [[[1, 2]], [[3, 4]]]
    """
    return _equal(self, indices_or_sections, 0, 2)


def dsplit(self: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Return `tensor_split` along axis 2; a number must divide that axis.

    Raises:
        ArgumentError: a place or the number is no integer, or the number less than 1.
        ShapeError: there are fewer than three axes, or the number does not divide its size.

    Example:
        >>> [part.tolist() for part in Tensor([[[1, 2]]]).dsplit(2)]
        [[[[1]]], [[[2]]]]
    """
    return _equal(self, indices_or_sections, 2, 3)


def fliplr(self: Tensor) -> Tensor:
    """Return this with the order of columns reversed: `flip(1)`.

    Raises:
        ShapeError: there are fewer than two axes.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).fliplr().tolist()
        [[2, 1], [4, 3]]
    """
    if self.ndim < 2:
        raise ShapeError(f"fliplr of shape {show(self.shape)}: there are no columns. Use flip(0).")
    return self.flip(1)


def flipud(self: Tensor) -> Tensor:
    """Return this with the order of rows reversed: `flip(0)`.

    Raises:
        ShapeError: there is no axis.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).flipud().tolist()
        [[3, 4], [1, 2]]
    """
    if not self.ndim:
        raise ShapeError("flipud of shape (): there are no rows. It takes one axis or more.")
    return self.flip(0)


def diagflat(self: Tensor, offset: int = 0) -> Tensor:
    """Return a square matrix with all elements, in row-major order, on a diagonal.

    Raises:
        ArgumentError: `offset` is no integer.

    Example:
        >>> Tensor([[1], [2]]).diagflat().tolist()
        [[1, 0], [0, 2]]
    """
    return self.flatten().diag_embed(as_int(offset, "offset"))


def _split(x: Any, given: Any, axis: int) -> tuple[Any, ...]:
    at = one_axis(axis, x.ndim)
    size = x.shape[at]
    if is_sequence(given):
        places = [as_int(place, "indices_or_sections") for place in several(given)]
        ends = [lesser(place, size) if place >= 0 else greater(add_sizes(size, place), 0) for place in places]
    else:
        count = as_int(given, "indices_or_sections")
        if not 1 <= count <= _MOST_PARTS:
            raise ArgumentError(f"{count} parts. Ask for at least 1 and at most {_MOST_PARTS}.")
        short, longer = size // count, size % count
        ends = [short * i + lesser(i, longer) for i in range(1, count)]
    bounds = zip([0, *ends], [*ends, size], strict=True)
    return tuple([interval(x, at, begin, greater(begin, end)) for begin, end in bounds])


def _equal(x: Any, given: Any, axis: int, least: int) -> tuple[Any, ...]:
    if x.ndim < least:
        raise ShapeError(f"operation of shape {show(x.shape)}: it takes {least} axes or more. Unsqueeze it.")
    if not is_sequence(given):
        size, count = x.shape[axis], as_int(given, "indices_or_sections")
        if count > 0 and size_today(size) % count:
            raise ShapeError(
                f"{count} parts of axis {axis} with {size_today(size)} elements. Ask for a number "
                "that divides it, or use tensor_split."
            )
        if count > 0 and not isinstance(size, int):
            return equal_parts(x, axis, count)
    return _split(x, given, axis)
