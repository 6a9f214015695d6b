"""Inverses, determinants, systems of equations and triangular factors of matrices, the last two axes.

The algorithms are those of `plugrad.tensor.linalg.factorizations`; each step is a few launches of kernels
that all steps share. They never look at the values: a matrix that is singular, or not positive definite where
it must be, gives values that are not finite where other libraries raise.

Gradients do not go through the steps. What the factors of `A` move by, as it moves by a small step, is made
of products with the factors themselves and linear in the step: transposed, that is the gradient; and as it is
made of factors again, it has derivatives, too. Who asks for no gradient does not compute these products.
"""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from plugrad.autodiff import inputs_of, marked, outputs_of, pull_back, with_rule
from plugrad.dtype import DType, dtypes, is_bool, is_float
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.base import TensorBase, promoted
from plugrad.tensor.linalg.factorizations import (
    cholesky_factor,
    inverse,
    lu_factors,
    reflected,
)
from plugrad.tensor.linalg.matmul import check_factor
from plugrad.tensor.linalg.matrix_results import QRResult, SlogdetResult
from plugrad.tensor.linalg.triangles import inverse_of_lower
from plugrad.tensor.promotion import float_dtypes
from plugrad.tensor.shapes import (
    Dim,
    as_int,
    as_number,
    broadcast_shapes,
    cut_to,
    is_one_of,
    is_sequence,
    is_static,
    lesser,
    show,
)
from plugrad.uop.ops import Ops
from plugrad.uop.shape import add_sizes
from plugrad.uop.shape import greatest as greatest_size
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor

#: Of values, a tensor and its step: what each value moves by.
Moves = Callable[[Sequence[Any], Any, Any], Sequence[Any]]

# each step of an iteration is a part of the graph
_MOST_STEPS = 1000


class LinalgMixin(TensorBase):
    """Matrices as linear maps. Narrow floats compute in float32, integers in the default float."""

    __slots__ = ()

    def inv(self: Tensor) -> Tensor:
        """Return inverses of matrices: (..., n, n) -> (..., n, n).

        LU with partial pivoting, n steps; practical up to n of about 500. A singular matrix gives elements
        that are not finite.

        Raises:
            ShapeError: these are no square matrices.

        Example:
            >>> Tensor([[2.0, 0.0], [0.0, 4.0]]).inv().tolist()
            [[0.5, 0.0], [0.0, 0.25]]
        """
        x, narrow = self._squares("inv")
        if not is_static(x.shape[-2:]):
            return x._cut_from(x._among_ones().inv()).cast(narrow)
        (value,) = x._differentiated([x._inverted(*x._lu())], _inverse_moves)
        return value.cast(narrow)

    def slogdet(self: Tensor) -> SlogdetResult[Tensor, Tensor]:
        """Return signs of determinants and logarithms of their magnitudes: (..., n, n) -> (...), (...).

        Their names are `sign` and `logabsdet`. A singular matrix has sign 0 and logarithm -inf; its gradient
        is NaN.

        Raises:
            ShapeError: these are no square matrices.

        Example:
            >>> sign, logarithm = Tensor([[0.0, 1.0], [1.0, 0.0]]).slogdet()
            >>> sign.item(), logarithm.item()
            (-1.0, 0.0)
            >>> Tensor([[0.0, 1.0], [1.0, 0.0]]).slogdet().logabsdet.item()
            0.0
        """
        x, narrow = self._squares("slogdet")
        x = x._among_ones()
        factors, order = x._lu()
        pivots = factors.diagonal(0, -2, -1)
        sign = pivots.sign().prod(-1) * x._parity(order)
        values = [pivots.abs().log().sum(-1), x._inverted(factors, order)]
        logarithm = x._differentiated(values, _logarithm_moves)[0]
        return SlogdetResult(sign.cast(narrow), logarithm.cast(narrow))

    def det(self: Tensor) -> Tensor:
        """Return determinants: (..., n, n) -> (...).

        A singular matrix gives 0, up to rounding; the gradient of an exact 0 is NaN.

        Raises:
            ShapeError: these are no square matrices.

        Example:
            >>> Tensor([[4.0, 2.0], [1.0, 3.0]]).det().item()
            10.0
        """
        x, narrow = self._squares("det")
        x = x._among_ones()
        factors, order = x._lu()
        values = [factors.diagonal(0, -2, -1).prod(-1) * x._parity(order), x._inverted(factors, order)]
        return x._differentiated(values, _determinant_moves)[0].cast(narrow)

    def solve(self: Tensor, b: Tensor) -> Tensor:
        """Return `x` with `self @ x == b`: (..., n, n), (..., n, k) -> (..., n, k).

        By the inverse and one step of refinement. A singular matrix gives elements that are not finite.

        Args:
            b: right sides. One with one axis, or the shape of this tensor without its last axis, is vectors.

        Raises:
            DtypeError: `b` is no tensor.
            ShapeError: these are no square matrices, or `b` does not fit.

        Example:
            >>> Tensor([[2.0, 0.0], [0.0, 4.0]]).solve(Tensor([2.0, 2.0])).tolist()
            [1.0, 0.5]
        """
        check_factor(b, "solve")
        self._squares("solve")
        right, is_vector = self._right_sides(b, "solve")
        broadcast_shapes(self.shape[:-2], right.shape[:-2], what="solve")
        self._check_device(b)
        x, narrow = self.cast(promoted([self, b]))._squares("solve")
        right = right.cast(x.dtype)
        inverted = x.inv()
        found = inverted @ right
        found = (found + inverted @ (right - x @ found)).cast(narrow)
        return found.squeeze(-1) if is_vector else found

    def cholesky(self: Tensor, upper: bool = False) -> Tensor:
        """Return the lower triangle `L` with `L @ L.T == self`: (..., n, n) -> (..., n, n).

        n steps of one kernel; practical up to n of about 1000. Only the lower triangle of the input is read.
        A matrix that is not positive definite gives NaN from the column on where that shows. The gradient is
        that for symmetric matrices.

        Args:
            upper: return the transpose instead.

        Raises:
            ShapeError: these are no square matrices.

        Example:
            >>> Tensor([[4.0, 2.0], [2.0, 5.0]]).cholesky().tolist()
            [[2.0, 0.0], [1.0, 2.0]]
        """
        x, narrow = self._squares("cholesky")
        if not is_static(x.shape[-2:]):
            return x._cut_from(x._among_ones().cholesky(upper)).cast(narrow)
        value = x._fixed()
        factor = value._like(cholesky_factor(value._graph, self._device))._kept()
        out = x._differentiated([factor, factor._triangle_inverse()], _cholesky_moves)[0].cast(narrow)
        return out.transpose(-2, -1) if upper else out

    def qr(self: Tensor, mode: Literal["reduced", "complete", "r"] = "reduced") -> QRResult[Tensor]:
        """Return `Q`, whose columns are orthonormal, and `R`, an upper triangle, with `Q @ R == self`.

        These are their names. For k = min(m, n), (..., m, n) -> (..., m, k) and (..., k, n). Householder
        reflections with the signs of LAPACK, in k steps; practical up to k of about 500. Where columns depend
        on each other, values are right and gradients are not finite.

        Args:
            mode: "complete" gives Q all m columns, and R rows of zeros; "r" gives an empty Q.

        Raises:
            ArgumentError: the mode is none of these.
            ShapeError: these are no matrices.

        Example:
            >>> q, r = Tensor([[3.0, 1.0], [4.0, 2.0]]).qr()
            >>> (q @ r).round().tolist()
            [[3.0, 1.0], [4.0, 2.0]]
            >>> Tensor([[2.0, 1.0], [0.0, 2.0]]).qr().R.abs().tolist()
            [[2.0, 1.0], [0.0, 2.0]]
        """
        if not is_one_of(mode, ("reduced", "complete", "r")):
            raise ArgumentError(f"qr: mode={mode!r:.60} is none of 'reduced', 'complete' and 'r'.")
        x, narrow = self._matrices("qr")
        rows, columns = _size(x, -2), _size(x, -1)
        count = lesser(rows, columns)
        q, r, others = x._interval(x.ndim - 1, 0, count)._tracked_qr(mode == "complete")
        if count != columns:
            r = r.cat(q.transpose(-2, -1) @ x._interval(x.ndim - 1, count, columns), axis=-1)
        if mode == "r":
            q = q._interval(q.ndim - 1, 0, 0)._interval(q.ndim - 2, 0, 0)
        if mode == "complete" and count != rows:
            q = q.cat(others._tracking(completed(q, others)), axis=-1)
            r = r.pad((0, 0, 0, add_sizes(rows, -count)))
        return QRResult(q.cast(narrow), r.cast(narrow))

    def matrix_power(self: Tensor, n: int) -> Tensor:
        """Return products of `n` equal matrices: (..., m, m) -> (..., m, m); of inverses for negative `n`.

        Raises:
            ArgumentError: `n` is no integer.
            ShapeError: these are no square matrices.

        Example:
            >>> Tensor([[1, 1], [0, 1]]).matrix_power(5).tolist()
            [[1, 5], [0, 1]]
        """
        n = as_int(n, "matrix_power", "n")
        self._squares("matrix_power")
        base = self.inv() if n < 0 else self
        out = None
        for bit in bin(abs(n))[2:]:
            if out is not None:
                out = out @ out
            if bit == "1":
                out = base if out is None else out @ base
        if out is not None:
            return out
        identity = self._identity()
        # a constant would have no gradient, not even 0
        return identity.expand(self.shape) if is_bool(self.dtype) else self.pow(0) * identity

    def newton_schulz(self: Tensor, steps: int, params: Sequence[float], eps: float = 1e-7) -> Tensor:
        """Return matrices whose singular values were moved by an odd polynomial, again and again.

        With suitable parameters they move to 1, and the result is the orthogonal matrix that is nearest.
        Matrices are divided by their norm first, so that no singular value is greater than 1. Only products
        are taken, in the dtype of this tensor.

        Args:
            steps: how often the polynomial is applied.
            params: its coefficients, of `x`, of `x**3`, of `x**5` and so on.
            eps: is added to the norm.

        Raises:
            ArgumentError: `steps` is no integer of 0 to 1000, or there are no parameters.
            DtypeError: the elements are no floats.
            ShapeError: these are no matrices.

        Source: Kovarik 1970, "Some iterative methods for improving orthonormality"; in optimizers, Jordan et
        al. 2024, "Muon".

        Example:
            >>> Tensor([[0.0, 2.0], [-2.0, 0.0]]).newton_schulz(10, (1.5, -0.5)).round().tolist()
            [[0.0, 1.0], [-1.0, 0.0]]
        """
        count = as_int(steps, "newton_schulz", "steps")
        if not 0 <= count <= _MOST_STEPS:
            raise ArgumentError(f"newton_schulz: steps={count} is not among 0..{_MOST_STEPS}.")
        if not is_sequence(params) or not len(params):
            raise ArgumentError(f"newton_schulz: params={params!r} are no coefficients. Pass one at least.")
        factors: list[Any] = [as_number(number, "newton_schulz") for number in params]
        if not is_float(self.dtype):
            raise DtypeError(f"newton_schulz of {self.dtype.name}: it divides by a norm. Cast to a float.")
        if self.ndim < 2:
            raise ShapeError(f"newton_schulz of shape {show(self.shape)}: it takes matrices: (..., m, n).")
        rows, columns = self.shape[-2:]
        is_tall = isinstance(rows, int) and isinstance(columns, int) and rows > columns
        x = self.transpose(-2, -1) if is_tall else self
        x = x / x.square().sum((-2, -1), keepdim=True).sqrt().add(eps)
        for _ in range(count):
            square = x @ x.transpose(-2, -1)
            out = x * factors[-1]
            for factor in factors[-2::-1]:
                out = square @ out + x * factor
            x = out
        return x.transpose(-2, -1) if is_tall else x

    # --- what these are made of ---

    def _matrices(self: Tensor, what: str, square: bool = False) -> tuple[Tensor, DType]:
        """Return this in the dtype to compute in, and the dtype of the result."""
        shape = self.shape
        if self.ndim < 2 or (square and shape[-1] != shape[-2]):
            kind = "square matrices: (..., n, n)" if square else "matrices: (..., m, n)"
            raise ShapeError(f"{what} of shape {show(shape)}: it takes {kind}.")
        narrow, wide = float_dtypes(self)
        return self.cast(wide), narrow

    def _squares(self: Tensor, what: str) -> tuple[Tensor, DType]:
        """Return what `_matrices` does for square ones, whose size may be symbolic."""
        if self.ndim > 1 and self.shape[-1] is self.shape[-2]:
            narrow, wide = float_dtypes(self)
            return self.cast(wide), narrow
        return self._matrices(what, square=True)

    def _right_sides(self: Tensor, b: Tensor, what: str) -> tuple[Tensor, bool]:
        """Return the right sides of a system as matrices, and whether they were given as vectors."""
        is_vector = b.ndim == 1 or b.shape == self.shape[:-1]
        right = b.unsqueeze(-1) if is_vector else b
        if right.ndim < 2 or right.shape[-2] != self.shape[-2]:
            raise ShapeError(
                f"{what} of shapes {show(self.shape)} and {show(b.shape)}: the right sides need "
                f"{show(self.shape[-2:-1])[1:-2]} rows, one for each row of the matrix."
            )
        return right, is_vector

    def _among_ones(self: Tensor) -> Tensor:
        """Return square matrices of a known size: those of a symbolic one with ones behind the diagonal.

        Determinants are the same, and inverses and triangles have these of the matrices in front.
        """
        size: Any = self.shape[-1]
        if isinstance(size, int):
            return self
        most = greatest_size(size)
        place = UOp.iota(most, dtypes.int64)
        is_one = (place >= size.cast(dtypes.int64)).reshape((1, most)).expand((most, most))
        row, column = place.reshape((most, 1)), place.reshape((1, most))
        is_one = is_one & row.expand((most, most)).eq(column.expand((most, most)))
        whole = self.pad((0, most - size, 0, most - size))
        return self._make(is_one, self._device).where(1, whole).cast(self.dtype)

    def _among_zeros(self: Tensor) -> Tensor:
        """Return matrices of known sizes: those of symbolic ones with zeros behind their rows and columns."""
        rows, columns = self.shape[-2:]
        if is_static((rows, columns)):
            return self
        return self.pad((0, greatest_size(columns) - columns, 0, greatest_size(rows) - rows))

    def _corner(self: Tensor, rows: Dim, columns: Dim) -> Tensor:
        """Return the first rows and columns of matrices."""
        return self._interval(self.ndim - 2, 0, rows)._interval(self.ndim - 1, 0, columns)

    def _cut_from(self: Tensor, whole: Tensor) -> Tensor:
        """Return the part of matrices of a known size that these have."""
        return whole._like(cut_to(whole._graph, self.shape))

    def _identity(self: Tensor) -> Tensor:
        return type(self).eye(_size(self, -1), dtype=self.dtype, device=self._device)

    def _fixed(self: Tensor) -> Tensor:
        return self._make(self._graph.detach(), self._device)

    def _kept(self: Tensor) -> Tensor:
        return self._like(self._graph.contiguous())

    def _differentiated(self: Tensor, values: Sequence[Tensor], moves: Moves) -> list[Tensor]:
        """Return values that were computed from this, as values that have derivatives.

        Args:
            values: what was computed, without gradients.
            moves: takes the values, this, and a small step of this; returns what each value moves by, which
                is linear in the step. It is asked when a gradient is, with what has derivatives itself.
        """
        make, device, count = self._make, self._device, len(values)

        def rule(gradients: tuple[UOp | None, ...], function: UOp) -> Sequence[UOp | None]:
            (at,) = inputs_of(function)
            # whatever its value: in the gradient of what is linear in it, it does not appear
            step = marked(at.const_like(0.0).reshape((1,) * len(at.shape)).expand(at.shape))
            results = [UOp(Ops.OUTPUT, u.dtype, (function,), i) for i, u in enumerate(outputs_of(function))]
            moved = moves([make(u, device) for u in results], make(at, device), make(step, device))
            pairs = zip([u._graph for u in moved], gradients, strict=True)
            return [pull_back({u: g for u, g in pairs if g is not None}, [step]).get(step)]

        nodes = with_rule([value._graph for value in values], (self._graph,), rule)
        return [self._like(u) for u in nodes[:count]]

    def _tracking(self: Tensor, tracked: Tensor) -> Tensor:
        """Return this, with the gradient of `tracked`, which is equal."""
        (out,) = with_rule((self._graph,), (tracked._graph,), lambda gradients, function: gradients)
        return self._like(out, tracked)

    def _lu(self: Tensor) -> tuple[Tensor, Tensor]:
        value = self._fixed()
        factors, order = lu_factors(value._graph, self._device)
        return value._like(factors), value._like(order)

    def _inverted(self: Tensor, factors: Tensor, order: Tensor) -> Tensor:
        return factors._like(inverse(factors._graph, order._graph, self._device))._kept()

    def _parity(self: Tensor, order: Tensor) -> Tensor:
        """Return 1 for an even permutation of rows, -1 for an odd one: (..., n) -> (...)."""
        swapped = (
            (order.unsqueeze(-1) > order.unsqueeze(-2))
            .cast("int32")
            .triu(1)
            .sum((-2, -1), dtype=dtypes.int32)
        )
        return (swapped % 2 * -2 + 1).cast(self.dtype)

    def _triangle_inverse(self: Tensor) -> Tensor:
        return self._like(inverse_of_lower(self._graph, self._device))._kept()

    def _tracked_qr(self: Tensor, complete: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Return Q, R and the other columns of Q, for at least as many rows as columns."""
        rows, columns = _size(self, -2), _size(self, -1)
        q, r, others = self._fixed()._among_zeros()._reflections(complete)
        if not is_static((rows, columns)):
            # no reflection moves a row of zeros
            others = q.cat(others, axis=-1)._corner(rows, rows)._interval(self.ndim - 1, columns, rows)
            q, r = q._corner(rows, columns), r._corner(columns, columns)
        triangle = r._among_ones().transpose(-2, -1)
        inverted = triangle._triangle_inverse().transpose(-2, -1)._corner(columns, columns)
        q, r, _ = self._differentiated([q, r, inverted], _qr_moves)
        return q, r, others

    def _reflections(self: Tensor, complete: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Return Q, R and the other columns of Q, without gradients."""
        rows, columns = _size(self, -2), _size(self, -1)
        largest = self._scale()
        state = self._like(reflected((self / largest)._graph, self._device))
        unit = state._like_eye(rows, columns)
        vectors = (state.tril(-1) + unit)._kept()
        overlaps = (vectors.transpose(-2, -1) @ vectors)._kept()
        # the reflections multiply to I - V @ T @ V.T, for T the inverse of half of V.T @ V
        halved = overlaps.tril(-1) + overlaps.diagonal(0, -2, -1).diag_embed() / 2
        product = halved._triangle_inverse().transpose(-2, -1)
        count = rows if complete else columns
        heads = vectors._interval(self.ndim - 2, 0, count).transpose(-2, -1)
        q = state._like_eye(rows, count) - vectors @ (product @ heads)
        # LAPACK does not reflect a column that is done
        is_done = (state.tril(-1) == 0).all(-2)
        sign = is_done.where(-1.0, 1.0).cast(self.dtype)
        r = state._interval(self.ndim - 2, 0, columns).triu() * sign.unsqueeze(-1) * largest
        first = q._interval(self.ndim - 1, 0, columns) * sign.unsqueeze(-2)
        return first._kept(), r._kept(), q._interval(self.ndim - 1, columns, count)

    def _scale(self: Tensor) -> Tensor:
        """Return the greatest magnitudes of matrices, 1 where all is 0: (..., m, n) -> (..., 1, 1)."""
        largest = greatest(self.abs())
        return (largest == 0).where(1.0, largest).cast(self.dtype)

    def _like_eye(self: Tensor, rows: Dim, columns: Dim) -> Tensor:
        return type(self).eye(rows, columns, dtype=self.dtype, device=self._device)


def _size(x: Any, axis: int) -> Any:
    return x.shape[axis]


def greatest(x: Any) -> Any:
    """Return the greatest of matrices of magnitudes, 0 where there are none: (..., m, n) -> (..., 1, 1).

    Example:
        >>> greatest(Tensor([[1.0, 3.0]])).tolist()
        [[3.0]]
    """
    # a kernel that reduces what is padded is large: pad only where it needs to
    return (x.pad((0, 1, 0, 1)) if 0 in x.shape[-2:] else x).max((-2, -1), keepdim=True)


def _inverse_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    (value,) = values
    return [-(value @ step @ value)]


def _logarithm_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return what the logarithm of a determinant, and the inverse, move by: Jacobi's formula."""
    _, inverted = values
    inner = inverted @ step
    return [inner.trace(0, -2, -1), -(inner @ inverted)]


def _determinant_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    part, moved = _logarithm_moves(values, x, step)
    return [values[0] * part, moved]


def _cholesky_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return `dL = L @ phi(inv(L) @ dA @ inv(L).T)`, phi the lower triangle with half of the diagonal.

    And what the inverse of L moves by. Of `dA`, only the symmetric part counts.

    Source: Murray 2016, "Differentiation of the Cholesky decomposition", equation 10.
    """
    factor, inverted = values
    inner = inverted @ ((step + step.transpose(-2, -1)) / 2) @ inverted.transpose(-2, -1)
    inner = (inner.tril() + inner.tril(-1)) / 2
    return [factor @ inner, -(inner @ inverted)]


def _qr_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return dQ and dR: with `C = Q.T @ dA @ inv(R)`, `Q.T @ dQ` is skew with the lower triangle of C.

    And what the inverse of R moves by.

    Source: Walter, Lehmann and Lamour 2012, "On evaluating higher-order derivatives of the QR decomposition".
    """
    q, r, inverted = values
    moved = step @ inverted
    inner = q.transpose(-2, -1) @ moved
    lower = inner.tril(-1)
    upper = inner - (lower - lower.transpose(-2, -1))
    return [moved - q @ upper, upper @ r, -(inverted @ upper)]


def completed(q: Any, others: Any) -> Any:
    """Return `others` kept orthonormal to the columns of `q` as these change: a value that changes nothing.

    Example:
        >>> completed(Tensor([[1.0], [0.0]]), Tensor([[0.0], [1.0]])).tolist()
        [[0.0], [1.0]]
    """
    beside = others - q @ (q.transpose(-2, -1) @ others)
    count = _size(beside, -1)
    return beside @ (beside._like_eye(count, count) * 1.5 - beside.transpose(-2, -1) @ beside / 2)
