"""Reading and writing by tensors of positions: gather, scatter and their kin.

In all of them negative positions count from the end. A position outside of the axis is no error, because
nothing that runs on a device can raise one: reading it gives 0 (False), writing to it does nothing; under
CHECK=1 it is reported. Tensors without axes have their one element along axis 0, as in PyTorch.
"""

from __future__ import annotations

from typing import Any, Literal, Unpack

from plugrad.autodiff import inputs_of, with_rule
from plugrad.dtype import ConstType, dtype_min, is_float, is_int, sum_acc_dtype
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.indexing.tie_gradient import share_among_equals
from plugrad.tensor.keywords import REQUIRED, AxisNames, ScatterNames, renamed
from plugrad.tensor.lookup import (
    counted,
    from_front,
    moved_back,
    moved_last,
    pick_along,
    pick_first,
    pick_last,
    position_dtype,
)
from plugrad.tensor.shapes import Dim, broadcast_shapes, check_choice, expanded, one_axis, show
from plugrad.uop import Ops, UOp

ScatterReduction = Literal["sum", "prod", "mean", "amax", "amin"]

# Measured: where fewer than one element in so many is written, a branch on whether it was is guessed right.
_FEW = 8


def gather(
    self: Tensor, axis: int = REQUIRED, index: Tensor = REQUIRED, **names: Unpack[AxisNames]
) -> Tensor:
    """Return `out[i, j] = self[i, index[i, j]]` (for axis 1), in the shape of `index`.

    Negative positions count from the end; positions outside of the axis give 0.

    Args:
        axis: the axis that `index` points along.
        index: integers, with as many axes as this; along the others at most as long.

    Raises:
        DtypeError: `index` holds no integers.
        ShapeError: `index` has other axes, or a longer one.
        AxisError: the axis does not exist.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).gather(1, Tensor([[1, 1, 0], [0, 0, 1]])).tolist()
        [[2, 2, 1], [3, 3, 4]]
    """
    if names or axis is REQUIRED or index is REQUIRED:
        axis, index = renamed(self.gather, names, axis=axis, index=index)
    at = one_axis(axis, self.ndim or 1)
    check_index(self, index)
    if _is_point_beside_rows(self, index):
        return _as_row(self).gather(at, _as_row(index)).reshape(index.shape)
    x = _cut_rows(self._graph, index.shape, at)
    position = from_front(index._graph, self.shape[at])
    return self._like(pick_along(x, position, at), index)


def take_along_axis(
    self: Tensor, indices: Tensor, axis: int | None = -1, **names: Unpack[AxisNames]
) -> Tensor:
    """Return `gather(axis, indices)` with the other axes broadcast; `axis=None` takes from all elements.

    Raises:
        DtypeError: `indices` holds no integers.
        ShapeError: the numbers of axes differ, or sizes do not broadcast.
        AxisError: the axis does not exist.

    Example:
        >>> x = Tensor([[3, 1, 2]])
        >>> x.take_along_axis(x.argmin(1, keepdim=True), 1).tolist()
        [[1]]
    """
    if names:
        (axis,) = renamed(self.take_along_axis, names, axis=axis)
    check_index(self, indices)
    if axis is None:
        return self.flatten().take_along_axis(indices, 0)
    at = one_axis(axis, self.ndim)
    if indices.ndim != self.ndim:
        raise ShapeError(
            f"indices of shape {show(indices.shape)} for shape {show(self.shape)}. "
            f"Give them {self.ndim} axes, with unsqueeze() or reshape()."
        )
    mine, theirs = list(self.shape), list(indices.shape)
    size, count = mine[at], theirs[at]
    mine[at] = theirs[at] = 1
    rows = list(broadcast_shapes(tuple(mine), tuple(theirs)))
    wide, places = [*rows], [*rows]
    wide[at], places[at] = size, count
    return self.expand(tuple(wide)).gather(at, indices.expand(tuple(places)))


def index_select(
    self: Tensor, axis: int = REQUIRED, index: Tensor = REQUIRED, **names: Unpack[AxisNames]
) -> Tensor:
    """Return the slices of an axis that `index` names: (.., n, ..) -> (.., len, ..).

    They come in the order of `index`. Negative positions count from the end; positions outside of the axis
    give 0.

    Raises:
        DtypeError: `index` holds no integers.
        ShapeError: `index` has more than one axis; or not one element, where this has no axes.
        AxisError: the axis does not exist.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).index_select(0, Tensor([1, 1])).tolist()
        [[3, 4], [3, 4]]
    """
    if names or axis is REQUIRED or index is REQUIRED:
        axis, index = renamed(self.index_select, names, axis=axis, index=index)
    at = one_axis(axis, self.ndim or 1)
    check_index(self, index)
    if index.ndim > 1:
        raise ShapeError(f"an index of shape {show(index.shape)}. Give one axis; for more use x[index].")
    if not self.ndim:
        if index.numel() != 1:
            raise ShapeError(
                f"an index of shape {show(index.shape)} for a tensor without axes. Pass "
                "one position, or expand the tensor before."
            )
        return _as_row(self).index_select(0, index).reshape(())
    position = from_front(index.flatten()._graph, self.shape[at])
    order = (at, *[a for a in range(self.ndim) if a != at])
    return self._like(pick_first(self._graph.permute(order), position, at), index)


def scatter(
    self: Tensor,
    axis: int = REQUIRED,
    index: Tensor = REQUIRED,
    src: Tensor | ConstType = REQUIRED,
    reduce: Literal["add", "multiply"] | None = None,
    **names: Unpack[ScatterNames],
) -> Tensor:
    """Return this with `self[i, index[i, j]] = src[i, j]` (for axis 1); the last of several writes wins.

    Negative positions count from the end; positions outside of the axis write nothing. The work is one
    pass over `index`; on a device with a grid it is the axis's length times that of `index`.

    Args:
        axis: the axis that `index` points along.
        index: integers, with as many axes as this; along the others at most as long.
        src: what is written: a number, or a tensor at least as large as `index` along each axis.
        reduce: add to, or multiply, what is there instead.

    Raises:
        ArgumentError: there is no such `reduce`.
        DtypeError: `index` holds no integers, or `src` has another dtype than this.
        ShapeError: the numbers of axes differ, or an axis of `index` is too long.
        AxisError: the axis does not exist.

    Example:
        >>> Tensor([0, 0, 0]).scatter(0, Tensor([2, 0]), Tensor([5, 6])).tolist()
        [6, 0, 5]
    """
    if names or axis is REQUIRED or index is REQUIRED or src is REQUIRED:
        axis, index, src = renamed(self.scatter, names, axis=axis, index=index, src=src)
    if _is_point_beside_rows(self, index, src):
        return _as_row(self).scatter(axis, _as_row(index), _as_row(src), reduce).reshape(self.shape)
    if reduce is not None:
        if not isinstance(reduce, str) or reduce not in _OLD_NAMES:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ArgumentError(f"reduce={reduce!r} is none of 'add', 'multiply', None.")
        return self.scatter_reduce(axis, index, src, _OLD_NAMES[reduce])
    at, position, value = _scatter_parts(self, axis, index, src)
    size = self.shape[at]
    count = position.shape[-1]
    dtype = position_dtype(count)
    shape = (*position.shape[:-1], size, count)
    # counting writes from 1 leaves 0 for elements that nobody writes to
    numbers = counted(count, dtype, shape, len(shape) - 1) + 1
    wins = _matches(position, shape).where(numbers, numbers.const_like(0))
    last = wins.reduce_axis(Ops.MAX, (len(shape) - 1,)).reshape(shape[:-1])
    if value.shape != ():
        value = _pad_rows(self, moved_back(_written(value, last, position), at))
    is_written = _pad_rows(self, moved_back(last, at)) > 0
    return self._like(is_written.where(value, self._graph), index, src)


def scatter_reduce(
    self: Tensor,
    axis: int = REQUIRED,
    index: Tensor = REQUIRED,
    src: Tensor | ConstType = REQUIRED,
    reduce: ScatterReduction = REQUIRED,
    include_self: bool = True,
    **names: Unpack[AxisNames],
) -> Tensor:
    """Return this with all `src[i, j]` combined into `self[i, index[i, j]]` (for axis 1).

    Negative positions count from the end; positions outside of the axis write nothing. The work is one
    pass over `index`; on a device with a grid it is the axis's length times that of `index`.

    Args:
        axis: the axis that `index` points along.
        index: integers, with as many axes as this; along the others at most as long.
        src: a number, or a tensor at least as large as `index` along each axis.
        reduce: how values at one place are combined. Equal ones share the gradient of "amax" and "amin"
            evenly.
        include_self: whether what was there takes part.

    Raises:
        DtypeError: `index` holds no integers, or `src` has another dtype than this.
        ShapeError: the numbers of axes differ, an axis of `index` is too long, or `src` is too small.
        ArgumentError: there is no such `reduce`.
        AxisError: the axis does not exist.

    Example:
        >>> Tensor([1, 1]).scatter_reduce(0, Tensor([0, 0]), Tensor([5, 6]), "sum").tolist()
        [12, 1]
    """
    if names or axis is REQUIRED or index is REQUIRED or src is REQUIRED or reduce is REQUIRED:
        axis, index, src, reduce = renamed(
            self.scatter_reduce, names, axis=axis, index=index, src=src, reduce=reduce
        )
    check_choice(reduce, tuple(_COMBINE), "reduce")
    if _is_point_beside_rows(self, index, src):
        rows = _as_row(self), _as_row(index), _as_row(src)
        return rows[0].scatter_reduce(axis, *rows[1:], reduce, include_self).reshape(self.shape)
    at, position, value = _scatter_parts(self, axis, index, src)
    shape = (*position.shape[:-1], self.shape[at], position.shape[-1])
    meets = _matches(position, shape)
    last = (len(shape) - 1,)
    ones = UOp.const(position_dtype(shape[-1]), 1)
    counts = meets.where(ones, ones.const_like(0)).reduce_axis(Ops.ADD, last)
    counts = _pad_rows(self, moved_back(counts.reshape(shape[:-1]), at))
    is_summed = is_float(self.dtype) and reduce not in ("amax", "amin")
    wide = sum_acc_dtype(self.dtype) if is_summed else self.dtype
    if value.shape != ():
        value = value.reshape((*value.shape[:-1], 1, value.shape[-1])).expand(shape)
    value = _negate_for_min(value, reduce).cast(wide)
    op, neutral = _COMBINE[reduce]
    start = dtype_min(wide) if neutral is None else neutral
    found = meets.where(value, UOp.const(wide, start)).reduce_axis(op, last).reshape(shape[:-1])
    found = _pad_rows(self, moved_back(found, at), start)
    old = _negate_for_min(self._graph, reduce).cast(wide)
    combined = _combine(old, found, counts, reduce, include_self).cast(self.dtype)
    out = self._like(_negate_for_min(combined, reduce), index, src)
    if op is Ops.MAX and is_float(self.dtype) and isinstance(src, TensorBase):
        return share_among_equals(out, [self, src, index], at, include_self)
    return out


def _combine(old: UOp, found: UOp, counts: UOp, reduce: str, include_self: bool) -> UOp:
    """Combine the old elements, if included, with the result of `counts` new ones."""
    op, _ = _COMBINE[reduce]
    is_met = counts > 0
    if include_self:
        found = found.maximum(old) if op is Ops.MAX else old.alu(op, found)
        counts = counts + 1
    if include_self and reduce != "mean":
        # of no new elements, this is the old one
        return found
    if reduce == "mean":
        amount = is_met.where(counts, counts.const_like(1)).cast(found.dtype)
        found = found / amount if is_float(found.dtype) else found // amount
    return is_met.where(found, old)


def check_index(x: Tensor, index: Any) -> None:
    """Raise DtypeError unless `index` is a tensor of integers."""
    require_tensors(index=index)
    if not is_int(index.dtype):
        raise DtypeError(
            f"operation with an index of {index.dtype.name}: positions are integers. Cast the index; for a "
            "mask use masked_select or x[mask]."
        )
    x._check_device(index)


def _scatter_parts(x: Tensor, axis: int, index: Tensor, src: Tensor | ConstType) -> tuple[int, UOp, UOp]:
    """Return the axis, and positions and values with that axis moved last."""
    at = one_axis(axis, x.ndim)
    check_index(x, index)
    _cut_rows(x._graph, index.shape, at)
    position = moved_last(from_front(index._graph, x.shape[at]), at)
    if not isinstance(src, TensorBase):
        return at, position, x._const(src)
    x._check_device(src)
    if src.dtype is not x.dtype:
        raise DtypeError(
            f"operation of {src.dtype.name} into {x.dtype.name}: dtypes must be equal. "
            f"Cast: src.cast(dtypes.{x.dtype.name})."
        )
    fits = src.ndim == index.ndim and all(
        have is want or not isinstance(have, int) or not isinstance(want, int) or have >= want
        for have, want in zip(src.shape, index.shape, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"src of shape {show(src.shape)} for an index of shape {show(index.shape)}. Each "
            "axis of src must be at least as long."
        )
    value = src._graph.shrink([(0, size) for size in index.shape])
    return at, position, moved_last(value, at)


def _written(value: UOp, last: UOp, position: UOp) -> UOp:
    """Return the value of each element's write `last - 1`: (*R, m), (*R, n) -> (*R, n).

    Elements without a write get 0, or any value where branches between them and others are guessed wrong.
    """
    writes, size = value.shape[-1], last.shape[-1]
    place = last - 1
    # where most elements are written several times, returning gradients element by element is less work
    if not isinstance(writes, int) or not isinstance(size, int) or writes > size:
        return pick_last(value, place)
    if writes * _FEW > size:
        place = place.maximum(0).minimum(writes - 1)
    return with_rule([pick_last(value, place)], [value, last, position], _written_rule)[0]


def _written_rule(gradients: tuple[UOp], function: UOp) -> list[UOp | None]:
    """Return the gradient of each element to the last value that was written to it."""
    (back,), (value, last, position) = gradients, inputs_of(function)
    number = counted(value.shape[-1], last.dtype, position.shape, len(position.shape) - 1) + 1
    stays = pick_last(last, position).eq(number)
    return [stays.where(pick_last(back, position), back.const_like(0)), None, None]


def _pad_rows(x: Tensor, u: UOp, fill: ConstType = 0) -> UOp:
    """Return `u`, which may have fewer rows than this tensor, with rows of `fill` behind."""
    if u.shape == x.shape:
        return u
    have: Any = u.shape
    want: Any = x.shape
    return x._like(u).pad([(0, w - h) for h, w in zip(have, want, strict=True)], value=fill)._graph


def _is_point_beside_rows(*given: Any) -> bool:
    """Say whether some tensors have no axes and others one: points are rows then."""
    axes = [x.ndim for x in given if isinstance(x, TensorBase)]
    return 0 in axes and max(axes) < 2


def _as_row(x: Any) -> Any:
    given: Any = x
    return given.reshape(1) if isinstance(x, TensorBase) and not x.ndim else given


_OLD_NAMES: dict[str, ScatterReduction] = {"add": "sum", "multiply": "prod"}
# the op, and the value that changes nothing; None: the lowest there is
_COMBINE: dict[str, tuple[Ops, int | None]] = {
    "sum": (Ops.ADD, 0),
    "mean": (Ops.ADD, 0),
    "prod": (Ops.MUL, 1),
    "amax": (Ops.MAX, None),
    "amin": (Ops.MAX, None),
}


def _negate_for_min(u: UOp, reduce: str) -> UOp:
    """Return values in reversed order of size if a minimum is wanted."""
    if reduce != "amin":
        return u
    return -u if is_float(u.dtype) else ~u


def _matches(position: UOp, shape: tuple[Dim, ...]) -> UOp:
    """Return where entry `m` names element `n` of an axis: (*R, m) -> (*R, n, m)."""
    here = counted(shape[-2], position.dtype, shape, len(shape) - 2)
    wanted = position.reshape((*position.shape[:-1], 1, position.shape[-1]))
    return here.eq(expanded(wanted, shape))


def _cut_rows(x: UOp, shape: tuple[Dim, ...], axis: int) -> UOp:
    """Return `x` cut to `shape` along all axes but `axis`."""
    if len(shape) != len(x.shape):
        raise ShapeError(
            f"an index of shape {show(shape)} for shape {show(x.shape)}. Both need the same number "
            "of axes; unsqueeze or expand the index."
        )
    bounds: list[Any] = []
    for at, (want, have) in enumerate(zip(shape, x.shape, strict=True)):
        if at != axis and isinstance(want, int) and isinstance(have, int) and want > have:
            raise ShapeError(
                f"axis {at} of the index has {want} elements, that of the tensor {have}. Only axis "
                f"{axis} of the index may be longer."
            )
        bounds.append((0, have if at == axis else want))
    return x.shrink(bounds)
