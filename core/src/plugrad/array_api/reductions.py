"""Statistics and other reductions."""

from collections.abc import Callable, Sequence
from typing import Protocol

from plugrad.array_api.methods import named_after
from plugrad.dtype import DType, is_inexact, sum_acc_dtype
from plugrad.errors import AxisError
from plugrad.tensor import Tensor

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]

Axis = int | Sequence[int] | None


class Reduction(Protocol):
    """A function of elements along some axes, or all."""

    def __call__(self, x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor: ...


def _reduction(method: Callable[..., Tensor]) -> Reduction:
    def function(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
        return method(x, axis, keepdims)

    return named_after(method, function)


all = _reduction(Tensor.all)
any = _reduction(Tensor.any)
argmax = _reduction(Tensor.argmax)
argmin = _reduction(Tensor.argmin)
count_nonzero = _reduction(Tensor.count_nonzero)
max = _reduction(Tensor.max)
mean = _reduction(Tensor.mean)
min = _reduction(Tensor.min)


def sum(x: Tensor, /, *, axis: Axis = None, dtype: DType | None = None, keepdims: bool = False) -> Tensor:
    """Return sums, of narrow integers in the default int or its unsigned kind.

    Example:
        >>> sum(Tensor([[1, 2], [3, 4]]), axis=0).tolist()
        [4, 6]
    """
    return x.sum(axis, keepdims, _accumulated(x, dtype))


def prod(x: Tensor, /, *, axis: Axis = None, dtype: DType | None = None, keepdims: bool = False) -> Tensor:
    """Return products, of narrow integers in the default int or its unsigned kind.

    Example:
        >>> prod(Tensor([[1, 2], [3, 4]]), axis=0).tolist()
        [3, 8]
    """
    return x.prod(axis, keepdims, _accumulated(x, dtype))


def var(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Return variances: sums of squared distances to the mean, divided by n - `correction`.

    Example:
        >>> var(Tensor([1.0, 3.0])).item()
        1.0
    """
    return x.var(axis, keepdim=keepdims, correction=correction)


def std(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Return standard deviations, the roots of `var`.

    Example:
        >>> std(Tensor([1.0, 3.0])).item()
        1.0
    """
    return x.std(axis, keepdim=keepdims, correction=correction)


def only_axis(x: Tensor, axis: int | None) -> int:
    """Return an axis, or that of an array with one.

    Raises:
        AxisError: `axis` is missing, and there is not one.
    """
    if axis is None and x.ndim != 1:
        raise AxisError(f"axis=None, of {x.ndim} axes. Say along which.")
    return 0 if axis is None else axis


def _with_initial(x: Tensor, axis: int, value: int) -> Tensor:
    shape = list(x.shape)
    shape[axis] = 1
    return Tensor.full(shape, value, dtype=x.dtype, device=x.device).cat(x, axis=axis)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> Tensor:
    """Return sums of all elements so far, with 0 first if asked.

    Raises:
        AxisError: `axis` is missing, and there is not one.

    Example:
        >>> cumulative_sum(Tensor([1, 2]), include_initial=True).tolist()
        [0, 1, 3]
    """
    along = only_axis(x, axis)
    out = x.cumsum(along, _accumulated(x, dtype))
    return _with_initial(out, along, 0) if include_initial else out


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> Tensor:
    """Return products of all elements so far, with 1 first if asked.

    Raises:
        AxisError: `axis` is missing, and there is not one.

    Example:
        >>> cumulative_prod(Tensor([1, 2, 3])).tolist()
        [1, 2, 6]
    """
    along = only_axis(x, axis)
    out = x.cumprod(along, _accumulated(x, dtype))
    return _with_initial(out, along, 1) if include_initial else out


def diff(
    x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    return x.diff(n, axis, prepend, append)


def _accumulated(x: Tensor, dtype: DType | None) -> DType | None:
    """Return the dtype of sums: for narrow integers the default int of this standard."""
    return dtype if dtype is not None or is_inexact(x.dtype) else sum_acc_dtype(x.dtype)
