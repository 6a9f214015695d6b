"""Index arithmetic of movement ops: where an element of the result lies in the source."""

import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import dtypes
from plugrad.uop import ELEMENTWISE, MOVEMENT, AxisType, Ops, UOp, simplify
from plugrad.uop.shape import pairs_of

Indices = tuple[UOp, ...]

ZERO = UOp.const(dtypes.index, 0)
ALWAYS = UOp.const(dtypes.bool, True)


def strides_of(shape: Sequence[Any]) -> tuple[Any, ...]:
    """Return row-major strides in elements; symbolic where a later dimension is."""
    out: list[Any] = []
    stride: Any = 1
    for size in reversed(shape):
        out.append(stride)
        stride = stride * size
    return tuple(reversed(out))


def loop_over(size: Any, ident: int, kind: AxisType) -> UOp:
    """Return the index along an axis: a RANGE of the simplified size."""
    if isinstance(size, int):
        return ZERO if size == 1 else UOp.range(size, ident, kind)
    return UOp.range(simplify(size), ident, kind)


def flatten(idxs: Sequence[UOp], shape: Sequence[Any]) -> UOp:
    """Return the row-major position of `idxs` in an array of `shape`."""
    return _flattened(tuple(idxs), tuple(shape))


# Kernels of one graph have the same few loops, so most calls repeat others.
@lru_cache(4096)
def _flattened(idxs: Indices, shape: tuple[Any, ...]) -> UOp:
    total = ZERO
    for idx, stride, size in zip(idxs, strides_of(shape), shape, strict=True):
        if not _is_one(size):
            total = total + idx * stride
    return simplify(total)


def unflatten(position: UOp, shape: Sequence[Any]) -> Indices:
    """Return the indices of the row-major `position` in an array of `shape`."""
    return _unflattened(position, tuple(shape))


@lru_cache(4096)
def _unflattened(position: UOp, shape: tuple[Any, ...]) -> Indices:
    out: list[UOp] = []
    for axis, (stride, size) in enumerate(zip(strides_of(shape), shape, strict=True)):
        if _is_one(size):
            out.append(ZERO)
            continue
        quotient = position if _is_one(stride) else position // stride
        out.append(simplify(quotient if axis == 0 else quotient % size))
    return tuple(out)


def source_indices(op: UOp, idxs: Indices) -> tuple[Indices, UOp]:
    """Return the indices of element `idxs` in the source of `op`, and their gate."""
    shape: Any = op.src[0].shape
    if op.op is Ops.RESHAPE:
        return _through_reshape(idxs, shape, op.shape), ALWAYS
    if op.op is Ops.EXPAND:
        return tuple(
            ZERO if _is_one(size) and not _is_one(new) else idx
            for idx, size, new in zip(idxs, shape, op.shape, strict=True)
        ), ALWAYS
    if op.op is Ops.PERMUTE:
        order: tuple[int, ...] = op.arg
        return tuple(idxs[order.index(axis)] for axis in range(len(order))), ALWAYS
    if op.op is Ops.FLIP:
        return tuple(
            simplify((size - 1) + idx * -1) if axis in op.arg else idx
            for axis, (idx, size) in enumerate(zip(idxs, shape, strict=True))
        ), ALWAYS
    if op.op is Ops.SHRINK:
        return tuple(_shifted(idx, begin) for idx, (begin, _) in zip(idxs, pairs_of(op), strict=True)), ALWAYS
    return _through_pad(op, idxs, shape)


def padded(value: UOp, gate: UOp) -> UOp:
    """Return `value` where `gate` is true and 0 elsewhere, which a gated load gives already."""
    if gate is ALWAYS or (value.op is Ops.LOAD and value.src[0].src[2:] == (gate,)):
        return value
    return gate.where(value, value.const_like(0))


def lies_along(x: UOp, axes: Iterable[int]) -> bool:
    """Say whether elements along one of the axes are neighbours in `x`'s memory."""
    largest = _largest(x)
    return any(is_contiguous(largest, a) for a in axes if x.shape[a] != 1)


def max_shape(shape: Iterable[Any]) -> tuple[int, ...]:
    """Return `shape` with symbolic sizes at their highest."""
    return tuple(s if isinstance(s, int) else int(s.vmax) for s in shape)


def numel_of(u: UOp) -> int:
    """Return the number of elements, symbolic sizes at their highest."""
    return math.prod(max_shape(u.shape))


def is_contiguous(view: UOp, axis: int) -> bool:
    """Say whether neighbours along an axis of a view are neighbours in memory."""
    return _position(view, axis, 1) - _position(view, axis, 0) == 1


def moves(view: UOp, axis: int) -> bool:
    """Say whether a step along an axis of a view leads to another element."""
    return view.shape[axis] != 1 and _position(view, axis, 1) != _position(view, axis, 0)


def _largest(x: UOp) -> UOp:
    """Return the first of the views that move along most axes."""
    axes = [a for a, size in enumerate(x.shape) if size != 1]
    # in a deep network the first of hundreds usually moves along all
    whole = next((view for view in views_of(x) if all(moves(view, a) for a in axes)), None)
    if whole is not None:
        return whole
    return max(views_of(x), default=x, key=lambda view: sum(moves(view, a) for a in axes))


def views_of(x: UOp) -> Iterator[UOp]:
    """Yield the views of memory and of other values that elementwise operations make `x` of."""
    stack, seen = [x], {x}
    while stack:
        u = stack.pop()
        if u.op not in ELEMENTWISE:
            yield u
            continue
        for s in u.src:
            if s not in seen and s.shape == x.shape:
                seen.add(s)
                stack.append(s)


def _position(view: UOp, axis: int, step: int) -> int:
    idxs = tuple(UOp.const(dtypes.index, step if a == axis else 0) for a in range(len(view.shape)))
    while view.op in MOVEMENT:
        idxs, _ = source_indices(view, idxs)
        view = view.src[0]
    return int(flatten(idxs, view.shape).vmin)


def _shifted(idx: UOp, begin: Any) -> UOp:
    return idx if isinstance(begin, int) and begin == 0 else simplify(idx + begin)


def _through_pad(op: UOp, idxs: Indices, shape: Sequence[Any]) -> tuple[Indices, UOp]:
    inside: list[UOp] = []
    gate = ALWAYS
    for idx, (before, after), size in zip(idxs, pairs_of(op), shape, strict=True):
        moved = _shifted(idx, before * -1)
        inside.append(moved)
        if not (isinstance(before, int) and before == 0):
            gate = gate & ~(moved < 0)
        if not (isinstance(after, int) and after == 0):
            gate = gate & (moved < size)
    return tuple(inside), simplify(gate)


def _through_reshape(idxs: Indices, source: Sequence[Any], result: Sequence[Any]) -> Indices:
    """Match runs of axes whose sizes multiply to the same number: only those mix."""
    if not all(isinstance(size, int) for size in (*source, *result)):
        return _through_symbolic_reshape(idxs, source, result)
    out: list[UOp] = []
    for run in _runs(tuple(source), tuple(result)):
        inner = [idxs[a] for a in run.axes]
        if run.is_kept:
            found = iter(inner)
            out.extend(ZERO if size == 1 else next(found) for size in run.source)
        else:
            out.extend(unflatten(flatten(inner, run.result), run.source))
    return tuple(out)


def _through_symbolic_reshape(idxs: Indices, source: Sequence[Any], result: Sequence[Any]) -> Indices:
    """Match equal axes in front and at the end; what lies between mixes.

    Divisions by a size that varies stay in the kernel, and those of several axes multiply its length.
    """
    before = [axis for axis, size in enumerate(source) if not _is_one(size)]
    after = [axis for axis, size in enumerate(result) if not _is_one(size)]
    out = [ZERO] * len(source)
    for end in (0, -1):
        while before and after and _is_same(source[before[end]], result[after[end]]):
            out[before.pop(end)] = idxs[after.pop(end)]
    position = flatten([idxs[axis] for axis in after], [result[axis] for axis in after])
    for axis, idx in zip(before, unflatten(position, [source[axis] for axis in before]), strict=True):
        out[axis] = idx
    return tuple(out)


def _is_one(size: Any) -> bool:
    return isinstance(size, int) and size == 1


def _is_same(size: Any, other: Any) -> bool:
    return size is other or (isinstance(size, int) and isinstance(other, int) and size == other)


@frozen
class _Run:
    """Neighbouring axes of a reshape that mix with no others.

    Attributes:
        axes: those of the result, but for axes of size 1.
        result: their sizes.
        source: the sizes of all of the source.
        is_kept: the indices are the same on both sides.
    """

    axes: tuple[int, ...]
    result: tuple[int, ...]
    source: tuple[int, ...]
    is_kept: bool


# A model has few shapes, and thousands of reshapes between them.
@lru_cache(maxsize=4096)
def _runs(source: tuple[int, ...], result: tuple[int, ...]) -> tuple[_Run, ...]:
    """Return the finest split of both shapes into runs of axes with equal products."""
    out: list[_Run] = []
    for source_axes, result_axes in _equal_products(source, result):
        axes = tuple(a for a in result_axes if result[a] != 1)
        inner, outer = tuple(result[a] for a in axes), tuple(source[a] for a in source_axes)
        out.append(_Run(axes, inner, outer, inner == tuple(size for size in outer if size != 1)))
    return tuple(out)


def _equal_products(source: Sequence[int], result: Sequence[int]) -> list[tuple[range, range]]:
    """Return the shortest runs of axes with equal products of sizes in both shapes."""
    left: list[int] = list(itertools.accumulate(source, operator.mul))
    right: list[int] = list(itertools.accumulate(result, operator.mul))
    if math.prod(source) == 0:
        return [(range(len(source)), range(len(result)))]
    out: list[tuple[range, range]] = []
    i = j = 0
    start_i = start_j = 0
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            out.append((range(start_i, i + 1), range(start_j, j + 1)))
            i, j = i + 1, j + 1
            start_i, start_j = i, j
        elif left[i] < right[j]:
            i += 1
        else:
            j += 1
    if start_i < len(left) or start_j < len(right):
        out.append((range(start_i, len(left)), range(start_j, len(right))))
    return out


def below_order(u: UOp) -> UOp:
    """Return the value below reshapes and permutations, which show it in another order."""
    while u.op in (Ops.RESHAPE, Ops.PERMUTE):
        u = u.src[0]
    return u
