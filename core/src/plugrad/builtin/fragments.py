"""Find where the elements of fragments are in the matrices of a warp."""

from plugrad._util import numpy as np
from plugrad.builtin.arithmetic import Array
from plugrad.target import Fragment

#: Threads that load matrices together.
WARP = 32


def elements_of(fragment: Fragment, threads: int, axes: str) -> tuple[Array, Array]:
    """Return row and column of what each thread holds in each place."""
    rows, columns = (
        np.array([[fragment.coordinate(axis, t, p) for p in range(fragment.count)] for t in range(threads)])
        for axis in axes
    )
    return rows, columns


def rows_of_matrices(count: int, load: tuple[int, bool]) -> tuple[Array, Array]:
    """Return the rows, and the elements in them, that each thread of a warp loads.

    Each loads `count` elements.

    Args:
        count: elements of a thread.
        load: how many matrices of eight rows, and whether a thread's elements are of one column.
    """
    matrices, is_transposed = load
    together = count // matrices
    thread, lane = np.arange(WARP)[:, None], np.arange(count)[None, :]
    row, element = thread // 4, thread % 4 * together + lane % together
    if is_transposed:
        row, element = element, row
    return lane // together * 8 + row, element
