"""Reduce axes to one element, and find, sort or accumulate along an axis."""

import math
from collections.abc import Callable
from typing import Any, Literal

from plugrad import Tensor, dtypes
from plugrad.dtype import is_float
from plugrad_onnx.registry import operator
from plugrad_onnx.sizes import is_symbolic, simplified
from plugrad_onnx.values import sizes_of

Reduce = Callable[..., Tensor]


def _as_accumulator(x: Tensor) -> Tensor:
    """Return x in a dtype whose sums keep their digits."""
    return x.cast(dtypes.float32) if x.dtype in (dtypes.float16, dtypes.bfloat16) else x


def _sum(x: Tensor, **axes: Any) -> Tensor:
    return _as_accumulator(x).sum(**axes)


def _log_sum_exp(x: Tensor, **axes: Any) -> Tensor:
    wide = _as_accumulator(x) if is_float(x.dtype) else x.cast(dtypes.float64)
    return wide.exp().sum(**axes).log() if 0 in sizes_of(x) else wide.logsumexp(**axes)


def _max(x: Tensor, **axes: Any) -> Tensor:
    if x.dtype == dtypes.bool:
        return x.any(**axes)
    return _extreme(x, Tensor.max, float("-inf"), axes)


def _min(x: Tensor, **axes: Any) -> Tensor:
    if x.dtype == dtypes.bool:
        return x.all(**axes)
    return _extreme(x, Tensor.min, float("inf"), axes)


def _extreme(x: Tensor, reduce: Reduce, of_nothing: float, axes: dict[str, Any]) -> Tensor:
    """Return the extreme; over no element an infinity, in place of an error."""
    counted = range(x.ndim) if axes["axis"] is None else axes["axis"]
    if all(sizes_of(x)[axis] for axis in counted):
        return reduce(x, **axes)
    return x.sum(**axes) * 0 + of_nothing


def _sum_of_sizes(x: Tensor, **axes: Any) -> Tensor:
    return _sum(x.abs(), **axes)


def _sum_of_squares(x: Tensor, **axes: Any) -> Tensor:
    return (_as_accumulator(x) * _as_accumulator(x)).sum(**axes)


def _norm(x: Tensor, **axes: Any) -> Tensor:
    return _sum_of_squares(x, **axes).sqrt()


def _log_sum(x: Tensor, **axes: Any) -> Tensor:
    return _sum(x, **axes).log()


def _mean(x: Tensor, **axes: Any) -> Tensor:
    return _as_accumulator(x).mean(**axes)


def _product(x: Tensor, **axes: Any) -> Tensor:
    return _as_accumulator(x).prod(**axes)


_REDUCTIONS: dict[str, Reduce] = {
    "ReduceL1": _sum_of_sizes,
    "ReduceL2": _norm,
    "ReduceLogSum": _log_sum,
    "ReduceLogSumExp": _log_sum_exp,
    "ReduceMax": _max,
    "ReduceMean": _mean,
    "ReduceMin": _min,
    "ReduceProd": _product,
    "ReduceSum": _sum,
    "ReduceSumSquare": _sum_of_squares,
}
_OF_NO_AXES: dict[str, Callable[[Tensor], Tensor]] = {
    "ReduceL1": Tensor.abs,
    "ReduceL2": Tensor.abs,
    "ReduceLogSum": Tensor.log,
    "ReduceSumSquare": lambda x: x * x,
}


def _enter(name: str, reduce: Reduce) -> None:
    @operator(name)
    def reduction(
        data: Tensor,
        axes: tuple[int, ...] | None = None,
        *,
        keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> Tensor:
        if not axes and noop_with_empty_axes:
            return _OF_NO_AXES.get(name, lambda x: x)(data).cast(data.dtype)
        return reduce(data, axis=axes or None, keepdim=bool(keepdims)).cast(data.dtype)


for _name, _reduce in _REDUCTIONS.items():
    _enter(_name, _reduce)


def _arg(find: Reduce, data: Tensor, axis: int, keepdims: int, last: int) -> Tensor:
    if not last:
        return find(data, axis=axis, keepdim=bool(keepdims)).cast(dtypes.int64)
    from_end = find(data.flip(axis), axis=axis, keepdim=bool(keepdims)).cast(dtypes.int64)
    return sizes_of(data)[axis] - 1 - from_end


@operator("ArgMax")
def arg_max(data: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
    """Return where along an axis the largest element is."""
    return _arg(Tensor.argmax, data, axis, keepdims, select_last_index)


@operator("ArgMin")
def arg_min(data: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
    """Return where along an axis the smallest element is."""
    return _arg(Tensor.argmin, data, axis, keepdims, select_last_index)


@operator("CumSum")
def cum_sum(x: Tensor, axis: int, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
    """Return the sums of all elements up to each along an axis."""
    return _accumulate(Tensor.cumsum, 0, x, axis, exclusive, reverse)


@operator("CumProd")
def cum_prod(x: Tensor, axis: int, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
    """Return the products of all elements up to each along an axis."""
    return _accumulate(Tensor.cumprod, 1, x, axis, exclusive, reverse)


def _accumulate(scan: Reduce, start: int, x: Tensor, axis: int, exclusive: int, reverse: int) -> Tensor:
    ordered = x.flip(axis) if reverse else x
    if exclusive:
        at, size = axis % x.ndim, sizes_of(x)[axis]
        first = Tensor.full(
            tuple(1 if i == at else s for i, s in enumerate(sizes_of(x))), start, dtype=x.dtype
        )
        ordered = Tensor.cat(first, ordered, axis=at).narrow(at, 0, size)
    out = scan(_as_accumulator(ordered), axis).cast(x.dtype)
    return out.flip(axis) if reverse else out


@operator("TopK")
def top_k(x: Tensor, k: int, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> tuple[Tensor, Tensor]:
    """Return the largest or smallest elements along an axis, and where they are."""
    values, indices = x.topk(k, axis, bool(largest))
    return values, indices.cast(dtypes.int64)


@operator("Hardmax", until=12)
def hardmax_of_rows(x: Tensor, *, axis: int = 1) -> Tensor:
    """Return 1 at the largest element of each row; rows are axes from `axis` on."""
    return _of_rows(lambda rows: hardmax(rows, axis=1), x, axis)


@operator("Hardmax", since=13)
def hardmax(x: Tensor, *, axis: int = -1) -> Tensor:
    """Return 1 at the first largest element along an axis, else 0."""
    size = sizes_of(x)[axis]
    position = Tensor.arange(size).reshape(*(-1 if i == axis % x.ndim else 1 for i in range(x.ndim)))
    return (position == x.argmax(axis, keepdim=True)).cast(x.dtype)


@operator("Softmax", until=12)
def softmax_of_rows(x: Tensor, *, axis: int = 1) -> Tensor:
    """Return the softmax of each row, where rows are all axes from `axis` on."""
    return _of_rows(lambda rows: softmax(rows, axis=1), x, axis)


@operator("Softmax", since=13)
def softmax(x: Tensor, *, axis: int = -1) -> Tensor:
    """Return exponentials that sum to 1 along an axis."""
    return _as_accumulator(x).softmax(axis).cast(x.dtype)


@operator("LogSoftmax", until=12)
def log_softmax_of_rows(x: Tensor, *, axis: int = 1) -> Tensor:
    """Return the logarithms of the softmax of each row."""
    return _of_rows(lambda rows: log_softmax(rows, axis=1), x, axis)


@operator("LogSoftmax", since=13)
def log_softmax(x: Tensor, *, axis: int = -1) -> Tensor:
    """Return the logarithms of the softmax along an axis."""
    return _as_accumulator(x).log_softmax(axis).cast(x.dtype)


def _of_rows(apply: Callable[[Tensor], Tensor], x: Tensor, axis: int) -> Tensor:
    return apply(_as_matrix(x, axis)).reshape(sizes_of(x))


def _as_matrix(x: Tensor, axis: int) -> Tensor:
    rows = math.prod(sizes_of(x)[: axis % x.ndim])
    return x.reshape(rows, simplified(math.prod(sizes_of(x)) // rows) if is_symbolic(sizes_of(x)) else -1)


@operator("LpNormalization")
def lp_normalization(x: Tensor, *, axis: int = -1, p: Literal[1, 2] = 2) -> Tensor:
    """Return x over its norm along an axis; 0 where the norm is."""
    norm = x.abs().sum(axis, keepdim=True) if p == 1 else (x * x).sum(axis, keepdim=True).sqrt()
    return (norm == 0).where(0, x / norm).cast(x.dtype)
