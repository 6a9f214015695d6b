"""Arrays made of shapes, numbers and other arrays."""

from collections.abc import Sequence
from typing import Any, Literal

from plugrad._util import numpy as np
from plugrad.array_api.methods import check_keeps_imaginary
from plugrad.dtype import DType, Number, part_dtype
from plugrad.errors import ArgumentError
from plugrad.tensor import Tensor
from plugrad.tensor.host.source import is_buffer
from plugrad.tensor.shapes import as_int, check_sizes

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

Shape = int | Sequence[int]


def asarray(
    obj: Any, /, *, dtype: DType | None = None, device: str | None = None, copy: bool | None = None
) -> Tensor:
    """Return `obj` (a tensor, number, list, memory or array of another library) as a tensor.

    A tensor is returned as it is where nothing changes and `copy` is not True. What other libraries made is
    copied, for it may change; `copy=False` shares its memory or raises. What has Python's buffer protocol
    comes with the shape and dtype that its memoryview says.

    Raises:
        ArgumentError: `copy=False`, and a copy is needed.
        DtypeError: complex numbers are to become real ones.

    Example:
        >>> asarray([1, 2]).tolist()
        [1, 2]
    """
    if not isinstance(obj, Tensor):
        if not hasattr(obj, "__array__") and is_buffer(obj):
            obj = np.asarray(memoryview(obj))
        if copy is False:
            return Tensor(obj, dtype=dtype, device=device, copy=False)
        if hasattr(obj, "__dlpack__") and not hasattr(obj, "__array__"):
            obj = Tensor.from_dlpack(obj, device=device, copy=True)
        else:
            return Tensor(obj, dtype=dtype, device=device)
    out = obj.to(device)
    if dtype is not None:
        check_keeps_imaginary(out, dtype)
        out = out.cast(dtype)
    if copy is False and out is not obj:
        raise ArgumentError(f"asarray(copy=False) of {obj!r}: another dtype or device needs a copy.")
    return out.detach().contiguous() if copy and out is obj else out


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    return Tensor.from_dlpack(x, device=device, copy=copy)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DType | None = None,
    device: str | None = None,
) -> Tensor:
    return Tensor.arange(start, stop, step, dtype=dtype, device=device)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: DType | None = None,
    device: str | None = None,
    endpoint: bool = True,
) -> Tensor:
    """Return `num` evenly spaced numbers from `start` to `stop`, with it or without.

    Example:
        >>> linspace(0.0, 1.0, 4, endpoint=False).tolist()
        [0.0, 0.25, 0.5, 0.75]
    """
    if isinstance(start, complex) or isinstance(stop, complex):
        first, last, part = complex(start), complex(stop), None if dtype is None else part_dtype(dtype)
        real = linspace(first.real, last.real, num, dtype=part, device=device, endpoint=endpoint)
        imag = linspace(first.imag, last.imag, num, dtype=part, device=device, endpoint=endpoint)
        return Tensor.complex(real, imag)
    if endpoint:
        return Tensor.linspace(start, stop, num, dtype=dtype, device=device)
    count = as_int(num, "linspace: num")
    check_sizes((count,))
    return Tensor.linspace(start, stop, count + 1, dtype=dtype, device=device)[:count]


def full(
    shape: Shape, fill_value: Number, *, dtype: DType | None = None, device: str | None = None
) -> Tensor:
    return Tensor.full(shape, fill_value, dtype=dtype, device=device)


def zeros(shape: Shape, *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    return Tensor.zeros(shape, dtype=dtype, device=device)


def ones(shape: Shape, *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    return Tensor.ones(shape, dtype=dtype, device=device)


def empty(shape: Shape, *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    return Tensor.empty(shape, dtype=dtype, device=device)


def full_like(
    x: Tensor, /, fill_value: Number, *, dtype: DType | None = None, device: str | None = None
) -> Tensor:
    return x.full_like(fill_value, dtype, device)


def zeros_like(x: Tensor, /, *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    return x.zeros_like(dtype, device)


def ones_like(x: Tensor, /, *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    return x.ones_like(dtype, device)


def empty_like(x: Tensor, /, *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    return x.empty_like(dtype, device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DType | None = None,
    device: str | None = None,
) -> Tensor:
    """Return zeros with ones on diagonal `k`, above the main one for positive `k`.

    Example:
        >>> eye(2, 3, k=1).tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    columns = n_rows if n_cols is None else n_cols
    check_sizes((n_rows, columns))
    like = Tensor.zeros(1, dtype=dtype, device=device)
    rows = Tensor.arange(n_rows, dtype="int32", device=device).reshape(n_rows, 1)
    # beyond the corners there is nothing, however far
    k = max(min(k, columns), -n_rows)
    return (rows + k == Tensor.arange(columns, dtype="int32", device=device)).cast(like.dtype)


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    return x.tril(k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    return x.triu(k)


def meshgrid(*arrays: Tensor, indexing: Literal["xy", "ij"] = "xy") -> list[Tensor]:
    """Return the coordinates of a grid, one tensor for each axis.

    Example:
        >>> [grid.tolist() for grid in meshgrid(Tensor([1, 2]), Tensor([3, 4]))]
        [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    if not arrays:
        return []
    first, *others = arrays
    return list(first.meshgrid(*others, indexing=indexing))
