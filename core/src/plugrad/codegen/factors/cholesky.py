"""Cholesky factors as one kernel.

Source: Golub and Van Loan 2013, "Matrix Computations", algorithm 4.2.2.
"""

from plugrad.codegen.factors.loop_kernel import Elements, LoopKernel


def cholesky(kernel: LoopKernel, upper: Elements) -> None:
    """Factorize a symmetric matrix whose upper triangle is `upper`, (n, n), into `L.T`, in place."""
    size, _ = upper.shape
    row, c = kernel.scratch(upper.dtype, size), kernel.each(size)
    with kernel.steps(size) as k:
        pivot = upper[k, k]
        root = (pivot > 0.0).where(pivot.sqrt(), pivot.const_like(float("nan")))
        row[c] = (c >= k).where(upper[k, c] / root, 0.0)
        upper[k, c] = row[c]
        r = kernel.each(size - 1 - k) + k + 1
        c = kernel.each(size)
        upper[r, c] = upper[r, c] - row[r] * row[c]
