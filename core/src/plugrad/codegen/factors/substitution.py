"""Solutions of systems from their LU factors.

Source: Golub and Van Loan 2013, "Matrix Computations", algorithms 3.1.1 and 3.1.2.
"""

from plugrad.codegen.factors.loop_kernel import Elements, LoopKernel
from plugrad.uop import Ops


def substitute(kernel: LoopKernel, state: Elements) -> None:
    """Replace right sides by solutions.

    Args:
        kernel: what to write.
        state: (n, n + k), L without its diagonal of ones below U, and k right sides.
    """
    size, columns = state.shape
    count = columns - size
    found = kernel.scratch(state.dtype, count, size)
    c, r = kernel.each(count), kernel.each(size)
    found[c, r] = state[r, size + c]
    with kernel.steps(size) as r:
        c, j = kernel.each(count), kernel.each(size)
        before = (j < r).where(state[r, j] * found[c, j], 0.0).reduce(Ops.ADD, j)
        found[c, r] = found[c, r] - before
    with kernel.steps(size) as done:
        r = size - 1 - done
        c, j = kernel.each(count), kernel.each(size)
        behind = (j > r).where(state[r, j] * found[c, j], 0.0).reduce(Ops.ADD, j)
        found[c, r] = (found[c, r] - behind) / state[r, r]
    r, c = kernel.each(size), kernel.each(count)
    state[r, size + c] = found[c, r]
