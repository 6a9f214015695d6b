"""Basic indexing: integers, slices with steps, ellipsis, None; reading gives views, writing assigns."""

from typing import Any

from plugrad._frozen import frozen
from plugrad.errors import AxisError, DtypeError
from plugrad.tensor.base import TensorBase
from plugrad.tensor.lookup import check_inside
from plugrad.tensor.shapes import Dim, Shape, show
from plugrad.uop import UOp, add_sizes, greatest


@frozen
class AxisCut:
    """The part of one axis that an index keeps: every `step`-th element of `[begin, end)`.

    With `is_flipped` counted from the back; with `is_dropped` the axis, of one element, goes.
    """

    begin: Dim
    end: Dim
    step: int = 1
    is_flipped: bool = False
    is_dropped: bool = False

    @property
    def count(self) -> Any:
        """The number of elements that stay."""
        # v+2 - v is 2: an int wherever it can be, whatever the values of today
        size: Any = add_sizes(self.end, -self.begin)
        return size if self.step == 1 else -(-size // self.step)


@frozen
class Cuts:
    """A parsed index: a cut for each axis, and the axes of the result."""

    axes: tuple[AxisCut, ...]
    layout: tuple[int | None, ...]

    def shape(self) -> Shape:
        """Return the shape of the result."""
        return tuple([1 if axis is None else self.axes[axis].count for axis in self.layout])


def parse_index(index: Any, shape: Shape) -> Cuts:
    """Parse the index of `x[index]` for an `x` of `shape`."""
    items: list[Any] = [*index] if isinstance(index, tuple) else [index]  # pyright: ignore[reportUnknownVariableType]
    given = len([item for item in items if item is not None and item is not Ellipsis])
    items = expand_ellipsis(items, given, shape)
    cuts: list[AxisCut] = []
    layout: list[int | None] = []
    for item in items:
        if item is None:
            layout.append(None)
            continue
        axis = len(cuts)
        cut = _cut(item, axis, shape[axis])
        cuts.append(cut)
        if not cut.is_dropped:
            layout.append(axis)
    return Cuts(tuple(cuts), tuple(layout))


def expand_ellipsis(items: list[Any], given: int, shape: Shape) -> list[Any]:
    """Return the items of an index that name `given` axes, slices for all others."""
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise AxisError("an index has more than one `...`. Keep one; write `:` for the other axes.")
    if given > len(shape):
        raise AxisError(
            f"{given} indices for a tensor with {len(shape)} axes, shape {show(shape)}. Remove some."
        )
    at = dots[0] if dots else len(items)
    return [*items[:at], *[slice(None)] * (len(shape) - given), *items[at + 1 :]]


class NoIndexError(DtypeError, IndexError):
    """Error of an index that is no integer; also an IndexError, as in PyTorch."""


def _cut(item: Any, axis: int, size: Dim) -> AxisCut:
    if type(item) is int and type(size) is int:
        # the usual case, said shorter
        check_inside(item, axis, size)
        begin = item if item >= 0 else size + item
        return AxisCut(begin, begin + 1, is_dropped=True)
    if isinstance(item, slice):
        return _cut_slice(item, axis, size)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(item, UOp):
        begin = _bound(item, 0, size)
        return AxisCut(begin, begin + 1, is_dropped=True)
    if isinstance(item, (bool, type, TensorBase)) or not hasattr(item, "__index__"):
        raise NoIndexError(
            f"cannot index axis {axis} with {item!r:.200} ({type(item).__name__}). Use integers, slices, "
            "`...`, None, or lists, arrays and tensors of integers or bools."
        )
    number = item.__index__()
    if isinstance(size, int):
        check_inside(number, axis, size)
    begin = number if number >= 0 else size + number
    return AxisCut(begin, begin + 1, is_dropped=True)


def _cut_slice(item: Any, axis: int, size: Dim) -> AxisCut:
    if any([isinstance(x, UOp) for x in (item.start, item.stop, item.step, size)]):
        return _cut_symbolic(item, axis, size)
    try:
        begin, end, step = item.indices(size)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError) as error:
        raise AxisError(
            f"axis {axis}: {item} is no slice: {error}. Use integers, and a step other than 0."
        ) from error
    count = len(range(begin, end, step))
    # whole steps where the axis has room: then the cut is a view without padding
    if step > 0:
        return AxisCut(begin, max(begin, end) if begin + count * step > size else begin + count * step, step)
    # from begin down to end+1: the interval, then flipped, then stepped
    first = begin + 1 + count * step
    return AxisCut(begin + 1 - max(begin - end, 0) if first < 0 else first, begin + 1, -step, is_flipped=True)


def _cut_symbolic(item: Any, axis: int, size: Dim) -> AxisCut:
    step = 1 if item.step is None else item.step
    if isinstance(step, UOp) or not hasattr(step, "__index__") or not step.__index__():
        raise AxisError(f"axis {axis}: a slice with a step of {step!r:.60}. Use an integer other than 0.")
    step = step.__index__()
    if step > 0:
        begin, end = _bound(item.start, 0, size), _bound(item.stop, size, size)
    else:
        # from start down to stop, which is not among them
        begin = 0 if item.stop is None else add_sizes(_bound(item.stop, 0, size), 1)
        end = size if item.start is None else add_sizes(_bound(item.start, 0, size), 1)
    _check_inside(begin, end, axis, size)
    return AxisCut(begin, end, abs(step), is_flipped=step < 0)


def _check_inside(begin: Dim, end: Dim, axis: int, size: Dim) -> None:
    """Raise for a slice that leaves a symbolic axis at its present size."""
    first = begin if isinstance(begin, int) else begin.vmin
    last = end if isinstance(end, int) else end.vmax
    most = size if isinstance(size, int) else size.vmax
    if first < 0 or last > most:
        raise AxisError(
            f"axis {axis}: a slice of {first}..{last} of an axis of size {most}. One with a variable has to "
            "lie inside: bind it to another value."
        )


def _bound(value: Any, otherwise: Dim, size: Any) -> Any:
    if value is None:
        return otherwise
    if not isinstance(value, UOp):
        if not hasattr(value, "__index__"):
            raise AxisError(f"a slice with a bound of {value!r:.60}. Use integers and bound Variables.")
        value = value.__index__()
    # from the end, if for all values of its variables
    return add_sizes(size, value) if greatest(value) < 0 else value


def whole_steps(cuts: Cuts) -> list[tuple[Cuts, list[tuple[Dim, Dim]]]]:
    """Split an index into views without padding, each with its interval of the result's axes.

    The last step of a cut may stick out of the axis; that one element is cut alone.
    """
    pieces: list[tuple[AxisCut, ...]] = [()]
    bounds: list[list[tuple[Dim, Dim]]] = [[]]
    for cut in cuts.axes:
        parts = _whole_parts(cut)
        bounds = [[*before, interval] for before in bounds for _, interval in parts]
        pieces = [(*before, part) for before in pieces for part, _ in parts]
    return [
        (Cuts(axes, cuts.layout), [(0, 1) if axis is None else inside[axis] for axis in cuts.layout])
        for axes, inside in zip(pieces, bounds, strict=True)
    ]


def _whole_parts(cut: AxisCut) -> list[tuple[AxisCut, tuple[Dim, Dim]]]:
    count, step = cut.count, cut.step
    begin: Any = cut.begin
    end: Any = cut.end
    if step == 1 or (end - begin) % step == 0:
        return [(cut, (0, count))]
    whole = (count - 1) * step
    if cut.is_flipped:
        parts = (AxisCut(end - whole, end, step, True), AxisCut(end - whole - 1, end - whole))
    else:
        parts = (AxisCut(begin, begin + whole, step), AxisCut(begin + whole, begin + whole + 1))
    return [
        (part, (0, count - 1) if part is parts[0] else (count - 1, count)) for part in parts if part.count
    ]


def cut_out(u: UOp, cuts: Cuts) -> UOp:
    """Return the part of `u` that an index keeps, as movement ops only."""
    out = u.shrink([(cut.begin, cut.end) for cut in cuts.axes])
    out = out.flip(tuple([axis for axis, cut in enumerate(cuts.axes) if cut.is_flipped]))
    for axis, cut in enumerate(cuts.axes):
        if cut.step != 1:
            out = take_every(out, axis, cut.step)
    return out.reshape(cuts.shape())


def take_every(u: UOp, axis: int, step: int) -> UOp:
    """Return every `step`-th element of an axis, from the first on."""
    shape: Any = u.shape
    count = -(-shape[axis] // step)
    widths = [(0, 0)] * len(shape)
    widths[axis] = (0, count * step - shape[axis])
    split = (*shape[:axis], count, step, *shape[axis + 1 :])
    bounds = [(0, size) for size in split]
    bounds[axis + 1] = (0, 1)
    return u.pad(widths).reshape(split).shrink(bounds).reshape((*shape[:axis], count, *shape[axis + 1 :]))
