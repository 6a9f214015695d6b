"""Norms of matrices and the nearest orthogonal matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, Unpack

from plugrad.dtype import is_complex, is_inexact, part_dtype
from plugrad.errors import ArgumentError, AxisError, DtypeError, ShapeError
from plugrad.tensor.argument_checks import real_number
from plugrad.tensor.base import Tensor
from plugrad.tensor.keywords import NormNames, renamed
from plugrad.tensor.linalg.operands import adjoint, greatest, inexact_dtypes, squared_lengths
from plugrad.tensor.shapes import as_int, as_number, is_sequence, one_axis, several, show

MatrixNorm = Literal["fro", "nuc"] | float

# each step of an iteration is a part of the graph
_MOST_STEPS = 1000


def matrix_norm(
    self: Tensor,
    p: MatrixNorm = "fro",
    axis: tuple[int, int] = (-2, -1),
    keepdim: bool = False,
    **names: Unpack[NormNames],
) -> Tensor:
    """Return norms of the matrices that two axes form.

    Args:
        p: "fro", the root of the sum of squares; "nuc", the sum of singular values; 2 and -2, the greatest
            and least of these; 1 and -1, the greatest and least sum of magnitudes of a column; `inf` and
            `-inf`, of a row. Of no elements there is no least.
        axis: rows and columns.
        keepdim: keep both axes with size 1.

    Raises:
        ArgumentError: `p` is none of these.
        AxisError: these are not two axes, an axis does not exist, or both are the same.

    Example:
        >>> x = Tensor([[3.0, 0.0], [0.0, -4.0]])
        >>> [x.matrix_norm(p).item() for p in ("fro", "nuc", 1, -2)]
        [5.0, 7.0, 4.0, 3.0]
    """
    if names:
        p, axis, keepdim = renamed(matrix_norm, names, p=p, axis=axis, keepdim=keepdim)
    both = several(axis)
    if len(both) != 2:
        raise AxisError(f"axis={axis!r} names no rows and columns. Name two axes.")
    rows, columns = (one_axis(at, self.ndim) for at in both)
    if rows == columns:
        raise AxisError(f"axes {both} are the same. Name two different axes.")
    if not isinstance(p, str):
        p = real_number(p, "p")
    narrow, wide = inexact_dtypes(self)
    x = self.cast(wide).movedim((rows, columns), (-2, -1))
    if is_complex(wide) and p not in ("nuc", 2, -2):
        # these norms know only magnitudes
        x = x.abs()
    if p == "fro":
        out = x.norm(2, (-2, -1), keepdim=True)
    elif p in ("nuc", 2, -2):
        s = x.svd(full_matrices=False).S.unsqueeze(-1)
        out = s.sum(-2, keepdim=True) if p == "nuc" else greatest(s) if p == 2 else s.min(-2, True)
    elif p in (1, -1, math.inf, -math.inf):
        sums = x.abs().sum(-2 if p in (1, -1) else -1, keepdim=True)
        out = greatest(sums) if p in (1, math.inf) else sums.min((-2, -1), keepdim=True)
    else:
        raise ArgumentError(f"p={p!r} is none of 'fro', 'nuc', 1, -1, 2, -2, inf and -inf.")
    out = out.movedim((-2, -1), (rows, columns)).cast(part_dtype(narrow))
    return out if keepdim else out.squeeze((rows, columns))


def newton_schulz(self: Tensor, steps: int, params: Sequence[float], eps: float = 1e-7) -> Tensor:
    """Return matrices whose singular values went through an odd polynomial `steps` times.

    With suitable parameters they move to 1, and the result is the orthogonal matrix that is nearest. Matrices
    are divided by their norm first, so that no singular value is greater than 1. Only products are taken, in
    the dtype of this tensor.

    Args:
        steps: how often the polynomial is applied.
        params: its coefficients, of `x`, of `x**3`, of `x**5` and so on.
        eps: is added to the norm.

    Raises:
        ArgumentError: `steps` is no integer of 0 to 1000, or there are no parameters.
        DtypeError: the elements are integers.
        ShapeError: these are no matrices.

    Source: Kovarik 1970, "Some iterative methods for improving orthonormality"; in optimizers, Jordan et al.
    2024, "Muon".

    Example:
        >>> Tensor([[0.0, 2.0], [-2.0, 0.0]]).newton_schulz(10, (1.5, -0.5)).round().tolist()
        [[0.0, 1.0], [-1.0, 0.0]]
    """
    count = as_int(steps, "steps")
    if not 0 <= count <= _MOST_STEPS:
        raise ArgumentError(f"steps={count} is not among 0..{_MOST_STEPS}.")
    if not is_sequence(params) or not len(params):
        raise ArgumentError(f"params={params!r} are no coefficients. Pass one at least.")
    factors: list[Any] = [as_number(number) for number in params]
    if not is_inexact(self.dtype):
        raise DtypeError(f"newton_schulz of {self.dtype.name}: it divides by a norm. Cast to a float.")
    if self.ndim < 2:
        raise ShapeError(f"newton_schulz of shape {show(self.shape)}: it takes matrices: (..., m, n).")
    rows, columns = self.shape[-2:]
    is_tall = isinstance(rows, int) and isinstance(columns, int) and rows > columns
    x = adjoint(self) if is_tall else self
    x = x / squared_lengths(x).sum((-2, -1), keepdim=True).sqrt().add(eps)
    for _ in range(count):
        square = x @ adjoint(x)
        out = x * factors[-1]
        for factor in factors[-2::-1]:
            out = square @ out + x * factor
        x = out
    return adjoint(x) if is_tall else x
