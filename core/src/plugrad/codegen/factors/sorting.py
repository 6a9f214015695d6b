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
    kept, place = kernel.scratch(state.dtype, size), kernel.scratch(dtypes.int32, 1)
    with kernel.steps(size - 1) as k:
        r, c = kernel.each(size), kernel.each(size)
        greatest = (r < k).where(keys[r].const_like(-float("inf")), -keys[r]).reduce(Ops.MAX, r)
        key = keys[c]
        # NaN comes first
        is_least = (c >= k) & ((-key).eq(greatest) | key.ne(key))
        place[0] = size - is_least.where(size - c, 0).cast(dtypes.int32).reduce(Ops.MAX, c)
        there = (place[0] % size).cast(dtypes.index)
        here_key, there_key = keys[k], keys[there]
        keys[k] = there_key
        keys[there] = here_key
        for first in firsts:
            c = kernel.each(size)
            kept[c] = state[first + k, c]
            c = kernel.each(size)
            state[first + k, c] = state[first + there, c]
            c = kernel.each(size)
            state[first + there, c] = kept[c]
