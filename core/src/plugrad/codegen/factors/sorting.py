"""Sort rows of vectors by their values, one selection after the other."""

from collections.abc import Sequence

from plugrad.codegen.factors.loop_kernel import Elements, LoopKernel
from plugrad.dtype import dtypes
from plugrad.uop import Ops


def sort_rows(kernel: LoopKernel, state: Elements, keys: Elements, firsts: Sequence[int]) -> None:
    """Sort keys, least first, and the rows that belong to them.

    Args:
        kernel: what to write.
        state: the memory of the rows.
        keys: (n,) or more, the first n of which are sorted.
        firsts: the first of n rows, for each group of rows.
    """
    _, size = state.shape
    kept, place, r = kernel.scratch(state.dtype, size), kernel.scratch(dtypes.int32, 1), kernel.each(size)
    with kernel.steps(size - 1) as k:
        key = keys[r]
        greatest = kernel.reduce(Ops.MAX, (r < k).where(key.const_like(-float("inf")), -key), r)
        # NaN comes first
        place[0] = kernel.first((r >= k) & ((-key).eq(greatest) | key.ne(key)), r)
        there = (place[0] % size).cast(dtypes.index)
        here_key, there_key = keys[k], keys[there]
        keys[k] = there_key
        keys[there] = here_key
        for first in firsts:
            state.exchange((first + k, r), (first + there, r), r, kept)
