"""Inverses of lower triangles.

Source: Higham 2002, "Accuracy and Stability of Numerical Algorithms", section 14.2, method 1, by rows.
"""

from plugrad.codegen.factors.loop_kernel import Elements, LoopKernel


def invert(kernel: LoopKernel, lower: Elements) -> None:
    """Invert a lower triangle, (n, n), with zeros above it."""
    size, _ = lower.shape
    kept, c = kernel.scratch(lower.dtype, size), kernel.each(size)
    with kernel.steps(size) as k:
        kept[c] = lower[k, c]
        j = kernel.each(k)
        total = kernel.sum(kept[j] * lower[j, c], j)
        inverse = 1.0 / kept[k]
        lower[k, c] = c.eq(k).where(inverse, -total * inverse)
