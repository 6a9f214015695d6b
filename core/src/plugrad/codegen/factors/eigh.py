"""Eigenvalues and eigenvectors of symmetric matrices.

Householder reflections make the matrix tridiagonal, and QL steps with implicit shifts make that diagonal.

Source: Golub and Van Loan 2013, "Matrix Computations", algorithm 8.3.1, and 8.3.2 from the last row upwards;
Press et al. 2007, "Numerical Recipes", section 11.4, for the test of what is small.
"""

from plugrad.codegen.factors.householder import reflection
from plugrad.codegen.factors.loop_kernel import Elements, LoopKernel, magnitude
from plugrad.codegen.factors.sorting import sort_rows
from plugrad.dtype import dtypes
from plugrad.uop import Ops, UOp

# Rounds of as many steps as there are rows; usual matrices need two.
_ROUNDS = 30


def eigenvectors(kernel: LoopKernel, state: Elements) -> None:
    """Leave eigenvectors and eigenvalues behind a matrix.

    Args:
        kernel: what to write.
        state: (2 n + 1, n), a symmetric matrix, the identity and a row of anything, n of 3 or more. The
            identity becomes eigenvectors as rows, and the last row their values, least first; the matrix is
            lost.
    """
    _, size = state.shape
    # behind the last value is a 0
    diagonal = kernel.scratch(state.dtype, size + 1)
    beside, tau = kernel.scratch(state.dtype, size), kernel.scratch(state.dtype, size)
    _make_tridiagonal(kernel, state, diagonal, beside, tau)
    _multiply_reflections(kernel, state, tau)
    _make_diagonal(kernel, state, diagonal, beside)
    sort_rows(kernel, state, diagonal, [size])
    r = kernel.each(size)
    state[2 * size, r] = diagonal[r]


def _make_tridiagonal(
    kernel: LoopKernel, state: Elements, diagonal: Elements, beside: Elements, tau: Elements
) -> None:
    """Leave the vector of reflection k in row k, behind the diagonal.

    It begins with 1.
    """
    _, size = state.shape
    vector, product = kernel.scratch(state.dtype, size), kernel.scratch(state.dtype, size)
    with kernel.steps(size - 2) as k:
        r, c = kernel.each(size - 1 - k) + k + 1, kernel.each(size)
        tail = (c > k + 1).where(state[k, c], 0.0)
        scale, factor, end = reflection(kernel.sum(tail * tail, c), state[k, k + 1])
        tau[k] = scale
        beside[k] = end
        vector[c] = (c > k + 1).where(state[k, c] * factor, c.eq(k + 1).where(factor.const_like(1.0), 0.0))
        product[r] = kernel.sum(state[r, c] * vector[c], c) * tau[k]
        overlap = kernel.sum((c > k).where(product[c] * vector[c], 0.0), c) * tau[k] * 0.5
        product[c] = (c > k).where(product[c] - vector[c] * overlap, 0.0)
        state[r, c] = state[r, c] - (vector[r] * product[c] + product[r] * vector[c])
        state[k, c] = (c > k).where(vector[c], state[k, c])
    r = kernel.each(size)
    diagonal[r] = state[r, r]
    diagonal[size] = UOp.const(state.dtype, 0.0)
    beside[size - 2] = state[size - 2, size - 1]
    beside[size - 1] = UOp.const(state.dtype, 0.0)


def _multiply_reflections(kernel: LoopKernel, state: Elements, tau: Elements) -> None:
    """Multiply all reflections, the last one first, into the identity behind the matrix."""
    _, size = state.shape
    products = kernel.scratch(state.dtype, size)
    with kernel.steps(size - 2) as done:
        k = size - 3 - done
        r, c = kernel.each(done + 2) + k + 1, kernel.each(size)
        vector = (c > k).where(state[k, c], 0.0)
        products[r] = kernel.sum(state[size + r, c] * vector, c) * tau[k]
        state[size + r, c] = state[size + r, c] - products[r] * vector


def _make_diagonal(kernel: LoopKernel, state: Elements, diagonal: Elements, beside: Elements) -> None:
    """Rotate rows and columns until nothing is left beside the diagonal, and the vectors along.

    Each step takes the first block that is not diagonal yet.
    """
    _, size = state.shape
    last, epsilon = size - 1, 2.0**-52 if state.dtype is dtypes.float64 else 2.0**-23
    left, ends = kernel.scratch(dtypes.int32, 1), kernel.scratch(dtypes.int32, 2)
    moved, row = kernel.scratch(state.dtype, 2), kernel.scratch(state.dtype, size)
    r = kernel.each(size)

    def is_small(r: UOp) -> UOp:
        nearby = magnitude(diagonal[r]) + magnitude(diagonal[r + 1])
        return (magnitude(beside[r]) <= nearby * epsilon) | r.eq(last)

    left[0] = UOp.const(dtypes.int32, size)
    with kernel.steps(_ROUNDS):
        with kernel.steps((left[0] % (size + 1)).cast(dtypes.index)):
            ends[0] = kernel.first((is_small(r) ^ True) | r.eq(last), r)
            begin = ends[0] % size
            ends[1] = kernel.first(is_small(r) & (r.cast(dtypes.int32) >= begin), r)
            begin = begin.cast(dtypes.index)
            count = ((ends[1] - ends[0]) % size).cast(dtypes.index)
            # of the eigenvalues of the first two rows, the one nearer to the first is the shift
            e = beside[begin]
            gap = (diagonal[begin + 1] - diagonal[begin]) / (e * 2.0)
            root = (gap * gap + 1.0).sqrt()
            shift = diagonal[begin] - e / (gap + (gap < 0.0).where(-root, root))
            # what the first rotation makes 0, and what each one moves up by a row
            moved[0] = diagonal[(begin + count) % size] - shift
            moved[1] = beside[(begin + count + last) % size]
            with kernel.steps(count) as step:
                i = (begin + count - 1 - step) % size
                below, above = (i + 1) % size, (i + last) % size
                x, z = moved[0], moved[1]
                norm = (x * x + z * z).sqrt()
                is_zero = norm.eq(0.0)
                inverse = 1.0 / is_zero.where(norm.const_like(1.0), norm)
                c, s = is_zero.where(norm.const_like(1.0), x * inverse), z * inverse
                a, b, d = diagonal[below], beside[i], diagonal[i]
                outer, next_outer = beside[below], beside[above]
                mixed = c * s * b * 2.0
                turned = c * s * (d - a) + (c * c - s * s) * b
                diagonal[below] = c * c * a + mixed + s * s * d
                diagonal[i] = s * s * a - mixed + c * c * d
                beside[below] = step.eq(0).where(outer, norm)
                beside[i] = turned
                # nothing is above the first row of a block
                beside[above] = i.eq(begin).where(next_outer, c * next_outer)
                moved[0] = turned
                moved[1] = s * next_outer
                state.rotate((size + below, r), (size + i, r), r, c, s, row)
        left[0] = kernel.reduce(Ops.MAX, (is_small(r) ^ True).cast(dtypes.int32), r) * size
