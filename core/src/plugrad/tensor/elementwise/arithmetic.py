"""Sums, differences and products."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from typing import TYPE_CHECKING, Any

from plugrad.dtype import Number, is_bool
from plugrad.tensor.base import TensorBase, promoted
from plugrad.tensor.shapes import as_element
from plugrad.uop.ops import Ops

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class ArithmeticMixin(TensorBase):
    """Arithmetic that rounds at most once."""

    __slots__ = ()

    def add(self: Tensor, other: Tensor | Number, reverse: bool = False, *, alpha: Number = 1) -> Tensor:
        """Return `self + other`; for bools, `or`.

        Args:
            other: what is added.
            reverse: which of both comes first, as in tinygrad.
            alpha: what `other` is multiplied by first, as in PyTorch.

        Raises:
            DtypeError: `alpha` is no number.

        Example:
            >>> (Tensor([1, 2]) + 0.5).tolist()
            [1.5, 2.5]
        """
        return self._binary(Ops.ADD, self._scaled(other, alpha, "add"), reverse=reverse)

    def sub(self: Tensor, other: Tensor | Number, reverse: bool = False, *, alpha: Number = 1) -> Tensor:
        """Return `self - other`, or `other - self` with `reverse`.

        Args:
            other: what is subtracted.
            reverse: subtract this from `other`.
            alpha: what `other` is multiplied by first, as in PyTorch.

        Raises:
            DtypeError: both are bools, or `alpha` is no number.

        Example:
            >>> Tensor([1, 2]).sub(1).tolist()
            [0, 1]
        """
        other = self._scaled(other, alpha, "sub")
        if is_bool(promoted([self, self._operand(other)])):
            raise self._refuse("subtraction", "numbers (use ^ for bools)", other)
        return self._binary(Ops.SUB, other, reverse=reverse)

    def mul(self: Tensor, other: Tensor | Number, reverse: bool = False) -> Tensor:
        """Return `self * other`; for bools, `and`.

        Example:
            >>> Tensor([1, 2]).mul(3).tolist()
            [3, 6]
        """
        return self._binary(Ops.MUL, other, reverse=reverse)

    def _scaled(self: Tensor, other: Any, alpha: Number, name: str) -> Tensor | Number:
        """Return `alpha * other`."""
        factor = as_element(alpha, name)
        if factor == 1:
            return other
        given = self._operand(other)
        return given.mul(factor) if isinstance(given, TensorBase) else given * factor
