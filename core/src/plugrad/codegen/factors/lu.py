"""LU factors with partial pivoting.

Source: Golub and Van Loan 2013, "Matrix Computations", algorithms 3.4.1 and 3.2.5.
"""

from plugrad.codegen.factors.loop_kernel import Elements, LoopKernel, Number, magnitude
from plugrad.dtype import dtypes
from plugrad.uop import Ops, UOp

# Measured: columns that are eliminated before the others take part.
_WIDTH = 32
# Up to this size, all columns are one block.
_ONE_BLOCK = 64
# The most elements of a block, which is on the stack of a thread.
_MOST_OF_BLOCK = 1 << 16


def eliminate(kernel: LoopKernel, matrix: Elements) -> None:
    """Leave L below the diagonal and U above it.

    Columns beside the matrix have their rows swapped alike.

    Args:
        kernel: what to write.
        matrix: (n, n + k), n a multiple of 32 if it is more than 64.
    """
    size, columns = matrix.shape
    width = size if size <= _ONE_BLOCK else _WIDTH
    while width > 1 and width % 2 == 0 and width * size > _MOST_OF_BLOCK:
        width //= 2
    blocks = size // width
    panel = kernel.scratch(matrix.dtype, width, size)
    swaps, kept = kernel.scratch(dtypes.int32, width), kernel.scratch(matrix.dtype, columns)
    with kernel.steps(blocks) as block:
        first = block * width

        def rows(begin: Number) -> UOp:
            """Return a loop over the rows from a block on."""
            return (kernel.each(blocks - begin) + begin) * width + kernel.each(width)

        c, r = kernel.each(width), rows(block)
        panel[c, r] = matrix[r, first + c]
        _eliminate_panel(kernel, panel, swaps, first)
        with kernel.steps(width) as k:
            every = kernel.each(columns)
            matrix.exchange((first + k, every), (swaps[k].cast(dtypes.index), every), every, kept)
        r, c = rows(block), kernel.each(width)
        matrix[r, first + c] = panel[c, r]
        if blocks == 1:
            return
        with kernel.steps(width) as k:
            r, c = kernel.each(width - 1 - k) + first + k + 1, rows(block + 1)
            matrix[r, c] = matrix[r, c] - matrix[r, first + k] * matrix[first + k, c]
        r, c, p = rows(block + 1), rows(block + 1), kernel.each(width)
        matrix[r, c] = matrix[r, c] - kernel.sum(matrix[r, first + p] * matrix[first + p, c], p)


def _eliminate_panel(kernel: LoopKernel, panel: Elements, swaps: Elements, first: UOp) -> None:
    """Eliminate columns, whose first diagonal element is in row `first`, and note swaps."""
    width, size = panel.shape
    kept, every = kernel.scratch(panel.dtype, width), kernel.each(width)
    with kernel.steps(width) as column:
        diagonal, r = first + column, kernel.each(size)
        value = panel[column, r]
        best = (r < diagonal).where(value.const_like(-1.0), magnitude(value))
        # NaN is a pivot
        is_best = magnitude(value).eq(kernel.reduce(Ops.MAX, best, r)) | value.ne(value)
        swaps[column] = kernel.first((r >= diagonal) & is_best, r)
        there = (swaps[column] % size).cast(dtypes.index)
        panel.exchange((every, diagonal), (every, there), every, kept)
        pivot = panel[column, diagonal]
        # a column without a pivot is 0 already
        factor = pivot.eq(0.0).where(pivot.const_like(0.0), 1 / pivot)
        value = panel[column, r]
        panel[column, r] = (r > diagonal).where(value * factor, value)
        other, r = kernel.each(width - 1 - column) + column + 1, kernel.each(size)
        below = (r > diagonal).where(panel[column, r] * panel[other, diagonal], 0.0)
        panel[other, r] = panel[other, r] - below
