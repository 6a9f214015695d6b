"""Comparisons by name, and logic on elements of any dtype."""

from typing import Self

from plugrad.dtype import ConstType, dtypes
from plugrad.tensor.arguments import tensors
from plugrad.tensor.special import SpecialMixin
from plugrad.uop.ops import Ops


class ComparingMixin(SpecialMixin):
    """What `<` and its like are called by others, and what is true of elements that are not 0."""

    __slots__ = ()

    # --- order ---

    def lt(self, other: Self | ConstType) -> Self:
        """Return where this is less than `other`; never for NaN.

        Example:
            >>> Tensor([1, 2, 3]).lt(2).tolist()
            [True, False, False]
        """
        return self < other

    def le(self, other: Self | ConstType) -> Self:
        """Return where this is at most `other`; never for NaN.

        Example:
            >>> Tensor([1, 2, 3]).le(2).tolist()
            [True, True, False]
        """
        return self <= other

    def gt(self, other: Self | ConstType) -> Self:
        """Return where this is greater than `other`; never for NaN.

        Example:
            >>> Tensor([1, 2, 3]).gt(2).tolist()
            [False, False, True]
        """
        return self > other

    def ge(self, other: Self | ConstType) -> Self:
        """Return where this is at least `other`; never for NaN.

        Example:
            >>> Tensor([1, 2, 3]).ge(2).tolist()
            [False, True, True]
        """
        return self >= other

    def less(self, other: Self | ConstType) -> Self:
        """Return `self < other`.

        Example:
            >>> Tensor([1, 2, 3]).less(2).tolist()
            [True, False, False]
        """
        return self < other

    def less_equal(self, other: Self | ConstType) -> Self:
        """Return `self <= other`.

        Example:
            >>> Tensor([1, 2, 3]).less_equal(2).tolist()
            [True, True, False]
        """
        return self <= other

    def greater(self, other: Self | ConstType) -> Self:
        """Return `self > other`.

        Example:
            >>> Tensor([1, 2, 3]).greater(2).tolist()
            [False, False, True]
        """
        return self > other

    def greater_equal(self, other: Self | ConstType) -> Self:
        """Return `self >= other`.

        Example:
            >>> Tensor([1, 2, 3]).greater_equal(2).tolist()
            [False, True, True]
        """
        return self >= other

    def not_equal(self, other: Self | ConstType) -> Self:
        """Return `self != other`.

        Example:
            >>> Tensor([1, 2, 3]).not_equal(2).tolist()
            [True, False, True]
        """
        return self.ne(other)

    def equal(self, other: Self) -> bool:
        """Return whether both have one shape and the same elements, computed at once; NaN equals nothing.

        Raises:
            DtypeError: `other` is no tensor.

        Example:
            >>> Tensor([1, 2]).equal(Tensor([1.0, 2.0])), Tensor([1, 2]).equal(Tensor([1]))
            (True, False)
        """
        tensors(other=other)
        if self.shape != other.shape:
            return False
        differs = self.ne(other)._graph
        found = differs.reduce_axis(Ops.MAX, tuple(range(self.ndim))) if self.ndim else differs
        return not self._make(found.reshape(()), self._device)

    # --- logic ---

    def logical_and(self, other: Self | ConstType) -> Self:
        """Return where neither is 0; NaN is not 0.

        Example:
            >>> Tensor([1, 2, 0]).logical_and(Tensor([5, 0, 0])).tolist()
            [True, False, False]
        """
        return self._logic(Ops.AND, other)

    def logical_or(self, other: Self | ConstType) -> Self:
        """Return where not both are 0; NaN is not 0.

        Example:
            >>> Tensor([1, 2, 0]).logical_or(Tensor([5, 0, 0])).tolist()
            [True, True, False]
        """
        return self._logic(Ops.OR, other)

    def logical_xor(self, other: Self | ConstType) -> Self:
        """Return where one of both is 0; NaN is not 0.

        Example:
            >>> Tensor([1, 2, 0]).logical_xor(Tensor([5, 0, 0])).tolist()
            [False, True, False]
        """
        return self._logic(Ops.XOR, other)

    def _logic(self, op: Ops, other: Self | ConstType) -> Self:
        given = self._tensor_operand(other)
        return self._like(self._graph.cast(dtypes.bool))._binary(
            op, given._like(given._graph.cast(dtypes.bool))
        )
