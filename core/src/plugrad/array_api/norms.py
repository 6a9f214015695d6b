"""Norms of vectors and of matrices, real or complex."""

import math
from collections.abc import Sequence
from typing import Any, Literal

from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor import Tensor
from plugrad.tensor.argument_checks import real_number
from plugrad.tensor.linalg.operands import matrices
from plugrad.tensor.shapes import show, some_axes


def vector_norm(
    x: Tensor, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False, ord: float = 2
) -> Tensor:
    """Return `sum(|x| ** ord) ** (1 / ord)` over some axes, or all: the Euclidean length for 2.

    Args:
        x: real or complex numbers.
        axis: what to sum over.
        keepdims: keep those axes with size 1.
        ord: `inf` and `-inf` give the greatest and least magnitude, 0 how many elements are not 0.

    Raises:
        ArgumentError: `ord` is no number, or `keepdims` neither True nor False.
        AxisError: an axis does not exist, or comes twice.
        ShapeError: there are no elements, for an infinite `ord`.

    Example:
        >>> vector_norm(Tensor([[3.0, 4.0], [0.0, -5.0]]), axis=1).tolist()
        [5.0, 5.0]
    """
    ord = real_number(ord, "vector_norm: ord")
    axes = some_axes(axis, x.ndim, "vector_norm")
    if math.isinf(ord) and any(x.shape[at] == 0 for at in axes):
        raise ShapeError(f"vector_norm of shape {show(x.shape)} with ord={ord}: there are no elements.")
    return x.norm(ord, axes, keepdims)


def matrix_norm(
    x: Tensor, /, *, keepdims: bool = False, ord: "float | Literal['fro', 'nuc'] | None" = "fro"
) -> Tensor:
    """Return norms of matrices: (..., m, n) -> (...).

    Args:
        x: matrices of real or complex numbers.
        keepdims: keep both axes with size 1.
        ord: "fro" (or None), the root of the sum of squares; "nuc", the sum of singular values; 2 and -2, the
            greatest and least of these; 1 and -1, the greatest and least sum of magnitudes of a column; `inf`
            and `-inf`, of a row.

    Raises:
        ArgumentError: `ord` is none of these, or `keepdims` neither True nor False.
        ShapeError: these are no matrices, or there are no elements for what is least.

    Example:
        >>> x = Tensor([[3.0, 0.0], [0.0, -4.0]])
        >>> [matrix_norm(x, ord=ord).item() for ord in ("fro", "nuc", 1, -2)]
        [5.0, 7.0, 4.0, 3.0]
    """
    matrices(x, "matrix_norm")
    if ord is None or isinstance(ord, str):
        kind: Any = ord or "fro"
    else:
        kind = real_number(ord, "matrix_norm: ord")
    if kind not in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise ArgumentError(
            f"matrix_norm: ord={ord!r:.60} is none of 'fro', 'nuc', 1, -1, 2, -2, inf and -inf."
        )
    return x.matrix_norm(kind, keepdim=keepdims)
