"""Products of tensors over named axes, and their special cases: outer, Kronecker, trace, cross."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack, cast

from plugrad.errors import ArgumentError, AxisError, ShapeError
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import DTypeLike, Tensor, TensorBase, promoted, the_dtype
from plugrad.tensor.keywords import AxesNames, AxisNames, DiagonalNames, renamed
from plugrad.tensor.linalg.contraction import (
    Labels,
    formula_of_lists,
    kept_labels,
    next_pair,
    parse_contraction,
    sizes_of_labels,
)
from plugrad.tensor.shapes import (
    Dim,
    as_int,
    broadcast_shapes,
    expanded,
    is_sequence,
    one_axis,
    product,
    several,
    show,
)


def einsum(
    cls: type[Tensor],
    formula: str | Tensor,
    *operands: Tensor | Sequence[Tensor] | Sequence[Any],
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return the sum of products that a formula names: `"ij,jk->ik"` is the matrix product.

    A label that is missing behind the arrow is summed over; one that comes twice in a term takes the
    diagonal; `...` stands for any axes, which broadcast. Without an arrow, the result has the axes of the
    ellipsis and then, in the order of the alphabet, capitals first, the labels that come once. Three or
    more operands are joined in pairs, those first whose product is small.

    Args:
        formula: one term of labels for each operand, separated by commas; then `->` and the result's.
            Blanks mean nothing. Instead, each operand may be followed by a list of integers below 52 and
            `...`, and the last one by that of the result.
        operands: the tensors, or one sequence of them; their dtypes are promoted.
        dtype: compute in, and return, this dtype.

    Raises:
        ArgumentError: the formula is malformed, or does not name these operands.
        DtypeError: an operand is no tensor.
        ShapeError: an operand has other axes than its term, or a label has two sizes.

    Example:
        >>> Tensor.einsum("ij,jk->ik", Tensor([[1, 2]]), Tensor([[3], [4]])).tolist()
        [[11]]
        >>> Tensor.einsum("ii", Tensor([[1, 2], [3, 4]])).item()
        5
        >>> Tensor.einsum(Tensor([[1, 2], [3, 4]]), [0, 1], [1, 0]).tolist()
        [[1, 3], [2, 4]]
    """
    if isinstance(formula, TensorBase):
        text, given = _parse_label_lists((formula, *operands))
    else:
        is_list = len(operands) == 1 and isinstance(operands[0], (list, tuple))
        text, given = formula, cast("Sequence[Any]", operands[0] if is_list else operands)
    if not isinstance(text, str) or not given:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError("einsum takes a formula, such as 'ij,jk->ik', and a tensor for each term.")
    for operand in given:
        require_tensors(operand=operand)
    return _contract_pairwise(text, given, dtype)


def _contract_pairwise(formula: str, operands: Sequence[Any], dtype: DTypeLike | None) -> Tensor:
    operands[0]._check_device(*operands[1:])
    chosen = the_dtype(dtype, promoted(operands))
    parsed = parse_contraction(formula, [x.shape for x in operands])
    parts: list[Tensor] = []
    terms: list[Labels] = []
    for x, labels in zip(operands, parsed.operands, strict=True):
        part, names = _take_diagonals(x.cast(chosen), labels, formula)
        parts.append(part)
        terms.append(names)
    sizes = sizes_of_labels(formula, terms, [x.shape for x in parts])
    for at, (part, names) in enumerate(zip(parts, terms, strict=True)):
        parts[at], terms[at] = _squeeze_broadcast_axes(part, names, sizes)
    while len(parts) > 1:
        first, second = next_pair(terms, parsed.output, sizes)
        kept = kept_labels(terms, first, second, parsed.output)
        joined, names = _contract_pair(parts[first], terms[first], parts[second], terms[second], kept)
        parts = [*[x for i, x in enumerate(parts) if i not in (first, second)], joined]
        terms = [*[x for i, x in enumerate(terms) if i not in (first, second)], names]
    out, names = _sum_to_labels(parts[0], terms[0], set(parsed.output))
    return out.permute(tuple([names.index(name) for name in parsed.output])) if names else out


def _take_diagonals(x: Tensor, labels: Labels, formula: str) -> tuple[Tensor, Labels]:
    out, names = x, list(labels)
    for name in dict.fromkeys(labels):
        while names.count(name) > 1:
            first = names.index(name)
            second = names.index(name, first + 1)
            if out.shape[first] != out.shape[second]:
                raise ShapeError(
                    f"einsum {formula!r} of shape {show(x.shape)}: {name!r} has two sizes in one "
                    "operand. A diagonal needs equal sizes."
                )
            out = out.diagonal(0, first, second)
            names = [other for at, other in enumerate(names) if at not in (first, second)] + [name]
    return out, tuple(names)


def _squeeze_broadcast_axes(x: Tensor, labels: Labels, sizes: Mapping[str, Dim]) -> tuple[Tensor, Labels]:
    """Squeeze the axes of size 1 that broadcast: they multiply everything alike."""
    gone = [
        axis
        for axis, name in enumerate(labels)
        if x.shape[axis] is not sizes[name] and x.shape[axis] != sizes[name]
    ]
    kept = tuple([name for axis, name in enumerate(labels) if axis not in gone])
    return (x.squeeze(tuple(gone)) if gone else x), kept


def _sum_to_labels(x: Tensor, labels: Labels, kept: set[str]) -> tuple[Tensor, Labels]:
    gone = tuple([axis for axis, name in enumerate(labels) if name not in kept])
    if not gone:
        return x, labels
    return x.sum(gone, dtype=x.dtype), tuple([name for name in labels if name in kept])


def _contract_pair(
    x: Tensor, labels: Labels, other: Tensor, other_labels: Labels, kept: set[str]
) -> tuple[Tensor, Labels]:
    """Multiply two operands and sum over the shared labels that are not kept."""
    left, mine = _sum_to_labels(x, labels, kept | set(other_labels))
    right, theirs = _sum_to_labels(other, other_labels, kept | set(labels))
    shared = [name for name in mine if name in theirs and name in kept]
    inner = [name for name in mine if name in theirs and name not in kept]
    rows = [name for name in mine if name not in theirs]
    columns = [name for name in theirs if name not in mine]
    left = left.permute(tuple([mine.index(name) for name in (*shared, *rows, *inner)]))
    right = right.permute(tuple([theirs.index(name) for name in (*shared, *inner, *columns)]))
    shape = (*left.shape[: len(shared) + len(rows)], *right.shape[len(shared) + len(inner) :])
    batch = left.shape[: len(shared)]
    row_count = product(left.shape[len(shared) : len(shared) + len(rows)])
    inner_count = product(left.shape[len(shared) + len(rows) :])
    column_count = product(right.shape[len(shared) + len(inner) :])
    flat = left.reshape(*batch, row_count, inner_count)
    out = flat.matmul(right.reshape(*batch, inner_count, column_count))
    return out.reshape(*shape), (*shared, *rows, *columns)


def tensordot(
    self: Tensor, other: Tensor, axes: int | Sequence[int | Sequence[int]] = 2, **names: Unpack[AxesNames]
) -> Tensor:
    """Return the sum of products over pairs of axes.

    Args:
        other: the right factor.
        axes: how many of the last axes of this meet the first ones of `other`; or the axes of each,
            an integer for one axis.

    Raises:
        ArgumentError: `axes` does not name pairs.
        AxisError: an axis does not exist, or comes twice.
        DtypeError: `other` is no tensor.
        ShapeError: axes that meet have different sizes.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).tensordot(Tensor([[1, 0], [0, 1]])).item()
        5
        >>> Tensor([[1, 2], [3, 4]]).tensordot(Tensor([1, 10]), ([0], [0])).tolist()
        [31, 42]
    """
    if names:
        (axes,) = renamed(tensordot, names, axes=axes)
    require_tensors(other=other)
    mine, theirs = _paired_axes(axes, self, other)
    for a, b in zip(mine, theirs, strict=True):
        if self.shape[a] is not other.shape[b] and self.shape[a] != other.shape[b]:
            raise ShapeError(
                f"tensordot of shapes {show(self.shape)} and {show(other.shape)}: axis {a} of the first "
                f"and {b} of the second differ in size."
            )
    labels = [f"a{axis}" for axis in range(self.ndim)]
    others = [f"b{axis}" for axis in range(other.ndim)]
    for a, b in zip(mine, theirs, strict=True):
        others[b] = labels[a]
    inner = {labels[a] for a in mine}
    self._check_device(other)
    dtype = promoted([self, other])
    kept = {*labels, *others} - inner
    return _contract_pair(self.cast(dtype), tuple(labels), other.cast(dtype), tuple(others), kept)[0]


def outer(self: Tensor, other: Tensor) -> Tensor:
    """Return all products of the elements of two vectors: (n,), (m,) -> (n, m).

    Raises:
        DtypeError: `other` is no tensor.
        ShapeError: one of them is no vector.

    Example:
        >>> Tensor([1, 2]).outer(Tensor([3, 4])).tolist()
        [[3, 4], [6, 8]]
    """
    require_tensors(other=other)
    if self.ndim != 1 or other.ndim != 1:
        raise ShapeError(
            f"outer of shapes {show(self.shape)} and {show(other.shape)}: it takes vectors. Flatten first."
        )
    return self.unsqueeze(1) * other.unsqueeze(0)


def inner(self: Tensor, other: Tensor) -> Tensor:
    """Return sums of products over the last axes: (..., k), (*, k) -> (..., *).

    A scalar multiplies.

    Raises:
        DtypeError: `other` is no tensor.
        ShapeError: the last axes differ in size.

    Example:
        >>> Tensor([1, 2]).inner(Tensor([[3, 4], [5, 6]])).tolist()
        [11, 17]
    """
    require_tensors(other=other)
    if not self.ndim or not other.ndim:
        return self * other
    return self.tensordot(other, ((-1,), (-1,)))


def vdot(self: Tensor, other: Tensor) -> Tensor:
    """Return the sum of products of two vectors, the first one conjugated: (n,), (n,) -> ().

    Raises:
        DtypeError: `other` is no tensor.
        ShapeError: one of them is no vector, or sizes differ.

    Example:
        >>> Tensor([1, 2]).vdot(Tensor([3, 4])).item()
        11
    """
    require_tensors(other=other)
    if self.ndim != 1 or other.ndim != 1:
        raise ShapeError(
            f"vdot of shapes {show(self.shape)} and {show(other.shape)}: it takes vectors. Flatten first."
        )
    return self.conj().matmul(other)


def kron(self: Tensor, other: Tensor) -> Tensor:
    """Return the Kronecker product: blocks of `other`, each multiplied by an element of this.

    Raises:
        DtypeError: `other` is no tensor.

    Example:
        >>> Tensor([[1, 2]]).kron(Tensor([[1], [3]])).tolist()
        [[1, 2], [3, 6]]
    """
    require_tensors(other=other)
    ndim = max(self.ndim, other.ndim)
    mine = (1,) * (ndim - self.ndim) + self.shape
    theirs = (1,) * (ndim - other.ndim) + other.shape
    left = self.reshape(*[size for dim in mine for size in (dim, 1)])
    right = other.reshape(*[size for dim in theirs for size in (1, dim)])
    return (left * right).reshape(*[a * b for a, b in zip(mine, theirs, strict=True)])


def trace(
    self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, **names: Unpack[DiagonalNames]
) -> Tensor:
    """Return sums over the diagonal of two axes, with the dtypes of `sum`.

    Raises:
        AxisError: an axis does not exist, or both are the same.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).trace().item()
        5
    """
    if names:
        axis1, axis2 = renamed(trace, names, axis1=axis1, axis2=axis2)
    return self.diagonal(offset, axis1, axis2).sum(-1)


def cross(self: Tensor, other: Tensor, axis: int = -1, **names: Unpack[AxisNames]) -> Tensor:
    """Return cross products of vectors with three elements along an axis; other axes broadcast.

    Raises:
        AxisError: the axis does not exist.
        DtypeError: `other` is no tensor.
        ShapeError: it has not three elements, or other axes do not broadcast.

    Example:
        >>> Tensor([1, 0, 0]).cross(Tensor([0, 1, 0])).tolist()
        [0, 0, 1]
    """
    if names:
        (axis,) = renamed(cross, names, axis=axis)
    require_tensors(other=other)
    shape = broadcast_shapes(self.shape, other.shape)
    at = one_axis(axis, len(shape))
    given = [x.shape[at - len(shape)] for x in (self, other) if x.ndim >= len(shape) - at]
    if given != [3, 3]:
        raise ShapeError(
            f"cross of shapes {show(self.shape)} and {show(other.shape)}: axis {axis} must have three "
            "elements."
        )
    left, right = (x._like(expanded(x._graph, shape)) for x in (self, other))
    return left.roll(-1, at) * right.roll(-2, at) - left.roll(-2, at) * right.roll(-1, at)


def _parse_label_lists(given: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Return the formula and the operands of a call with label lists behind the operands."""
    operands, lists = given[::2], given[1::2]
    output = operands[-1] if len(given) % 2 else None
    operands = operands[:-1] if len(given) % 2 else operands
    return formula_of_lists(lists, output), operands


def _paired_axes(axes: Any, left: TensorBase, right: TensorBase) -> tuple[list[int], list[int]]:
    """Return the axes of each factor that `tensordot` sums over."""
    if not is_sequence(axes):
        count = as_int(axes, "tensordot: axes")
        if not 0 <= count <= min(left.ndim, right.ndim):
            raise ArgumentError(
                f"{count} axes of shapes {show(left.shape)} and {show(right.shape)}. Both need as many."
            )
        return list(range(left.ndim - count, left.ndim)), list(range(count))
    both = [several(part) for part in several(axes)]
    if len(both) != 2 or len(both[0]) != len(both[1]):
        raise ArgumentError(f"axes={axes} are no pairs. Pass as many axes of each factor.")
    mine = [one_axis(axis, left.ndim) for axis in both[0]]
    theirs = [one_axis(axis, right.ndim) for axis in both[1]]
    if len(set(mine)) != len(mine) or len(set(theirs)) != len(theirs):
        raise AxisError(f"axes={axes} name one axis twice. Name each axis once.")
    return mine, theirs
