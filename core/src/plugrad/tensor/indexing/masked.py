"""Masked writes as a choice, which needs no count of the chosen elements."""

from collections.abc import Sequence
from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import is_bool
from plugrad.tensor.base import TensorBase
from plugrad.tensor.indexing.positions import HostPositions
from plugrad.tensor.shapes import Shape
from plugrad.uop import UOp


@frozen
class Masked:
    """An index with one mask, and no other tensor.

    Attributes:
        basic: the rest of the index: integers, slices and Nones, whole slices where the mask stands.
        mask: where it holds.
        axis: the first axis of that view that the mask stands for.
        front: where the one axis of all that it picks stands in the result.
    """

    basic: tuple[Any, ...]
    mask: UOp
    axis: int
    front: int

    def rest(self, view: Shape) -> Shape:
        """Return the axes of the view that are not masked."""
        return (*view[: self.axis], *view[self.axis + len(self.mask.shape) :])

    def takes(self, value: Shape, view: Shape) -> bool:
        """Say whether a value of this shape broadcasts over the elements of the mask."""
        at = self._place_of_count(value, view)
        return at < 0 or value[at] == 1

    def without_count(self, value: Shape, view: Shape) -> Shape:
        """Return the shape of such a value without the axis of masked elements."""
        at = self._place_of_count(value, view)
        return value if at < 0 else (*value[:at], *value[at + 1 :])

    def _place_of_count(self, value: Shape, view: Shape) -> int:
        behind = len(self.rest(view)) - self.front
        return len(value) - behind - 1

    def spread(self, value: UOp, view: Shape) -> UOp:
        """Return a value, of the shape of `rest`, for each element of the view."""
        before, behind = value.shape[: self.axis], value.shape[self.axis :]
        return value.reshape((*before, *(1,) * len(self.mask.shape), *behind)).expand(view)

    def chosen(self, new: UOp, view: UOp) -> UOp:
        """Return the new values where the mask holds, and the view elsewhere."""
        behind = len(view.shape) - self.axis - len(self.mask.shape)
        holds = self.mask.reshape((*(1,) * self.axis, *self.mask.shape, *(1,) * behind))
        return holds.expand(view.shape).where(new, view)


def masked_of(items: Sequence[Any], shape: Shape) -> Masked | None:
    """Parse an index whose only tensor is a mask, else return None."""
    tensors = [item for item in items if isinstance(item, (TensorBase, HostPositions))]
    mask = tensors[0] if len(tensors) == 1 else None
    if not isinstance(mask, TensorBase) or not is_bool(mask.dtype):
        return None
    basic: list[Any] = []
    picking: list[tuple[int, int]] = []  # place among the items, axis of the view
    axis = kept = first = 0
    for place, item in enumerate(items):
        if item is Ellipsis:
            continue
        if item is mask:
            if mask.shape != shape[axis : axis + mask.ndim]:
                return None
            picking.append((place, kept))
            first = kept
            basic += [slice(None)] * mask.ndim
            kept += mask.ndim
            axis += mask.ndim
            continue
        basic.append(item)
        axis += item is not None
        if item is None or isinstance(item, slice):
            kept += 1
        else:
            picking.append((place, kept))
    together = picking[-1][0] - picking[0][0] < len(picking)
    return Masked(tuple(basic), mask.uop, first, picking[0][1] if together else 0)
