"""How the operands of an operation meet: what may be one, their dtype, shape and device."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from plugrad.dtype import DType, Number, is_complex
from plugrad.errors import DtypeError
from plugrad.tensor.base import TensorBase, promoted
from plugrad.tensor.complex_formulas.apply import joined
from plugrad.tensor.complex_formulas.arithmetic import MIXED
from plugrad.tensor.numbers import scalar_dtype
from plugrad.tensor.shapes import broadcast_shapes, expanded
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor

_NUMBERS = frozenset((bool, int, float, complex))


class OperandMixin(TensorBase):
    """What operations of several operands share.

    Operands broadcast as in NumPy and meet in one dtype (see `promoted`); Python numbers are weak.
    """

    __slots__ = ()

    def _operands(self: Tensor, *others: Any, dtype: DType | None = None) -> list[UOp]:
        """Return this and `others` as nodes of one dtype; all but scalars have one shape."""
        if dtype is None and len(others) == 1 and (met := self._met(others[0])) is not None:
            return met
        given = (self, *map(self._operand, others))
        tensors = [x for x in given if isinstance(x, TensorBase)]
        self._check_device(*tensors[1:])
        dtype = promoted(given) if dtype is None else dtype
        shapes = [t.shape for t in tensors]
        shape = shapes[0] if all(s == shapes[0] for s in shapes) else broadcast_shapes(*shapes)
        nodes: list[UOp] = []
        for x in given:
            if not isinstance(x, TensorBase):
                nodes.append(self._const(x, dtype))
                continue
            # a source of shape () fits any shape as it is
            u = x._graph.cast(dtype)
            nodes.append(u if u.shape == () else expanded(u, shape))
        return nodes

    def _met(self: Tensor, other: Any) -> list[UOp] | None:
        """Return this and `other` as nodes where neither has to change, as most operands; None elsewhere."""
        if type(other) is type(self):
            if other._device != self._device:
                return None
            x, y = self._graph, other._graph
            return [x, y] if x.dtype is y.dtype and x.shape == y.shape else None
        if type(other) not in _NUMBERS:
            return None
        x = self._graph
        return [x, self._const(other, x.dtype)] if scalar_dtype(other, x.dtype) is x.dtype else None

    def _operand(self: Tensor, x: Any) -> Tensor | Number:
        """Return what was given as an operand: a tensor, a Python number, or a NumPy array or number.

        Raises:
            DtypeError: it is none of these.
        """
        if isinstance(x, type(self)) or type(x) in _NUMBERS:
            return x
        if hasattr(x, "__array__") and not isinstance(x, type):
            if getattr(x, "ndim", None) != 0:
                return self._from_host(x)
            number = x.item()
            if isinstance(number, (bool, int, float, complex)):
                return number
        if isinstance(x, (int, float, complex)):
            return x
        raise DtypeError(
            f"cannot compute with {x!r:.200} ({type(x).__name__}) and a tensor. Pass a Tensor or a Python "
            "number."
        )

    def _tensor_operand(self: Tensor, x: Any) -> Tensor:
        """Return what was given as an operand as a tensor; a number of Python takes the dtype of this one.

        Raises:
            DtypeError: it is none (see `_operand`).
        """
        given = self._operand(x)
        if isinstance(given, TensorBase):
            return given
        return self._make(self._const(given, promoted([self, given])), self._device)

    def _binary(
        self: Tensor, op: Ops, other: Tensor | Number, *, reverse: bool = False, dtype: DType | None = None
    ) -> Tensor:
        x, y = self._operands(other, dtype=dtype)
        if reverse:
            x, y = y, x
        if is_complex(x.dtype) and op in MIXED:
            given = promoted([self._operand(other)])
            dtypes = (given, self.dtype) if reverse else (self.dtype, given)
            if op is Ops.FDIV or not all(map(is_complex, dtypes)):
                operands = zip((x, y), dtypes, strict=True)
                return joined(*MIXED[op](*[self._parts_of(u, dtype, other) for u, dtype in operands]))
        return self._with(x.alu(op, y), other)

    def _parts_of(self: Tensor, u: UOp, dtype: DType, other: Any) -> tuple[Tensor, Tensor | None]:
        """Return the parts of an operand; of a real one, which was cast, the real part alone."""
        return self._with(u.real(), other), self._with(u.imag(), other) if is_complex(dtype) else None

    def _compare(self: Tensor, other: Any, compare: Callable[[UOp, UOp], UOp]) -> Tensor:
        x, y = self._operands(other)
        return self._with(compare(x, y), other)

    def _with(self: Tensor, out: UOp, *others: Any) -> Tensor:
        # a constant takes the device of what it is combined with: that of the graph
        return self._like(out, *[x for x in others if isinstance(x, TensorBase)])

    def _refuse(self: Tensor, what: str, wanted: str, *others: Any) -> DtypeError:
        names = " and ".join(
            x.dtype.name if isinstance(x, TensorBase) else f"{x!r} ({type(x).__name__})"
            for x in (self, *others)
        )
        return DtypeError(f"{what} of {names}: it takes {wanted}. Cast first: .cast(dtype).")
