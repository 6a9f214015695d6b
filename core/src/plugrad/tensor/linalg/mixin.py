"""The methods of linear algebra, over the last two axes."""

from plugrad.tensor.linalg import einsum as sums
from plugrad.tensor.linalg import factors, inverses, matrices, matrix_norms, spectra
from plugrad.tensor.linalg import matmul as products


class LinalgMixin:
    """Products, inverses, factors and norms. Narrow dtypes multiply and accumulate in wider ones."""

    __slots__ = ()

    # matrix products
    matmul = products.matmul
    dot = products.dot
    __matmul__ = products.matmul
    __rmatmul__ = products.__rmatmul__
    __imatmul__ = products.__imatmul__
    linear = products.linear

    # sums of products over chosen axes
    einsum = classmethod(sums.einsum)
    tensordot = sums.tensordot
    outer = sums.outer
    inner = sums.inner
    vdot = sums.vdot
    kron = sums.kron
    trace = sums.trace
    cross = sums.cross

    # products of one kind of shapes, products added to something, other names
    mm = matrices.mm
    bmm = matrices.bmm
    mv = matrices.mv
    ger = matrices.ger
    addmm = matrices.addmm
    addmv = matrices.addmv
    addr = matrices.addr
    baddbmm = matrices.baddbmm
    addbmm = matrices.addbmm
    t = matrices.t
    adjoint = matrices.adjoint
    inverse = inverses.inv

    # inverses, determinants, systems of equations
    inv = inverses.inv
    slogdet = inverses.slogdet
    det = inverses.det
    logdet = inverses.logdet
    solve = inverses.solve
    matrix_power = inverses.matrix_power

    # factors, eigenvalues, singular values
    cholesky = factors.cholesky
    qr = factors.qr
    svd = spectra.svd
    eigh = spectra.eigh
    pinv = spectra.pinv
    lstsq = spectra.lstsq

    # norms
    matrix_norm = matrix_norms.matrix_norm
    newton_schulz = matrix_norms.newton_schulz
