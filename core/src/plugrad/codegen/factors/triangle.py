"""Inverses of lower triangles.

Source: Higham 2002, "Accuracy and Stability of Numerical Algorithms", section 14.2, method 1, by rows.
"""

from plugrad.codegen.factors.loop_kernel import Elements, LoopKernel
from plugrad.uop import Ops


def invert(kernel: LoopKernel, lower: Elements) -> None:
    """Invert a lower triangle, (n, n), with zeros above it."""
    size, _ = lower.shape
    kept = kernel.scratch(lower.dtype, size)
    with kernel.steps(size) as k:
        c = kernel.each(size)
        kept[c] = lower[k, c]
        c, j = kernel.each(size), kernel.each(k)
        total = (kept[j] * lower[j, c]).reduce(Ops.ADD, j)
        inverse = 1.0 / kept[k]
        lower[k, c] = c.eq(k).where(inverse, -total * inverse)
