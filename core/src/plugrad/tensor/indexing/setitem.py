"""`x[...] = value`: write into the part of a tensor that an index names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from plugrad.dtype import ConstType
from plugrad.engine.view_path import path_between
from plugrad.tensor.assign import assignable_graph, check_writable, write_part
from plugrad.tensor.base import TensorBase
from plugrad.tensor.indexing.advanced import index_from, index_items, index_plan, truth_of, with_axes
from plugrad.tensor.indexing.indexing import cut_out, parse_index, whole_steps
from plugrad.tensor.indexing.masked import masked_of
from plugrad.tensor.indexing.positions import has_tensors, split_truths

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


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
    for piece, bounds in whole_steps(cuts, self.shape):
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
