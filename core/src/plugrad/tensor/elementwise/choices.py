"""Choices between values: by a condition, by size, within limits."""

from __future__ import annotations

from typing import Unpack

from plugrad.dtype import Number, is_bool, is_float
from plugrad.errors import DtypeError
from plugrad.tensor.argument_checks import require_tensors
from plugrad.tensor.base import Tensor, TensorBase, promoted
from plugrad.tensor.elementwise.operands import as_operand, compare, dtype_refusal, operand_nodes
from plugrad.tensor.keywords import REQUIRED, ClampNames, renamed
from plugrad.tensor.shapes import broadcast_shapes, expanded
from plugrad.uop import UOp


def where(self: Tensor, x: Tensor | Number, y: Tensor | Number) -> Tensor:
    """Return `x` where this bool tensor holds, else `y`; all three broadcast.

    Raises:
        DtypeError: this tensor is not bool.

    Example:
        >>> Tensor([True, False]).where(1, 0).tolist()
        [1, 0]
    """
    if not is_bool(self.dtype):
        raise dtype_refusal(self, "a bool condition")
    x, y = as_operand(self, x), as_operand(self, y)
    values = [v for v in (x, y) if isinstance(v, TensorBase)]
    shape = broadcast_shapes(self.shape, *[v.shape for v in values])
    self._check_device(*values)
    dtype = promoted([x, y])
    nodes: list[UOp] = []
    for v in (x, y):
        u = v._graph.cast(dtype) if isinstance(v, TensorBase) else self._const(v, dtype)
        nodes.append(u if u.shape == () else expanded(u, shape))
    cond = self._graph if self.shape == () else expanded(self._graph, shape)
    out = self._like(cond.where(*nodes), x, y)
    return out


def masked_fill(self: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """Return `value` where `mask` holds, else this.

    Raises:
        DtypeError: `mask` is no tensor of bools.

    Example:
        >>> Tensor([1, 2]).masked_fill(Tensor([True, False]), 0).tolist()
        [0, 2]
    """
    require_tensors(mask=mask)
    return mask.where(value, self)


def maximum(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return the greater of both; NaN if either is.

    Example:
        >>> Tensor([1, 5]).maximum(3).tolist()
        [3, 5]
    """
    return compare(self, other, lambda x, y: x.maximum(y))


def minimum(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return the lesser of both; NaN if either is.

    Example:
        >>> Tensor([1, 5]).minimum(3).tolist()
        [1, 3]
    """
    return compare(self, other, lambda x, y: x.minimum(y))


def clamp(
    self: Tensor,
    min_: Tensor | Number | None = None,
    max_: Tensor | Number | None = None,
    **names: Unpack[ClampNames],
) -> Tensor:
    """Return this limited to `min_` and `max_`; NaN where one of the operands is.

    Raises:
        DtypeError: both limits are missing.

    Example:
        >>> Tensor([-1, 2, 5]).clamp(0, 3).tolist()
        [0, 2, 3]
    """
    if names:
        min_, max_ = renamed(self.clamp, names, min_=min_, max_=max_)
    if min_ is None and max_ is None:
        raise DtypeError("clamp without a limit changes nothing. Pass min_, max_ or both.")
    out = self
    # choices, not MAX: at the limit itself the whole gradient passes
    if min_ is not None:
        x, limit = operand_nodes(out, min_)
        out = out._like(_needs_limit(x < limit, limit).where(limit, x), min_)
    if max_ is not None:
        x, limit = operand_nodes(out, max_)
        out = out._like(_needs_limit(x > limit, limit).where(limit, x), max_)
    return out


def clamp_min(self: Tensor, min_: Tensor | Number = REQUIRED, **names: Unpack[ClampNames]) -> Tensor:
    """Return `clamp(min_)`.

    Example:
        >>> Tensor([-1, 2]).clamp_min(0).tolist()
        [0, 2]
    """
    if names or min_ is REQUIRED:
        (min_,) = renamed(self.clamp_min, names, min_=min_)
    return self.clamp(min_)


def clamp_max(self: Tensor, max_: Tensor | Number = REQUIRED, **names: Unpack[ClampNames]) -> Tensor:
    """Return `clamp(max_=max_)`.

    Example:
        >>> Tensor([-1, 2]).clamp_max(0).tolist()
        [-1, 0]
    """
    if names or max_ is REQUIRED:
        (max_,) = renamed(self.clamp_max, names, max_=max_)
    return self.clamp(max_=max_)


def _needs_limit(is_beyond: UOp, limit: UOp) -> UOp:
    """Return where a limit replaces the value: beyond it, or where the limit is NaN."""
    return is_beyond | limit.ne(limit) if is_float(limit.dtype) else is_beyond
