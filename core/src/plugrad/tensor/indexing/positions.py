"""Indexing by tensors mixed with integers, slices, `...` and None, by NumPy's rules.

Integers beside tensors are tensors of shape (). All tensors broadcast; their common axes stand where the
first of them stood, or in front where a slice, `...` or None separates them.
"""

from collections.abc import Callable, Sequence
from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import dtypes, is_bool, is_float, is_int, sum_acc_dtype
from plugrad.errors import ShapeError
from plugrad.tensor.base import TensorBase
from plugrad.tensor.dispatch import OnGrids
from plugrad.tensor.host.host_data import flatten
from plugrad.tensor.indexing.indexing import NoIndexError, expand_ellipsis
from plugrad.tensor.lookup import check_inside, counted, from_front, pick_first, position_dtype
from plugrad.tensor.shapes import Dim, Shape, broadcast_shapes, expanded, is_sequence, product, show
from plugrad.tensor.sort.row_utils import bit_numbers
from plugrad.tensor.sort.sorted_scatter import last_of_runs, totals_of_runs
from plugrad.uop import Ops, UOp

# Up to so many comparisons, a grid compares all places with all writes in less time than it sorts the writes.
_FEW = 1 << 22


def has_tensors(index: Any) -> bool:
    """Say whether an index has tensors, arrays or lists in it."""
    return any([isinstance(item, (TensorBase, HostPositions)) or _is_data(item) for item in as_items(index)])


def as_items(index: Any) -> list[Any]:
    """Return the items of an index."""
    return [*index] if isinstance(index, tuple) else [index]  # pyright: ignore[reportUnknownVariableType]


def _is_data(item: Any) -> bool:
    return is_sequence(item) and not isinstance(item, TensorBase)


@frozen
class HostPositions:
    """Positions from an array or list, whose minimum and maximum are known."""

    tensor: Any
    least: int
    greatest: int


def is_truth(item: Any) -> bool:
    """Say whether an item of an index is a bool of shape ()."""
    if isinstance(item, TensorBase):
        return not item.ndim and is_bool(item.dtype)
    return isinstance(item, bool) or (str(getattr(item, "dtype", "")) == "bool" and not item.ndim)


def split_truths(
    index: Any, ndim: int, to_tensor: Callable[[Any], Any], read: Callable[[Any], bool]
) -> tuple[list[int], tuple[Any, ...]]:
    """Return the axes that bools of shape () add to `x`, and the index without them.

    A bool points along no axis of `x`, but along one that is added for it: at its only place, or at none.

    Args:
        index: an index.
        ndim: the number of axes of `x`.
        to_tensor: makes a tensor of a list or an array.
        read: gives the value of a bool.

    Example:
        >>> split_truths((slice(None), True), 2, Tensor, bool)
        ([1], (slice(None, None, None), [0]))
    """
    items = as_items(index)
    if not any(map(is_truth, items)):
        return [], tuple(items)
    items = [item if is_truth(item) else _as_item(item, to_tensor) for item in items]
    given = sum(0 if is_truth(item) else _axes_of(item) for item in items)
    added: list[int] = []
    out: list[Any] = []
    axis = 0
    for item in items:
        if is_truth(item):
            added.append(axis)
            axis += 1
            out.append([0] if read(item) else [])
            continue
        axis += ndim - given if item is Ellipsis else _axes_of(item)
        out.append(item)
    return added, tuple(out)


def _as_item(item: Any, to_tensor: Callable[[Any], Any]) -> Any:
    if not _is_data(item):
        return item
    tensor = to_tensor(item)
    if not is_int(tensor.dtype) or not tensor.numel():
        return tensor
    if isinstance(item, (tuple, list, range)):
        _, numbers = flatten(tuple(item))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return HostPositions(tensor, min(numbers), max(numbers))
    return HostPositions(tensor, int(item.min()), int(item.max()))


@frozen
class IndexPlan:
    """An index with tensors, understood.

    Attributes:
        basic: the slices and Nones of the index, whole slices where tensors stand: an index of views.
        axes: the axes of that view that tensors point along.
        places: the position on those axes, joined into one, of each element: the shape of the tensors.
        joined: the number of elements of those axes.
        front: where the tensors' axes stand in the result.
    """

    basic: tuple[Any, ...]
    axes: tuple[int, ...]
    places: UOp
    joined: Any
    front: int

    def rows(self, view: UOp) -> UOp:
        """Return the view with the axes of tensors joined, in front: (joined, *rest)."""
        rest = [a for a in range(len(view.shape)) if a not in self.axes]
        return view.permute((*self.axes, *rest)).reshape((self.joined, *[view.shape[a] for a in rest]))

    def picked(self, view: UOp) -> UOp:
        """Return the elements that the index names."""
        return pick_first(self.rows(view), self.places, self.front)

    def shape(self, view: Shape) -> Shape:
        """Return the shape of the result, for a view of shape `view`."""
        rest = [size for axis, size in enumerate(view) if axis not in self.axes]
        return (*rest[: self.front], *self.places.shape, *rest[self.front :])

    def written(self, view: UOp, value: UOp) -> UOp:
        """Write `value` where the index names; the last write wins."""
        writes = product(self.places.shape)
        if not writes:
            return view
        rows = self.rows(view)
        rest = rows.shape[1:]
        values = self._by_place(value)
        last = _last_writes(self.places.reshape((writes,)), self.joined).contiguous()
        is_written = expanded((last > 0).reshape((self.joined, *(1,) * len(rest))), rows.shape)
        return self._restore_view(is_written.where(pick_first(values, last - 1), rows), view)

    def added(self, view: UOp, value: UOp) -> UOp:
        """Add `value` each time the index names an element."""
        writes = product(self.places.shape)
        if not writes or not self.joined:
            return view
        rows = self.rows(view)
        wide = sum_acc_dtype(view.dtype) if is_float(view.dtype) else view.dtype
        values = self._by_place(value).cast(wide)
        places = self.places.reshape((writes,))
        shape = (self.joined, *values.shape)
        here = counted(self.joined, self.places.dtype, shape[:2], 0)
        meets = here.eq(places.reshape((1, writes)).expand(shape[:2]))
        meets = meets.reshape((*shape[:2], *(1,) * (len(shape) - 2))).expand(shape)
        each = values.reshape((1, *values.shape)).expand(shape)
        total = meets.where(each, each.const_like(0)).reduce_axis(Ops.ADD, (1,)).reshape(rows.shape)
        if _is_large(self.joined, writes):
            total = total.dispatch(OnGrids(totals_of_runs, (self.joined,)), places, values, bit_numbers())
        return self._restore_view((rows.cast(wide) + total).cast(view.dtype), view)

    def _by_place(self, value: UOp) -> UOp:
        """Return a value of the result's shape as one row for each place: (writes, *rest)."""
        count = len(self.places.shape)
        order = (
            *range(self.front, self.front + count),
            *range(self.front),
            *range(self.front + count, len(value.shape)),
        )
        moved = value.permute(order)
        return moved.reshape((product(self.places.shape), *moved.shape[count:]))

    def _restore_view(self, out: UOp, view: UOp) -> UOp:
        """Return rows (joined, *rest) in the order of the view's axes."""
        others = [a for a in range(len(view.shape)) if a not in self.axes]
        moved = (*self.axes, *others)
        out = out.reshape(tuple(view.shape[a] for a in moved))
        return out.permute(tuple(sorted(range(len(moved)), key=moved.__getitem__)))


def _is_large(size: Dim, writes: Dim) -> bool:
    """Say whether comparing all places with all writes costs more than sorting the writes."""
    return isinstance(size, int) and isinstance(writes, int) and size * writes > _FEW and writes < 1 << 31


def _last_writes(places: UOp, size: Dim) -> UOp:
    """Return 1 + the number of the last write to each position, or 0: (m,) -> (size,)."""
    (writes,) = places.shape
    shape = (size, writes)
    meets = counted(size, places.dtype, shape, 0).eq(places.reshape((1, writes)).expand(shape))
    numbers = counted(writes, position_dtype(writes), shape, 1) + 1
    last = meets.where(numbers, numbers.const_like(0)).reduce_axis(Ops.MAX, (1,)).reshape((size,))
    if not isinstance(size, int) or not _is_large(size, writes):
        return last
    return last.dispatch(OnGrids(last_of_runs, (size,)), places, bit_numbers())


def plan_of(
    index: Any, shape: Shape, to_tensor: Callable[[Any], Any], find_true: Callable[[Any], Sequence[UOp]]
) -> IndexPlan:
    """Plan `x[index]` for an `x` of `shape`.

    Args:
        index: has tensors in it.
        shape: of what is indexed.
        to_tensor: makes a tensor of a list or an array.
        find_true: gives the positions where a mask holds, one node for each of its axes.
    """
    items = parse_items(index, shape, to_tensor)
    basic: list[Any] = []
    tensors: list[tuple[int, UOp, int]] = []  # place among the items, positions, axis of the view
    sizes: list[Dim] = []
    of_the_host: list[tuple[HostPositions, int]] = []
    axis = 0
    for place, item in enumerate(items):
        if item is Ellipsis:
            continue
        if item is None or isinstance(item, slice):
            axis += item is not None
            basic.append(item)
            continue
        if isinstance(item, HostPositions):
            of_the_host.append((item, axis))
        for part in _positions(item, shape, axis, find_true):
            size: Any = shape[axis]
            tensors.append((place, part, len(basic)))
            sizes.append(size)
            basic.append(slice(None))
            axis += 1
    places = [place for place, _, _ in tensors]
    together = places[-1] - places[0] < len(set(places))
    axes = tuple(view_axis for _, _, view_axis in tensors)
    joined = _flatten_positions([part for _, part, _ in tensors], sizes)
    # as in NumPy, where nothing is named, nothing is out of range
    for item, axis in of_the_host if 0 not in joined.shape else ():
        size = shape[axis]
        if isinstance(size, int):
            check_inside(item.least, axis, size)
            check_inside(item.greatest, axis, size)
    return IndexPlan(tuple(basic), axes, joined, product(sizes), axes[0] if together else 0)


def parse_items(index: Any, shape: Shape, to_tensor: Callable[[Any], Any]) -> list[Any]:
    """Return an index as items for each axis, data as tensors, `...` as slices."""
    items = [_as_item(item, to_tensor) for item in as_items(index)]
    given = sum(map(_axes_of, items))
    expanded_items = expand_ellipsis(items, given, shape)
    # a `...` that stands for no axis separates tensors all the same
    return items if given == len(shape) else expanded_items


def _axes_of(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, HostPositions):
        return 1
    is_mask = (
        is_bool(item.dtype) if isinstance(item, TensorBase) else str(getattr(item, "dtype", "")) == "bool"
    )
    return item.ndim if is_mask else 1


def _positions(item: Any, shape: Shape, axis: int, find_true: Callable[[Any], Sequence[UOp]]) -> list[UOp]:
    """Return the positions of one item on the axes from `axis` on, all non-negative."""
    size: Any = shape[axis] if axis < len(shape) else 0
    if isinstance(item, HostPositions):
        item = item.tensor
    if isinstance(item, TensorBase):
        if is_bool(item.dtype):
            covered = shape[axis : axis + item.ndim]
            if item.shape != covered:
                raise ShapeError(
                    f"a mask of shape {show(item.shape)} for axes of shape {show(covered)}. They must be "
                    "equal; broadcast the mask first: mask.expand(...)."
                )
            return [*find_true(item)]
        if not is_int(item.dtype):
            raise NoIndexError(
                f"cannot index axis {axis} with a tensor of {item.dtype.name}. Use integers or bools."
            )
        return [from_front(item.uop, size)]
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise NoIndexError(
            f"cannot index axis {axis} with {item!r} ({type(item).__name__}). Use integers, slices, `...`, "
            "None, or tensors of integers or bools."
        )
    number = item.__index__()
    if isinstance(size, UOp):
        place = size + number if number < 0 else UOp.const(dtypes.index, number)
        return [place.cast(position_dtype(size))]
    check_inside(number, axis, size)
    return [UOp.const(position_dtype(size), number % size)]


def _flatten_positions(parts: list[UOp], sizes: list[Dim]) -> UOp:
    """Return positions on several axes as positions on one, -1 for those outside."""
    if len(parts) == 1:
        return parts[0]
    shape = broadcast_shapes(*[part.shape for part in parts], what="index")
    dtype = position_dtype(product(sizes))
    if any(part.dtype.itemsize == 8 for part in parts):
        dtype = dtypes.int64
    out = UOp.const(dtype, 0)
    inside: UOp | None = None
    for part, size in zip(parts, sizes, strict=True):
        position = (part if part.shape == () else expanded(part, shape)).cast(dtype)
        count = UOp.const(dtype, size) if isinstance(size, int) else size.cast(dtype)
        out = out * count + position
        within = ~(position < 0) & (position < count)
        inside = within if inside is None else inside & within
    assert inside is not None, "an index with tensors has a tensor"
    out = inside.where(out, out.const_like(-1))
    return out if out.shape == shape else expanded(out, shape)
