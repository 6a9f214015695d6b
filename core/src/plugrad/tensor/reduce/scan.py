"""Running totals along an axis: sums, products, extremes.

Each is done in blocks: inside a block every element combines those before it, the last of each block go
through the same scan again, and their results are combined with the next block. With blocks of 8 that is 8
operations an element and one more level for each factor of 8, all of it parallel. Rows are filled up to whole
blocks where they are small; in large tensors, the rest of a row continues them.

Element `i` of the result combines elements `0..i` of an axis. What lies behind an axis changes nothing, so
those of symbolic size are filled up to their greatest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Unpack

from plugrad.autodiff import inputs_of, with_rule
from plugrad.dtype import ConstType, dtype_min, dtypes, is_float, sum_dtype
from plugrad.target import LEAST_SCATTERED
from plugrad.tensor.argument_checks import float_dtypes
from plugrad.tensor.base import DTypeLike, Tensor, the_dtype
from plugrad.tensor.dispatch import InLoops
from plugrad.tensor.keywords import AxisNames, renamed
from plugrad.tensor.lookup import counted, moved_back, moved_last, position_dtype
from plugrad.tensor.reduce.value_index import Ranked
from plugrad.tensor.shapes import cut_to, expanded, filled, one_axis
from plugrad.uop import Ops, UOp
from plugrad.uop.op_cost import op_cost

# Measured: wider blocks take longer by as much as they are wider.
_BLOCK = 8
# Elements from which two more passes over all of them take longer than a few more kernels.
_LARGE = 1 << 17
# Rows that are enough for threads.
_ROWS_IN_ORDER = 8
# Operations that vectors should compute.
_DEAR = 8


def cumsum(
    self: Tensor, axis: int | None = 0, dtype: DTypeLike | None = None, **names: Unpack[AxisNames]
) -> Tensor:
    """Return running sums in the dtypes of `sum`, of the flattened tensor for axis None.

    Raises:
        AxisError: the axis does not exist.

    Example:
        >>> Tensor([1, 2, 3]).cumsum().tolist()
        [1, 3, 6]
    """
    if names:
        (axis,) = renamed(self.cumsum, names, axis=axis)
    return _running(self, Ops.ADD, 0, axis, dtype)


def cumprod(
    self: Tensor, axis: int | None = 0, dtype: DTypeLike | None = None, **names: Unpack[AxisNames]
) -> Tensor:
    """Return running products in the dtypes of `prod`, of the flattened tensor for axis None.

    Example:
        >>> Tensor([1, 2, 3, 4]).cumprod().tolist()
        [1, 2, 6, 24]
    """
    if names:
        (axis,) = renamed(self.cumprod, names, axis=axis)
    return _running(self, Ops.MUL, 1, axis, dtype)


def cummax(self: Tensor, axis: int = 0, **names: Unpack[AxisNames]) -> Ranked[Tensor]:
    """Return the running maxima and their positions: the last of equals, as in PyTorch.

    NaN counts as greatest. Gradients are shared among equals, as those of `max`.

    Example:
        >>> highest = Tensor([1, 3, 2, 3]).cummax()
        >>> highest.values.tolist(), highest.indices.tolist()
        ([1, 3, 3, 3], [0, 1, 1, 3])
    """
    if names:
        (axis,) = renamed(self.cummax, names, axis=axis)
    return _extremes(self, axis, is_max=True)


def cummin(self: Tensor, axis: int = 0, **names: Unpack[AxisNames]) -> Ranked[Tensor]:
    """Return the running minima and their positions: the last of equals, as in PyTorch.

    NaN counts as least.

    Example:
        >>> [x.tolist() for x in Tensor([2, 3, 1]).cummin()]
        [[2, 2, 1], [0, 0, 2]]
    """
    if names:
        (axis,) = renamed(self.cummin, names, axis=axis)
    return _extremes(self, axis, is_max=False)


def logcumsumexp(self: Tensor, axis: int = 0, **names: Unpack[AxisNames]) -> Tensor:
    """Return `log(cumsum(exp(self)))` without overflow; floats only, integers as the default float.

    Example:
        >>> Tensor([1000.0, 1000.0]).logcumsumexp()[1].item() - 1000 < 0.7
        True
    """
    if names:
        (axis,) = renamed(self.logcumsumexp, names, axis=axis)
    at = one_axis(axis, self.ndim or 1)
    dtype, wide = float_dtypes(self)
    if not self.ndim or 0 in self.shape:
        return self.cast(dtype)
    out = _scan(moved_last(filled(self._graph).cast(wide), at), _log_sum, _log_add, -math.inf)
    return self._like(cut_to(moved_back(out, at), self.shape).cast(dtype))


def _running(x: Tensor, op: Ops, neutral: int, axis: int | None, dtype: DTypeLike | None) -> Tensor:
    if axis is None:
        return _running(x.flatten(), op, neutral, 0, dtype)
    at = one_axis(axis, x.ndim or 1)
    wide = the_dtype(dtype, sum_dtype(x.dtype))
    narrow = x.dtype if dtype is None and is_float(x.dtype) else wide
    u = x._graph.cast(wide)
    if x.ndim and 0 not in x.shape:
        rows = moved_last(filled(u), at)
        out = scan(rows, op, neutral)
        # along another axis, blocks are lanes of vectors
        if op is Ops.ADD and at == x.ndim - 1:
            out = out.dispatch(InLoops(in_order, (op,)), rows)
        u = cut_to(moved_back(out, at), x.shape)
    return x._like(u.cast(narrow))


def _extremes(tensor: Tensor, axis: int, is_max: bool) -> Ranked[Tensor]:
    at = one_axis(axis, tensor.ndim or 1)
    shape = tensor.shape
    if not tensor.ndim or 0 in shape:
        first = tensor._graph.detach().cast(position_dtype(0)).const_like(0)
        return Ranked(tensor, tensor._like(expanded(first, shape)))
    x = moved_last(filled(tensor._graph), at)
    size = x.shape[-1]
    ordered = x if is_max else _reversed(x)
    best = _maxima(ordered, dtype_min(x.dtype), at)
    is_new = ordered.eq(best)
    if is_float(x.dtype):
        is_new = is_new | ordered.ne(ordered)
    numbers = counted(size, position_dtype(size), x.shape, tensor.ndim - 1)
    places = _maxima(is_new.where(numbers, numbers.const_like(0)), 0, at)
    values = best if is_max else _reversed(best)
    values, places = (cut_to(moved_back(u, at), shape) for u in (values, places))
    return Ranked(tensor._like(values), tensor._like(places))


def _maxima(rows: UOp, neutral: ConstType, axis: int) -> UOp:
    out = scan(rows, Ops.MAX, neutral)
    return out.dispatch(InLoops(in_order, (Ops.MAX,)), rows) if axis == len(rows.shape) - 1 else out


def in_order(_device: str, u: UOp, op: Ops) -> UOp | None:
    """Return running sums or maxima as one pass, None where blocks are faster.

    A double holds the sums of narrower floats, which are more exact than those of blocks. Threads share rows,
    so a few long ones stay blocks.
    """
    shape: Any = u.shape
    size = shape[-1]
    rows = math.prod(dim if isinstance(dim, int) else int(dim.vmax) for dim in shape[:-1])
    is_long = rows < _ROWS_IN_ORDER and rows * size >= _LARGE
    is_sum = op is Ops.ADD
    if is_long or size < LEAST_SCATTERED or (is_sum and u.dtype is dtypes.float64):
        return None
    # the pass takes an element at a time
    is_dear = any(op_cost(node.op) >= _DEAR for node in u.toposort())
    wide = dtypes.float64 if is_sum and is_float(u.dtype) else u.dtype
    x = (u.contiguous() if is_dear else u).cast(wide)
    axis = len(shape) - 1
    pairs = (*shape, size)
    to, at = (counted(size, position_dtype(size), pairs, a) for a in (axis, axis + 1))
    others = x.reshape((*shape[:-1], 1, size)).expand(pairs)
    neutral = others.const_like(0 if is_sum else dtype_min(wide))
    before = (at < to).where(others, neutral).reduce_axis(op, (axis + 1,)).reshape(shape)
    return x.alu(op, before).cast(u.dtype)


def _reversed(x: UOp) -> UOp:
    return -x if is_float(x.dtype) else ~x


def scan(u: UOp, op: Ops, neutral: ConstType, widest: int = _BLOCK) -> UOp:
    """Return the running `op` along the last axis of `u`, which is not empty.

    Args:
        u: the elements, of a known shape.
        op: ADD, MUL or MAX.
        neutral: the value that `op` changes nothing with.
        widest: how wide blocks may be, at least 8. Fewer levels are fewer kernels, of more work.
    """
    out = _scanned(u, op, neutral, widest)
    return with_rule([out], [u], _product_rule)[0] if op is Ops.MUL and is_float(u.dtype) else out


def _scanned(u: UOp, op: Ops, neutral: ConstType, widest: int = _BLOCK) -> UOp:
    def reduce(x: UOp) -> UOp:
        return x.reduce_axis(op, (len(x.shape) - 1,))

    return _scan(u, reduce, lambda a, b: a.alu(op, b), neutral, widest)


def _product_rule(gradients: tuple[UOp], function: UOp) -> list[UOp | None]:
    """Return the gradient of running products without a division, so zeros are no special case.

    That of element `i` is the product of those before it, times what comes back from behind it:
    `back[i] = gradient[i] + x[i+1] * back[i+1]`. Such steps are put together in pairs, pairs of pairs, ...

    Source: Kogge and Stone 1973, "A parallel algorithm for the efficient solution of a general class of
    recurrence equations".
    """
    (back,), (x,) = gradients, inputs_of(function)
    size: Any = x.shape[-1]
    before = _shifted(_scanned(x, Ops.MUL, 1), 1, 1)
    factor = _shifted(x, -1, 0)
    step = 1
    while step < size:
        back = (back + factor * _shifted(back, -step, 0)).contiguous()
        factor = (factor * _shifted(factor, -step, 0)).contiguous()
        step *= 2
    out = before * back
    # nothing comes of products that are zero, even of those too great for a float
    is_nothing = before.eq(0.0) & (back.eq(math.inf) | back.eq(-math.inf) | back.ne(back))
    return [is_nothing.where(out.const_like(0.0), out)]


def _shifted(u: UOp, step: int, value: ConstType) -> UOp:
    """Return elements moved on by `step` along the last axis, with `value` where none comes."""
    size: Any = u.shape[-1]
    away = min(abs(step), size)
    rest = [(0, dim) for dim in u.shape[:-1]]
    if step < 0:
        return _pad_last(u.shrink([*rest, (away, size)]), away, 0, value)
    return _pad_last(u.shrink([*rest, (0, size - away)]), 0, away, value)


def _scan(
    u: UOp,
    reduce: Callable[[UOp], UOp],
    combine: Callable[[UOp, UOp], UOp],
    neutral: ConstType,
    widest: int = _BLOCK,
) -> UOp:
    shape: Any = u.shape
    rows, size = shape[:-1], shape[-1]
    if size == 1:
        return u
    if size <= widest:
        return _inside_blocks(u, reduce, neutral)
    block = next((width for width in range(widest, _BLOCK - 1, -1) if size % width == 0), widest)
    rest = size % block
    if rest and math.prod(dim if isinstance(dim, int) else int(dim.vmax) for dim in shape) >= _LARGE:
        return _continued(u, rest, reduce, combine, neutral, widest)
    count = -(-size // block)
    whole = _pad_last(u, count * block - size, 0, neutral).reshape((*rows, count, block))
    inside = _inside_blocks(whole, reduce, neutral).contiguous()
    ends = inside.shrink([*((0, r) for r in rows), (0, count), (block - 1, block)]).reshape((*rows, count))
    before = _scan(ends, reduce, combine, neutral, widest)
    # block number b continues what block b-1 ended with
    before = before.shrink([*((0, r) for r in rows), (0, count - 1)])
    before = _pad_last(before, 0, 1, neutral).reshape((*rows, count, 1)).expand((*rows, count, block))
    out = combine(before, inside).reshape((*rows, count * block))
    return out.shrink([*((0, r) for r in rows), (0, size)])


def _continued(
    u: UOp,
    rest: int,
    reduce: Callable[[UOp], UOp],
    combine: Callable[[UOp, UOp], UOp],
    neutral: ConstType,
    widest: int,
) -> UOp:
    """Scan whole blocks, and continue them by the `rest` of the row.

    Rows that are filled up instead are copied before, and read across blocks after.
    """
    shape: Any = u.shape
    rows, start = [(0, r) for r in shape[:-1]], shape[-1] - rest
    whole = _scan(u.shrink([*rows, (0, start)]), reduce, combine, neutral, widest).contiguous()
    last = whole.shrink([*rows, (start - 1, start)]).expand((*shape[:-1], rest))
    left = combine(last, _inside_blocks(u.shrink([*rows, (start, shape[-1])]), reduce, neutral))
    position = counted(shape[-1], position_dtype(shape[-1]), shape, len(shape) - 1)
    return (position < start).where(_pad_last(whole, rest, 0, 0), _pad_last(left, 0, start, 0))


def _pad_last(u: UOp, behind: int, front: int, value: ConstType) -> UOp:
    if not behind and not front:
        return u
    pairs = [(0, 0)] * (len(u.shape) - 1) + [(front, behind)]
    padded = u.pad(pairs)
    if value == 0:
        return padded
    shape: Any = padded.shape
    position = counted(shape[-1], position_dtype(shape[-1]), shape, len(shape) - 1)
    is_outside = (position < front) if front else position >= shape[-1] - behind
    return is_outside.where(u.const_like(value), padded)


def _inside_blocks(u: UOp, reduce: Callable[[UOp], UOp], neutral: ConstType) -> UOp:
    size = u.shape[-1]
    shape: Any = (*u.shape, size)
    dtype = position_dtype(size)
    to = counted(size, dtype, shape, len(shape) - 2)
    at = counted(size, dtype, shape, len(shape) - 1)
    x = u.reshape((*u.shape[:-1], 1, size)).expand(shape)
    return reduce((to < at).where(u.const_like(neutral), x)).reshape(u.shape)


def _log_sum(x: UOp) -> UOp:
    highest = x.reduce_axis(Ops.MAX, (len(x.shape) - 1,)).detach()
    highest = _finite(highest)
    total = (x - highest.expand(x.shape)).exp().reduce_axis(Ops.ADD, (len(x.shape) - 1,))
    return total.log2() * math.log(2) + highest


def _log_add(a: UOp, b: UOp) -> UOp:
    highest = _finite(a.maximum(b).detach())
    total = (a - highest).exp() + (b - highest).exp()
    return total.log2() * math.log(2) + highest


def _finite(highest: UOp) -> UOp:
    """Return infinite maxima as 0: subtracting them would make inf - inf."""
    return (highest.eq(math.inf) | highest.eq(-math.inf)).where(highest.const_like(0.0), highest)
