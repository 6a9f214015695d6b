"""Comparisons, and logic on elements of any dtype."""

from __future__ import annotations

from plugrad.dtype import Number, dtypes
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import Tensor
from plugrad.tensor.elementwise.operands import as_tensor_operand, binary, compare
from plugrad.uop import Ops


def eq(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return where both are equal.

    Example:
        >>> Tensor([1, 2]).eq(2).tolist()
        [False, True]
    """
    return binary(self, Ops.CMPEQ, other)


def ne(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return where they differ; NaN differs from everything.

    Example:
        >>> Tensor([1, 2]).ne(2).tolist()
        [True, False]
    """
    return binary(self, Ops.CMPNE, other)


def lt(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return where this is less than `other`; never for NaN.

    Example:
        >>> Tensor([1, 2, 3]).lt(2).tolist()
        [True, False, False]
    """
    return compare(self, other, lambda x, y: x < y)


def le(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return where this is at most `other`; never for NaN.

    Example:
        >>> Tensor([1, 2, 3]).le(2).tolist()
        [True, True, False]
    """
    return compare(self, other, lambda x, y: x <= y)


def gt(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return where this is greater than `other`; never for NaN.

    Example:
        >>> Tensor([1, 2, 3]).gt(2).tolist()
        [False, False, True]
    """
    return compare(self, other, lambda x, y: x > y)


def ge(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return where this is at least `other`; never for NaN.

    Example:
        >>> Tensor([1, 2, 3]).ge(2).tolist()
        [False, True, True]
    """
    return compare(self, other, lambda x, y: x >= y)


def equal(self: Tensor, other: Tensor) -> bool:
    """Return whether both have the same shape and elements, computed at once.

    Raises:
        DtypeError: `other` is no tensor.

    Example:
        >>> Tensor([1, 2]).equal(Tensor([1.0, 2.0])), Tensor([1, 2]).equal(Tensor([1]))
        (True, False)
    """
    require_tensors(other=other)
    if self.shape != other.shape:
        return False
    differs = self.ne(other)._graph
    found = differs.reduce_axis(Ops.MAX, tuple(range(self.ndim))) if self.ndim else differs
    return not self._make(found.reshape(()), self._device)


def logical_not(self: Tensor) -> Tensor:
    """Return where elements are zero.

    Example:
        >>> Tensor([0, 5]).logical_not().tolist()
        [True, False]
    """
    return self._like(~self._graph.cast(dtypes.bool))


def logical_and(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return where neither is 0; NaN is not 0.

    Example:
        >>> Tensor([1, 2, 0]).logical_and(Tensor([5, 0, 0])).tolist()
        [True, False, False]
    """
    return _logic(self, Ops.AND, other)


def logical_or(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return where not both are 0; NaN is not 0.

    Example:
        >>> Tensor([1, 2, 0]).logical_or(Tensor([5, 0, 0])).tolist()
        [True, True, False]
    """
    return _logic(self, Ops.OR, other)


def logical_xor(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return where one of both is 0; NaN is not 0.

    Example:
        >>> Tensor([1, 2, 0]).logical_xor(Tensor([5, 0, 0])).tolist()
        [False, True, False]
    """
    return _logic(self, Ops.XOR, other)


def _logic(x: Tensor, op: Ops, other: Tensor | Number) -> Tensor:
    given = as_tensor_operand(x, other)
    return binary(x._like(x._graph.cast(dtypes.bool)), op, given._like(given._graph.cast(dtypes.bool)))
