"""Named results of matrix functions, with the names of PyTorch, NumPy and the array API.

They serve the extension `linalg` of the standard as well, where matrices may be complex while their
eigenvalues, singular values and logarithms are real: hence two type variables.
"""

from typing import Generic, NamedTuple, TypeVar

#: what a matrix is, or a number made of its elements
M_co = TypeVar("M_co", covariant=True)
#: what stays real if matrices are complex
R_co = TypeVar("R_co", covariant=True)


class EighResult(NamedTuple, Generic[R_co, M_co]):
    """Result of `Tensor.eigh`.

    Attributes:
        eigenvalues: least first.
        eigenvectors: one in each column.

    Example:
        >>> Tensor([[1.0, 0.0], [0.0, -3.0]]).eigh().eigenvectors.abs().tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """

    eigenvalues: R_co
    eigenvectors: M_co


class QRResult(NamedTuple, Generic[M_co]):
    """Result of `Tensor.qr`.

    Attributes:
        Q: its columns are orthonormal.
        R: an upper triangle.

    Example:
        >>> Tensor([[3.0, 1.0], [4.0, 2.0]]).qr().R.shape
        (2, 2)
    """

    Q: M_co
    R: M_co


class SlogdetResult(NamedTuple, Generic[M_co, R_co]):
    """Result of `Tensor.slogdet`.

    Attributes:
        sign: of the determinant; 0 where that is 0.
        logabsdet: the logarithm of its magnitude.

    Example:
        >>> Tensor([[1.0, 0.0], [0.0, -1.0]]).slogdet().sign.item()
        -1.0
    """

    sign: M_co
    logabsdet: R_co


class SVDResult(NamedTuple, Generic[M_co, R_co]):
    """Result of `Tensor.svd`.

    Attributes:
        U: its columns are orthonormal.
        S: the singular values, greatest first.
        Vh: its rows are orthonormal.

    Example:
        >>> Tensor([[0.0, 2.0], [1.0, 0.0]]).svd().S.tolist()
        [2.0, 1.0]
    """

    U: M_co
    S: R_co
    Vh: M_co


class LeastSquares(NamedTuple, Generic[R_co]):
    """Result of `Tensor.lstsq`.

    Attributes:
        solution: the shortest `x` for which `a @ x` is nearest to `b`.
        residuals: for each right side, the sum of squares of `a @ x - b`; empty where there are no more rows
            than columns.
        rank: how many singular values do not count as 0, without a gradient.
        singular_values: greatest first, without a gradient.

    Example:
        >>> solution, residuals, rank, _ = Tensor([[1.0], [1.0]]).lstsq(Tensor([1.0, 3.0]))
        >>> [part.round().tolist() for part in (solution, residuals)], rank.item()
        ([[2.0], 2.0], 1)
    """

    solution: R_co
    residuals: R_co
    rank: R_co
    singular_values: R_co
