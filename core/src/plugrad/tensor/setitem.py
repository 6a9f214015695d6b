"""`x[...] = value`: write into the part of a tensor that an index names."""

from typing import Any, Self

from plugrad.dtype import ConstType, is_bool
from plugrad.tensor.advanced import AdvancedIndexingMixin
from plugrad.tensor.base import TensorBase
from plugrad.tensor.cell import path_between
from plugrad.tensor.indexing import cut_out, parse_index, whole_steps
from plugrad.tensor.positions import has_tensors, without_truths
from plugrad.tensor.shapes import Shape


class SetItemMixin(AdvancedIndexingMixin):
    """Writing by positions, slices and masks."""

    __slots__ = ()

    def __setitem__(self, index: Any, value: "Self | ConstType | list[Any]") -> None:
        """Write `value`, broadcast, into part of this tensor: what `x[index]` reads.

        Of several writes to one element the last wins; positions out of range write nothing. See `assign`.

        Raises:
            AxisError: too many indices, or an integer out of range.
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
        self._check_writable()
        added, index = without_truths(index, self.ndim, self._index_from, self._truth_of)
        if added:
            self._with_axes(added)[index] = value
            return
        if has_tensors(index):
            self._set_named(index, value)
            return
        cuts = parse_index(index, self.shape)
        new = self._assignable(value, cuts.shape())
        for piece, bounds in whole_steps(cuts, self.shape):
            u = self.uop
            self._write(path_between(cut_out(u, piece), u), new.shrink(bounds))

    def _set_named(self, index: Any, value: Any) -> None:
        """Write into the elements that an index with tensors names, by writing all of its view anew."""
        if _is_mask(index, self.shape) and isinstance(value, (bool, int, float)):
            # nobody needs to know how many there are
            self.assign(index.where(self._like(self._const(value)), self))
            return
        plan = self._plan(index)
        view = self[plan.basic]
        new = self._assignable(value, plan.shape(view.shape))
        self[plan.basic] = self._make(plan.written(view._graph, new, self._device), self._device)


def _is_mask(index: Any, shape: Shape) -> bool:
    return isinstance(index, TensorBase) and is_bool(index.dtype) and index.shape == shape
