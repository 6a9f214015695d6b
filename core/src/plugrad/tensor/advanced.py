"""`x[...]` with tensors of positions and masks."""

from typing import Any, Self

from plugrad.dtype import dtypes
from plugrad.tensor.indexing import IndexingMixin
from plugrad.tensor.positions import Plan, has_tensors, plan_of
from plugrad.tensor.sampling import SamplingMixin
from plugrad.uop.uop import UOp


class AdvancedIndexingMixin(SamplingMixin, IndexingMixin):
    """Reading by positions and masks."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Self:
        """Return a view, or, with tensors in the index, the elements that they name.

        Integers drop an axis, slices keep part of it, None adds one, `...` skips some. Tensors of integers
        (also arrays and lists) broadcast and pick elements; negative ones count from the end, and those out
        of range give 0. A bool tensor picks where it holds: it is computed at once, because the count depends
        on it.

        Raises:
            AxisError: too many indices, or an integer out of range.
            DtypeError: an index of another type.
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
        if not has_tensors(index):
            return super().__getitem__(index)
        plan = self._plan(index)
        view = super().__getitem__(plan.basic)
        return self._with(plan.picked(view._graph), self._make(plan.places, self._device))

    def _plan(self, index: Any) -> Plan:
        return plan_of(index, self.static_shape("indexing with tensors"), self._index_from, self._find_true)

    def _index_from(self, data: Any) -> Self:
        found = self._from_host(data)
        # an empty list has no numbers to tell its type by
        return found if found.numel() else found.cast(dtypes.default_int)

    def _find_true(self, mask: Self) -> list[UOp]:
        positions = mask.nonzero()
        return [positions._interval(1, axis, axis + 1).squeeze(1)._graph for axis in range(mask.ndim)]
