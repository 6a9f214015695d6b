"""Views of memory as strides, so the host reads and writes them without a kernel."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from plugrad._util import numpy as np
from plugrad.dtype import DType
from plugrad.engine import storage
from plugrad.errors import ViewError
from plugrad.runtime.buffer import Buffer
from plugrad.tensor.shapes import is_static
from plugrad.uop import Ops, UOp, greatest
from plugrad.uop.shape import pairs_of

_IN_ORDER = frozenset({Ops.RESHAPE, Ops.BITCAST})
# A device copies what lies between the first and the last element: more than this many bytes only where at
# least one in `_LARGEST_SHARE` of them is asked for.
_ALWAYS_COPIED = 1 << 20
_LARGEST_SHARE = 4


class Strides(NamedTuple):
    """Position of the first element, and the distance to the next along each axis."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


def read_view(u: UOp) -> Buffer | bytes | None:
    """Return the elements that movement ops on a BUFFER show, in row-major order.

    They are a part of its memory where they lie there in this order.

    None: strides cannot express the view, or a device would have to copy much more than is asked for.
    """
    found = _strides_of(u)
    if found is None:
        return None
    base, view = found
    itemsize, count = u.dtype.itemsize, math.prod(view.shape)
    if _is_row_major(view):
        return storage.buffer_of(base).view(count, u.dtype, view.offset * itemsize)
    part, view = _part_of_memory(base, view, u.dtype)
    if part.nbytes > max(_ALWAYS_COPIED, _LARGEST_SHARE * count * itemsize):
        return None
    return _shown(part.snapshot(), view, u.dtype).tobytes()


def read_element(u: UOp) -> memoryview | None:
    """Return the only element that movement ops on a BUFFER show.

    None: strides cannot express the view.
    """
    itemsize = u.dtype.itemsize
    while u.op is Ops.RESHAPE:
        # it lies where it lies, in whatever shape
        u = u.src[0]
    if (found := _strides_of(u)) is None:
        return None
    base, view = found
    return storage.buffer_of(base).read(view.offset * itemsize, itemsize)


def lies_in_order(u: UOp) -> bool:
    """Say whether a view of a BUFFER is a part of it in row-major order."""
    found = _strides_of(u)
    return found is not None and _is_row_major(found[1])


def read_places(u: UOp, places: Sequence[tuple[int, ...]]) -> bytes | None:
    """Return the elements of a view at `places`, each read by itself.

    None: strides cannot express the view, or nothing was ever written there.
    """
    found = _strides_of(u)
    if found is None or (memory := storage.find_buffer(found[0])) is None:
        return None
    if (memory.base or memory).handle is None:
        return None
    _, view = found
    offsets = [view.offset + sum(map(operator.mul, place, view.strides)) for place in places]
    out: list[bytes] = []
    # neighbours in memory are read together: their offsets grow as their numbers do
    for _, run in itertools.groupby(enumerate(offsets), lambda pair: pair[1] - pair[0]):
        first, *rest = [offset for _, offset in run]
        out.append(bytes(memory.read(first * u.dtype.itemsize, (1 + len(rest)) * u.dtype.itemsize)))
    return b"".join(out)


def write_view(u: UOp, elements: memoryview) -> None:
    """Write elements, in row-major order, into a view of a BUFFER."""
    found = _strides_of(u)
    if found is None:
        raise ViewError(
            f"cannot write into this view of memory on {u.device}: its elements do not lie at equal "
            "distances. Write into a slice of the tensor, without reshape in between."
        )
    part, view = _part_of_memory(*found, u.dtype)
    if not _is_row_major(view):
        between = bytearray(part.as_memoryview())
        shown = _shown(memoryview(between), view, u.dtype)
        shown[...] = np.frombuffer(elements, shown.dtype).reshape(view.shape)
        elements = memoryview(between)
    part.copyin(elements)


def _part_of_memory(base: UOp, view: Strides, dtype: DType) -> tuple[Buffer, Strides]:
    """Return the smallest part of memory that has all elements, and the view of that."""
    reach = [stride * (size - 1) for size, stride in zip(view.shape, view.strides, strict=True)]
    first = view.offset + sum(step for step in reach if step < 0)
    count = sum(map(abs, reach)) + 1
    part = storage.buffer_of(base).view(count, dtype, first * dtype.itemsize)
    return part, view._replace(offset=view.offset - first)


def _shown(memory: memoryview, view: Strides, dtype: DType) -> np.typing.NDArray[np.void]:
    elements = np.frombuffer(memory, f"V{dtype.itemsize}")[view.offset :]
    strides = [stride * dtype.itemsize for stride in view.strides]
    return np.lib.stride_tricks.as_strided(elements, view.shape, strides)


def _strides_of(u: UOp) -> tuple[UOp, Strides] | None:
    """Return the BUFFER below fixed-size movement ops, and the strides of the view."""
    moves: list[UOp] = []
    while u.op is not Ops.BUFFER:
        if u.op in _MOVES and is_static(u.shape):
            moves.append(u)
        elif u.op is not Ops.BITCAST or u.src[0].dtype.itemsize != u.dtype.itemsize:
            return None
        u = u.src[0]
    shape: tuple[int, ...] = u.arg.shape
    view = Strides(shape, _row_major(shape), 0)
    for move in reversed(moves):
        if (moved := _MOVES[move.op](move, view)) is None:
            return None
        view = moved
    return u, view


@lru_cache(1024)
def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([math.prod(shape[axis + 1 :]) for axis in range(len(shape))])


def _is_row_major(view: Strides) -> bool:
    """Say whether the elements lie side by side, in row-major order."""
    expected = 1
    for size, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        # an axis of one element may have any stride
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def _reshaped(u: UOp, view: Strides) -> Strides | None:
    """Split and merge axes; None where a new axis would have no single stride."""
    shape: Any = u.shape
    # an axis of one element may have any stride
    old = [(size, stride) for size, stride in zip(view.shape, view.strides, strict=True) if size != 1]
    runs: list[tuple[int, int]] = []
    for size, stride in old:
        if runs and runs[-1][1] == stride * size:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    strides: list[int] = []
    rest, stride = runs.pop() if runs else (1, 1)
    for size in reversed(shape):
        if size == 1:
            strides.append(0)
            continue
        if rest == 1:
            rest, stride = runs.pop()
        if rest % size:
            return None
        strides.append(stride)
        rest, stride = rest // size, stride * size
    return Strides(shape, tuple(reversed(strides)), view.offset)


def _expanded(u: UOp, view: Strides) -> Strides:
    shape: Any = u.shape
    sizes = zip(shape, view.shape, view.strides, strict=True)
    return view._replace(shape=shape, strides=tuple([s if new == old else 0 for new, old, s in sizes]))


def _permuted(u: UOp, view: Strides) -> Strides:
    order: tuple[int, ...] = u.arg
    shape, strides = [view.shape[axis] for axis in order], [view.strides[axis] for axis in order]
    return view._replace(shape=tuple(shape), strides=tuple(strides))


def _flipped(u: UOp, view: Strides) -> Strides:
    axes: tuple[int, ...] = u.arg
    strides = [-stride if axis in axes else stride for axis, stride in enumerate(view.strides)]
    last = sum([(view.shape[axis] - 1) * view.strides[axis] for axis in axes])
    return view._replace(strides=tuple(strides), offset=view.offset + last)


def _shrunk(u: UOp, view: Strides) -> Strides | None:
    """Cut out a part; None where it begins outside or at an unbound variable."""
    offset = view.offset
    shape: Any = u.shape
    for begin, size, room, stride in zip(u.src[1::2], shape, view.shape, view.strides, strict=True):
        first = begin.arg
        if begin.op is not Ops.CONST:
            first = begin.vmax
            if begin.vmin != first or not 0 <= first <= room - size:
                return None
        offset += first * stride
    return Strides(shape, view.strides, offset)


_MOVES: dict[Ops, Any] = {
    Ops.RESHAPE: _reshaped,
    Ops.EXPAND: _expanded,
    Ops.PERMUTE: _permuted,
    Ops.FLIP: _flipped,
    Ops.SHRINK: _shrunk,
}


def is_whole(u: UOp) -> bool:
    """Say whether `u` is a whole BUFFER in its own order, reshaped or bitcast."""
    return _source_in_order(u).op is Ops.BUFFER


def is_whole_today(u: UOp) -> bool:
    """Say whether `u` is the beginning of memory sized for its greatest symbolic shape."""
    u = _source_in_order(u)
    if u.op is not Ops.SHRINK or is_static(u.shape) or not is_whole(u.src[0]):
        return False
    pairs, room = pairs_of(u), u.src[0].shape
    if len(pairs) != 1 or pairs[0][0] != 0 or (greatest(u.shape[0]),) != room:
        return False
    end, size = (n.simplify() if isinstance(n, UOp) else n for n in (pairs[0][1], u.shape[0]))
    return end == size


def _source_in_order(u: UOp) -> UOp:
    """Return the node below ops that leave the elements in their order."""
    while u.op in _IN_ORDER:
        u = u.src[0]
    return u
