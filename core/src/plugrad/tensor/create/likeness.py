"""Tensors in the shape, dtype and device of another one.

`*_like` take its shape as well, `new_*` have one of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from plugrad.dtype import Number, dtypes, is_float
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor.base import DTypeLike, Tensor, the_dtype
from plugrad.tensor.create.creation import asked_shape
from plugrad.tensor.create.random import greatest_count
from plugrad.tensor.keywords import REQUIRED, ShapeNames, SizeNames, renamed
from plugrad.tensor.shapes import Dim, as_int


def full_like(
    self: Tensor,
    fill_value: Number,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    *,
    requires_grad: bool | None = None,
) -> Tensor:
    """Return `fill_value` in this tensor's shape, and its dtype and device unless others are given.

    Raises:
        DtypeError: the dtype cannot hold the value.

    Example:
        >>> Tensor([1, 2]).full_like(5).tolist()
        [5, 5]
    """
    return self.new_full(self.shape, fill_value, dtype=dtype, device=device, requires_grad=requires_grad)


def zeros_like(
    self: Tensor,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    *,
    requires_grad: bool | None = None,
) -> Tensor:
    """Return zeros in this tensor's shape.

    Example:
        >>> Tensor([1, 2]).zeros_like().tolist()
        [0, 0]
    """
    return self.full_like(0, dtype=dtype, device=device, requires_grad=requires_grad)


def ones_like(
    self: Tensor,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    *,
    requires_grad: bool | None = None,
) -> Tensor:
    """Return ones in this tensor's shape.

    Example:
        >>> Tensor([5, 6]).ones_like(dtype="float32").tolist()
        [1.0, 1.0]
    """
    return self.full_like(1, dtype=dtype, device=device, requires_grad=requires_grad)


def empty_like(
    self: Tensor,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    *,
    requires_grad: bool | None = None,
) -> Tensor:
    """Return unwritten memory in this tensor's shape.

    Example:
        >>> Tensor([[1, 2]]).empty_like().shape
        (1, 2)
    """
    return self.new_empty(self.shape, dtype=dtype, device=device, requires_grad=requires_grad)


def new_full(
    self: Tensor,
    shape: Dim | Sequence[Dim] = REQUIRED,
    fill_value: Number = REQUIRED,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[SizeNames],
) -> Tensor:
    """Return `fill_value` in another shape, of this tensor's dtype and on its device.

    Raises:
        DtypeError: the dtype cannot hold the value.
        ShapeError: a size is negative or no integer.

    Example:
        >>> Tensor([1, 2]).new_full((1, 3), 7).tolist()
        [[7, 7, 7]]
    """
    if names or shape is REQUIRED or fill_value is REQUIRED:
        shape, fill_value = renamed(self.new_full, names, shape=shape, fill_value=fill_value)
    dtype, device = the_dtype(dtype, self.dtype), self.device if device is None else device
    return self.full(shape, fill_value, dtype=dtype, device=device, requires_grad=requires_grad)


def new_zeros(
    self: Tensor,
    *shape: Dim | Sequence[Dim],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return zeros in another shape, of this tensor's dtype and on its device.

    Raises:
        ShapeError: a size is negative or no integer.

    Example:
        >>> Tensor([1, 2]).new_zeros(3).tolist()
        [0, 0, 0]
    """
    dims = asked_shape(self.new_zeros, shape, names)
    return self.new_full(dims, 0, dtype=dtype, device=device, requires_grad=requires_grad)


def new_ones(
    self: Tensor,
    *shape: Dim | Sequence[Dim],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return ones in another shape, of this tensor's dtype and on its device.

    Raises:
        ShapeError: a size is negative or no integer.

    Example:
        >>> Tensor([0.5]).new_ones(3).tolist()
        [1.0, 1.0, 1.0]
    """
    dims = asked_shape(self.new_ones, shape, names)
    return self.new_full(dims, 1, dtype=dtype, device=device, requires_grad=requires_grad)


def new_empty(
    self: Tensor,
    *shape: Dim | Sequence[Dim],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return unwritten memory of another shape, of this tensor's dtype and on its device.

    Raises:
        ShapeError: a size is negative or no integer.

    Example:
        >>> Tensor([1, 2]).new_empty(2, 3).shape
        (2, 3)
    """
    dtype, device = the_dtype(dtype, self.dtype), self.device if device is None else device
    return self.empty(
        asked_shape(self.new_empty, shape, names), dtype=dtype, device=device, requires_grad=requires_grad
    )


def new_tensor(
    self: Tensor, data: Any, *, dtype: DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Return `data` as a tensor of this dtype on this device.

    Raises:
        DtypeError: an element is no number, or does not fit the dtype.
        ShapeError: lists are ragged.

    Example:
        >>> Tensor([0.5]).new_tensor([1, 2]).tolist()
        [1.0, 2.0]
    """
    return self._from_host(data, the_dtype(dtype, self.dtype), device)


def rand_like(
    self: Tensor,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    *,
    requires_grad: bool | None = None,
) -> Tensor:
    """Return uniform random floats in this tensor's shape.

    Raises:
        DtypeError: the dtype is no float.

    Example:
        >>> Tensor([1.0, 2.0]).rand_like().shape
        (2,)
    """
    dtype, device = the_dtype(dtype, self.dtype), self.device if device is None else device
    return self.rand(self.shape, dtype=dtype, device=device, requires_grad=requires_grad)


def randn_like(
    self: Tensor,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    *,
    requires_grad: bool | None = None,
) -> Tensor:
    """Return normal random floats in this tensor's shape.

    Raises:
        DtypeError: the dtype is no float.

    Example:
        >>> Tensor([1.0, 2.0]).randn_like(dtype="float16").dtype
        dtypes.float16
    """
    dtype, device = the_dtype(dtype, self.dtype), self.device if device is None else device
    return self.randn(self.shape, dtype=dtype, device=device, requires_grad=requires_grad)


def randint_like(
    self: Tensor,
    *limits: int,
    low: int | None = None,
    high: int | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """Return random integers, uniform in `low..high-1`, in this tensor's shape and dtype.

    Bools are drawn as 0 and 1, as in PyTorch.

    Args:
        limits: `high`, or `low` and `high`, as in PyTorch; by name they may be given as well.
        low: the least number, by default 0.
        high: what all numbers are less than, by default 10.
        dtype: another dtype than this tensor's.
        device: another device than this tensor's.

    Raises:
        DtypeError: the dtype holds no numbers, or not all integers between the limits.
        ArgumentError: there is no integer between the limits, one is none, or is given twice.

    Example:
        >>> Tensor([1, 2]).randint_like(1).tolist(), Tensor([0.5]).randint_like(3, 4).tolist()
        ([0, 0], [3.0])
    """
    least, end = _limits(limits, low, high)
    chosen = the_dtype(dtype, self.dtype)
    kind = chosen
    if is_float(chosen) or chosen is dtypes.bool:
        first, last = (0, 1) if chosen is dtypes.bool else (-greatest_count(chosen), greatest_count(chosen))
        if least < first or end - 1 > last:
            raise DtypeError(
                f"randint_like from {least} to below {end}: {chosen.name} holds all integers from "
                f"{first} to {last} only. Pass a wider dtype."
            )
        kind = dtypes.int64
    device = self.device if device is None else device
    return self.randint(self.shape, low=least, high=end, dtype=kind, device=device).cast(chosen)


def _limits(given: tuple[int, ...], low: int | None, high: int | None) -> tuple[int, int]:
    names = ("low", "high") if len(given) == 2 or high is not None else ("high",)
    limits = {"low": low, "high": high}
    if len(given) > len(names) or any(limits[name] is not None for name in names[: len(given)]):
        raise ArgumentError(f"{given} beside low={low}, high={high}. Pass high, or low and high, each once.")
    limits.update(zip(names, given, strict=False))
    least, end = limits["low"], limits["high"]
    return (
        0 if least is None else as_int(least, "randint_like: low"),
        10 if end is None else as_int(end, "randint_like: high"),
    )
