"""Tensors in the shape, dtype and device of another one."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from plugrad.dtype import Number
from plugrad.tensor.base import DTypeLike, TensorBase, the_dtype
from plugrad.tensor.keywords import REQUIRED, ShapeNames, SizeNames, renamed
from plugrad.tensor.shapes import Dim, as_shape

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class LikenessMixin(TensorBase):
    """Creation after a pattern: `*_like` take its shape as well, `new_*` have one of their own."""

    __slots__ = ()

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
        dtype = the_dtype(dtype, self.dtype)
        return self.full(
            self.shape,
            fill_value,
            dtype=dtype,
            device=self.device if device is None else device,
            requires_grad=requires_grad,
        )

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
        shape, dtype = self.shape, the_dtype(dtype, self.dtype)
        return self.empty(
            shape, dtype=dtype, device=self.device if device is None else device, requires_grad=requires_grad
        )

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
        if names:
            (shape,) = renamed(self.new_zeros, names, shape=shape)
        dims = as_shape(shape, "new_zeros")
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
        if names:
            (shape,) = renamed(self.new_ones, names, shape=shape)
        dims = as_shape(shape, "new_ones")
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
        if names:
            (shape,) = renamed(self.new_empty, names, shape=shape)
        dtype, device = the_dtype(dtype, self.dtype), self.device if device is None else device
        return self.empty(*shape, dtype=dtype, device=device, requires_grad=requires_grad)

    def new_tensor(
        self: Tensor, data: Any, *, dtype: DTypeLike | None = None, device: str | None = None
    ) -> Tensor:
        """Return what `Tensor` takes as a tensor of this one's dtype and on its device.

        Raises:
            DtypeError: an element is no number, or does not fit the dtype.
            ShapeError: lists are ragged.

        Example:
            >>> Tensor([0.5]).new_tensor([1, 2]).tolist()
            [1.0, 2.0]
        """
        return self._from_host(data, the_dtype(dtype, self.dtype), device)
