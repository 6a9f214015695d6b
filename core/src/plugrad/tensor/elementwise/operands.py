"""Operands of an operation: accepted values, common dtype, shape and device.

Operands broadcast as in NumPy and meet in one dtype (see `promoted`); Python numbers are weak.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plugrad.dtype import DType, Number, dtypes, is_complex, is_float
from plugrad.errors import DtypeError
from plugrad.tensor.argument_checks import refuse_complex
from plugrad.tensor.base import Tensor, TensorBase, promoted
from plugrad.tensor.complex_formulas.pairs import MIXED, apply, joined
from plugrad.tensor.scalars import scalar_dtype
from plugrad.tensor.shapes import Shape, broadcast_shapes, expanded
from plugrad.uop import Ops, UOp

_NUMBERS = frozenset((bool, int, float, complex))


def operand_nodes(tensor: Tensor, *others: Any, dtype: DType | None = None) -> list[UOp]:
    """Return this and `others` as nodes of one dtype; all but scalars have one shape."""
    if dtype is None and len(others) == 1 and (met := _matching_nodes(tensor, others[0])) is not None:
        return met
    given = (tensor, *[as_operand(tensor, other) for other in others])
    tensors = [x for x in given if isinstance(x, TensorBase)]
    tensor._check_device(*tensors[1:])
    dtype = promoted(given) if dtype is None else dtype
    shapes = [t.shape for t in tensors]
    shape = shapes[0] if shapes.count(shapes[0]) == len(shapes) else broadcast_shapes(*shapes)
    nodes: list[UOp] = []
    for x in given:
        if not isinstance(x, TensorBase):
            nodes.append(tensor._const(x, dtype))
            continue
        nodes.append(_fitted(x._graph.cast(dtype), shape))
    return nodes


def _fitted(u: UOp, shape: Shape) -> UOp:
    # a source of shape () fits any shape as it is
    return u if u.shape == () else expanded(u, shape)


def _matching_nodes(tensor: Tensor, other: Any) -> list[UOp] | None:
    """Return both nodes if they have one dtype, as most do; else None."""
    if type(other) is type(tensor):
        if other._device != tensor._device:
            return None
        x, y = tensor._graph, other._graph
        if x.dtype is not y.dtype:
            return None
        if x.shape == y.shape:
            return [x, y]
        shape = broadcast_shapes(x.shape, y.shape)
        return [_fitted(x, shape), _fitted(y, shape)]
    if type(other) not in _NUMBERS:
        return None
    x = tensor._graph
    return [x, tensor._const(other, x.dtype)] if scalar_dtype(other, x.dtype) is x.dtype else None


def as_operand(tensor: Tensor, x: Any) -> Tensor | Number:
    """Return a tensor, or a Python number, for a value, a NumPy array or number."""
    if isinstance(x, type(tensor)) or type(x) in _NUMBERS:
        return x
    if getattr(x, "dtype", None) is dtypes.index:
        # a bound variable is a number of Python, whose value is known later
        return tensor._make(x.cast(scalar_dtype(1, tensor.dtype)), tensor._device)
    if hasattr(x, "__array__") and not isinstance(x, type):
        if getattr(x, "ndim", None) != 0:
            return tensor._from_host(x)
        number = x.item()
        if isinstance(number, (bool, int, float, complex)):
            return number
    if isinstance(x, (int, float, complex)):
        return x
    raise DtypeError(
        f"cannot compute with {x!r:.200} ({type(x).__name__}) and a tensor. Pass a Tensor or a Python number."
    )


def as_tensor_operand(tensor: Tensor, x: Any) -> Tensor:
    """Return an operand as a tensor; a Python number takes this dtype."""
    given = as_operand(tensor, x)
    if isinstance(given, TensorBase):
        return given
    return tensor._make(tensor._const(given, promoted([tensor, given])), tensor._device)


def binary(
    tensor: Tensor, op: Ops, other: Tensor | Number, *, reverse: bool = False, dtype: DType | None = None
) -> Tensor:
    """Return an operation on this and another operand, or (`reverse`) on the other and this."""
    x, y = operand_nodes(tensor, other, dtype=dtype)
    if reverse:
        x, y = y, x
    if is_complex(x.dtype) and op in MIXED:
        given = promoted([as_operand(tensor, other)])
        both = (given, tensor.dtype) if reverse else (tensor.dtype, given)
        if op is Ops.FDIV or not all(map(is_complex, both)):
            operands = zip((x, y), both, strict=True)
            return joined(*MIXED[op](*[_operand_parts(tensor, u, dtype, other) for u, dtype in operands]))
    return tensor._like(x.alu(op, y), other)


def _operand_parts(x: Tensor, u: UOp, dtype: DType, other: Any) -> tuple[Tensor, Tensor | None]:
    """Return the parts of an operand; a real one has only the real part."""
    real = x._like(u.real(), other)
    return real, x._like(u.imag(), other) if is_complex(dtype) else None


def compare(tensor: Tensor, other: Any, relation: Callable[[UOp, UOp], UOp]) -> Tensor:
    """Return where a relation holds between this and another operand."""
    x, y = operand_nodes(tensor, other)
    return tensor._like(relation(x, y), other)


def dtype_refusal(tensor: Tensor, wanted: str, *others: Any, what: str = "operation") -> DtypeError:
    """Return the error that says of which dtypes operands are, and which are wanted."""
    names = " and ".join(
        x.dtype.name if isinstance(x, TensorBase) else f"{x!r} ({type(x).__name__})"
        for x in (tensor, *others)
    )
    return DtypeError(f"{what} of {names}: it takes {wanted}. Cast first: .cast(dtype).")


def float_graph(x: Tensor) -> UOp:
    """Return the graph, of integers as the default float."""
    refuse_complex(x.dtype)
    return x._graph if is_float(x.dtype) else x._graph.cast(dtypes.default_float)


def composed(
    tensor: Tensor, function: Callable[[UOp], UOp], of_pairs: Callable[[Any], Any] | None = None
) -> Tensor:
    """Apply a composed function, to complex numbers by `of_pairs`.

    16-bit floats go through it in float32 and are rounded once.
    """
    if of_pairs is not None and is_complex(tensor.dtype):
        return apply(of_pairs, tensor)
    x = float_graph(tensor)
    if x.dtype.itemsize > 2:
        return tensor._like(function(x))
    return tensor._like(function(x.cast(dtypes.float32)).cast(x.dtype))


def all_false(x: Tensor) -> UOp:
    """Return False in this shape."""
    return UOp.const(dtypes.bool, False).reshape((1,) * x.ndim).expand(x.shape)


def float_pair(tensor: Tensor, other: Tensor | Number, function: Any) -> Tensor:
    """Return a function of two floats; 16-bit ones go through it in float32."""
    dtype = promoted([tensor, as_operand(tensor, other)])
    refuse_complex(dtype)
    dtype = dtype if is_float(dtype) else dtypes.default_float
    wide = dtypes.float32 if dtype.itemsize < 4 else dtype
    x, y = operand_nodes(tensor, other, dtype=wide)
    return tensor._like(function(x, y).cast(dtype), other)
