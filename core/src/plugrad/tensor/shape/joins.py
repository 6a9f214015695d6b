"""Tensors joined, and split into parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, cast

from plugrad.dtype import dtypes
from plugrad.engine.capture import note_size
from plugrad.errors import ShapeError
from plugrad.tensor.argument_checks import check_tensors
from plugrad.tensor.base import Tensor, TensorBase, promoted
from plugrad.tensor.keywords import REQUIRED, AxisNames, PartNames, RepeatNames, renamed
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import (
    Dim,
    Shape,
    as_int,
    as_shape,
    check_sizes,
    is_static,
    one_axis,
    product,
    several,
    shape_today,
    show,
    size_today,
)
from plugrad.uop import UOp, add_sizes, greatest, least


def joined_tensors(
    name: str, first: Any, others: tuple[Any, ...], axis: Any = None
) -> tuple[list[Tensor], Any]:
    """Return the tensors that the method `name` joins, and its axis.

    They are given one by one, `a.cat(b, axis=1)`, or as a list: `Tensor.cat([a, b], 1)`.
    """
    if not isinstance(first, (list, tuple)):
        check_tensors((first, *others), name)
        return [first, *others], axis
    given = cast("list[Any] | tuple[Any, ...]", first)
    if axis is not None and len(others) == 1 and not isinstance(others[0], TensorBase):
        if axis:
            raise TypeError(f"{name}() got its axis by position and by name.")
        (axis,), others = others, ()
    if not given:
        raise ShapeError(f"{name} of an empty {type(given).__name__}. Pass one tensor or more.")
    check_tensors((*given, *others), name)
    return [*given, *others], axis


def cat(self: Tensor, *others: Tensor, axis: int = 0, **names: Unpack[AxisNames]) -> Tensor:
    """Return tensors joined along an axis. Also `Tensor.cat(a, b, axis=1)` or `Tensor.cat([a, b], 1)`.

    Each element is one of the inputs' elements, bit for bit.

    Raises:
        AxisError: the axis does not exist.
        DtypeError: one of them is no tensor.
        ShapeError: other axes differ in size.

    Example:
        >>> Tensor([1, 2]).cat(Tensor([3])).tolist()
        [1, 2, 3]
    """
    if names:
        (axis,) = renamed(cat, names, axis=axis)
    parts, axis = joined_tensors("cat", self, others, axis)
    first, *rest = parts
    at = one_axis(axis, first.ndim)
    for part in rest:
        if part.ndim != first.ndim or _without(part.shape, at) != _without(first.shape, at):
            raise ShapeError(
                f"shapes {' and '.join(show(p.shape) for p in parts)} differ in more than axis "
                f"{axis}. Make the other axes equal first."
            )
    first._check_device(*rest)
    if not rest:
        return first._like(first._graph)
    dtype = promoted(parts)
    return first._like(_join([part._graph.cast(dtype) for part in parts], at), *rest)


def stack(self: Tensor, *others: Tensor, axis: int = 0, **names: Unpack[AxisNames]) -> Tensor:
    """Return tensors of one shape joined along a new axis. Also `Tensor.stack([a, b], 1)`.

    Raises:
        DtypeError: one of them is no tensor.
        ShapeError: shapes differ.

    Example:
        >>> Tensor([1, 2]).stack(Tensor([3, 4])).tolist()
        [[1, 2], [3, 4]]
    """
    if names:
        (axis,) = renamed(stack, names, axis=axis)
    (first, *rest), axis = joined_tensors("stack", self, others, axis)
    for other in rest:
        if other.shape != first.shape:
            raise ShapeError(
                f"shapes {show(first.shape)} and {show(other.shape)} differ. Use cat, or make them equal."
            )
    return first.unsqueeze(axis).cat(*[other.unsqueeze(axis) for other in rest], axis=axis)


def split(
    self: Tensor, sizes: int | Sequence[Dim] = REQUIRED, axis: int = 0, **names: Unpack[PartNames]
) -> tuple[Tensor, ...]:
    """Return parts along an axis: `sizes` elements each (fewer in the last), or those listed.

    Where their number varies with a symbolic axis, there are as many as today: of sizes that are numbers,
    and a replay with others is refused.

    Raises:
        ArgumentError: a size is no integer.
        AxisError: the axis does not exist.
        ShapeError: sizes do not add up, one is negative, or parts have none.

    Example:
        >>> [part.tolist() for part in Tensor.arange(5).split(2)]
        [[0, 1], [2, 3], [4]]
    """
    if names or sizes is REQUIRED:
        sizes, axis = renamed(self.split, names, sizes=sizes, axis=axis)
    at = one_axis(axis, self.ndim)
    total = self.shape[at]
    given = [size if isinstance(size, UOp) else as_int(size, "sizes") for size in several(sizes)]
    if hasattr(sizes, "__index__") and len(given) == 1:
        size: Any = given[0]
        if size < 0 or (total and not size):
            raise ShapeError(f"parts of {size} elements. Give a size of at least 1.")
        if isinstance(total, int):
            given = [min(size, total - begin) for begin in range(0, total, max(size, 1))] or [0]
        else:
            counts = {max(-(-n // size), 1) for n in (least(total), greatest(total))}
            if len(counts) > 1:
                return fix_size(self, at).split(size, at)
            given = _part_sizes(self, at, size, counts.pop())
    check_sizes(tuple(given))
    is_listed = is_static(given) and not isinstance(total, int)
    if is_listed and sum(map(size_today, given)) == size_today(total):
        return fix_size(self, at).split(given, at)
    if add_sizes(total, *[-size for size in given]) != 0:
        texts = [show((size,))[1:-2] for size in (add_sizes(*given), total)]
        raise ShapeError(f"sizes {show(given)} add up to {texts[0]}, axis {axis} has {texts[1]}.")
    parts: list[Tensor] = []
    begin: Dim = 0
    for size in given:
        end = add_sizes(begin, size)
        parts.append(interval(self, at, begin, end))
        begin = end
    return tuple(parts)


def chunk(self: Tensor, chunks: int, axis: int = 0, **names: Unpack[AxisNames]) -> tuple[Tensor, ...]:
    """Return at most `chunks` equal parts along an axis; the last may be smaller.

    An axis without elements gives `chunks` parts without any. Of a symbolic axis, see `split`.

    Raises:
        ArgumentError: `chunks` is no integer.
        AxisError: the axis does not exist.
        ShapeError: there is to be no part.

    Example:
        >>> [part.tolist() for part in Tensor.arange(5).chunk(2)]
        [[0, 1, 2], [3, 4]]
    """
    if names:
        (axis,) = renamed(self.chunk, names, axis=axis)
    count = as_int(chunks, "chunk: chunks")
    if count <= 0:
        raise ShapeError(f"{count} parts. Ask for at least 1.")
    at = one_axis(axis, self.ndim)
    total = self.shape[at]
    if isinstance(total, int):
        return self.split(-(-total // count) if total else [0] * count, axis)
    # beyond, there are always as many as asked for
    sizes = range(least(total), min(greatest(total), (count - 1) ** 2 + 1) + 1)
    counts = {-(-n // -(-n // count)) if n else count for n in sizes or (greatest(total),)}
    if len(counts) > 1:
        return fix_size(self, at).chunk(count, at)
    return self.split(_part_sizes(self, at, -(-total // count), counts.pop()), axis)


def _part_sizes(x: Tensor, axis: int, size: Dim, count: int) -> list[Dim]:
    """Return the sizes of parts of a symbolic axis, the rest in the last."""
    return [*[size] * (count - 1), add_sizes(x.shape[axis], -(size * (count - 1)))]


def equal_parts(tensor: Tensor, axis: int, count: int) -> tuple[Tensor, ...]:
    """Return equal parts of a symbolic axis; a replay checks that they are equal."""
    size: Any = tensor.shape[axis]
    before, after = tensor.shape[:axis], tensor.shape[axis + 1 :]
    x = tensor.reshape(*before, count, size // count, *after)
    part = (*before, size // count, *after)
    return tuple([interval(x, axis, i, i + 1).reshape(part) for i in range(count)])


def fix_size(x: Tensor, axis: int, what: str = "operation") -> Tensor:
    """Return this with the present size of a symbolic axis; other sizes refuse replay."""
    symbolic = x.shape[axis]
    if isinstance(symbolic, int):
        return x
    (size,) = shape_today((symbolic,), what)
    note_size(symbolic, size)
    return x.reshape(*x.shape[:axis], size, *x.shape[axis + 1 :])


def repeat(self: Tensor, *repeats: int | Sequence[int], **names: Unpack[RepeatNames]) -> Tensor:
    """Return this tiled `repeats[i]` times along axis `i`, aligned at the last axis.

    Raises:
        ShapeError: there are fewer numbers than axes, or one is negative.

    Example:
        >>> Tensor([1, 2]).repeat(2, 2).tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    if names:
        (repeats,) = renamed(self.repeat, names, repeats=repeats)
    times = check_sizes(as_shape(repeats))
    if len(times) < self.ndim:
        raise ShapeError(
            f"{len(times)} numbers {show(times)} for shape {show(self.shape)}. Give at least {self.ndim}."
        )
    shape = (1,) * (len(times) - self.ndim) + self.shape
    u = self._graph.reshape(tuple(size for dim in shape for size in (1, dim)))
    u = u.expand(tuple(size for pair in zip(times, shape, strict=True) for size in pair))
    return self._like(u.reshape(tuple(product(pair) for pair in zip(times, shape, strict=True))))


def _join(parts: list[UOp], axis: int) -> UOp:
    ends: list[Any] = []
    total: Any = 0
    for part in parts:
        total = add_sizes(total, part.shape[axis])
        ends.append(total)
    shape = (*parts[0].shape[:axis], total, *parts[0].shape[axis + 1 :])
    wide = dtypes.int32 if isinstance(total, int) and total < 1 << 31 else dtypes.int64
    position = UOp.iota(total, wide).reshape(tuple(s if i == axis else 1 for i, s in enumerate(shape)))
    position = position.expand(shape)
    out: UOp | None = None
    for part, end in reversed(list(zip(parts, ends, strict=True))):
        widths: list[tuple[Any, Any]] = [(0, 0)] * len(shape)
        widths[axis] = (add_sizes(end, -part.shape[axis]), add_sizes(total, -end))
        padded = part.pad(widths)
        limit = UOp.const(wide, end) if isinstance(end, int) else end.cast(wide)
        out = padded if out is None else (position < limit).where(padded, out)
    assert out is not None, "joining needs a part"
    return out


def _without(shape: Shape, axis: int) -> Shape:
    return shape[:axis] + shape[axis + 1 :]
