"""Reshape, permute, expand, pad, shrink, flip, and what is made of them: views, which cost nothing."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

from plugrad.dtype import ConstType, dtypes
from plugrad.errors import DtypeError, ShapeError
from plugrad.tensor.base import promoted
from plugrad.tensor.conversion import ConversionMixin
from plugrad.tensor.shapes import (
    Axes,
    Dim,
    Shape,
    as_shape,
    check_sizes,
    expanded,
    is_static,
    one_axis,
    product,
    show,
    some_axes,
)
from plugrad.uop.shape import add_sizes
from plugrad.uop.uop import UOp


class MovementMixin(ConversionMixin):
    """Moving elements around, and joining tensors."""

    __slots__ = ()

    def reshape(self, *shape: Dim | Sequence[Dim]) -> Self:
        """Return the same elements, in row-major order, in another shape. One size may be -1.

        Raises:
            ShapeError: the number of elements differs.

        Example:
            >>> Tensor.arange(6).reshape(2, -1).shape
            (2, 3)
        """
        wanted = as_shape(shape, "reshape")
        return self._like(self._graph.reshape(self._complete(wanted)))

    def _complete(self, wanted: Shape) -> Shape:
        """Return `wanted` with its -1 replaced, if it has as many elements as this tensor."""
        unknown = [axis for axis, size in enumerate(wanted) if isinstance(size, int) and size == -1]
        if len(unknown) > 1:
            raise ShapeError(f"cannot reshape {show(self.shape)} to {show(wanted)}: only one size may be -1.")
        known = product(size for axis, size in enumerate(wanted) if axis not in unknown)
        count = product(self.shape)
        if unknown:
            if isinstance(known, int) and (known == 0 or (isinstance(count, int) and count % known)):
                raise ShapeError(
                    f"cannot reshape {show(self.shape)} to {show(wanted)}: {count} elements do not divide "
                    f"into groups of {known}. Choose sizes whose product divides {count}."
                )
            axis = unknown[0]
            wanted = (*wanted[:axis], _quotient(count, known), *wanted[axis + 1 :])
        elif isinstance(count, int) and isinstance(known, int) and count != known:
            raise ShapeError(
                f"cannot reshape {show(self.shape)} to {show(wanted)}: {count} elements do not fit {known}. "
                f"Pass -1 for one dimension or a shape with {count} elements."
            )
        return check_sizes(wanted, "reshape")

    def view(self, *shape: Dim | Sequence[Dim]) -> Self:
        """Return `reshape(*shape)`."""
        return self.reshape(*shape)

    def permute(self, *axes: int | Sequence[int]) -> Self:
        """Return this with axis `axes[i]` in place `i`.

        Raises:
            AxisError: an axis does not exist, or comes twice.
            ShapeError: not every axis is named.

        Example:
            >>> Tensor.zeros(2, 3, 4).permute(2, 0, 1).shape
            (4, 2, 3)
        """
        given: Any = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        if len(given) != self.ndim:
            raise ShapeError(
                f"permute: {len(given)} axes {tuple(given)} for shape {show(self.shape)}. Name each of its "
                f"{self.ndim} axes once."
            )
        some_axes(tuple(given), self.ndim, "permute")
        return self._like(
            self._graph.permute(tuple([one_axis(axis, self.ndim, "permute") for axis in given]))
        )

    def transpose(self, axis1: int = 1, axis2: int = 0) -> Self:
        """Return this with two axes exchanged.

        Raises:
            AxisError: one of them does not exist.

        Example:
            >>> Tensor.zeros(2, 3, 4).transpose(1, 2).shape
            (2, 4, 3)
        """
        order = list(range(self.ndim))
        first, second = one_axis(axis1, self.ndim, "transpose"), one_axis(axis2, self.ndim, "transpose")
        order[first], order[second] = second, first
        return self._like(self._graph.permute(tuple(order)))

    @property
    def T(self) -> Self:
        """This with all axes in reverse order."""
        return self._like(self._graph.permute(tuple(range(self.ndim))[::-1]))

    def expand(self, *shape: Dim | Sequence[Dim]) -> Self:
        """Return this broadcast to `shape`: axes of size 1 are repeated; -1 keeps a size.

        Raises:
            ShapeError: an axis has another size than 1 and the one asked for.

        Example:
            >>> Tensor([[1], [2]]).expand(2, 3).tolist()
            [[1, 1, 1], [2, 2, 2]]
        """
        wanted = as_shape(shape, "expand")
        missing = len(wanted) - self.ndim
        if missing < 0:
            raise ShapeError(
                f"cannot expand {show(self.shape)} to {show(wanted)}: that has fewer axes. Reshape or "
                "reduce first."
            )
        have = (1,) * missing + self.shape
        full = tuple(h if isinstance(w, int) and w == -1 else w for h, w in zip(have, wanted, strict=True))
        for h, w in zip(have, full, strict=True):
            if h is not w and h != w and not (isinstance(h, int) and h == 1):
                raise ShapeError(
                    f"cannot expand {show(self.shape)} to {show(wanted)}: only axes of size 1 expand, "
                    "counted from the last axis. Reshape so that those axes have size 1."
                )
        return self._like(expanded(self._graph, check_sizes(full, "expand")))

    def shrink(self, bounds: "Sequence[tuple[Dim, Dim] | None]") -> Self:
        """Return the half-open interval `(begin, end)` of each axis; None keeps an axis whole.

        Raises:
            ShapeError: there is not one interval for each axis, or one leaves the tensor.

        Example:
            >>> Tensor.arange(5).shrink([(1, 3)]).tolist()
            [1, 2]
        """
        if len(bounds) != self.ndim:
            raise ShapeError(
                f"shrink: {len(bounds)} intervals for shape {show(self.shape)}. Give one for each of "
                f"{self.ndim} axes."
            )
        pairs = [
            (0, size) if pair is None else (pair[0], pair[1])
            for pair, size in zip(bounds, self.shape, strict=True)
        ]
        for axis, ((begin, end), size) in enumerate(zip(pairs, self.shape, strict=True)):
            known: list[Any] = [0, begin, end, size]
            if is_static(known) and known != sorted(known):
                raise ShapeError(
                    f"shrink: [{begin}, {end}) of axis {axis} is no part of [0, {size}). "
                    "Intervals lie inside of the tensor."
                )
        return self._like(self._graph.shrink(pairs))

    def pad(self, padding: "Sequence[Dim] | Sequence[tuple[Dim, Dim] | None]", value: ConstType = 0) -> Self:
        """Return this with `value` around it. Negative widths cut away.

        Args:
            padding: a pair `(before, after)` for each axis (None: nothing), or numbers as in PyTorch:
                `(before, after)` of the last axis, then of the one before it, and so on.
            value: what to fill with.

        Raises:
            ShapeError: the number of widths does not fit.

        Example:
            >>> Tensor([1, 2]).pad((1, 2)).tolist()
            [0, 1, 2, 0, 0]
        """
        pairs = self._padding_pairs(padding)
        cut = [
            (max(-b, 0) if isinstance(b, int) else 0, max(-e, 0) if isinstance(e, int) else 0)
            for b, e in pairs
        ]
        if any(b or e for b, e in cut):
            kept: Any = [(b, size - e) for (b, e), size in zip(cut, self.shape, strict=True)]
            pairs = [
                (max(b, 0) if isinstance(b, int) else b, max(e, 0) if isinstance(e, int) else e)
                for b, e in pairs
            ]
            return self.shrink(kept).pad(pairs, value)
        padded = self._graph.pad(pairs)
        if value == 0:
            return self._like(padded)
        dtype = promoted([self, value])
        inside = UOp.const(dtypes.bool, True).reshape((1,) * self.ndim).expand(self.shape).pad(pairs)
        fill = self._const(value, dtype)
        return self._like(inside.where(padded.cast(dtype), fill))

    def _padding_pairs(self, padding: Any) -> list[tuple[Dim, Dim]]:
        if all(isinstance(width, (int, UOp)) for width in padding):
            if len(padding) % 2 or len(padding) > 2 * self.ndim:
                raise ShapeError(
                    f"pad: {len(padding)} widths {tuple(padding)} for shape {show(self.shape)}. Give "
                    f"(before, after) of the last axis, then of those before it: at most {2 * self.ndim} "
                    "numbers."
                )
            pairs = list(zip(padding[::2], padding[1::2], strict=True))[::-1]
            front: list[tuple[Dim, Dim]] = [(0, 0)] * (self.ndim - len(pairs))
            return front + pairs
        if len(padding) != self.ndim:
            raise ShapeError(
                f"pad: {len(padding)} pairs for shape {show(self.shape)}. Give one for each of {self.ndim} "
                "axes."
            )
        return [(0, 0) if pair is None else (pair[0], pair[1]) for pair in padding]

    def flip(self, *axis: int | Sequence[int]) -> Self:
        """Return this with the order of elements along the axes reversed.

        Raises:
            AxisError: an axis does not exist, or comes twice.

        Example:
            >>> Tensor([1, 2, 3]).flip(0).tolist()
            [3, 2, 1]
        """
        given: Any = axis[0] if len(axis) == 1 and not isinstance(axis[0], int) else axis
        return self._like(self._graph.flip(some_axes(tuple(given), self.ndim, "flip")))

    def squeeze(self, axis: Axes = None) -> Self:
        """Return this without axes of size 1: all of them, or those named that have size 1.

        Raises:
            AxisError: an axis does not exist.

        Example:
            >>> Tensor.zeros(1, 3, 1).squeeze().shape
            (3,)
        """
        chosen = some_axes(axis, self.ndim, "squeeze")
        kept = [size for i, size in enumerate(self.shape) if i not in chosen or not _equals(size, 1)]
        return self._like(self._graph.reshape(tuple(kept)))

    def unsqueeze(self, axis: int) -> Self:
        """Return this with a new axis of size 1 in place `axis`.

        Raises:
            AxisError: there is no such place.

        Example:
            >>> Tensor.zeros(3).unsqueeze(-1).shape
            (3, 1)
        """
        at = one_axis(axis, self.ndim + 1, "unsqueeze")
        return self._like(self._graph.reshape((*self.shape[:at], 1, *self.shape[at:])))

    def flatten(self, start_axis: int = 0, end_axis: int = -1) -> Self:
        """Return this with the axes from `start_axis` to `end_axis`, both included, joined into one.

        Raises:
            AxisError: an axis does not exist.
            ShapeError: the first comes after the last.

        Example:
            >>> Tensor.zeros(2, 3, 4).flatten(1).shape
            (2, 12)
        """
        if not self.ndim:
            return self._like(self._graph.reshape((1,)))
        first, last = one_axis(start_axis, self.ndim, "flatten"), one_axis(end_axis, self.ndim, "flatten")
        if first > last:
            raise ShapeError(f"flatten: axis {start_axis} comes after axis {end_axis}. Exchange them.")
        joined = product(self.shape[first : last + 1])
        return self._like(self._graph.reshape((*self.shape[:first], joined, *self.shape[last + 1 :])))

    def unflatten(self, axis: int, sizes: Sequence[Dim]) -> Self:
        """Return this with one axis split into `sizes`, one of which may be -1.

        Example:
            >>> Tensor.zeros(2, 12).unflatten(1, (3, -1)).shape
            (2, 3, 4)
        """
        at = one_axis(axis, self.ndim, "unflatten")
        return self.reshape(*self.shape[:at], *sizes, *self.shape[at + 1 :])

    def repeat(self, *repeats: int | Sequence[int]) -> Self:
        """Return this tiled `repeats[i]` times along axis `i`, aligned at the last axis.

        Raises:
            ShapeError: there are fewer numbers than axes, or one is negative.

        Example:
            >>> Tensor([1, 2]).repeat(2, 2).tolist()
            [[1, 2, 1, 2], [1, 2, 1, 2]]
        """
        times = check_sizes(as_shape(repeats, "repeat"), "repeat")
        if len(times) < self.ndim:
            raise ShapeError(
                f"repeat: {len(times)} numbers {show(times)} for shape {show(self.shape)}. Give at least "
                f"{self.ndim}."
            )
        shape = (1,) * (len(times) - self.ndim) + self.shape
        u = self._graph.reshape(tuple(size for dim in shape for size in (1, dim)))
        u = u.expand(tuple(size for pair in zip(times, shape, strict=True) for size in pair))
        return self._like(u.reshape(tuple(product(pair) for pair in zip(times, shape, strict=True))))

    def split(self, sizes: int | Sequence[int], axis: int = 0) -> tuple[Self, ...]:
        """Return parts along an axis: `sizes` elements each (fewer in the last), or the sizes listed.

        Raises:
            AxisError: the axis does not exist.
            ShapeError: the sizes do not add up.

        Example:
            >>> [part.tolist() for part in Tensor.arange(5).split(2)]
            [[0, 1], [2, 3], [4]]
        """
        at = one_axis(axis, self.ndim, "split")
        total: Any = self.static_shape("split")[at]
        if isinstance(sizes, int):
            if sizes <= 0:
                raise ShapeError(f"split: parts of {sizes} elements. Give a size of at least 1.")
            sizes = [min(sizes, total - begin) for begin in range(0, total, sizes)] or [0]
        if sum(sizes) != total:
            raise ShapeError(f"split: sizes {tuple(sizes)} add up to {sum(sizes)}, axis {axis} has {total}.")
        parts: list[Self] = []
        begin = 0
        for size in sizes:
            parts.append(self._interval(at, begin, begin + size))
            begin += size
        return tuple(parts)

    def chunk(self, chunks: int, axis: int = 0) -> tuple[Self, ...]:
        """Return at most `chunks` parts of equal size along an axis; the last may have fewer elements.

        Example:
            >>> [part.tolist() for part in Tensor.arange(5).chunk(2)]
            [[0, 1, 2], [3, 4]]
        """
        if chunks <= 0:
            raise ShapeError(f"chunk: {chunks} parts. Ask for at least 1.")
        total: Any = self.static_shape("chunk")[one_axis(axis, self.ndim, "chunk")]
        return self.split(max(-(-total // chunks), 1), axis)

    def _interval(self, axis: int, begin: Dim, end: Dim) -> Self:
        bounds: Any = [(0, size) for size in self.shape]
        bounds[axis] = (begin, end)
        return self._like(self._graph.shrink(bounds))

    def cat(self, *others: Self, axis: int = 0) -> Self:
        """Return tensors joined along an axis. Also `Tensor.cat(a, b, axis=1)`.

        Each element is one of the inputs' elements, bit for bit.

        Raises:
            AxisError: the axis does not exist.
            DtypeError: one of them is no tensor.
            ShapeError: other axes differ in size.

        Example:
            >>> Tensor([1, 2]).cat(Tensor([3])).tolist()
            [1, 2, 3]
        """
        parts = (self, *others)
        _check_tensors(parts, "cat")
        at = one_axis(axis, self.ndim, "cat")
        for part in others:
            if part.ndim != self.ndim or _without(part.shape, at) != _without(self.shape, at):
                raise ShapeError(
                    f"cat: shapes {' and '.join(show(p.shape) for p in parts)} differ in more than axis "
                    f"{axis}. Make the other axes equal first."
                )
        self._check_device(*others)
        if len(parts) == 1:
            return self._like(self._graph)
        dtype = promoted(parts)
        return self._like(_joined([part._graph.cast(dtype) for part in parts], at), *others)

    def stack(self, *others: Self, axis: int = 0) -> Self:
        """Return tensors of one shape joined along a new axis. Also `Tensor.stack(a, b, axis=1)`.

        Raises:
            DtypeError: one of them is no tensor.
            ShapeError: shapes differ.

        Example:
            >>> Tensor([1, 2]).stack(Tensor([3, 4])).tolist()
            [[1, 2], [3, 4]]
        """
        _check_tensors((self, *others), "stack")
        for other in others:
            if other.shape != self.shape:
                raise ShapeError(
                    f"stack: shapes {show(self.shape)} and {show(other.shape)} differ. Use cat, or make "
                    "them equal."
                )
        return self.unsqueeze(axis).cat(*[other.unsqueeze(axis) for other in others], axis=axis)

    def broadcast_to(self, *shape: Dim | Sequence[Dim]) -> Self:
        """Return `expand(*shape)`."""
        return self.expand(*shape)


def _check_tensors(parts: Iterable[object], what: str) -> None:
    for part in parts:
        if not isinstance(part, MovementMixin):
            raise DtypeError(
                f"{what} of {part!r} ({type(part).__name__}). Pass tensors, each as an argument of its own: "
                f"Tensor.{what}(*tensors)."
            )


def _joined(parts: list[UOp], axis: int) -> UOp:
    """Return nodes joined along an axis: a chain of choices by position, so that values are never added."""
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


def _equals(size: Dim, number: int) -> bool:
    return isinstance(size, int) and size == number


def _quotient(count: Any, known: Any) -> Any:
    if isinstance(count, UOp) and isinstance(known, UOp) and count is known:
        return 1
    return count // known
