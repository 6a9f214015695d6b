"""Householder reflections as one kernel.

Source: Golub and Van Loan 2013, "Matrix Computations", algorithms 5.1.1 and 5.2.1, and section 5.1.13.
"""

from plugrad.codegen.factors.loop_kernel import Elements, LoopKernel, magnitude
from plugrad.uop import UOp


def reflect(kernel: LoopKernel, columns: Elements) -> None:
    """Make a matrix a triangle, and leave the vectors of its reflections below the diagonal.

    Args:
        kernel: what to write.
        columns: (n, m), the columns of the matrix as rows.
    """
    count, size = columns.shape
    dtype = columns.dtype
    vector, shadows = kernel.scratch(dtype, size), kernel.scratch(dtype, count)
    factor, tau, end = (kernel.scratch(dtype, 1) for _ in range(3))
    r = kernel.each(size)
    with kernel.steps(min(count, size)) as k:
        below = (r > k).where(columns[k, r], 0.0)
        tail = kernel.sum(below * below, r)
        head = columns[k, k]
        way = (head < 0.0).where(head.const_like(-1.0), 1.0)
        length = head * way
        norm = (length * length + tail).sqrt()
        is_zero = norm.eq(0.0)
        one = norm.const_like(1.0)
        factor[0] = way / is_zero.where(one, norm + length)
        tau[0] = is_zero.where(one * 2.0, (norm + length) / is_zero.where(one, norm))
        end[0] = -way * norm
        vector[r] = (r > k).where(columns[k, r] * factor[0], r.eq(k).where(one, 0.0))
        c, r = kernel.each(count - 1 - k) + k + 1, kernel.each(size)
        shadows[c] = kernel.sum(vector[r] * columns[c, r], r) * tau[0]
        columns[c, r] = columns[c, r] - vector[r] * shadows[c]
        columns[k, r] = (r > k).where(vector[r], r.eq(k).where(end[0], columns[k, r]))


def reflection(tail: UOp, head: UOp) -> tuple[UOp, UOp, UOp]:
    """Return tau, the factor of a vector behind its 1, and the new first element.

    A vector that is done, whose `tail` of squares is 0, stays as it is.
    """
    length = magnitude(head)
    norm = (length * length + tail).sqrt()
    is_done, one = tail.eq(0.0), norm.const_like(1.0)
    tau = is_done.where(0.0, 1.0 + length / is_done.where(one, norm))
    factor = is_done.where(0.0, (head < 0.0).where(-one, one) / is_done.where(one, norm + length))
    return tau, factor, is_done.where(head, (head < 0.0).where(norm, -norm))
