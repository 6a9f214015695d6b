"""Matrix products, adjoints and inverses by PyTorch's names, which fix the shapes."""

from __future__ import annotations

import math
from typing import Any

from plugrad.dtype import DType, Number, is_complex, is_inexact
from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import Tensor, promoted
from plugrad.tensor.shapes import as_number, broadcast_shapes, show


def mm(self: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of two matrices: (n, k), (k, m) -> (n, m). Nothing broadcasts.

    Raises:
        DtypeError: `mat2` is no tensor.
        ShapeError: one of them has not two axes, or the inner sizes differ.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).mm(Tensor([[1], [1]])).tolist()
        [[3], [7]]
    """
    return _checked_product(self, mat2, (2, 2))


def bmm(self: Tensor, mat2: Tensor) -> Tensor:
    """Return the batched product of matrices: (b, n, k), (b, k, m) -> (b, n, m). Nothing broadcasts.

    Raises:
        DtypeError: `mat2` is no tensor.
        ShapeError: one of them has not three axes, or sizes differ.

    Example:
        >>> Tensor([[[1, 2]], [[3, 4]]]).bmm(Tensor([[[1], [1]], [[2], [2]]])).tolist()
        [[[3]], [[14]]]
    """
    return _checked_product(self, mat2, (3, 3))


def mv(self: Tensor, vec: Tensor) -> Tensor:
    """Return the product of a matrix and a vector: (n, k), (k,) -> (n,).

    Raises:
        DtypeError: `vec` is no tensor.
        ShapeError: these are no matrix and no vector, or the inner sizes differ.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).mv(Tensor([1, 1])).tolist()
        [3, 7]
    """
    return _checked_product(self, vec, (2, 1))


def ger(self: Tensor, vec2: Tensor) -> Tensor:
    """Return `outer(vec2)`.

    Example:
        >>> Tensor([1, 2]).ger(Tensor([3, 4])).tolist()
        [[3, 4], [6, 8]]
    """
    return self.outer(vec2)


def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return `beta * self + alpha * (mat1 @ mat2)`: (n, k), (k, m) -> (n, m).

    Args:
        mat1: the left factor.
        mat2: the right one.
        beta: what this tensor, which broadcasts, counts; with 0 it does not, whatever its elements are.
        alpha: what the product counts.

    Raises:
        ArgumentError: `beta` or `alpha` is a fraction, and the elements are integers.
        DtypeError: a factor is no tensor, `beta` or `alpha` no number.
        ShapeError: the shapes of the factors do not fit, or this does not broadcast to their product.

    Example:
        >>> Tensor([1, 2]).addmm(Tensor([[1, 2]]), Tensor([[1, 0], [0, 1]]), alpha=10).tolist()
        [[11, 22]]
    """
    return _add_scaled(self, _checked_product(mat1, mat2, (2, 2)), beta, alpha)


def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return `beta * self + alpha * (mat @ vec)`: (n, k), (k,) -> (n,). See `addmm`.

    Raises:
        ArgumentError: `beta` or `alpha` is a fraction, and the elements are integers.
        DtypeError: a factor is no tensor, `beta` or `alpha` no number.
        ShapeError: the shapes of the factors do not fit, or this does not broadcast to their product.

    Example:
        >>> Tensor([1, 2]).addmv(Tensor([[1, 0], [0, 1]]), Tensor([3, 4]), beta=2).tolist()
        [5, 8]
    """
    return _add_scaled(self, _checked_product(mat, vec, (2, 1)), beta, alpha)


def addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return `beta * self + alpha * vec1.outer(vec2)`: (n,), (m,) -> (n, m). See `addmm`.

    Raises:
        ArgumentError: `beta` or `alpha` is a fraction, and the elements are integers.
        DtypeError: a factor is no tensor, `beta` or `alpha` no number.
        ShapeError: a factor is no vector, or this does not broadcast to their product.

    Example:
        >>> Tensor([[1], [1]]).addr(Tensor([1, 2]), Tensor([3, 4])).tolist()
        [[4, 5], [7, 9]]
    """
    require_tensors(vec1=vec1, vec2=vec2)
    if vec1.ndim != 1 or vec2.ndim != 1:
        raise ShapeError(
            f"addr of shapes {show(vec1.shape)} and {show(vec2.shape)}: it takes vectors. Flatten first."
        )
    return _add_scaled(self, vec1.outer(vec2), beta, alpha)


def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return `beta * self + alpha * batch1.bmm(batch2)`, see `addmm`.

    Shapes: (b, n, k), (b, k, m) -> (b, n, m).

    Raises:
        ArgumentError: `beta` or `alpha` is a fraction, and the elements are integers.
        DtypeError: a factor is no tensor, `beta` or `alpha` no number.
        ShapeError: the shapes of the factors do not fit, or this does not broadcast to their product.

    Example:
        >>> Tensor([[[1]]]).baddbmm(Tensor([[[1, 2]]]), Tensor([[[3], [4]]])).tolist()
        [[[12]]]
    """
    return _add_scaled(self, _checked_product(batch1, batch2, (3, 3)), beta, alpha)


def addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return `beta * self + alpha * batch1.bmm(batch2).sum(0)`, see `addmm`.

    Raises:
        ArgumentError: `beta` or `alpha` is a fraction, and the elements are integers.
        DtypeError: a factor is no tensor, `beta` or `alpha` no number.
        ShapeError: the shapes of the factors do not fit, or this does not broadcast to their product.

    Example:
        >>> Tensor([[1]]).addbmm(Tensor([[[1]], [[2]]]), Tensor([[[3]], [[4]]])).tolist()
        [[12]]
    """
    products = _checked_product(batch1, batch2, (3, 3))
    return _add_scaled(self, products.sum(0, dtype=products.dtype), beta, alpha)


def t(self: Tensor) -> Tensor:
    """Return the transposed view of a matrix: (n, m) -> (m, n).

    A tensor with fewer than two axes is returned as it is.

    Raises:
        ShapeError: there are more than two axes.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).t().tolist()
        [[1, 3], [2, 4]]
    """
    if self.ndim > 2:
        raise ShapeError(f"t of shape {show(self.shape)}: it takes up to two axes. Use mT for matrices.")
    return self.T


def adjoint(self: Tensor) -> Tensor:
    """Return the conjugate transpose `mH`: (..., n, m) -> (..., m, n).

    Raises:
        ShapeError: there are fewer than two axes.

    Example:
        >>> Tensor([[[1, 2], [3, 4]]]).adjoint().tolist()
        [[[1, 3], [2, 4]]]
    """
    if self.ndim < 2:
        raise ShapeError(f"adjoint of shape {show(self.shape)}: a matrix has two axes. Unsqueeze it.")
    return self.mH if is_complex(self.dtype) else self.mT


def _checked_product(left: Any, right: Any, axes: tuple[int, int]) -> Any:
    require_tensors(left=left, right=right)
    shapes = f"operation of shapes {show(left.shape)} and {show(right.shape)}"
    if (left.ndim, right.ndim) != axes:
        raise ShapeError(f"{shapes}: it takes {axes[0]} and {axes[1]} axes. Use matmul for others.")
    if axes[0] == 3 and _sizes_differ(left.shape[0], right.shape[0]):
        raise ShapeError(f"{shapes}: axis 0 counts the products, and must be equal. Use matmul to broadcast.")
    inner, rows = left.shape[-1], right.shape[-2 if axes[1] > 1 else 0]
    if _sizes_differ(inner, rows):
        raise ShapeError(f"{shapes}: the left has another number of columns than the right has rows.")
    return left.matmul(right)


def _sizes_differ(size: Any, other: Any) -> bool:
    return size is not other and size != other


def _add_scaled(addend: Any, product: Any, beta: float, alpha: float) -> Any:
    dtype = promoted([addend, product])
    own, others = (
        _checked_factor(number, name, dtype) for number, name in ((beta, "beta"), (alpha, "alpha"))
    )
    if broadcast_shapes(addend.shape, product.shape) != product.shape:
        raise ShapeError(
            f"{show(addend.shape)} does not broadcast to the product, of shape "
            f"{show(product.shape)}. Reshape or reduce it."
        )
    product = product.cast(dtype) if others == 1 else product.cast(dtype) * others
    # NaN times 0 is no 0
    return product if own == 0 else (addend if own == 1 else addend.cast(dtype) * own) + product


def _checked_factor(number: Any, name: str, dtype: DType) -> Number:
    if is_complex(dtype) and isinstance(number, complex):
        return number
    weight = as_number(number)
    if is_inexact(dtype):
        return weight
    if weight != weight or math.isinf(weight) or weight != int(weight):
        raise ArgumentError(f"{name}={number!r} for elements of {dtype.name}. Pass an integer.")
    return int(weight)
