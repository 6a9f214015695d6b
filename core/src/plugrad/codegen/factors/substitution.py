"""Solutions of systems from their LU factors.

Source: Golub and Van Loan 2013, "Matrix Computations", algorithms 3.1.1 and 3.1.2.
"""

from plugrad.codegen.factors.loop_kernel import Elements, LoopKernel


def substitute(kernel: LoopKernel, state: Elements) -> None:
    """Replace right sides by solutions.

    Args:
        kernel: what to write.
        state: (n, n + k), L without its diagonal of ones below U, and k right sides.
    """
    size, columns = state.shape
    count = columns - size
    found = kernel.scratch(state.dtype, count, size)
    c, j = kernel.each(count), kernel.each(size)
    found[c, j] = state[j, size + c]
    with kernel.steps(size) as r:
        found[c, r] = found[c, r] - kernel.sum((j < r).where(state[r, j] * found[c, j], 0.0), j)
    with kernel.steps(size) as done:
        r = size - 1 - done
        behind = kernel.sum((j > r).where(state[r, j] * found[c, j], 0.0), j)
        found[c, r] = (found[c, r] - behind) / state[r, r]
    c = kernel.each(count)
    state[j, size + c] = found[c, j]
