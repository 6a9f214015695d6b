"""Axes, joins, elements by position, and products of matrices."""

from collections.abc import Sequence
from typing import Any

from plugrad.dtype import is_complex, least_upper_dtype
from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import as_flag, as_shape, broadcast_shapes, check_sizes, one_axis, several

__all__ = [
    "broadcast_arrays",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "matmul",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "take",
    "take_along_axis",
    "tensordot",
    "tile",
    "unstack",
    "vecdot",
]


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """Return the arrays, broadcast to their common shape.

    Example:
        >>> [x.shape for x in broadcast_arrays(Tensor([1, 2]), Tensor([[3], [4]]))]
        [(2, 2), (2, 2)]
    """
    common = broadcast_shapes(*[x.shape for x in arrays])
    return [x.broadcast_to(common) for x in arrays]


def broadcast_to(x: Tensor, /, shape: Sequence[int]) -> Tensor:
    """Return `x` with axes of size 1, and missing ones in front, repeated to `shape`.

    Raises:
        ShapeError: `x` does not broadcast to `shape`, or that has a negative size.

    Example:
        >>> broadcast_to(Tensor([1, 2]), (2, 2)).tolist()
        [[1, 2], [1, 2]]
    """
    return x.broadcast_to(check_sizes(as_shape((shape,))))


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Return arrays joined along an axis; flattened first for None.

    Raises:
        ArgumentError: there are none.

    Example:
        >>> concat([Tensor([1, 2]), Tensor([3, 4])]).tolist()
        [1, 2, 3, 4]
    """
    first, *others = _nonempty([x.flatten() for x in arrays] if axis is None else arrays)
    return first.cat(*others, axis=0 if axis is None else axis)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Return arrays joined along a new axis.

    Raises:
        ArgumentError: there are none.

    Example:
        >>> stack([Tensor([1, 2]), Tensor([3, 4])]).tolist()
        [[1, 2], [3, 4]]
    """
    first, *others = _nonempty(arrays)
    return first.stack(*others, axis=axis)


def _nonempty(arrays: Sequence[Tensor]) -> Sequence[Tensor]:
    if not len(arrays):
        raise ArgumentError("there are no arrays. Pass one at least.")
    return arrays


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the parts of `x` along an axis, without that axis.

    Example:
        >>> [x.tolist() for x in unstack(Tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    return tuple(x.movedim(axis, 0))


def expand_dims(x: Tensor, /, axis: int = 0) -> Tensor:
    """Return `x` with a new axis of size 1.

    Example:
        >>> expand_dims(Tensor([1, 2]), 0).tolist()
        [[1, 2]]
    """
    return x.unsqueeze(axis)


def squeeze(x: Tensor, /, axis: int | Sequence[int]) -> Tensor:
    """Return `x` without axes of size 1.

    Raises:
        AxisError: one of them does not exist.
        ShapeError: one of them has another size.

    Example:
        >>> squeeze(Tensor([[1, 2]]), 0).tolist()
        [1, 2]
    """
    for each in several(axis):
        size = x.shape[one_axis(each, x.ndim)]
        if size != 1:
            raise ShapeError(f"squeeze of axis {each}, which has size {size}, not 1.")
    return x.squeeze(axis)


def permute_dims(x: Tensor, /, axes: Sequence[int]) -> Tensor:
    """Return `x` with its axes in the order `axes`.

    Example:
        >>> permute_dims(Tensor([[1, 2], [3, 4]]), (1, 0)).tolist()
        [[1, 3], [2, 4]]
    """
    return x.permute(several(axes))


def moveaxis(x: Tensor, source: int | Sequence[int], destination: int | Sequence[int], /) -> Tensor:
    return x.movedim(source, destination)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """Return matrices with rows and columns exchanged.

    Example:
        >>> matrix_transpose(Tensor([[1, 2], [3, 4]])).tolist()
        [[1, 3], [2, 4]]
    """
    return x.mT


def reshape(x: Tensor, /, shape: int | Sequence[int], *, copy: bool | None = None) -> Tensor:
    """Return the elements in another shape; `copy` makes no difference to values.

    Example:
        >>> reshape(Tensor([[1, 2], [3, 4]]), (-1,)).tolist()
        [1, 2, 3, 4]
    """
    out = x.reshape(several(shape))
    return out.contiguous() if copy is not None and as_flag(copy, "copy") else out


def flip(x: Tensor, /, *, axis: int | Sequence[int] | None = None) -> Tensor:
    return x.flip(axis)


def roll(x: Tensor, /, shift: int | Sequence[int], *, axis: int | Sequence[int] | None = None) -> Tensor:
    return x.roll(shift, axis)


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Return each element repeated, of `x` flattened for None.

    Example:
        >>> repeat(Tensor([1, 2]), 2).tolist()
        [1, 1, 2, 2]
    """
    return x.repeat_interleave(repeats, axis)


def tile(x: Tensor, repetitions: Sequence[int], /) -> Tensor:
    """Return `x` repeated along each axis.

    Example:
        >>> tile(Tensor([1, 2]), (2,)).tolist()
        [1, 2, 1, 2]
    """
    counts = several(repetitions)
    return x.tile(*counts) if counts else x


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Return the elements at `indices`, (n,), along an axis; None for arrays of one axis.

    Raises:
        ShapeError: `axis` is missing, and there is not one; or `indices` has not one axis.

    Example:
        >>> take(Tensor([4, 5, 6]), Tensor([2, 0])).tolist()
        [6, 4]
    """
    if indices.ndim != 1:
        raise ShapeError(f"take of indices of {indices.ndim} axes. Flatten them, or use take_along_axis.")
    if axis is None and x.ndim != 1:
        raise ShapeError(f"take without an axis, of {x.ndim} axes. Say along which.")
    return x.index_select(0 if axis is None else axis, indices)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    return x.take_along_axis(indices, axis)


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    return x1 @ x2


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: "int | Sequence[Sequence[int]]" = 2) -> Tensor:
    return x1.tensordot(x2, axes)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return the sums of products along an axis of both, which broadcast.

    Raises:
        AxisError: one of both has no such axis.
        ShapeError: the axis is not of one size.

    Example:
        >>> vecdot(Tensor([[1, 2], [3, 4]]), Tensor([1, 1])).tolist()
        [3, 7]
    """
    left, right = (x.shape[one_axis(axis, x.ndim)] for x in (x1, x2))
    if left != right:
        raise ShapeError(f"vecdot along axis {axis}: sizes {left} and {right} differ.")
    # of complex vectors the first one counts as its conjugate
    product: Any = (x1.conj() if is_complex(x1.dtype) else x1) * x2
    return product.sum(axis, dtype=least_upper_dtype(x1.dtype, x2.dtype))
