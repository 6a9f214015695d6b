"""Sums, products, extremes, means, variances, argmax.

They go over one axis, several, or (with `axis=None`) all; `keepdim` leaves these with size 1.
"""

from __future__ import annotations

from typing import Any, Unpack, cast

from plugrad.dtype import DType, dtypes, element_dtype, is_bool, is_complex, is_float, is_inexact, sum_dtype
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor.argument_checks import float_dtypes
from plugrad.tensor.base import DTypeLike, Tensor, the_dtype
from plugrad.tensor.complex_formulas.pairs import apply, parts_of
from plugrad.tensor.keywords import ExtremeNames, ReduceNames, SpreadNames, renamed
from plugrad.tensor.lookup import number_of
from plugrad.tensor.reduce.value_index import Ranked
from plugrad.tensor.shapes import (
    Axes,
    as_flag,
    as_number,
    axes_along,
    expanded,
    nonempty_axes,
    one_axis,
    product,
)
from plugrad.uop import Ops, UOp


def sum(
    self: Tensor,
    axis: Axes = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    **names: Unpack[ReduceNames],
) -> Tensor:
    """Return sums, accumulating narrow floats in float32 and narrow integers in 32 bits or more.

    Args:
        axis: what to sum over; `()` names no axis, and all elements stay, as in NumPy.
            A tensor without axes takes 0 and -1, as one axis of a single element.
        keepdim: keep those axes with size 1.
        dtype: accumulate in, and return, this dtype.

    Raises:
        AxisError: an axis does not exist.

    Example:
        >>> Tensor([[1, 2], [3, 4]]).sum(0).tolist()
        [4, 6]
    """
    if names:
        axis, keepdim = renamed(self.sum, names, axis=axis, keepdim=keepdim)
    return _accumulated(self, Ops.ADD, axes_along(axis, self.ndim), keepdim, dtype)


def prod(
    self: Tensor,
    axis: Axes = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    **names: Unpack[ReduceNames],
) -> Tensor:
    """Return products, in the dtypes of `sum`.

    Example:
        >>> Tensor([2, 3, 4]).prod().item()
        24
    """
    if names:
        axis, keepdim = renamed(self.prod, names, axis=axis, keepdim=keepdim)
    return _accumulated(self, Ops.MUL, axes_along(axis, self.ndim), keepdim, dtype)


def _accumulated(x: Tensor, op: Ops, axes: tuple[int, ...], keepdim: bool, dtype: DTypeLike | None) -> Tensor:
    wide = the_dtype(dtype, sum_dtype(x.dtype))
    out = reduced_over(x._graph.cast(wide), op, axes, keepdim)
    return x._like(out.cast(x.dtype) if dtype is None and is_float(x.dtype) else out)


def max(self: Tensor, axis: Axes = None, keepdim: bool = False, **names: Unpack[ExtremeNames]) -> Tensor:
    """Return the greatest elements; NaN where there is one.

    Asked by PyTorch's name, `max(dim=1)`, the elements along that axis and their positions, as PyTorch does.

    Raises:
        AxisError: an axis does not exist.
        ShapeError: there are no elements.

    Example:
        >>> x = Tensor([[1, 5], [3, 4]])
        >>> x.max(1).tolist(), x.max(dim=1).indices.tolist()
        ([5, 4], [1, 1])
    """
    if names:
        dim = names.pop("dim", None)
        (keepdim,) = renamed(self.max, names, keepdim=keepdim)
        if dim is not None:
            axis = one_axis(dim, self.ndim or 1)
            return cast("Any", Ranked(self.max(axis, keepdim), self.argmax(axis, keepdim)))
    axes = nonempty_axes(self.shape, axis)
    return self._like(reduced_over(self._graph, Ops.MAX, axes, keepdim))


def min(self: Tensor, axis: Axes = None, keepdim: bool = False, **names: Unpack[ExtremeNames]) -> Tensor:
    """Return the least elements, NaN where there is one; `dim=` also gives positions, see `max`.

    Raises:
        AxisError: an axis does not exist.
        ShapeError: there are no elements.

    Example:
        >>> Tensor([[1, 5], [3, 4]]).min(1).tolist()
        [1, 3]
    """
    if names:
        dim = names.pop("dim", None)
        (keepdim,) = renamed(self.min, names, keepdim=keepdim)
        if dim is not None:
            at = one_axis(dim, self.ndim or 1)
            return cast("Any", Ranked(self.min(at, keepdim), self.argmin(at, keepdim)))
    axes = nonempty_axes(self.shape, axis)
    u = self._graph
    if is_float(self.dtype):
        return self._like(-reduced_over(-u, Ops.MAX, axes, keepdim))
    return self._like(~reduced_over(~u, Ops.MAX, axes, keepdim))


def any(self: Tensor, axis: Axes = None, keepdim: bool = False, **names: Unpack[ReduceNames]) -> Tensor:
    """Return where some element is not zero.

    Example:
        >>> Tensor([[0, 1], [0, 0]]).any(1).tolist()
        [True, False]
    """
    if names:
        axis, keepdim = renamed(self.any, names, axis=axis, keepdim=keepdim)
    axes = axes_along(axis, self.ndim)
    return self._like(reduced_over(nonzero_mask(self), Ops.MAX, axes, keepdim))


def all(self: Tensor, axis: Axes = None, keepdim: bool = False, **names: Unpack[ReduceNames]) -> Tensor:
    """Return where all elements are not zero.

    Example:
        >>> Tensor([[0, 1], [2, 3]]).all(1).tolist()
        [False, True]
    """
    if names:
        axis, keepdim = renamed(self.all, names, axis=axis, keepdim=keepdim)
    axes = axes_along(axis, self.ndim)
    return self._like(~reduced_over(~nonzero_mask(self), Ops.MAX, axes, keepdim))


def nonzero_mask(x: Tensor) -> UOp:
    """Return where elements are not zero."""
    return x._graph if is_bool(x.dtype) else x._graph.ne(0)


def mean(
    self: Tensor,
    axis: Axes = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    **names: Unpack[ReduceNames],
) -> Tensor:
    """Return means: floats, the default float for integers; or of elements cast to `dtype` before.

    Raises:
        DtypeError: `dtype` is no float.

    Example:
        >>> Tensor([1, 2]).mean().item()
        1.5
    """
    if names:
        axis, keepdim = renamed(self.mean, names, axis=axis, keepdim=keepdim)
    if dtype is not None:
        if not is_inexact(given := element_dtype(dtype)):
            raise DtypeError(f"mean: dtype={given.name} is no float. Pass one; round and cast the mean.")
        return self.cast(given).mean(axis, keepdim)
    if is_complex(self.dtype):
        return apply(lambda z: (z[0].mean(axis, keepdim), z[1].mean(axis, keepdim)), self)
    axes = axes_along(axis, self.ndim)
    dtype, wide = float_dtypes(self)
    total = reduced_over(self._graph.cast(wide), Ops.ADD, axes, keepdim)
    return self._like((total / number_of(product([self.shape[axis] for axis in axes]), wide)).cast(dtype))


def var(
    self: Tensor,
    axis: Axes = None,
    *flags: bool,
    keepdim: bool = False,
    correction: float = 1,
    **names: Unpack[SpreadNames],
) -> Tensor:
    """Return variances: squared distances from the mean, summed and divided by count - `correction`.

    A divisor below 0 counts as 0. By position, two flags follow the axis as in PyTorch: `unbiased`, which is
    False for a `correction` of 0, and `keepdim`.

    Raises:
        AxisError: an axis does not exist.
        DtypeError: `correction` is no number.

    Example:
        >>> Tensor([1.0, 3.0]).var().item()
        2.0
    """
    if names:
        axis, keepdim, correction = renamed(
            self.var, names, axis=axis, keepdim=keepdim, correction=correction
        )
    if flags:
        correction, keepdim = _positional_flags(flags, correction, keepdim)
    if is_complex(self.dtype):
        real, imag = (x.var(axis, keepdim=keepdim, correction=correction) for x in parts_of(self))
        return cast("Any", real + imag)
    dtype, wide = float_dtypes(self)
    return self._like(_variance(self, axis, keepdim, correction, wide).cast(dtype))


def std(
    self: Tensor,
    axis: Axes = None,
    *flags: bool,
    keepdim: bool = False,
    correction: float = 1,
    **names: Unpack[SpreadNames],
) -> Tensor:
    """Return standard deviations: square roots of `var`. The gradient of deviation 0 is 0.

    Raises:
        AxisError: an axis does not exist.
        DtypeError: `correction` is no number.

    Example:
        >>> Tensor([1.0, 5.0, 9.0]).std().item()
        4.0
    """
    if names:
        axis, keepdim, correction = renamed(
            self.std, names, axis=axis, keepdim=keepdim, correction=correction
        )
    if flags:
        correction, keepdim = _positional_flags(flags, correction, keepdim)
    if is_complex(self.dtype):
        return self.var(axis, keepdim=keepdim, correction=correction).sqrt()
    dtype, wide = float_dtypes(self)
    variance = _variance(self, axis, keepdim, correction, wide)
    # a root has no gradient at 0
    is_zero = variance.eq(0.0)
    root = is_zero.where(variance.const_like(1.0), variance).sqrt()
    return self._like(is_zero.where(variance.const_like(0.0), root).cast(dtype))


def _positional_flags(flags: tuple[bool, ...], correction: float, keepdim: bool) -> tuple[float, bool]:
    """Return `correction` and `keepdim` where flags were given by position: `unbiased`, and `keepdim`."""
    if len(flags) > 2 or not {*map(type, flags)} <= {bool}:
        raise ArgumentError(
            f"{', '.join(map(repr, flags))} follows the axis. Give `correction` by name; by position "
            "come `unbiased` and `keepdim`, True or False."
        )
    unbiased, keepdim = (*flags, keepdim)[:2]
    return (correction if unbiased else 0), keepdim


def _variance(tensor: Tensor, axis: Axes, keepdim: bool, correction: float, wide: DType) -> UOp:
    axes = axes_along(axis, tensor.ndim)
    count: Any = product([tensor.shape[axis] for axis in axes])
    x = tensor._graph.cast(wide)
    mean = x.reduce_axis(Ops.ADD, axes) / number_of(count, wide)
    distance = x - expanded(mean, x.shape)
    left = (number_of(count, wide) - as_number(correction)).maximum(0.0)
    return reduced_over(distance * distance, Ops.ADD, axes, keepdim) / left


def argmax(
    self: Tensor, axis: int | None = None, keepdim: bool = False, **names: Unpack[ReduceNames]
) -> Tensor:
    """Return the position of the greatest element, the first of equals or NaN.

    With `axis=None`, the position among all elements in row-major order.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: there are no elements.

    Example:
        >>> Tensor([[1, 5], [7, 2]]).argmax(1).tolist()
        [1, 0]
    """
    if names:
        axis, keepdim = renamed(self.argmax, names, axis=axis, keepdim=keepdim)
    return _arg_extreme(self, axis, keepdim, type(self).max)


def argmin(
    self: Tensor, axis: int | None = None, keepdim: bool = False, **names: Unpack[ReduceNames]
) -> Tensor:
    """Return the position of the least element, the first of equals or NaN.

    Example:
        >>> Tensor([3, 1, 1]).argmin().item()
        1
    """
    if names:
        axis, keepdim = renamed(self.argmin, names, axis=axis, keepdim=keepdim)
    return _arg_extreme(self, axis, keepdim, type(self).min)


def _arg_extreme(x: Tensor, axis: int | None, keepdim: bool, extreme: Any) -> Tensor:
    if axis is None:
        nonempty_axes(x.shape, None)
        flat = x._like(x._graph.reshape((product(x.shape),)))
        out = _arg_extreme(flat, 0, False, extreme)
        return out.reshape((1,) * x.ndim) if keepdim else out
    if not x.ndim:
        one_axis(axis, 1)
        return _arg_extreme(x, None, False, extreme)
    at = one_axis(axis, x.ndim)
    best = expanded(extreme(x, at, keepdim=True)._graph, x.shape)
    u = x._graph
    found = u.eq(best) | u.ne(u) if is_float(x.dtype) else u.eq(best)
    size: Any = x.shape[at]
    dtype = dtypes.default_int if not isinstance(size, int) or size < 1 << 31 else dtypes.int64
    # counting down from the end makes the first of equals the greatest
    length = number_of(size, dtype)
    from_end = length - UOp.iota(size, dtype)
    from_end = from_end.reshape(tuple(s if i == at else 1 for i, s in enumerate(x.shape))).expand(x.shape)
    last = reduced_over(found.where(from_end, from_end.const_like(0)), Ops.MAX, (at,), keepdim)
    return x._like(length - last)


def reduced_over(u: UOp, op: Ops, axes: tuple[int, ...], keepdim: bool) -> UOp:
    """Return `op` over axes, which stay with size 1 if asked."""
    kept = tuple([size for axis, size in enumerate(u.shape) if axis not in axes])
    out = u.reduce_axis(op, axes)
    return out if as_flag(keepdim, "keepdim") else out.reshape(kept)
