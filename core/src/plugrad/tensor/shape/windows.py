"""Sliding windows as a view, reduced by convolution and pooling and never written."""

from typing import Any

from plugrad.errors import ShapeError
from plugrad.tensor.shapes import cut_to, show, size_today
from plugrad.uop import UOp, greatest, least


def check_window(kernel: int, stride: int, dilation: int) -> None:
    """Raise ShapeError for a window of size, step or gap below 1."""
    if kernel < 1 or stride < 1 or dilation < 1:
        raise ShapeError(
            f"kernel size {kernel}, stride {stride} and dilation {dilation} must each be at least 1."
        )


def window_count(size: int, kernel: int, stride: int, dilation: int) -> int:
    """Return the number of windows that fit into an axis."""
    check_window(kernel, stride, dilation)
    reach = dilation * (kernel - 1) + 1
    if size < reach:
        raise ShapeError(
            f"a window of {reach} (kernel size {kernel}, dilation {dilation}) does not fit into an "
            f"axis of {size}. Use padding, or a smaller kernel."
        )
    return (size - reach) // stride + 1


def windows(u: UOp, kernel: tuple[Any, ...], stride: tuple[Any, ...], dilation: tuple[int, ...]) -> UOp:
    """Return the windows of the last axes: (..., *sizes) -> (..., *counts, *kernel).

    Windows may have symbolic sizes, and so may steps where windows follow each other without gaps.

    before: x, with x.shape == (4,)
    after:  w, with w[o, k] == x[o*stride + k*dilation]
    """
    first = len(u.shape) - len(kernel)
    # axis by axis: (size) becomes (count, kernel) in place, so the next axis lies one further
    for number, (k, s, d) in enumerate(zip(kernel, stride, dilation, strict=True)):
        u = _axis_windows(u, first + 2 * number, k, s, d)
    counts = tuple(range(first, first + 2 * len(kernel), 2))
    return u.permute((*range(first), *counts, *[axis + 1 for axis in counts]))


def _axis_windows(u: UOp, axis: int, kernel: Any, stride: Any, dilation: int) -> UOp:
    shape: Any = u.shape
    size = shape[axis]
    count = window_count(size_today(size), size_today(kernel), size_today(stride), dilation)
    if not isinstance(kernel, int) or not isinstance(stride, int):
        return _symbolic_windows(u, axis, kernel, stride, dilation)
    head, tail = shape[:axis], shape[axis + 1 :]
    reach = dilation * (kernel - 1) + 1
    if not isinstance(size, int):
        # those of the greatest axis, as many as fit today
        if least(size) < reach:
            u = _guard_room(u, axis, size - reach)
        whole = _axis_windows(_resized(u, axis, greatest(size)), axis, kernel, stride, dilation)
        return cut_to(whole, (*head, (size - reach) // stride + 1, kernel, *tail))
    if kernel == 1 or stride >= reach:
        # windows do not overlap: cut the axis into pieces of one stride each
        u = _resized(u, axis, count * stride)
        u = _resized(u.reshape((*head, count, stride, *tail)), axis + 1, reach)
        if dilation > 1:
            u = _resized(u, axis + 1, kernel * dilation).reshape((*head, count, kernel, dilation, *tail))
            u = _resized(u, axis + 2, 1).reshape((*head, count, kernel, *tail))
        return u
    # rows that are `dilation` longer than a multiple of the axis: in each row the repeated axis starts that
    # much later, so row k holds x[k*dilation:] at its beginning
    row = size * -(-(count * stride - dilation) // size) + dilation if count * stride > dilation else dilation
    row = max(row, size + dilation)
    repeats = -(-kernel * row // size)
    u = u.reshape((*head, 1, size, *tail)).expand((*head, repeats, size, *tail))
    u = _resized(u.reshape((*head, repeats * size, *tail)), axis, kernel * row)
    u = _resized(u.reshape((*head, kernel, row, *tail)), axis + 1, count * stride)
    u = _resized(u.reshape((*head, kernel, count, stride, *tail)), axis + 2, 1)
    u = u.reshape((*head, kernel, count, *tail))
    order = list(range(len(u.shape)))
    order[axis], order[axis + 1] = axis + 1, axis
    return u.permute(tuple(order))


def _symbolic_windows(u: UOp, axis: int, kernel: Any, stride: Any, dilation: int) -> UOp:
    """Return windows whose size varies: the first elements of those of the greatest size."""
    shape: Any = u.shape
    size = shape[axis]
    head, tail = shape[:axis], shape[axis + 1 :]
    if stride is kernel and dilation == 1:
        if least(size) < greatest(kernel) and size is not kernel:
            u = _guard_room(u, axis, size - kernel)
        count = 1 if size is kernel else size // kernel
        u = u.shrink([(0, count * kernel if at == axis else n) for at, n in enumerate(shape)])
        return u.reshape((*head, count, kernel, *tail))
    if not isinstance(stride, int):
        raise ShapeError(
            f"stride {show((stride,))[1:-2]} is symbolic: only that of windows which follow each "
            "other without gaps, and have as many elements, can be. Pass a number."
        )
    most = greatest(kernel)
    missing = dilation * (most - kernel)
    wide = u.pad([(0, missing if at == axis else 0) for at in range(len(shape))])
    wide = _axis_windows(wide, axis, most, stride, dilation)
    return wide.shrink([(0, kernel if at == axis + 1 else n) for at, n in enumerate(wide.shape)])


def _guard_room(u: UOp, axis: int, room: UOp) -> UOp:
    """Return `u` padded and cut by `room`; each replay checks that `room` is >= 0."""
    before = [(0, 0) if at != axis else (room, 0) for at in range(len(u.shape))]
    return u.pad(before).shrink([(begin, begin + n) for (begin, _), n in zip(before, u.shape, strict=True)])


def _resized(u: UOp, axis: int, size: int) -> UOp:
    """Return the first `size` elements of an axis, zeros behind its end."""
    shape: Any = u.shape
    if not isinstance(shape[axis], int) or size > shape[axis]:
        return u.pad([(0, size - n if at == axis else 0) for at, n in enumerate(shape)])
    return u.shrink([(0, size if at == axis else n) for at, n in enumerate(shape)])
