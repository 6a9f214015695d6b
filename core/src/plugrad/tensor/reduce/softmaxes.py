"""Softmax and its logarithms: exponentials of an axis, divided by their sum."""

from __future__ import annotations

import math
from typing import Unpack

from plugrad._frozen import frozen
from plugrad.autodiff import with_rule
from plugrad.autodiff.vjp import sum_over
from plugrad.tensor.argument_checks import float_dtypes
from plugrad.tensor.base import DTypeLike, Tensor, the_dtype
from plugrad.tensor.keywords import AxisNames, ReduceNames, renamed
from plugrad.tensor.shapes import Axes, axes_along, expanded, one_axis
from plugrad.uop import Ops, UOp


def softmax(
    self: Tensor, axis: int = -1, dtype: DTypeLike | None = None, **names: Unpack[AxisNames]
) -> Tensor:
    """Return `exp(self)` divided by its sum along an axis, without overflow.

    Example:
        >>> Tensor([0.0, 0.0]).softmax().tolist()
        [0.5, 0.5]
    """
    if names:
        (axis,) = renamed(self.softmax, names, axis=axis)
    own, wide = float_dtypes(self)
    _, e, total = _softmax_parts(self, axis)
    # one reciprocal of a row, not a division of each element: it is between 0 and 1, so it costs half a unit
    # in the last place and nothing else
    rule = _SoftmaxGradient(axis % max(self.ndim, 1))
    (out,) = with_rule([e * expanded(total.reciprocal(), e.shape)], [self._graph.cast(wide)], rule)
    return self._like(out.cast(the_dtype(dtype, own)))


def log_softmax(
    self: Tensor, axis: int = -1, dtype: DTypeLike | None = None, **names: Unpack[AxisNames]
) -> Tensor:
    """Return the logarithm of softmax, precise where softmax is near 0.

    Example:
        >>> Tensor([1000.0, 0.0]).log_softmax().tolist()
        [0.0, -1000.0]
    """
    if names:
        (axis,) = renamed(self.log_softmax, names, axis=axis)
    narrow, (x, _, total) = (
        the_dtype(dtype, float_dtypes(self)[0]),
        _softmax_parts(self, axis),
    )
    return self._like((x - expanded(total.log2() * math.log(2), x.shape)).cast(narrow))


def logsumexp(self: Tensor, axis: Axes = None, keepdim: bool = False, **names: Unpack[ReduceNames]) -> Tensor:
    """Return `log(sum(exp(self)))` without overflow; of no elements, minus infinity.

    Raises:
        AxisError: an axis does not exist.

    Example:
        >>> Tensor([1000.0, 1000.0]).logsumexp().item() - 1000 < 0.7
        True
    """
    if names:
        axis, keepdim = renamed(self.logsumexp, names, axis=axis, keepdim=keepdim)
    axes = axes_along(axis, self.ndim)
    dtype, wide = float_dtypes(self)
    x = self._graph.cast(wide)
    highest = x.reduce_axis(Ops.MAX, axes).detach()
    # an infinite maximum would make inf - inf
    infinite = highest.eq(math.inf) | highest.eq(-math.inf)
    highest = infinite.where(highest.const_like(0.0), highest)
    total = (x - expanded(highest, x.shape)).exp().reduce_axis(Ops.ADD, axes)
    out = total.log2() * math.log(2) + highest
    kept = tuple(size for i, size in enumerate(self.shape) if i not in axes)
    return self._like((out if keepdim else out.reshape(kept)).cast(dtype))


@frozen
class _SoftmaxGradient:
    """The gradient rule of a softmax, which takes its results in place of their exponentials."""

    axis: int

    def __call__(self, gradients: tuple[UOp], function: UOp) -> list[UOp | None]:
        (gradient,) = gradients
        shares = UOp(Ops.OUTPUT, gradient.dtype, (function,), 0)
        mean = sum_over(shares * gradient, (self.axis,) if shares.shape else ())
        return [shares * (gradient - expanded(mean, shares.shape))]


def _softmax_parts(tensor: Tensor, axis: int) -> tuple[UOp, UOp, UOp]:
    """Return the values less their maximum, the exponentials of those, and the sums of these."""
    x = tensor._graph.cast(float_dtypes(tensor)[1])
    if not tensor.ndim:
        one_axis(axis, 1)
        x = x - x.detach()
        return x, x.exp(), x.exp()
    axes = (one_axis(axis, tensor.ndim),)
    x = x - expanded(x.reduce_axis(Ops.MAX, axes).detach(), x.shape)
    e = x.exp()
    return x, e, e.reduce_axis(Ops.ADD, axes)
