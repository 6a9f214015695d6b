"""Elements by computed positions: sums with one term, which become single loads.

A position outside of the axis, after counting negative ones from the end, reads 0.
"""

from typing import Any

from plugrad.dtype import DType, dtype_max, dtypes, is_bool, is_unsigned
from plugrad.engine.checks import marked
from plugrad.errors import AxisError
from plugrad.settings import settings
from plugrad.tensor.shapes import Dim
from plugrad.uop import Ops, UOp


def position_dtype(size: Dim) -> DType:
    """Return the dtype that positions on an axis of `size` elements are counted in."""
    return dtypes.int32 if isinstance(size, int) and size < 1 << 31 else dtypes.int64


def counted(size: Dim, dtype: DType, shape: tuple[Dim, ...], axis: int) -> UOp:
    """Return the positions along `axis`, expanded to `shape`."""
    numbers = UOp.iota(size, dtype)
    return numbers.reshape(tuple(s if i == axis else 1 for i, s in enumerate(shape))).expand(shape)


def from_front(index: UOp, size: Dim) -> UOp:
    """Return positions counted from the front; invalid ones stay outside of the axis."""
    position = _counted_from_front(index, size)
    return marked(position, index.dtype, size) if settings.CHECK else position


def _counted_from_front(index: UOp, size: Dim) -> UOp:
    wide = position_dtype(size)
    if is_unsigned(index.dtype):
        if index.dtype.itemsize < wide.itemsize:
            return index.cast(wide)
        # a cast may wrap into the axis
        if isinstance(size, int) and size <= dtype_max(index.dtype):
            return (index < size).where(index.cast(wide), UOp.const(wide, -1))
        return index.cast(dtypes.int64)
    if index.dtype.itemsize < wide.itemsize:
        index = index.cast(wide)
    return (index < 0).where(index + number_of(size, index.dtype), index)


def number_of(size: Dim, dtype: DType) -> UOp:
    """Return a size as a node of `dtype`."""
    return UOp.const(dtype, size) if isinstance(size, int) else size.cast(dtype)


def size_beside(x: Any, size: Dim, dtype: DType) -> Any:
    """Return a size as a number, a symbolic one as a tensor beside `x`."""
    return size if isinstance(size, int) else x._make(size.cast(dtype), x.device)


def pick_last(x: UOp, position: UOp) -> UOp:
    """Return `x[..., position]` row by row: (*R, n) and (*R, m) -> (*R, m).

    before: x, position
    after:  sum over i of (x[..., i] where i == position else 0)
    """
    return pick_along(x, position, len(x.shape) - 1)


def pick_along(x: UOp, position: UOp, axis: int) -> UOp:
    """Return `x` at each position along `axis`: (*R, n, *S) and (*R, m, *S) -> (*R, m, *S)."""
    shape: Any = (*position.shape, x.shape[axis])
    rows = moved_last(_addable(x), axis)
    rows = rows.reshape((*rows.shape[:axis], 1, *rows.shape[axis:])).expand(shape)
    wanted = position.reshape((*position.shape, 1)).expand(shape)
    return _select_by_position(rows, wanted, len(shape) - 1).reshape(position.shape).cast(x.dtype)


def pick_first(x: UOp, position: UOp, front: int = 0) -> UOp:
    """Return `x[position]` behind `front` axes of the rest: (n, *F, *R) and (*I) -> (*F, *I, *R)."""
    before, behind = x.shape[1 : 1 + front], x.shape[1 + front :]
    places = position.shape
    shape: Any = (x.shape[0], *before, *places, *behind)
    rows = _addable(x).reshape((x.shape[0], *before, *(1,) * len(places), *behind)).expand(shape)
    wanted = position.reshape((*(1,) * (1 + front), *places, *(1,) * len(behind))).expand(shape)
    return _select_by_position(rows, wanted, 0).reshape(shape[1:]).cast(x.dtype)


def _addable(x: UOp) -> UOp:
    # a choice between bools would become an `and`, which nobody recognises as a lookup
    return x.cast(dtypes.uint8) if is_bool(x.dtype) else x


def _select_by_position(rows: UOp, wanted: UOp, axis: int) -> UOp:
    """Return the element at `wanted` along `axis`, which keeps size 1."""
    here = counted(rows.shape[axis], wanted.dtype, rows.shape, axis).eq(wanted)
    return here.where(rows, rows.const_like(0)).reduce_axis(Ops.ADD, (axis,))


def moved_last(u: UOp, axis: int) -> UOp:
    """Return `u` with `axis` behind all others."""
    return u.permute((*[a for a in range(len(u.shape)) if a != axis], axis))


def moved_back(u: UOp, axis: int) -> UOp:
    """Return `u` with its last axis in place `axis`."""
    last = len(u.shape) - 1
    order = list(range(last))
    order.insert(axis, last)
    return u.permute(tuple(order))


def check_inside(number: int, axis: int, size: int, what: str = "index") -> None:
    """Raise AxisError for a position outside of an axis."""
    if not -size <= number < size:
        valid = f"Valid are {-size} to {size - 1}." if size else "It has no elements."
        place = "index" if what == "index" else f"{what}: index"
        raise AxisError(f"{place} {number} is out of range for axis {axis} of size {size}. {valid}")
