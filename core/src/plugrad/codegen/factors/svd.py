"""Singular values and vectors of square matrices.

Householder reflections from both sides make the matrix bidiagonal, and implicit QR steps make that diagonal.

Source: Golub and Van Loan 2013, "Matrix Computations", algorithms 5.4.2 and 8.6.1; Demmel and Kahan 1990,
"Accurate singular values of bidiagonal matrices", for the shift and where it is left out.
"""

from plugrad.codegen.factors.householder import reflection
from plugrad.codegen.factors.loop_kernel import Elements, LoopKernel, magnitude
from plugrad.codegen.factors.sorting import sort_rows
from plugrad.dtype import dtypes
from plugrad.uop import Ops, UOp

# Rounds of as many steps as there are rows; usual matrices need two or three.
_ROUNDS = 30


def singular_vectors(kernel: LoopKernel, state: Elements) -> None:
    """Leave singular vectors and values behind a matrix.

    Args:
        kernel: what to write.
        state: (3 n + 1, n), a matrix, the identity twice and a row of anything, n of 3 or more. The
            identities become left and right vectors as rows, and the last row their values, greatest
            first; the matrix is lost.
    """
    _, size = state.shape
    # behind the last values are zeros
    diagonal, beside = (kernel.scratch(state.dtype, size + 1) for _ in range(2))
    left_tau, right_tau = (kernel.scratch(state.dtype, size) for _ in range(2))
    _make_bidiagonal(kernel, state, diagonal, beside, left_tau, right_tau)
    _multiply_reflections(kernel, state, left_tau, right_tau)
    _make_diagonal(kernel, state, diagonal, beside)
    r, c = kernel.each(size), kernel.each(size)
    vector = state[2 * size + r, c]
    state[2 * size + r, c] = (diagonal[r] < 0.0).where(-vector, vector)
    diagonal[r] = -magnitude(diagonal[r])
    sort_rows(kernel, state, diagonal, [size, 2 * size])
    state[3 * size, r] = -diagonal[r]


def _make_bidiagonal(
    kernel: LoopKernel,
    state: Elements,
    diagonal: Elements,
    beside: Elements,
    left_tau: Elements,
    right_tau: Elements,
) -> None:
    """Leave the vectors of reflections below the diagonal and behind the one beside it.

    Each begins with a 1, which is stored as well.
    """
    _, size = state.shape
    vector, product = kernel.scratch(state.dtype, size), kernel.scratch(state.dtype, size)
    with kernel.steps(size - 1) as k:
        each, r = kernel.each(size), kernel.each(size - k) + k
        other, c = kernel.each(size - 1 - k) + k + 1, kernel.each(size)
        below = (each > k).where(state[each, k], 0.0)
        tau, factor, end = reflection(kernel.sum(below * below, each), state[k, k])
        left_tau[k] = tau
        diagonal[k] = end
        one = factor.const_like(1.0)
        vector[each] = (each > k).where(state[each, k] * factor, each.eq(k).where(one, 0.0))
        product[c] = kernel.sum(vector[each] * state[each, c], each) * tau
        state[r, c] = state[r, c] - (c > k).where(vector[r] * product[c], 0.0)
        state[r, k] = vector[r]
        behind = (c > k + 1).where(state[k, c], 0.0)
        tau, factor, end = reflection(kernel.sum(behind * behind, c), state[k, k + 1])
        right_tau[k] = tau
        beside[k] = end
        vector[c] = (c > k + 1).where(state[k, c] * factor, c.eq(k + 1).where(one, 0.0))
        product[other] = kernel.sum(state[other, c] * vector[c], c) * tau
        state[other, c] = state[other, c] - (c > k).where(product[other] * vector[c], 0.0)
        state[k, c] = (c > k).where(vector[c], state[k, c])
    diagonal[size - 1] = state[size - 1, size - 1]
    for place in (diagonal, beside):
        place[size] = UOp.const(state.dtype, 0.0)
    beside[size - 1] = UOp.const(state.dtype, 0.0)


def _multiply_reflections(
    kernel: LoopKernel, state: Elements, left_tau: Elements, right_tau: Elements
) -> None:
    """Multiply all reflections of each side, the last one first, into the identities."""
    _, size = state.shape
    vector, products = kernel.scratch(state.dtype, size), kernel.scratch(state.dtype, size)
    with kernel.steps(size - 1) as done:
        k = size - 2 - done
        for side, tau in enumerate((left_tau, right_tau)):
            first = (side + 1) * size
            r, c = kernel.each(done + 2 - side) + k + side, kernel.each(size)
            vector[c] = (c >= k + side).where(state[k, c] if side else state[c, k], 0.0)
            products[r] = kernel.sum(state[first + r, c] * vector[c], c) * tau[k]
            state[first + r, c] = state[first + r, c] - products[r] * vector[c]


def _make_diagonal(kernel: LoopKernel, state: Elements, diagonal: Elements, beside: Elements) -> None:
    """Rotate rows and columns until nothing is left beside the diagonal, and the vectors along.

    Each step takes the last block that is not diagonal yet.
    """
    _, size = state.shape
    last, epsilon = size - 1, 2.0**-52 if state.dtype is dtypes.float64 else 2.0**-23
    left, ends = kernel.scratch(dtypes.int32, 1), kernel.scratch(dtypes.int32, 2)
    moved = kernel.scratch(state.dtype, 2)
    rows, r = [kernel.scratch(state.dtype, size) for _ in range(2)], kernel.each(size)

    def is_small(r: UOp) -> UOp:
        return magnitude(beside[r]) <= (magnitude(diagonal[r]) + magnitude(diagonal[r + 1])) * epsilon

    def turn(x: UOp, z: UOp) -> tuple[UOp, UOp, UOp]:
        """Return the cosine and sine that turn (x, z) into (norm, 0), and the norm."""
        norm = (x * x + z * z).sqrt()
        is_zero, one = norm.eq(0.0), norm.const_like(1.0)
        inverse = 1.0 / is_zero.where(one, norm)
        return is_zero.where(one, x * inverse), z * inverse, norm

    def rotate(side: int, k: UOp, c: UOp, s: UOp) -> None:
        """Turn vectors k and k + 1 of a side."""
        row = (side + 1) * size + k
        state.rotate((row, r), (row + 1, r), r, c, s, rows[side])

    left[0] = UOp.const(dtypes.int32, size)
    with kernel.steps(_ROUNDS):
        with kernel.steps((left[0] % (size + 1)).cast(dtypes.index)):
            # the row behind the last one that is not small, and behind the last small one before
            ends[1] = kernel.reduce(Ops.MAX, (is_small(r) ^ True).where(r + 1, 0).cast(dtypes.int32), r)
            before = is_small(r) & (r.cast(dtypes.int32) < ends[1])
            ends[0] = kernel.reduce(Ops.MAX, before.where(r + 1, 0).cast(dtypes.int32), r)
            begin, end = ((ends[i] % size).cast(dtypes.index) for i in range(2))
            count = ((ends[1] - ends[0]) % size).cast(dtypes.index)
            # the smaller singular value of the last two rows; none where it would cost accuracy
            f, g, h = magnitude(diagonal[(end + last) % size]), beside[(end + last) % size], diagonal[end]
            h, top = magnitude(h), magnitude(diagonal[begin])
            trace, difference = f + h, f - h
            larger = ((trace * trace + g * g).sqrt() + (difference * difference + g * g).sqrt()) * 0.5
            inside = (r >= begin) & (r <= end)
            least = -kernel.reduce(Ops.MAX, inside.where(-magnitude(diagonal[r]), -float("inf")), r)
            shift = larger.eq(0.0).where(0.0, f * h / larger.eq(0.0).where(larger.const_like(1.0), larger))
            ratio = shift / top.eq(0.0).where(top.const_like(1.0), top)
            is_left_out = (ratio * ratio < epsilon) | (least <= larger * epsilon) | top.eq(0.0)
            shift = is_left_out.where(0.0, shift)
            sign = (diagonal[begin] < 0.0).where(top.const_like(-1.0), 1.0)
            quotient = shift / top.eq(0.0).where(top.const_like(1.0), top)
            moved[0] = (top - shift) * (sign + sign * quotient)
            moved[1] = beside[begin]
            with kernel.steps(count) as step:
                k = (begin + step) % size
                above, below = (k + last) % size, (k + 1) % size
                outer = beside[above]
                c, s, norm = turn(moved[0], moved[1])
                d, e, next_d, next_e = diagonal[k], beside[k], diagonal[below], beside[below]
                f, e = c * d + s * e, c * e - s * d
                g, next_d = s * next_d, c * next_d
                left_c, left_s, length = turn(f, g)
                y, next_d = left_c * e + left_s * next_d, left_c * next_d - left_s * e
                beside[above] = step.eq(0).where(outer, norm)
                diagonal[k] = length
                diagonal[below] = next_d
                beside[k] = y
                is_last = below.eq(end)
                beside[below] = is_last.where(next_e, left_c * next_e)
                moved[0] = y
                moved[1] = left_s * next_e
                rotate(1, k, c, s)
                rotate(0, k, left_c, left_s)
        left[0] = kernel.reduce(Ops.MAX, (is_small(r) ^ True).cast(dtypes.int32), r) * size
