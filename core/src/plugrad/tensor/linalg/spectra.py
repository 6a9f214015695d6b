"""Eigenvalues and singular values of matrices, the last two axes, and what is made of them.

Jacobi rotations (see `plugrad.tensor.linalg.factorizations.orthogonal_rows`): sweeps of n - 1 rounds, each of
three launches of kernels that all rounds share. How many sweeps is fixed by the size, so nothing is read
back: the same launches for all values. That is practical up to n of about 500; a batch takes no more launches
than one matrix. Gradients are those described in `plugrad.tensor.linalg.linalg`.
"""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

from plugrad.dtype import dtypes
from plugrad.errors import ArgumentError, AxisError, ShapeError
from plugrad.tensor.arguments import real
from plugrad.tensor.base import TensorBase, promoted
from plugrad.tensor.keywords import NormNames, renamed
from plugrad.tensor.linalg.factorizations import epsilon, orthogonal_rows
from plugrad.tensor.linalg.linalg import completed, greatest
from plugrad.tensor.linalg.matmul import check_factor
from plugrad.tensor.linalg.matrix_results import EighResult, LeastSquares, SVDResult
from plugrad.tensor.linalg.matrix_steps import computed
from plugrad.tensor.promotion import float_dtypes
from plugrad.tensor.shapes import Dim, greater, is_static, lesser, one_axis, several, show
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor

# the reciprocals of these are finite
_SMALLEST = {dtypes.float32: 2.0**-126, dtypes.float64: 2.0**-1022}

# from this size on, rotations are computed while the graph is made
_LARGE = 5

MatrixNorm = Literal["fro", "nuc"] | float


class SpectralMixin(TensorBase):
    """Matrices as stretches along orthogonal directions."""

    __slots__ = ()

    def svd(self: Tensor, full_matrices: bool = True) -> SVDResult[Tensor, Tensor]:
        """Return `U`, `S`, `Vh`, by these names, with `U @ S.diag_embed() @ Vh == self`.

        For k = min(m, n), (..., m, n) -> (..., m, k), (..., k), (..., k, n). The columns of U and the rows of
        Vh are orthonormal; S is sorted, greatest first. In float32, errors are within a few millionths of the
        greatest singular value for k up to 64.

        That is `torch.linalg.svd`, and NumPy's; `torch.Tensor.svd` gives V instead of Vh, and unless asked
        for more, k vectors of each.

        Signs of pairs of vectors are arbitrary, as are directions that share a singular value; gradients take
        these, and directions of singular value 0, as fixed, which is right for results that do not depend on
        the choice.

        Args:
            full_matrices: give U all m columns, and Vh all n rows.

        Raises:
            ShapeError: these are no matrices.

        Example:
            >>> u, s, vh = Tensor([[0.0, 2.0], [1.0, 0.0]]).svd()
            >>> s.tolist(), (u @ s.diag_embed() @ vh).round().tolist()
            ([2.0, 1.0], [[0.0, 2.0], [1.0, 0.0]])
            >>> Tensor([[0.0, 2.0], [1.0, 0.0]]).svd().S.tolist()
            [2.0, 1.0]
        """
        x, narrow = self._matrices("svd")
        if not is_static(x.shape[-2:]):
            left, s, right = x._symbolic_svd(full_matrices)
            return SVDResult(left.cast(narrow), s.cast(narrow), _turned(right).cast(narrow))
        is_wide = _size(x, -1) > _size(x, -2)
        u, s, v = (_turned(x) if is_wide else x)._tracked_svd(full_matrices)
        left, right = (v, _turned(u)) if is_wide else (u, _turned(v))
        return SVDResult(left.cast(narrow), s.cast(narrow), right.cast(narrow))

    def eigh(self: Tensor) -> EighResult[Tensor, Tensor]:
        """Return `eigenvalues`, least first, and `eigenvectors` of symmetric matrices, by these names.

        (..., n, n) -> (..., n), (..., n, n): `self @ v == v * w` for `w, v = self.eigh()`; the vectors are
        the columns of v. Only the lower triangle is read. Errors, signs and gradients are as for `svd`;
        gradients are those for symmetric matrices.

        Raises:
            ShapeError: these are no square matrices.

        Example:
            >>> w, v = Tensor([[1.0, 0.0], [0.0, -3.0]]).eigh()
            >>> w.tolist(), v.abs().tolist()
            ([-3.0, 1.0], [[0.0, 1.0], [1.0, 0.0]])
            >>> Tensor([[1.0, 0.0], [0.0, -3.0]]).eigh().eigenvalues.tolist()
            [-3.0, 1.0]
        """
        x, narrow = self._squares("eigh")
        size, value = _size(x, -1), x._fixed()._among_zeros()
        w, v = (value.tril() + _turned(value.tril(-1)))._eigen(size)
        w, v = w._interval(w.ndim - 1, 0, size), v._corner(size, size)
        w, v = x._differentiated([w, v], _eigen_moves)
        return EighResult(w.cast(narrow), v.cast(narrow))

    def pinv(self: Tensor, rtol: float | None = None) -> Tensor:
        """Return pseudo-inverses: (..., m, n) -> (..., n, m).

        Gradients are those of matrices whose rank does not change.

        Args:
            rtol: singular values up to this part of the greatest count as 0; by default, as in PyTorch, the
                distance from 1 to the next float times the greater size.

        Raises:
            ShapeError: these are no matrices.

        Example:
            >>> Tensor([[2.0, 0.0], [0.0, 0.0]]).pinv().tolist()
            [[0.5, 0.0], [0.0, 0.0]]
        """
        x, narrow = self._matrices("pinv")
        return x._pseudo_inverse(rtol)[0].cast(narrow)

    def lstsq(self: Tensor, b: Tensor, rtol: float | None = None) -> LeastSquares[Tensor]:
        """Return the shortest `x` for which `self @ x` is nearest to `b`, and how near that is.

        (..., m, n), (..., m, k) -> a solution (..., n, k), its residuals (..., k) if m > n, the rank (...)
        and the singular values (..., min(m, n)), by these names. By the pseudo-inverse, so any rank will do.

        Args:
            b: right sides. One with one axis, or the shape of this tensor without its last axis, is vectors.
            rtol: as for `pinv`.

        Raises:
            DtypeError: `b` is no tensor.
            ShapeError: these are no matrices, `b` does not fit, or symbolic sizes leave open whether there
                are more rows than columns.

        Example:
            >>> Tensor([[1.0], [1.0]]).lstsq(Tensor([1.0, 3.0])).solution.round().tolist()
            [2.0]
        """
        check_factor(b, "lstsq")
        self._matrices("lstsq")
        right, is_vector = self._right_sides(b, "lstsq")
        self._check_device(b)
        x, narrow = self.cast(promoted([self, b]))._matrices("lstsq")
        right = right.cast(x.dtype)
        rows, columns = _size(x, -2), _size(x, -1)
        if (count := lesser(rows, columns)) not in (rows, columns):
            raise ShapeError(
                f"lstsq of shape {show(self.shape)}: only where there are always more rows than columns, or "
                "never, is it known whether there are residuals. Narrow the bounds of the variables, or use "
                "pinv."
            )
        inverted, singular, is_kept = x._pseudo_inverse(rtol)
        found = inverted @ right
        rank = is_kept.sum(-1, dtype=dtypes.int32)
        if count != rows:
            residuals = (x @ found - right).square().sum(-2)
        else:
            residuals = right._interval(right.ndim - 1, 0, 0)._interval(right.ndim - 2, 0, 1).squeeze(-2)
        if is_vector:
            found = found.squeeze(-1)
            residuals = residuals.squeeze(-1) if _size(residuals, -1) else residuals
        return LeastSquares(found.cast(narrow), residuals.cast(narrow), rank, singular.cast(narrow))

    def matrix_norm(
        self: Tensor,
        p: MatrixNorm = "fro",
        axis: tuple[int, int] = (-2, -1),
        keepdim: bool = False,
        **names: Unpack[NormNames],
    ) -> Tensor:
        """Return norms of the matrices that two axes form.

        Args:
            p: "fro", the root of the sum of squares; "nuc", the sum of singular values; 2 and -2, the
                greatest and least of these; 1 and -1, the greatest and least sum of magnitudes of a column;
                `inf` and `-inf`, of a row. Of no elements there is no least.
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
            p, axis, keepdim = renamed(self.matrix_norm, names, p=p, axis=axis, keepdim=keepdim)
        both = several(axis)
        if len(both) != 2:
            raise AxisError(f"matrix_norm: axis={axis!r} names no rows and columns. Name two axes.")
        rows, columns = (one_axis(at, self.ndim, "matrix_norm") for at in both)
        if rows == columns:
            raise AxisError(f"matrix_norm: axes {both} are the same. Name two different axes.")
        if not isinstance(p, str):
            p = real(p, "matrix_norm: p")
        narrow, wide = float_dtypes(self)
        x = self.cast(wide).movedim((rows, columns), (-2, -1))
        if p == "fro":
            out = x.norm(2, (-2, -1), keepdim=True)
        elif p in ("nuc", 2, -2):
            s = x.svd(full_matrices=False).S.unsqueeze(-1)
            out = s.sum(-2, keepdim=True) if p == "nuc" else greatest(s) if p == 2 else s.min(-2, True)
        elif p in (1, -1, math.inf, -math.inf):
            sums = x.abs().sum(-2 if p in (1, -1) else -1, keepdim=True)
            out = greatest(sums) if p in (1, math.inf) else sums.min((-2, -1), keepdim=True)
        else:
            raise ArgumentError(f"matrix_norm: p={p!r} is none of 'fro', 'nuc', 1, -1, 2, -2, inf and -inf.")
        out = out.movedim((-2, -1), (rows, columns)).cast(narrow)
        return out if keepdim else out.squeeze((rows, columns))

    # --- what these are made of ---

    def _pseudo_inverse(self: Tensor, rtol: float | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return the pseudo-inverse, and, without gradients, singular values and which of them count."""
        rows, columns = _size(self, -2), _size(self, -1)
        if is_static((rows, columns)) and columns > rows:
            inverted, s, is_kept = _turned(self)._pseudo_inverse(rtol)
            return _turned(inverted), s, is_kept
        part: Any = greater(rows, columns)
        part = part if isinstance(part, int) else self._make(part.cast(self.dtype), self._device)
        part = part * epsilon(self.dtype) if rtol is None else rtol
        (u, s, v), _ = self._fixed()._parts(False)
        is_kept = s > s.pad((0, 1)).max(-1, keepdim=True) * part
        reciprocals = is_kept.where(1 / is_kept.where(s, 1.0), 0.0)
        value = ((v * reciprocals.unsqueeze(-2)) @ _turned(u))._kept()
        return self._differentiated([value], _pinv_moves)[0], s, is_kept

    def _tracked_svd(self: Tensor, complete: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Return U, S and V, for at least as many rows as columns."""
        u, s, v, others = self._fixed()._singular(complete)
        u, s, v = self._differentiated([u, s, v], _singular_moves)
        return (u.cat(others._tracking(completed(u, others)), axis=-1) if _size(others, -1) else u), s, v

    def _symbolic_svd(self: Tensor, complete: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Return U, S and V of matrices of symbolic sizes."""
        thin, others = self._parts(complete)
        u, s, v = self._differentiated(thin, _singular_moves)
        u, v = (
            x.cat(rest._tracking(completed(x, rest)), axis=-1) if _size(rest, -1) != 0 else x
            for x, rest in zip((u, v), others, strict=True)
        )
        return u, s, v

    def _parts(self: Tensor, complete: bool) -> tuple[list[Tensor], list[Tensor]]:
        """Return U, S and V, and the other columns of U and V, without gradients.

        Zeros behind rows and columns of symbolic sizes change nothing but that there are more values of 0:
        no reflection or rotation mixes their directions with others, and they are sorted behind all others.
        """
        rows, columns = _size(self, -2), _size(self, -1)
        count = lesser(rows, columns)
        whole = self._fixed()._among_zeros()
        is_wide = _size(whole, -1) > _size(whole, -2)
        u, s, v, others = (_turned(whole) if is_wide else whole)._singular(complete)
        u = u.cat(others, axis=-1) if complete else u
        u, v = (v, u) if is_wide else (u, v)
        thin = [u._corner(rows, count), s._interval(s.ndim - 1, 0, count), v._corner(columns, count)]
        ends = (rows, columns) if complete else (count, count)
        left = u._corner(rows, ends[0])._interval(u.ndim - 1, count, ends[0])
        right = v._corner(columns, ends[1])._interval(v.ndim - 1, count, ends[1])
        return thin, [left, right]

    def _singular(self: Tensor, complete: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return U, S, V and the other columns of U, without gradients, for m >= n.

        Rotations are of the triangle that two factorizations leave, with the longest columns in front: that
        is nearly diagonal, where rotations of the matrix itself would need many more sweeps.

        Source: Drmac and Veselic 2008, "New fast and accurate Jacobi SVD algorithm".
        """
        largest = self._scale()
        x, first = (self / largest)._longest_first()
        left, triangle, others = x._reflections(complete)
        x, second = _turned(triangle)._longest_first()
        right, triangle, _ = x._reflections(False)
        # many rotations are computed now: what they leave to do should not be done for each result again
        parts = left, right, triangle, first, second, largest
        left, right, triangle, first, second, largest = together(*parts)
        u, s, v = _turned(triangle)._rotated()
        u = left @ u._rows_in(second.argsort(-1))
        v = (right @ v)._rows_in(first.argsort(-1))
        u, s, v = together(u._kept(), (s * largest.squeeze(-1))._kept(), v._kept())
        return u, s, v, others

    def _longest_first(self: Tensor) -> tuple[Tensor, Tensor]:
        """Return columns sorted by length, and where they come from."""
        order = self.square().sum(-2).argsort(-1, descending=True)
        return _turned(_turned(self)._rows_in(order)), order

    def _rotated(self: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return U, S and V of square matrices."""
        x, size = self, _size(self, -1)
        unit = self.zeros_like() + self._like_eye(size, size)
        extra = 4 if self.dtype is dtypes.float32 else 6
        turned = _turned(x).cat(unit, axis=-1)._orthogonal(size, size.bit_length() + extra)
        vectors = turned._interval(self.ndim - 1, 0, size)
        order = vectors.square().sum(-1).argsort(-1, descending=True)
        vectors = vectors._rows_in(order)
        v = _turned(turned._interval(self.ndim - 1, size, 2 * size)._rows_in(order))
        # the product of many rotations is orthogonal up to their rounding: take one step nearer
        v = (v @ (self._like_eye(size, size) * 1.5 - _turned(v) @ v / 2))._kept()
        # reflections find directions for singular values of 0 as well
        q, r, _ = _turned(vectors)._reflections(False)
        q = q * (r.diagonal(0, -2, -1).unsqueeze(-2) < 0).where(-1.0, 1.0).cast(self.dtype)
        s = (q * (x @ v)).sum(-2).maximum(0.0)
        order = s.argsort(-1, descending=True)
        u, v = (_turned(_turned(x)._rows_in(order)) for x in (q, v))
        return u, s.gather(-1, order), v

    def _eigen(self: Tensor, count: Dim) -> tuple[Tensor, Tensor]:
        """Return eigenvalues and eigenvectors of symmetric matrices, without gradients.

        Behind the first `count` rows and columns there are zeros, which no rotation mixes with others; their
        values come last.
        """
        size = _size(self, -1)
        largest = self._scale()
        x = (self / largest)._kept()
        # moved up until all are positive and of like size, eigenvalues are singular values
        length = x.square().sum((-2, -1), keepdim=True).sqrt()
        shift = (length == 0).where(1.0, length * 1.25).cast(x.dtype)
        bits = size.bit_length()
        sweeps = bits + 5 if self.dtype is dtypes.float32 else bits * 5 // 2 + 2
        turned = (x + self._like_eye(size, size) * shift)._orthogonal(size, sweeps)
        v = _turned(turned / turned.square().sum(-1, keepdim=True).sqrt())._kept()
        w = (v * (x @ v)).sum(-2)
        keys = w
        if not isinstance(count, int):
            is_behind = self._make(UOp.iota(size) >= count.cast(dtypes.int32), self._device)
            keys = is_behind.where(math.inf, w)
        order = keys.argsort(-1)
        return (w.gather(-1, order) * largest.squeeze(-1))._kept(), _turned(
            _turned(v)._rows_in(order)
        )._kept()

    def _orthogonal(self: Tensor, width: int, sweeps: int) -> Tensor:
        """Return rows rotated until their first `width` columns are orthogonal.

        How many sweeps that takes was measured: for graded matrices, and clusters of close values.
        """
        count = _size(self, -2)
        even = self.pad((0, 0, 0, count % 2))._kept()
        out = orthogonal_rows(even._graph, self._device, width, sweeps) if count > 1 else even._graph
        return self._like(out)._interval(self.ndim - 2, 0, count)

    def _rows_in(self: Tensor, order: Tensor) -> Tensor:
        return self.gather(-2, order.unsqueeze(-1).expand(*self.shape))._kept()


def _size(x: Any, axis: int) -> Any:
    return x.shape[axis]


def _turned(x: Any) -> Any:
    return x.transpose(-2, -1)


def together(*parts: Any) -> list[Any]:
    """Return parts of factors, in memory if the matrices are too large for a graph of all rotations.

    Example:
        >>> [x.tolist() for x in together(Tensor([[1.0]]), Tensor([2.0]))]
        [[[1.0]], [2.0]]
    """
    if min(_size(parts[0], -1), _size(parts[0], -2)) < _LARGE or 0 in parts[0].shape:
        return list(parts)
    graphs = computed(tuple([x._kept()._graph for x in parts]), parts[0]._device)
    return [x._like(u) for x, u in zip(parts, graphs, strict=True)]


def safe_inverse(x: Any) -> Any:
    """Return `1 / x`, and 0 where that is too large for a float.

    Example:
        >>> safe_inverse(Tensor([4.0, 0.0])).tolist()
        [0.25, 0.0]
    """
    is_zero = x.abs() < _SMALLEST[x.dtype]
    return is_zero.where(0.0, 1 / is_zero.where(1.0, x))


def _eigen_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return dW, the diagonal of `V.T @ dA @ V`, and dV, whose part of vector i along j divides by a gap.

    Of `dA`, only the symmetric part counts.

    Source: Giles 2008, "An extended collection of matrix derivative results", section 3.1.
    """
    w, v = values
    inner = _turned(v) @ ((step + _turned(step)) / 2) @ v
    gaps = safe_inverse(w.unsqueeze(-2) - w.unsqueeze(-1))
    return [inner.diagonal(0, -2, -1), v @ (inner * gaps)]


def _singular_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return dU, dS and dV, for U with at least as many rows as columns, as for V.

    Source: Giles 2008, section 3.2.
    """
    u, s, v = values
    # squares of scaled values are in range
    largest = x._fixed()._scale()
    s, step = s / largest.squeeze(-1), step / largest
    inner = _turned(u) @ step @ v
    row, column = s.unsqueeze(-2), s.unsqueeze(-1)
    gaps = safe_inverse((row - column) * (row + column))
    du = u @ ((inner * row + column * _turned(inner)) * gaps)
    dv = v @ ((column * inner + _turned(inner) * row) * gaps)
    moved = step @ v * safe_inverse(row)
    du = du + moved - u @ (_turned(u) @ moved)
    if v.shape[-1] != v.shape[-2]:
        moved = _turned(step) @ u * safe_inverse(row)
        dv = dv + moved - v @ (_turned(v) @ moved)
    return [du, inner.diagonal(0, -2, -1) * largest.squeeze(-1), dv]


def _pinv_moves(values: Sequence[Any], x: Any, step: Any) -> list[Any]:
    """Return dP where the rank does not change.

    Source: Golub and Pereyra 1973, "The differentiation of pseudo-inverses", equation 4.12.
    """
    (p,) = values
    turned = _turned(step)
    right, left = p @ (_turned(p) @ turned), turned @ _turned(p) @ p
    return [right - right @ x @ p + left - p @ x @ left - p @ step @ p]
