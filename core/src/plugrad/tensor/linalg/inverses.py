"""Inverses, determinants and linear systems of matrices, the last two axes.

The algorithms are those of `plugrad.tensor.linalg.factorizations`; each step is a few launches of kernels
that all steps share. They never look at the values: a singular matrix gives values that are not finite where
other libraries raise. Narrow floats compute in float32, integers in the default float.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plugrad.dtype import dtypes, is_bool, is_complex, part_dtype
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import Tensor, promoted
from plugrad.tensor.linalg.factorizations import inverse, substitute
from plugrad.tensor.linalg.jvp import detached, in_memory, with_gradient_of, with_jvp
from plugrad.tensor.linalg.lu import lu_factors
from plugrad.tensor.linalg.matrix_results import SlogdetResult
from plugrad.tensor.linalg.operands import (
    diagonal_of,
    identity,
    pad_with_identity,
    right_sides,
    size_of,
    square_matrices,
    times_i,
    unpad,
)
from plugrad.tensor.linalg.triangles import solve_lower, solve_upper
from plugrad.tensor.shapes import as_int, broadcast_shapes, is_static
from plugrad.uop import UOp

# Up to so many steps, substituting takes less time than the products that invert triangles.
_FEW_TO_SUBSTITUTE = 32
# Of more, products of blocks have more lanes.
_FEW_RIGHT_SIDES = 16
# The most elements of right sides that a kernel keeps on the stack of a thread.
_MOST_RIGHT_SIDES = 1 << 16


def inv(self: Tensor) -> Tensor:
    """Return inverses of matrices: (..., n, n) -> (..., n, n).

    LU with partial pivoting, n steps; practical up to n of about 500. A singular matrix gives elements that
    are not finite.

    Raises:
        ShapeError: these are no square matrices.

    Example:
        >>> Tensor([[2.0, 0.0], [0.0, 4.0]]).inv().tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """
    x, narrow = square_matrices(self)
    if not is_static(x.shape[-2:]):
        return unpad(pad_with_identity(x).inv(), x).cast(narrow)
    (value,) = with_jvp(x, [_inverse_of_factors(*_lu(x))], _inverse_jvp)
    return value.cast(narrow)


def slogdet(self: Tensor) -> SlogdetResult[Tensor, Tensor]:
    """Return signs and logarithms of magnitudes of determinants: (..., n, n) -> (...), (...).

    Their names are `sign` and `logabsdet`. The sign of a complex determinant is a number of magnitude 1. A
    singular matrix has sign 0 and logarithm -inf; its gradient is NaN.

    Raises:
        ShapeError: these are no square matrices.

    Example:
        >>> sign, logarithm = Tensor([[0.0, 1.0], [1.0, 0.0]]).slogdet()
        >>> sign.item(), logarithm.item()
        (-1.0, 0.0)
        >>> Tensor([[0.0, 1.0], [1.0, 0.0]]).slogdet().logabsdet.item()
        0.0
    """
    x, narrow = square_matrices(self)
    x = pad_with_identity(x)
    factors, order = _lu(x)
    pivots = diagonal_of(factors)
    sign = pivots.sign().prod(-1) * _parity(x, order)
    values = [
        pivots.abs().log().sum(-1),
        _inverse_of_factors(factors, order),
        *([sign] if is_complex(x.dtype) else []),
    ]
    logarithm, _, *turned = with_jvp(x, values, _logarithm_jvp)
    sign = turned[0] if turned else sign
    return SlogdetResult(sign.cast(narrow), logarithm.cast(part_dtype(narrow)))


def det(self: Tensor) -> Tensor:
    """Return determinants: (..., n, n) -> (...).

    A singular matrix gives 0, up to rounding; the gradient of an exact 0 is NaN.

    Raises:
        ShapeError: these are no square matrices.

    Example:
        >>> Tensor([[4.0, 2.0], [1.0, 3.0]]).det().item()
        10.0
    """
    x, narrow = square_matrices(self)
    x = pad_with_identity(x)
    factors, order = _lu(x)
    values = [diagonal_of(factors).prod(-1) * _parity(x, order), _inverse_of_factors(factors, order)]
    return with_jvp(x, values, _determinant_jvp)[0].cast(narrow)


def logdet(self: Tensor) -> Tensor:
    """Return logarithms of determinants: (..., n, n) -> (...). NaN for negative ones, -inf for 0.

    Raises:
        ShapeError: these are no square matrices.

    Example:
        >>> Tensor([[1.0, 0.0], [0.0, 1.0]]).logdet().item()
        0.0
    """
    square_matrices(self)
    sign, logarithm = self.slogdet()
    if is_complex(sign.dtype):
        return logarithm + times_i(sign.angle())
    return (sign < 0).where(float("nan"), logarithm).cast(logarithm.dtype)


def solve(self: Tensor, b: Tensor) -> Tensor:
    """Return `x` with `self @ x == b`: (..., n, n), (..., n, k) -> (..., n, k).

    By LU with partial pivoting. A singular matrix gives elements that are not finite.

    Args:
        b: right sides. One with one axis, or the shape of this tensor without its last axis, is vectors.

    Raises:
        DtypeError: `b` is no tensor.
        ShapeError: these are no square matrices, or `b` does not fit.

    Example:
        >>> Tensor([[2.0, 0.0], [0.0, 4.0]]).solve(Tensor([2.0, 2.0])).tolist()
        [1.0, 0.5]
    """
    require_tensors(b=b)
    square_matrices(self)
    right, is_vector = right_sides(self, b)
    broadcast_shapes(self.shape[:-2], right.shape[:-2])
    self._check_device(b)
    x, narrow = square_matrices(self.cast(promoted([self, b])))
    right = right.cast(x.dtype)
    found = (_solved(x, right) if is_static(x.shape[-2:]) else _refined(x, x.inv(), right)).cast(narrow)
    return found.squeeze(-1) if is_vector else found


def matrix_power(self: Tensor, n: int) -> Tensor:
    """Return the n-th powers of matrices, inverses for negative n: (..., m, m) -> (..., m, m).

    Raises:
        ArgumentError: `n` is no integer.
        ShapeError: these are no square matrices.

    Example:
        >>> Tensor([[1, 1], [0, 1]]).matrix_power(5).tolist()
        [[1, 5], [0, 1]]
    """
    n = as_int(n, "n")
    square_matrices(self)
    base = self.inv() if n < 0 else self
    out = None
    for bit in bin(abs(n))[2:]:
        if out is not None:
            out = out @ out
        if bit == "1":
            out = base if out is None else out @ base
    if out is not None:
        return out
    size = size_of(self, -1)
    # a constant would have no gradient, not even 0
    one = identity(self, size, size)
    return one.expand(self.shape) if is_bool(self.dtype) else self.pow(0) * one


def _solved(x: Tensor, right: Tensor) -> Tensor:
    """Return the solution from LU factors; the inverse is computed only for gradients."""
    factors, order = _lu(x)
    (inverted,) = with_jvp(x, [_inverse_of_factors(factors, order)], _inverse_jvp)
    batch = broadcast_shapes(x.shape[:-2], right.shape[:-2])
    wide = detached(right).expand(*batch, *right.shape[-2:])
    order = order.unsqueeze(-1).expand(*batch, *right.shape[-2:])
    factors, ordered = factors.expand(*batch, *factors.shape[-2:]), wide.gather(-2, order)

    def by_blocks() -> UOp:
        found = _substituted(factors, ordered)
        error = in_memory(wide - detached(x) @ found)
        return in_memory(found + _substituted(factors, error.gather(-2, order)))._graph

    if size_of(x, -1) <= _FEW_TO_SUBSTITUTE:
        found = substitute(factors._graph, ordered._graph, x.device)
    elif size_of(right, -1) <= min(_FEW_RIGHT_SIDES, _MOST_RIGHT_SIDES // size_of(x, -1)):
        found = substitute(factors._graph, ordered._graph, x.device, by_blocks)
    else:
        found = by_blocks()
    found = x._like(found)
    return with_gradient_of(in_memory(found), _refined(x, inverted, right))


def _substituted(factors: Tensor, right: Tensor) -> Tensor:
    lower = solve_lower(factors._graph, right._graph, factors.device, unit=True)
    return factors._like(solve_upper(factors._graph, lower, factors.device))


def _refined(x: Tensor, inverted: Tensor, right: Tensor) -> Tensor:
    """Return the solution by the inverse and one step of refinement."""
    found = inverted @ right
    return found + inverted @ (right - x @ found)


def _lu(x: Tensor) -> tuple[Tensor, Tensor]:
    value = detached(x)
    factors, order = lu_factors(value._graph, x.device)
    return value._like(factors), value._like(order)


def _inverse_of_factors(factors: Tensor, order: Tensor) -> Tensor:
    return in_memory(factors._like(inverse(factors._graph, order._graph, factors.device)))


def _parity(x: Tensor, order: Tensor) -> Tensor:
    """Return 1 for an even permutation, -1 for an odd one: (..., n) -> (...)."""
    is_before = (order.unsqueeze(-1) > order.unsqueeze(-2)).cast("int32").triu(1)
    swapped = is_before.sum((-2, -1), dtype=dtypes.int32)
    return (swapped % 2 * -2 + 1).cast(part_dtype(x.dtype))


def _inverse_jvp(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    (value,) = values
    return [-(value @ step @ value)]


def _determinant_jvp(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return the JVP of a determinant (Jacobi's formula) and of the inverse."""
    value, inverted = values
    inner = inverted @ step
    return [value * inner.trace(0, -2, -1), -(inner @ inverted)]


def _logarithm_jvp(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return the JVP of a logarithm, the inverse and, if given, the complex sign."""
    _, inverted, *sign = values
    inner = inverted @ step
    trace = inner.trace(0, -2, -1)
    return [trace.real, -(inner @ inverted), *[s * times_i(trace.imag) for s in sign]]
