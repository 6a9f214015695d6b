"""Matrices by their diagonals: triangles, diagonals taken out and put in, grids of coordinates.

The last two axes are rows and columns unless axes are named; diagonal `k` lies `k` columns right of the
main one.
"""

from __future__ import annotations

from typing import Any, Literal, Unpack

from plugrad.dtype import dtypes
from plugrad.errors import AxisError, ShapeError
from plugrad.tensor.base import DTypeLike, Tensor, the_dtype
from plugrad.tensor.create.creation import from_graph
from plugrad.tensor.keywords import DiagonalNames, TriangleNames, renamed
from plugrad.tensor.shape.joins import joined_tensors
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import (
    Dim,
    as_dim,
    as_int,
    as_shape,
    check_choice,
    check_sizes,
    cut_to,
    greater,
    lesser,
    one_axis,
    show,
)
from plugrad.uop import UOp, add_sizes, greatest


def tri(
    cls: type[Tensor],
    n: Dim,
    m: Dim | None = None,
    k: Dim = 0,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """Return an `(n, m)` matrix with 1 on and below diagonal `k`, 0 above.

    All three may be symbolic, as the diagonal of `tril` and `triu` may.

    Raises:
        ArgumentError: `k` is no integer.
        ShapeError: a size is negative.

    Example:
        >>> Tensor.tri(2, 3, dtype="int32").tolist()
        [[1, 0, 0], [1, 1, 0]]
    """
    rows, columns = check_sizes(as_shape((n, n if m is None else m)))
    below = ~_right_mask(rows, columns, _diagonal_number(k, "k") + 1)
    return from_graph(cls, below.cast(the_dtype(dtype, dtypes.default_float)), device, False)


def tril(self: Tensor, diagonal: Dim = 0, **names: Unpack[TriangleNames]) -> Tensor:
    """Return matrices with 0 above a diagonal: (..., n, m) -> (..., n, m).

    Raises:
        ArgumentError: `diagonal` is no integer.
        ShapeError: there are fewer than two axes.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).tril().tolist()
        [[1, 0], [3, 4]]
    """
    if names:
        (diagonal,) = renamed(self.tril, names, diagonal=diagonal)
    right = right_of_diagonal(self, _diagonal_number(diagonal, "diagonal") + 1)
    return self._like(right.where(self._graph.const_like(0), self._graph))


def triu(self: Tensor, diagonal: Dim = 0, **names: Unpack[TriangleNames]) -> Tensor:
    """Return matrices with 0 below a diagonal: (..., n, m) -> (..., n, m).

    Raises:
        ArgumentError: `diagonal` is no integer.
        ShapeError: there are fewer than two axes.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).triu(1).tolist()
        [[0, 2], [0, 0]]
    """
    if names:
        (diagonal,) = renamed(self.triu, names, diagonal=diagonal)
    right = right_of_diagonal(self, _diagonal_number(diagonal, "diagonal"))
    return self._like(right.where(self._graph, self._graph.const_like(0)))


def right_of_diagonal(x: Tensor, diagonal: Dim) -> UOp:
    """Return where elements lie on a diagonal or right of it, in this shape."""
    if x.ndim < 2:
        raise ShapeError(f"operation of shape {show(x.shape)}: a matrix has two axes. Unsqueeze it.")
    rows, columns = x.shape[-2:]
    right = _right_mask(rows, columns, diagonal)
    return right.reshape((*(1,) * (x.ndim - 2), rows, columns)).expand(x.shape)


def diagonal(
    self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, **names: Unpack[DiagonalNames]
) -> Tensor:
    """Return a view of a diagonal of two axes, as the last axis.

    Raises:
        ArgumentError: `offset` is no integer.
        AxisError: an axis does not exist, or both are the same.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).diagonal().tolist()
        [1, 4]
    """
    if names:
        axis1, axis2 = renamed(self.diagonal, names, axis1=axis1, axis2=axis2)
    first, second = (one_axis(axis, self.ndim) for axis in (axis1, axis2))
    if first == second:
        raise AxisError(f"axes {axis1} and {axis2} are the same. Name two different axes.")
    x = self.movedim((first, second), (-2, -1))
    rows, columns = x.shape[-2:]
    offset = as_int(offset, "offset")
    top, left = max(-offset, 0), max(offset, 0)
    size = greater(lesser(add_sizes(rows, -top), add_sizes(columns, -left)), 0)
    others: Any = x.shape[:-2]
    if isinstance(size, int) and not size:
        return x._like(x._graph.shrink([*((0, n) for n in others), (0, 0), (0, 0)]).reshape((*others, 0)))
    inside = [*((0, n) for n in others), (top, add_sizes(top, size)), (left, add_sizes(left, size))]
    return x.shrink(inside)._view(_main_diagonal)


def diag(self: Tensor, diagonal: int = 0, **names: Unpack[TriangleNames]) -> Tensor:
    """Return a square matrix with these elements on a diagonal: (n,) -> (n+|k|, n+|k|); or the opposite.

    Of a matrix, the elements on that diagonal: (n, m) -> (k,).

    Raises:
        ArgumentError: `diagonal` is no integer.
        ShapeError: there are neither one nor two axes.

    Example:
        >>> Tensor([1, 2]).diag().tolist()
        [[1, 0], [0, 2]]
        >>> Tensor([[1, 2], [3, 4]]).diag(1).tolist()
        [2]
    """
    if names:
        (diagonal,) = renamed(self.diag, names, diagonal=diagonal)
    if self.ndim not in (1, 2):
        raise ShapeError(f"diag of shape {show(self.shape)}: it takes one axis or two. Use diagonal().")
    diagonal = as_int(diagonal, "diag: diagonal")
    return self.diag_embed(diagonal) if self.ndim == 1 else self.diagonal(diagonal)


def diag_embed(
    self: Tensor, offset: int = 0, axis1: int = -2, axis2: int = -1, **names: Unpack[DiagonalNames]
) -> Tensor:
    """Return square matrices with the last axis on a diagonal: (..., n) -> (..., n+|k|, n+|k|).

    Args:
        offset: which diagonal, `k`.
        axis1: which axis of the result counts the rows.
        axis2: which axis of the result counts the columns.

    Raises:
        ArgumentError: `offset` is no integer.
        AxisError: an axis does not exist, or both are the same.
        ShapeError: there is no axis.

    Example:
        >>> Tensor([[1], [2]]).diag_embed(1).tolist()
        [[[0, 1], [0, 0]], [[0, 2], [0, 0]]]
    """
    if names:
        axis1, axis2 = renamed(self.diag_embed, names, axis1=axis1, axis2=axis2)
    if not self.ndim:
        raise ShapeError("diag_embed of shape (): it takes a last axis. Unsqueeze it.")
    size = self.shape[-1]
    places = [one_axis(axis, self.ndim + 1) for axis in (axis1, axis2)]
    if places[0] == places[1]:
        raise AxisError(f"axes {axis1} and {axis2} are the same. Name two different axes.")
    return _embed_diagonal(self, as_int(offset, "offset"), size).movedim((-2, -1), places)


def _embed_diagonal(x: Tensor, offset: int, size: Dim) -> Tensor:
    others: Any = x.shape[:-1]
    top, left = max(-offset, 0), max(offset, 0)
    if not isinstance(size, int):
        widest = greatest(size)
        whole = _embed_diagonal(x.pad((0, widest - size)), 0, widest)
        cut: Any = (*others, size, size)
        return whole._like(cut_to(whole._graph, cut)).pad((left, top, top, left))
    if not size:
        square: Any = (*others, abs(offset), abs(offset))
        return x._like(x._graph.const_like(0).reshape((1,) * len(square)).expand(square))
    # each element before a row of zeros that is one longer than a row of the matrix
    flat = x.unsqueeze(-1).pad((0, size)).reshape(*others, size * (size + 1))
    matrix = interval(flat, len(others), 0, size * size).reshape(*others, size, size)
    return matrix.pad((left, top, top, left))


def meshgrid(self: Tensor, *others: Tensor, indexing: Literal["ij", "xy"] = "ij") -> tuple[Tensor, ...]:
    """Return the coordinates of a grid along each axis: (n,), (m,) -> (n, m), (n, m).

    Args:
        others: the coordinates of further axes. Also `Tensor.meshgrid(x, y)`.
        indexing: "ij" for the axes in order, as in PyTorch; "xy" exchanges the first two, as in NumPy.

    Raises:
        ArgumentError: `indexing` is neither.
        DtypeError: one of them is no tensor.
        ShapeError: one of the tensors has more than one axis.

    Example:
        >>> [x.tolist() for x in Tensor([1, 2]).meshgrid(Tensor([3, 4]))]
        [[[1, 1], [2, 2]], [[3, 4], [3, 4]]]
    """
    check_choice(indexing, ("ij", "xy"), "indexing")
    given, _ = joined_tensors("meshgrid", self, others)
    if long := [x for x in given if x.ndim > 1]:
        raise ShapeError(f"meshgrid of shape {show(long[0].shape)}: each axis takes one axis of numbers.")
    places = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        places[:2] = 1, 0
    flat = [x.flatten() for x in given]
    sizes = [x.shape[0] for x in flat]
    shape = [sizes[places[at]] for at in range(len(given))]
    return tuple(
        [
            x.reshape(tuple(-1 if at == place else 1 for at in range(len(given)))).expand(tuple(shape))
            for x, place in zip(flat, places, strict=True)
        ]
    )


def _diagonal_number(diagonal: Any, name: str) -> Dim:
    return as_dim(diagonal) if isinstance(diagonal, UOp) else as_int(diagonal, name)


def _right_mask(rows: Dim, columns: Dim, diagonal: Dim) -> UOp:
    shape: Any = (rows, columns)
    row = UOp.iota(rows).reshape((rows, 1)).expand(shape)
    column = UOp.iota(columns).reshape((1, columns)).expand(shape)
    return column >= row + (diagonal if isinstance(diagonal, int) else diagonal.cast(row.dtype))


def _main_diagonal(u: UOp) -> UOp:
    """Return the main diagonal of the last two, equal axes by movement ops only."""
    others: Any = u.shape[:-2]
    size: Any = u.shape[-1]
    if not isinstance(size, int):
        room = [(0, greatest(size) - size)] * 2
        return cut_to(_main_diagonal(u.pad([*((0, 0) for _ in others), *room])), (*others, size))
    whole = [(0, n) for n in others]
    # in rows that are one longer, each next diagonal element lies right below
    flat = u.reshape((*others, size * size)).pad([*((0, 0) for _ in others), (0, size)])
    square = flat.reshape((*others, size, size + 1)).shrink([*whole, (0, size), (0, 1)])
    return square.reshape((*others, size))
