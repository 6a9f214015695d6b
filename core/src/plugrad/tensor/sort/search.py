"""Finding elements: in sorted rows, by a condition, by their value.

Where the number of results depends on the elements, it is read from the device when the function is called:
such functions compute their input at once, and cannot run inside a jitted function unless told a `size`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

from plugrad.dtype import ConstType, dtype_max, dtypes, is_bool, is_float, is_int
from plugrad.engine.capture import current_capture
from plugrad.errors import ArgumentError, DtypeError, JitError, ShapeError
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import Tensor, TensorBase, promoted
from plugrad.tensor.dispatch import OnGrids
from plugrad.tensor.elementwise.operands import as_tensor_operand
from plugrad.tensor.keywords import REQUIRED, RepeatAxisNames, renamed
from plugrad.tensor.lookup import counted, number_of, pick_first, position_dtype
from plugrad.tensor.reduce.reduce import nonzero_mask
from plugrad.tensor.reduce.scan import scan
from plugrad.tensor.shape.padding import interval
from plugrad.tensor.shapes import (
    Dim,
    as_element,
    as_flag,
    as_int,
    cut_to,
    filled,
    fixed_shape,
    is_static,
    one_axis,
    product,
    several,
    show,
    size_today,
)
from plugrad.tensor.sort.row_utils import mask_behind, sum_last
from plugrad.tensor.sort.sorted_scatter import PositionsOfTruths
from plugrad.tensor.sort.sorting import search_rows, sort_keys
from plugrad.uop import Ops, UOp, greatest


def searchsorted(
    self: Tensor,
    values: Tensor | ConstType,
    right: bool = False,
    *,
    side: Literal["left", "right"] | None = None,
) -> Tensor:
    """Return the insertion points of `values` that keep this sorted tensor sorted.

    (n,) with (...) -> (...), or (*R, n) with (*R, m) -> (*R, m). NaN is greater than every number.
    Integers of any two dtypes compare as the numbers that they are.

    Args:
        values: what is looked for: a tensor, an array or a number.
        right: insert behind equal elements, not before them.
        side: the same in words, which override it.

    Raises:
        ArgumentError: `side` is neither "left" nor "right", or `right` no truth value.
        ShapeError: there is no last axis, or rows differ.
        DtypeError: `values` are no numbers.

    Example:
        >>> Tensor([1, 3, 3, 5]).searchsorted(Tensor([3, 4])).tolist()
        [1, 3]
    """
    if side is not None and str(side) not in ("left", "right"):
        raise ArgumentError(f"side={side!r} is neither 'left' nor 'right'.")
    right = as_flag(right, "right") if side is None else side == "right"
    values = as_tensor_operand(self, values)
    self._check_device(values)
    if not self.ndim or (self.ndim > 1 and self.shape[:-1] != values.shape[:-1]):
        raise ShapeError(
            f"values of shape {show(values.shape)} in rows of shape {show(self.shape)}. "
            "Give one sorted axis, or the same axes before the last."
        )
    dtype = promoted([self, values])
    if is_float(dtype) and is_int(self.dtype) and is_int(values.dtype):
        return _search_mixed_signs(self, values, right)
    shape = values.shape
    flat = (product(shape),) if self.ndim == 1 else shape
    wanted = sort_keys(values._graph.cast(dtype).reshape(flat), False)
    rows = sort_keys(self._graph.cast(dtype), False)
    size = self.shape[-1]
    if not is_static((*self.shape, *shape)):
        found = _search_symbolic(rows, wanted, right).cast(position_dtype(greatest(size)))
        return self._make(found.reshape(shape), self._device)
    found = search_rows(rows.contiguous(), wanted.contiguous(), right)
    return self._make(found.cast(position_dtype(size)).reshape(shape), self._device)


def _search_mixed_signs(x: Tensor, values: Tensor, right: bool) -> Tensor:
    """Return `searchsorted` of signed integers and uint64: their common dtype would round them."""
    if x.dtype is dtypes.uint64:
        is_inside = values >= 0
        found = x.searchsorted(is_inside.where(values, 0).cast(dtypes.uint64), right)
        return is_inside.where(found, 0)
    is_inside = values <= dtype_max(dtypes.int64)
    found = x.cast(dtypes.int64).searchsorted(is_inside.where(values, 0).cast(dtypes.int64), right)
    return is_inside.where(found, x._make(number_of(x.shape[-1], found.dtype), x._device))


def nonzero(self: Tensor, size: int | None = None, fill_value: int = 0, *, as_tuple: bool = False) -> Any:
    """Return the positions of nonzero elements in order: (count, ndim) of the default int.

    Without `size`, this tensor is computed at once, because the count depends on it.

    Args:
        size: the first so many positions, filled up behind the last one: (size, ndim). Then nothing is
            computed before it is needed, and a jitted function may ask.
        fill_value: what positions that there are not are filled with.
        as_tuple: return one tensor for each axis instead, (count,): what `x[...]` takes.

    Raises:
        ArgumentError: `size` or `fill_value` is no integer, or `size` is negative.
        JitError: inside a jitted function, without a `size`.

    Example:
        >>> Tensor([[0, 7], [8, 0]]).nonzero().tolist()
        [[0, 1], [1, 0]]
        >>> Tensor([0, 7, 0]).nonzero(size=2, fill_value=-1).tolist()
        [[1], [-1]]
    """
    if not is_static(self.shape):
        # the zeros behind the axes are in no result
        return with_zeros_behind(self).nonzero(size, fill_value, as_tuple=as_tuple)
    shape = fixed_shape(self.shape)
    fill = as_int(fill_value, "fill_value")
    count = None if size is None else _as_count(size)
    # PyTorch, too, takes a number for a row of one where it is asked for a tuple
    places = (1,) if as_tuple and not shape else shape
    flat = true_positions(self, count)
    is_found = flat < product(shape)
    columns: list[Tensor] = []
    stride = 1
    for length in reversed(places):
        column = (flat // max(stride, 1)) % max(length, 1)
        columns.append(column if count is None else is_found.where(column, fill))
        stride *= length
    columns.reverse()
    if as_tuple:
        return tuple(columns)
    return columns[0].stack(*columns[1:], axis=1) if shape else flat.unsqueeze(1).shrink([None, (0, 0)])


def masked_select(self: Tensor, mask: Tensor, size: int | None = None, fill_value: ConstType = 0) -> Tensor:
    """Return the elements where `mask` holds, in order: (...) -> (count,).

    Without `size`, the mask is computed at once, because the count depends on it.

    Args:
        mask: bools, which broadcast with this tensor.
        size: the first so many elements, filled up behind the last one: (size,). Then nothing is computed
            before it is needed, and a jitted function may ask.
        fill_value: what elements that there are not are filled with.

    Raises:
        ArgumentError: `size` is no integer, or negative.
        DtypeError: `mask` is no tensor of bools, or this dtype does not hold `fill_value`.
        ShapeError: `mask` does not broadcast with this tensor.
        JitError: inside a jitted function, without a `size`.

    Example:
        >>> Tensor([1, 2, 3]).masked_select(Tensor([True, False, True])).tolist()
        [1, 3]
        >>> Tensor([1, 2, 3]).masked_select(Tensor([True, False, True]), size=3).tolist()
        [1, 3, 0]
    """
    require_tensors(mask=mask)
    if not is_bool(mask.dtype):
        raise DtypeError(f"masked_select with a mask of {mask.dtype.name}: a mask is bool. Compare: x != 0.")
    self._check_device(mask)
    shape = self.shape if self.shape == mask.shape else (self.cast(dtypes.bool) & mask).shape
    both = self.expand(shape), mask.expand(shape)
    if not is_static(shape):
        both = (with_zeros_behind(both[0]), with_zeros_behind(both[1]))
    count = None if size is None else _as_count(size)
    positions = true_positions(both[1], count)._graph
    out = pick_first(both[0].flatten()._graph, positions)
    if count is not None:
        fill = self._const(as_element(fill_value))
        out = (positions < product(both[0].shape)).where(out, fill)
    return self._like(out, mask)


def with_zeros_behind(x: Tensor) -> Tensor:
    """Return this filled up to the greatest sizes that symbolic axes have."""
    return x._like(filled(x._graph))


def true_positions(x: Tensor, count: int | None = None) -> Tensor:
    """Return the positions of elements that are not zero, among all in row-major order.

    With a `count` the first so many of them; where there are fewer, positions behind all elements.
    """
    size = product(fixed_shape(x.shape))
    dtype = position_dtype(size)
    if not size or count == 0:
        return x._make(UOp.const(dtype, size).reshape((1,)).expand((count or 0,)), x._device)
    truths = x._like(nonzero_mask(x).reshape((size,)).detach())
    running = truths._like(_running_counts(truths._graph.cast(dtype)).contiguous())
    if count is None:
        check_values_are_read()
        count = interval(running, 0, size - 1, size).item()
    if not count:
        return no_positions(x)
    inputs = truths._graph, running._graph
    found = _positions_by_count(*inputs, count).dispatch(PositionsOfTruths(count), *inputs)
    return x._make(found.contiguous(), x._device)


def no_positions(x: Tensor) -> Tensor:
    """Return an empty tensor of positions beside `x`: (0,)."""
    return x._make(UOp.const(position_dtype(0), 0).reshape((1,)).expand((0,)), x._device)


def check_values_are_read() -> None:
    """Raise JitError inside a jitted function, where values must not decide a shape."""
    if current_capture() is not None:
        raise JitError(
            "a jitted function reads the elements of a mask: how many hold decides a shape, which its "
            "replays cannot change. Pass size= to masked_select or nonzero, or choose with where()."
        )


def repeat_interleave(
    self: Tensor,
    repeats: Dim | Sequence[int] | Tensor = REQUIRED,
    axis: int | None = None,
    *,
    output_size: int | None = None,
    **names: Unpack[RepeatAxisNames],
) -> Tensor:
    """Return this with each element along an axis `repeats` times, one behind the other.

    Args:
        repeats: how often each comes: one number, or one for each place on the axis. A tensor of them is
            computed at once, because the size of the result depends on it.
        axis: along which axis; None takes all elements in row-major order.
        output_size: the sum of a tensor of numbers, where it is known: then nothing is computed early.
            Elements that the tensor has beyond that fall away; those missing are 0.

    Raises:
        ArgumentError: a number is negative, or no integer; of a tensor without `output_size` only.
        AxisError: the axis does not exist.
        DtypeError: a tensor of numbers holds no integers.
        ShapeError: there are more or fewer numbers than places, or `output_size` is not their sum, where
            that is known.
        JitError: a tensor of numbers inside a jitted function, without `output_size`.

    Example:
        >>> Tensor([1, 2]).repeat_interleave(2).tolist()
        [1, 1, 2, 2]
        >>> Tensor([1, 2]).repeat_interleave([0, 3]).tolist()
        [2, 2, 2]
    """
    if names or repeats is REQUIRED:
        repeats, axis = renamed(self.repeat_interleave, names, repeats=repeats, axis=axis)
    if axis is None:
        return self.flatten().repeat_interleave(repeats, 0, output_size=output_size)
    at = one_axis(axis, self.ndim)
    if isinstance(repeats, TensorBase):
        size = self.shape[at]
        return self.index_select(at, _repeated_places(self, repeats, size, output_size))  # pyright: ignore[reportArgumentType]
    if isinstance(repeats, UOp):
        return _repeat_each(self, at, repeats)
    numbers = [as_int(number, "repeats") for number in several(repeats)]
    if numbers and min(numbers) < 0:
        raise ArgumentError(f"{min(numbers)} times. Give 0 or more.")
    if output_size is not None:
        given = as_int(output_size, "output_size")
        total: Any = sum(numbers) * (self.shape[at] if len(numbers) == 1 else 1)
        if isinstance(total, int) and given != total:
            raise ShapeError(f"output_size={given}, but the numbers add up to {total}.")
    if len(numbers) == 1:
        return _repeat_each(self, at, numbers[0])
    size = self.shape[at]
    if not isinstance(size, int) and len(numbers) == size_today(size):
        # one number each is for as many as there are: a replay with others is refused
        known = self.reshape(*self.shape[:at], len(numbers), *self.shape[at + 1 :])
        return known.repeat_interleave(numbers, at)
    _check_one_each((len(numbers),), size)
    places = [place for place, number in enumerate(numbers) for _ in range(number)]
    return self.index_select(at, self._from_host(places, position_dtype(len(numbers))))


def _repeat_each(x: Tensor, axis: int, number: Dim) -> Tensor:
    wide = [number if i == axis + 1 else -1 for i in range(x.ndim + 1)]
    return x.unsqueeze(axis + 1).expand(wide).flatten(axis, axis + 1)


def _repeated_places(x: Tensor, counts: Tensor, size: Dim, total: int | None) -> Tensor:
    """Return each place on an axis `counts` times."""
    if not is_int(counts.dtype) and counts.numel():
        raise DtypeError(f"repeat_interleave with {counts.dtype.name}: numbers of times are integers.")
    _check_one_each(counts.shape, size)
    if isinstance(size, int) and not size:
        return no_positions(x)
    if counts.dtype is dtypes.uint64:
        counts = counts.minimum(dtype_max(dtypes.int64))
    is_wide = counts.dtype.itemsize >= 4
    counts = with_zeros_behind(counts.expand(size))
    counts = counts.cast(dtypes.int64 if is_wide else position_dtype(size))
    size = len_of(counts)
    if total is None and (least := counts.min().item()) < 0:
        raise ArgumentError(f"{least} times. Give 0 or more.")
    ends = counts.cumsum(0, counts.dtype)
    ends = ends._like(ends._graph.contiguous())
    if total is None:
        total = interval(ends, 0, size - 1, size).item()
    numbers = UOp.iota(_as_count(total, "output_size"))
    return ends.searchsorted(x._make(numbers, x._device), right=True)


def len_of(x: TensorBase) -> int:
    """Return the number of elements of a tensor with one axis."""
    return fixed_shape(x.shape, "length")[0]


def _check_one_each(numbers: tuple[Any, ...], size: Dim) -> None:
    if numbers not in ((size,), (1,), ()):
        raise ShapeError(
            f"numbers of shape {show(numbers)} for an axis of {show((size,))[1:-2]} "
            "elements. Give one for each."
        )


def _search_symbolic(rows: UOp, wanted: UOp, right: bool) -> UOp:
    """Return `search_rows` where sizes are symbolic: behind its elements, a row has the greatest key."""
    size: Any = rows.shape[-1]
    keys = mask_behind(filled(rows), size)
    found = search_rows(keys.contiguous(), filled(wanted).contiguous(), right)
    found = cut_to(found, wanted.shape)
    # NaN has the greatest key, too
    return found if isinstance(size, int) else found.minimum(size.cast(found.dtype))


def _as_count(size: Any, name: str = "size") -> int:
    count = as_int(size, f"{name}")
    if count < 0:
        raise ArgumentError(f"{name}={count} is negative. Ask for 0 elements or more.")
    return count


def _running_counts(numbers: UOp) -> UOp:
    """Return the sum of integers up to each one: one pass where loops run."""
    (size,) = numbers.shape
    shape = (size, size)
    is_before = counted(size, numbers.dtype, shape, 1) < counted(size, numbers.dtype, shape, 0)
    others = numbers.reshape((1, size)).expand(shape)
    before = sum_last(is_before.where(others, others.const_like(0)))
    return (before + numbers).dispatch(OnGrids(_scanned), numbers)


def _scanned(_device: str, numbers: UOp) -> UOp:
    return scan(numbers, Ops.ADD, 0)


def _positions_by_count(truths: UOp, running: UOp, count: int) -> UOp:
    """Return the positions of the first `count` truths, each written where their running number says."""
    (size,), dtype = truths.shape, running.dtype
    shape = (count, size)
    place = truths.where(running - 1, running.const_like(-1)).reshape((1, size)).expand(shape)
    # what nobody writes to lies behind all elements
    missing = counted(size, dtype, shape, 1) - size
    found = counted(count, dtype, shape, 0).eq(place).where(missing, missing.const_like(0))
    return found.reduce_axis(Ops.ADD, (1,)).reshape((count,)) + size
