"""Rewrite sums of products: cut long ones, and store factors in the order of reading.

Caches hold what the tiles of a piece of a long sum read again. For short rows of images lanes run along other
axes: along output channels, whose weights lie apart, and are packed once if they stay from call to call; or
along all columns of an image, which a copy of the windows puts side by side. And a tile of narrow vectors has
few rows: where memory holds these by columns, it uses a few elements of each cache line, which the cache has
lost by the time that the next tile wants the rest.
"""

import math
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from plugrad._frozen import frozen
from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.movement import is_contiguous, moves, views_of
from plugrad.uop import MOVEMENT, Ops, UOp

# Sums of pieces take at most this share of the factors' memory.
_SHARE = 1 / 4


def rewrite_product(ctx: Devices, reduced: UOp, product: UOp) -> UOp | None:
    """Return a sum of products in pieces, or with one factor in another order.

    None where the cost model gains nothing by it.
    """
    op, axes = reduced.arg
    model = ctx.cost.get(reduced.device or ctx.default)
    if op is not Ops.ADD or model is None or not all(isinstance(n, int) and n for n in product.shape):
        return None
    if (cut := _cut_long(model, product, axes)) is not None:
        return cut.reduce_axis(op, (0,)).reshape(reduced.shape)
    if (blocks := _blocks_to_pack(ctx, model, product, axes)) is not None:
        return blocks.reshape(reduced.shape)
    # before windows are copied: beside a packed factor they need not be
    for change in (_pack, _copy_windows, _copy_rows):
        for view, other in (product.src, product.src[::-1]):
            # a number has no axes
            if view.op is not Ops.EXPAND or other.op is Ops.CONST:
                continue
            new = change(ctx, model, _Factor(view, other, axes))
            if new is not None:
                src = (new, other) if view is product.src[0] else (other, new)
                return product.replace(src=src).reduce_axis(op, axes)
    return None


def _cut_long(model: CostModel, product: UOp, axes: Sequence[int]) -> UOp | None:
    """Return the sums of pieces of a long sum of products, which are stored.

    before: REDUCE_AXIS(ADD, MUL(a (M, 1, K), b (1, N, K))) over K
    after:  (pieces, M, N), each over K / pieces
    """
    sizes = _sizes_of(product)
    pieces = model.pieces_of_product(math.prod(sizes[a] for a in axes), product.dtype.itemsize)
    if pieces < 2:
        return None
    results = [a for a, size in enumerate(sizes) if size > 1 and a not in axes]
    factors = [{a for a in (*results, *axes) if moves(view, a)} for view in views_of(product)]
    # what one result reads, another one reads again
    if len(factors) < 2 or any(moved.issuperset(results) for moved in factors):
        return None
    numel = sum(math.prod(sizes[a] for a in moved) for moved in factors)
    most = min(2 * pieces, int(_SHARE * numel) // math.prod(sizes[a] for a in results))
    # a kernel moves an outer axis outside of its results by itself, where each piece has several of its steps
    long = [a for a in axes if sizes[a] > 1]
    cuts = [(a, n) for a in long for n in range(pieces, most + 1) if sizes[a] % n == 0]
    axis, pieces = next(((a, n) for a, n in cuts if n == sizes[a] or len(long) == 1), (0, 1))
    if pieces == 1:
        return None
    cut = product.reshape((*sizes[:axis], pieces, sizes[axis] // pieces, *sizes[axis + 1 :]))
    sums = cut.reduce_axis(Ops.ADD, tuple(a + (a >= axis) for a in axes))
    return sums.permute((axis, *(a for a in range(len(cut.shape)) if a != axis))).contiguous()


@frozen
class _Factor:
    """A factor of a sum of products over `axes`, an EXPAND, beside the `other`."""

    view: UOp
    other: UOp
    axes: Sequence[int]

    @property
    def own(self) -> UOp:
        """The factor before it is expanded."""
        return self.view.src[0]

    @property
    def reads_memory_once(self) -> bool:
        """Whether all elements of the memory, and each of them once, are in the factor."""
        return math.prod(_sizes_of(self.own)) == math.prod(_sizes_of(self.view.base))

    @property
    def kept(self) -> list[int]:
        """The axes of the result."""
        return [a for a, size in enumerate(_sizes_of(self.view)) if a not in self.axes and size > 1]

    def in_order(self, last: Sequence[int], value: UOp | None = None) -> UOp:
        """Return the factor, or `value` for it, stored with the axes `last` behind others."""
        shape = _sizes_of(self.view)
        order = (*(a for a in range(len(shape)) if a not in last), *last)
        inverse = tuple(map(order.index, range(len(order))))
        stored = (self.own if value is None else value).permute(order).contiguous()
        return stored.permute(inverse).expand(shape)


def _blocks_to_pack(ctx: Devices, model: CostModel, product: UOp, axes: Sequence[int]) -> UOp | None:
    """Return a sum of products with the output channels that are packed cut into blocks.

    Rows of all channels are apart by a power of two as a rule: few sets of the caches would hold what a tile
    takes of each.

    before: REDUCE_AXIS(ADD, MUL(weights (M, C, K, K), windows (C, K, K)))
    after:  that of weights (M / block, block, C, K, K), which are packed next
    """
    for view, other in (product.src, product.src[::-1]):
        if (
            view.op is not Ops.EXPAND
            or (axis := _axis_to_pack(ctx, model, _Factor(view, other, axes))) is None
        ):
            continue
        size, block = _sizes_of(view)[axis], model.block_of_lanes(view.dtype.itemsize)
        if size > block and size % block == 0:
            split = product.replace(src=tuple(_split(u, axis, block) for u in product.src))
            return split.reduce_axis(Ops.ADD, tuple(a + (a > axis) for a in axes))
    return None


def _split(view: UOp, axis: int, block: int) -> UOp:
    """Return an EXPAND with one axis cut into blocks."""

    def cut(sizes: tuple[int, ...]) -> tuple[int, ...]:
        parts = (sizes[axis] // block, block) if sizes[axis] > 1 else (1, 1)
        return (*sizes[:axis], *parts, *sizes[axis + 1 :])

    return _unexpanded(view).reshape(cut(_sizes_of(_unexpanded(view)))).expand(cut(_sizes_of(view)))


def _pack(ctx: Devices, model: CostModel, factor: _Factor) -> UOp | None:
    """Return a constant factor with the output channels of short rows side by side.

    before: weights (M, C, K, K) beside windows
    after:  CONTIGUOUS(weights with M last)
    """
    axis = _axis_to_pack(ctx, model, factor)
    return None if axis is None else factor.in_order((axis,))


def _axis_to_pack(ctx: Devices, model: CostModel, factor: _Factor) -> int | None:
    """Return the axis of output channels that a constant factor is packed along."""
    own, windows = factor.own, _unexpanded(factor.other)
    if factor.view.base not in ctx.constants or not model.runs_loops or not factor.reads_memory_once:
        return None
    sizes, full, beside, kept = _sizes_of(own), _sizes_of(factor.view), _sizes_of(windows), factor.kept
    lanes = [a for a in kept if sizes[a] > 1]
    if not lanes or is_contiguous(own, lanes[-1]):
        return None
    if sizes[kept[-1]] > 1 or any(beside[a] > 1 for a in lanes) or not _overlaps(windows):
        return None
    row, itemsize = full[kept[-1]], own.dtype.itemsize
    if row >= model.vector_bytes // itemsize:
        return None
    gains = model.filled_lanes(full[lanes[-1]], itemsize) > model.filled_lanes(row, itemsize)
    return lanes[-1] if gains else None


def _overlaps(windows: UOp) -> bool:
    """Say whether elements are read several times: the columns of others are lanes together."""
    read: Any = windows.base.shape
    return all(isinstance(size, int) for size in read) and math.prod(_sizes_of(windows)) > math.prod(read)


def _copy_windows(ctx: Devices, model: CostModel, factor: _Factor) -> UOp | None:
    """Return copied windows, which make a convolution a product of matrices.

    before: windows of (C, H, W), over C and the window
    after:  CONTIGUOUS(windows with H and W last)
    """
    view, own, other = factor.view, factor.own, factor.other
    if view.base.device is None:
        return None
    sizes, full, beside, kept = _sizes_of(own), _sizes_of(view), _sizes_of(_unexpanded(other)), factor.kept
    columns = [*takewhile(lambda a: sizes[a] > 1 and beside[a] == 1, reversed(kept))][::-1]
    if len(columns) < 2 or factor.reads_memory_once:
        return None
    # a kernel packs filters side by side where they are read for many places
    is_packed = math.prod(full[a] for a in kept if beside[a] == 1) >= model.rows_to_pack
    along = [
        a
        for a, size in enumerate(full)
        if (a == columns[-1])
        or (a in kept and sizes[a] == 1 and is_packed)
        or (size > 1 and is_contiguous(other, a) and (sizes[a] == 1 or is_contiguous(view, a)))
    ]
    steps = min(model.vector_steps(full[a], view.dtype.itemsize) / full[a] for a in along)
    merged = math.prod(full[a] for a in columns)
    fewer = steps - model.vector_steps(merged, view.dtype.itemsize) / merged
    rows = math.prod(full[a] for a in kept if sizes[a] == 1)
    if not model.copy_windows(math.prod(sizes), rows, fewer, view.dtype.itemsize):
        return None
    return factor.in_order((*factor.axes, *columns), _with_padding(own, model))


def _with_padding(view: UOp, model: CostModel) -> UOp:
    """Return the view with its padding stored, where gates would cost more."""
    if view.op not in MOVEMENT:
        return view
    source = _with_padding(view.src[0], model)
    out = UOp(view.op, view.dtype, (source, *view.src[1:]), view.arg, view.tag)
    numel = math.prod(_sizes_of(view))
    return out.contiguous() if view.op is Ops.PAD and model.pad_boundary(2 * numel, numel) else out


def _copy_rows(ctx: Devices, model: CostModel, factor: _Factor) -> UOp | None:
    """Return the left factor of a matrix product along the reduced axis.

    before: a.T of `a` (K, M), over K
    after:  CONTIGUOUS(a.T)
    """
    view, other, full = factor.view, factor.other, _sizes_of(factor.view)
    inner = [a for a in factor.axes if full[a] != 1]
    if len(inner) != 1 or not factor.kept or view.base.device is None or not factor.reads_memory_once:
        return None
    columns = factor.kept[-1]
    if moves(view, columns) or not is_contiguous(other, columns) or is_contiguous(view, inner[0]):
        return None
    rows = next((a for a, size in enumerate(full) if size > 1 and is_contiguous(view, a)), None)
    if rows is None or moves(other, rows):
        return None
    read = math.prod(full) // math.prod(_sizes_of(factor.own))
    if not model.copy_rows(full[inner[0]], full[rows], read, view.dtype.itemsize):
        return None
    return factor.in_order(inner)


def _unexpanded(u: UOp) -> UOp:
    return u.src[0] if u.op is Ops.EXPAND else u


def _sizes_of(u: UOp) -> tuple[int, ...]:
    """Return the shape of a value without symbolic sizes."""
    sizes: Any = u.shape
    return sizes
