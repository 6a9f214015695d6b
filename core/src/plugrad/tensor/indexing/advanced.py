"""Read and write `x[...]`, also with tensors of positions and masks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

from plugrad.dtype import ConstType, dtypes
from plugrad.engine.view_path import path_between
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.assign import assignable_graph, check_writable, write_part
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.indexing.gather import check_index
from plugrad.tensor.indexing.indexing import cut_out, parse_index, whole_steps
from plugrad.tensor.indexing.masked import Masked, masked_of
from plugrad.tensor.indexing.positions import (
    IndexPlan,
    as_items,
    has_tensors,
    parse_items,
    plan_of,
    split_truths,
)
from plugrad.tensor.keywords import REQUIRED, AxisNames, renamed
from plugrad.tensor.lookup import check_inside
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import as_number, broadcast_shapes, expanded, is_sequence, one_axis, show
from plugrad.uop import UOp

# Items that are neither tensors nor truths, as most are.
_BASIC = frozenset((int, slice, type(None), type(Ellipsis)))


def __getitem__(self: Tensor, index: Any) -> Tensor:
    """Return a view, or, with tensors in the index, the elements that they name.

    Integers drop an axis, slices keep part of it, None adds one, `...` skips some. Tensors of integers
    (also arrays and lists) broadcast and pick elements; negative ones count from the end, and those out
    of range give 0. A bool tensor picks where it holds: it is computed at once, because the count depends
    on it. A bool of shape () adds an axis, of one element where it holds, else of none.

    The axes of tensors stand where the first of them stood, or in front where a slice, `...` or None
    separates them. As in NumPy, an integer beside them counts as one: with three positions `i`,
    `x[0, :, i]` is of shape (3, n). PyTorch takes integers first and has (n, 3): write `x[0][:, i]`.

    Raises:
        AxisError: too many indices, or an integer, also one of an array or a list, out of range.
        DtypeError: an index of another type.
        JitError: a mask inside a jitted function.
        ShapeError: tensors do not broadcast, or a mask has another shape than the axes it stands for.

    Example:
        >>> x = Tensor.arange(6).reshape(2, 3)
        >>> x[1, ::-2].tolist()
        [5, 3]
        >>> x[:, Tensor([2, 0])].tolist()
        [[2, 0], [5, 3]]
        >>> x[x > 3].tolist()
        [4, 5]
    """
    if type(index) is int:
        # the usual case, said shorter; so is the one below
        return _position(self, index)
    if _BASIC.issuperset(map(type, as_items(index))):
        return _basic_view(self, index)
    added, index = split_truths(index, self.ndim, partial(index_from, self), truth_of)
    if added:
        return with_axes(self, added)[index]
    if not has_tensors(index):
        return _basic_view(self, index)
    plan = index_plan(self, tuple(index_items(self, index)))
    view = _basic_view(self, plan.basic)
    return self._like(plan.picked(view._graph), self._make(plan.places, self._device))


def _position(x: Tensor, index: int) -> Tensor:
    """Return the view of one position of the first axis."""
    shape: Any = x.shape
    if not shape or type(shape[0]) is not int:
        return _basic_view(x, index)
    size, *rest = shape
    check_inside(index, 0, size)
    begin = index if index >= 0 else size + index
    pairs = [(begin, begin + 1), *[(0, other) for other in rest]]
    return x._view(lambda u: u.shrink(pairs).reshape(shape[1:]))


def _basic_view(x: Tensor, index: Any) -> Tensor:
    cuts = parse_index(index, x.shape)
    return x._view(lambda u: cut_out(u, cuts))


def with_axes(x: Tensor, places: Sequence[int]) -> Tensor:
    """Return a view with axes of size 1 that come to be at `places`."""
    out = x
    for place in places:
        out = out.unsqueeze(place)
    return out


def index_plan(x: Tensor, index: Any) -> IndexPlan:
    """Return the plan of an index with tensors."""
    return plan_of(index, x.shape, partial(index_from, x), _find_true)


def index_from(x: Tensor, data: Any) -> Tensor:
    """Return positions of the host as a tensor beside `x`."""
    found = x._from_host(list(data) if isinstance(data, range) else data)
    # an empty list has no numbers to tell its type by
    return found if found.numel() or hasattr(data, "dtype") else found.cast(dtypes.default_int)


def index_put(
    self: Tensor, indices: Sequence[Any] | Any, values: Tensor | ConstType, accumulate: bool = False
) -> Tensor:
    """Return this with `values` in the elements that `indices` name.

    The last of several writes to one element wins; with `accumulate` all of them are added to what is
    there. Positions out of range write nothing.

    Args:
        indices: tensors (or arrays, or lists) of positions or masks, and `:` for whole axes between them.
        values: a number, or a tensor that broadcasts to what `self[indices]` has.
        accumulate: add instead of replacing.

    Raises:
        ArgumentError: an integer, None or part of an axis among the indices, or no tensor at all.
        AxisError: too many indices.
        ShapeError: tensors or values do not broadcast, or a mask has another shape than its axes.
        DtypeError: an index holds floats, or `values` has another dtype than this.

    Example:
        >>> Tensor([1, 1, 1]).index_put((Tensor([0, 2, 0]),), Tensor([5, 6, 7])).tolist()
        [7, 1, 6]
        >>> Tensor([1, 1, 1]).index_put((Tensor([0, 2, 0]),), Tensor([5, 6, 7]), accumulate=True).tolist()
        [13, 1, 7]
    """
    given = tuple(indices) if isinstance(indices, (tuple, list)) else (indices,)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if any(item is None or is_part(item) for item in given) or not has_tensors(given):
        raise ArgumentError(
            f"indices {given!r}. Pass tensors of positions or masks, and `slice(None)` for "
            "whole axes; for other indices write x[index] = values."
        )
    items = index_items(self, given)
    masked = masked_of(items, self.shape)
    sizes = values.shape if isinstance(values, TensorBase) else ()
    if masked is not None and masked.takes(sizes, self.shape):
        return _put_masked(self, masked, values, accumulate)
    plan = index_plan(self, tuple(items))
    new = _fitted_values(self, values, plan.shape(self.shape))
    written = (plan.added if accumulate else plan.written)(self._graph, new)
    return self._like(written, values)


def _put_masked(x: Tensor, masked: Masked, values: Tensor | ConstType, accumulate: bool) -> Tensor:
    alike = values
    if isinstance(values, TensorBase):
        alike = values.reshape(masked.without_count(values.shape, x.shape))
    new = masked.spread(_fitted_values(x, alike, masked.rest(x.shape)), x.shape)
    return x._like(masked.chosen(x._graph + new if accumulate else new, x._graph), values)


def index_items(x: Tensor, index: Any) -> list[Any]:
    """Return the items of an index with tensors in it."""
    items = parse_items(index, x.shape, partial(index_from, x))
    x._check_device(*[item for item in items if isinstance(item, TensorBase)])
    return items


def _fitted_values(x: Tensor, values: Any, shape: Any) -> UOp:
    if not isinstance(values, TensorBase):
        return expanded(x._const(values), shape)
    x._check_device(values)
    if values.dtype is not x.dtype:
        raise DtypeError(
            f"index_put of {values.dtype.name} into {x.dtype.name}: dtypes must be equal. "
            f"Cast: values.cast(dtypes.{x.dtype.name})."
        )
    if broadcast_shapes(values.shape, shape) != shape:
        raise ShapeError(
            f"values of shape {show(values.shape)} for elements of shape {show(shape)} do not "
            "broadcast to that. Reshape or reduce them."
        )
    return expanded(values._graph, shape)


def take(
    self: Tensor, indices: Tensor | Sequence[Any], axis: int | None = None, **names: Unpack[AxisNames]
) -> Tensor:
    """Return the elements that `indices` names along an axis.

    Shapes: (.., n, ..) -> (.., *I, ..) for `indices` of shape I.

    As `x[..., indices, ...]`: positions of a tensor that are out of range give 0.

    Args:
        indices: a tensor of positions, an array, a list or an integer.
        axis: along which axis; None takes from all elements in row-major order, as in PyTorch.

    Raises:
        AxisError: the axis does not exist, or a position of the host on it.
        DtypeError: `indices` holds no integers.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).take(Tensor([[3], [0]])).tolist()
        [[4], [1]]
        >>> Tensor([[1, 2], [3, 4]]).take([1, 1], axis=1).tolist()
        [[2, 2], [4, 4]]
    """
    if names:
        (axis,) = renamed(self.take, names, axis=axis)
    if axis is None:
        return self.flatten().take(indices, 0)
    at = one_axis(axis, self.ndim)
    if isinstance(indices, TensorBase) or not hasattr(indices, "__index__"):
        index = indices if isinstance(indices, TensorBase) else index_from(self, indices)
        check_index(self, index)  # pyright: ignore[reportArgumentType]
    return self[(*[slice(None)] * at, indices)]


def index_add(
    self: Tensor,
    axis: int = REQUIRED,
    index: Tensor = REQUIRED,
    source: Tensor = REQUIRED,
    alpha: float = 1,
    **names: Unpack[AxisNames],
) -> Tensor:
    """Return this with the slices of `source` times `alpha` added to those that `index` names.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: `source` does not broadcast to the slices.
        DtypeError: `index` holds no integers, or `source` has another dtype than this.

    Example:
        >>> Tensor([[1, 1], [2, 2]]).index_add(0, Tensor([1, 1]), Tensor([[1, 2], [3, 4]])).tolist()
        [[1, 1], [6, 8]]
    """
    if names or axis is REQUIRED or index is REQUIRED or source is REQUIRED:
        axis, index, source = renamed(self.index_add, names, axis=axis, index=index, source=source)
    require_tensors(source=source)
    if not self.ndim:
        return self.unsqueeze(0).index_add(axis, index, source, alpha).squeeze(0)
    factor = as_number(alpha)
    values = source if factor == 1 else (source * factor).cast(source.dtype)
    return self.index_put(_axis_index(self, axis, index), values, accumulate=True)


def index_copy(
    self: Tensor,
    axis: int = REQUIRED,
    index: Tensor = REQUIRED,
    source: Tensor = REQUIRED,
    **names: Unpack[AxisNames],
) -> Tensor:
    """Replace the slices that `index` names by those of `source`; the last write wins.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: `source` does not broadcast to the slices.
        DtypeError: `index` holds no integers, or `source` has another dtype than this.

    Example:
        >>> Tensor([1, 2, 3]).index_copy(0, Tensor([2, 0]), Tensor([8, 9])).tolist()
        [9, 2, 8]
    """
    if names or axis is REQUIRED or index is REQUIRED or source is REQUIRED:
        axis, index, source = renamed(self.index_copy, names, axis=axis, index=index, source=source)
    if not self.ndim:
        return self.unsqueeze(0).index_copy(axis, index, source).squeeze(0)
    return self.index_put(_axis_index(self, axis, index), source)


def index_fill(
    self: Tensor,
    axis: int = REQUIRED,
    index: Tensor = REQUIRED,
    value: ConstType = REQUIRED,
    **names: Unpack[AxisNames],
) -> Tensor:
    """Return this with `value` in the slices that `index` names.

    Raises:
        AxisError: the axis does not exist.
        DtypeError: `index` holds no integers, or this dtype does not hold `value`.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).index_fill(1, Tensor([-1]), 0).tolist()
        [[1, 0], [3, 0]]
    """
    if names or axis is REQUIRED or index is REQUIRED or value is REQUIRED:
        axis, index, value = renamed(self.index_fill, names, axis=axis, index=index, value=value)
    if not self.ndim:
        return self.unsqueeze(0).index_fill(axis, index, value).squeeze(0)
    return self.index_put(_axis_index(self, axis, index), value)


def _axis_index(x: Tensor, axis: int, index: Tensor) -> tuple[Any, ...]:
    check_index(x, index)
    return (*[slice(None)] * one_axis(axis, x.ndim), index)


def scatter_add(
    self: Tensor,
    axis: int = REQUIRED,
    index: Tensor = REQUIRED,
    src: Tensor | ConstType = REQUIRED,
    **names: Unpack[AxisNames],
) -> Tensor:
    """Return `scatter_reduce(axis, index, src, "sum")`.

    Example:
        >>> Tensor([1, 1]).scatter_add(0, Tensor([0, 0]), Tensor([5, 6])).tolist()
        [12, 1]
    """
    if names or axis is REQUIRED or index is REQUIRED or src is REQUIRED:
        axis, index, src = renamed(self.scatter_add, names, axis=axis, index=index, src=src)
    return self.scatter_reduce(axis, index, src, "sum")


def truth_of(item: Any) -> bool:
    """Return the truth that an item of an index is, which a tensor may hold."""
    return item if isinstance(item, bool) else bool(item.item())


def _find_true(mask: Tensor) -> list[UOp]:
    positions = mask.nonzero()
    return [interval(positions, 1, axis, axis + 1).squeeze(1)._graph for axis in range(mask.ndim)]


def is_part(item: Any) -> bool:
    """Say whether an index keeps only part of an axis, whatever the elements."""
    if isinstance(item, slice):
        return item != slice(None)  # pyright: ignore[reportUnknownVariableType]
    is_named = isinstance(item, TensorBase) or is_sequence(item)
    return item is not Ellipsis and hasattr(item, "__index__") and not is_named


def __setitem__(self: Tensor, index: Any, value: Tensor | ConstType | list[Any]) -> None:
    """Write `value`, broadcast, into the part that `x[index]` reads.

    Of several writes to one element the last wins; positions out of range write nothing. Where a mask is
    the only tensor in the index, and all that it picks gets the same, it is not computed early: so that
    goes inside a jitted function. See `assign`.

    Raises:
        AxisError: too many indices, or an integer, also one of an array or a list, out of range.
        JitError: inside a jitted function, a mask of whose count the value depends.
        ShapeError: the value does not broadcast to the part.
        DtypeError: the value has another dtype.
        ViewError: elements of this tensor share memory, because it was expanded.
        GradientError: this tensor was computed from tensors that require a gradient.

    Example:
        >>> t = Tensor([1, 2, 3])
        >>> t[1:] = 0
        >>> t.tolist()
        [1, 0, 0]
    """
    check_writable(self)
    added, index = split_truths(index, self.ndim, partial(index_from, self), truth_of)
    if added:
        with_axes(self, added)[index] = value
        return
    if has_tensors(index):
        _set_by_tensors(self, index, value)
        return
    cuts = parse_index(index, self.shape)
    new = assignable_graph(self, _as_value(self, value), cuts.shape())
    for piece, bounds in whole_steps(cuts):
        u = self.uop
        write_part(self, path_between(cut_out(u, piece), u), new.shrink(bounds))


def _set_by_tensors(x: Tensor, index: Any, value: Any) -> None:
    """Write through an index with tensors, by rewriting its whole view."""
    items = index_items(x, index)
    new = _as_value(x, value)
    masked = masked_of(items, x.shape)
    if masked is not None:
        view = x[masked.basic]
        if masked.takes(new.shape, view.shape):
            # nobody needs to know how many there are
            alike = new.reshape(masked.without_count(new.shape, view.shape))
            fitted = assignable_graph(x, alike, masked.rest(view.shape))
            chosen = masked.chosen(masked.spread(fitted, view.shape), view._graph)
            x[masked.basic] = x._make(chosen, x._device)
            return
    plan = index_plan(x, tuple(items))
    view = x[plan.basic]
    fitted = assignable_graph(x, new, plan.shape(view.shape))
    x[plan.basic] = x._make(plan.written(view._graph, fitted), x._device)


def _as_value(x: Tensor, value: Any) -> Tensor:
    if isinstance(value, TensorBase):
        return value  # pyright: ignore[reportReturnType]
    if isinstance(value, (bool, int, float)):
        return x._make(x._const(value), x._device)
    return x._from_host(value, x.dtype)
