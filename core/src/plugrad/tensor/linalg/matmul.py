"""Matrix products as a broadcast multiplication and a sum, fused to one kernel."""

from __future__ import annotations

from math import prod
from typing import Any

from plugrad.dtype import dtypes, is_int, sum_acc_dtype
from plugrad.errors import ShapeError
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import DTypeLike, Tensor, TensorBase, promoted, the_dtype
from plugrad.tensor.dispatch import InLoops
from plugrad.tensor.elementwise.operands import as_tensor_operand
from plugrad.tensor.elementwise.operators import update_in_place
from plugrad.tensor.keywords import REQUIRED, renamed
from plugrad.tensor.shapes import broadcast_shapes, expanded, is_static, show
from plugrad.uop import Ops, UOp


def matmul(self: Tensor, other: Tensor, dtype: DTypeLike | None = None) -> Tensor:
    """Return the matrix product `(..., M, K) @ (..., K, N) -> (..., M, N)`; batch axes broadcast.

    A vector on the left is a row, one on the right a column; the axis that adds goes again.

    Args:
        other: the right factor.
        dtype: accumulate in, and return, this dtype.

    Raises:
        DtypeError: `other` is no tensor.
        ShapeError: the inner sizes differ, batch axes do not broadcast, or a factor is a scalar.

    Example:
        >>> (Tensor([[1, 2], [3, 4]]) @ Tensor([1, 1])).tolist()
        [3, 7]
    """
    if not isinstance(other, TensorBase):  # pyright: ignore[reportUnnecessaryIsInstance]
        if hasattr(other, "__array__"):
            # an array of NumPy, as on the left
            other = as_tensor_operand(self, other)
        require_tensors(other=other)
    if other._device != self._device:
        self._check_device(other)
    left, right = self._graph, other._graph
    rank, other_rank = len(left.shape), len(right.shape)
    if not rank or not other_rank:
        raise ShapeError(
            f"matmul of shapes {show(self.shape)} and {show(other.shape)}: a scalar is no matrix. "
            "Multiply with *."
        )
    if rank == 1:
        left = left.reshape((1, *left.shape))
    if other_rank == 1:
        right = right.reshape((*right.shape, 1))
    inner, rows = left.shape[-1], right.shape[-2]
    if inner is not rows and inner != rows:
        raise ShapeError(
            f"matmul of shapes {show(self.shape)} and {show(other.shape)}: the left has "
            f"{show((inner,))[1:-2]} "
            f"columns, the right {show((rows,))[1:-2]} rows. They must be equal; transpose one?"
        )
    narrow = left.dtype if left.dtype is right.dtype else promoted([self, other])
    narrow = the_dtype(dtype, narrow)
    wide = narrow if dtype is not None else sum_acc_dtype(narrow)
    out = matrix_product(left.cast(wide), right.cast(wide)).cast(narrow)
    if is_int(narrow) and narrow.itemsize == 1:
        out = out.dispatch(InLoops(_product_of_bytes), left.cast(narrow), right.cast(narrow))
    if rank == 1 or other_rank == 1:
        *batch, rows, columns = out.shape
        out = out.reshape((*batch, *([rows] if rank > 1 else []), *([columns] if other_rank > 1 else [])))
    return self._like(out, other)


def dot(self: Tensor, other: Tensor = REQUIRED, dtype: DTypeLike | None = None, **names: Any) -> Tensor:
    """Return `matmul(other)`, as in tinygrad; `numpy.dot` means something else beyond matrices.

    Raises:
        DtypeError: `other` is no tensor.
        ShapeError: the inner sizes differ, batch axes do not broadcast, or a factor is a scalar.

    Example:
        >>> Tensor([1, 2]).dot(Tensor([3, 4])).item()
        11
    """
    if names or other is REQUIRED:
        (other,) = renamed(dot, names, other=other)
    return self.matmul(other, dtype)


# an array of NumPy leaves it to the tensor on its right
def __rmatmul__(self: Tensor, other: Any) -> Tensor:
    return as_tensor_operand(self, other).matmul(self)


def __imatmul__(self: Tensor, other: Tensor) -> Tensor:
    return update_in_place(self, self.matmul(other), other)


def linear(
    self: Tensor, weight: Tensor, bias: Tensor | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    """Return `self @ weight + bias`; a weight with one axis scales.

    Weights of PyTorch are transposed: pass `weight.T`.

    Args:
        weight: (in, out) or (in,).
        bias: what is added, which broadcasts.
        dtype: cast everything to this dtype first.

    Raises:
        DtypeError: the weight is no tensor.
        ShapeError: sizes do not fit.

    Example:
        >>> Tensor([[1.0, 2.0]]).linear(Tensor([[1.0], [1.0]]), Tensor([0.5])).tolist()
        [[3.5]]
    """
    require_tensors(weight=weight)
    if dtype is not None:
        cast = bias.cast(dtype) if isinstance(bias, TensorBase) else bias
        return self.cast(dtype).linear(weight.cast(dtype), cast)
    out = self * weight if weight.ndim == 1 else self.matmul(weight)
    return out if bias is None else out.add(bias)


def matrix_product(left: UOp, right: UOp) -> UOp:
    """Multiply matrices of the dtype to accumulate in.

    (..., M, K) @ (..., K, N) -> (..., M, N)
    """
    (*rows, m, k), (*columns, _, n) = left.shape, right.shape
    if rows and not columns and is_static((*rows, m)):
        return _rows_product(left, right)
    batch = broadcast_shapes(tuple(rows), tuple(columns))
    left = expanded(left, (*batch, m, k)).reshape((*batch, m, 1, k))
    last = len(columns)
    right = right.permute((*range(last), last + 1, last))
    right = expanded(right, (*batch, n, k)).reshape((*batch, 1, n, k))
    full: Any = (*batch, m, n, k)
    product = left.expand(full) * right.expand(full)
    return product.reduce_axis(Ops.ADD, (len(full) - 1,)).reshape((*batch, m, n))


def _product_of_bytes(_device: str, left: UOp, right: UOp) -> UOp:
    """Return a product of 8-bit integers by 16-bit ones, for vectors: twice as many fit.

    The low bits of sums and products are the same in any wider type.
    """
    return matrix_product(left.cast(dtypes.int16), right.cast(dtypes.int16)).cast(left.dtype)


def _rows_product(left: UOp, right: UOp) -> UOp:
    """Multiply all rows by one matrix, so its gradient is one sum over all rows.

    Separate batch axes would be summed one after the other, with a matrix in memory for each.
    """
    (*rows, k), n = left.shape, right.shape[-1]
    return matrix_product(left.reshape((prod(rows), k)), right).reshape((*rows, n))
