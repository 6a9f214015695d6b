"""The graph of tensors: shapes, movement, memory and assigns."""

import math
from collections.abc import Callable
from typing import Any

from plugrad.dtype import is_complex, is_int
from plugrad.uop.ops import (
    MOVEMENT,
    REDUCING,
    BufferArg,
    DispatchArg,
    FactorArg,
    FourierArg,
    FunctionArg,
    Ops,
)
from plugrad.uop.shape import output_of, pairs_of
from plugrad.uop.spec.nodes import (
    ELEMENTWISE,
    PARTS,
    all_of,
    has_no_arg,
    has_one_dtype,
    has_sources,
    is_after,
    is_const,
    is_index,
    is_real,
    is_scalar,
    is_sink,
    is_storable,
    is_update,
    is_variable,
    is_void,
)
from plugrad.uop.spec.stage import Check, Spec
from plugrad.uop.uop import UOp


def _has_shape(u: UOp) -> bool:
    """Say whether sources fit each other. Finding the shape raises where they do not."""
    shape: Any = u.shape
    return shape is not None


def _moves(check: Callable[[UOp, Any], bool]) -> Check:
    """A movement node of a value with a shape, with index dimensions behind it."""

    def checked(u: UOp) -> bool:
        x, *dims = u.src
        return u.dtype is x.dtype and _has_shape(x) and all(map(is_index, dims)) and check(u, x.shape)

    return checked


def _ints(*shapes: Any) -> bool:
    return all(isinstance(size, int) for shape in shapes for size in shape)


def _reshape(u: UOp, old: Any) -> bool:
    new: Any = u.shape
    return u.arg is None and (
        not _ints(old, new) or (math.prod(old) == math.prod(new) and all(s >= 0 for s in new))
    )


def _expand(u: UOp, old: Any) -> bool:
    new: Any = u.shape
    return (
        u.arg is None
        and len(old) == len(new)
        and all(a == 1 or a is b or a == b for a, b in zip(old, new, strict=True))
    )


def _permute(u: UOp, old: Any) -> bool:
    axes: tuple[int, ...] = u.arg
    return len(u.src) == 1 and sorted(axes) == list(range(len(old)))


def _flip(u: UOp, old: Any) -> bool:
    return len(u.src) == 1 and len(set(u.arg)) == len(u.arg) > 0 and all(0 <= a < len(old) for a in u.arg)


def _pad(u: UOp, old: Any) -> bool:
    pairs: Any = pairs_of(u)
    return (
        u.arg is None
        and len(pairs) == len(old)
        and all(w >= 0 for p in pairs for w in p if isinstance(w, int))
    )


def _shrink(u: UOp, old: Any) -> bool:
    pairs: Any = pairs_of(u)
    if u.arg is not None or len(pairs) != len(old):
        return False
    return all(not _ints((b, e, s)) or 0 <= b <= e <= s for (b, e), s in zip(pairs, old, strict=True))


def _reduce_axis(u: UOp) -> bool:
    op, axes = u.arg
    (x,) = u.src
    in_range = all(0 <= a < len(x.shape) for a in axes)
    return (
        u.dtype is x.dtype
        and op in REDUCING
        and not (op is Ops.MAX and is_complex(x.dtype))
        and len(axes) > 0
        and list(axes) == sorted(set(axes))
        and in_range
    )


def _buffer(u: UOp) -> bool:
    return not u.src and isinstance(u.arg, BufferArg) and is_storable(u.dtype) and _ints(u.arg.shape)


def _assign(u: UOp) -> bool:
    target, value = u.src
    root = target
    while root.op in MOVEMENT or root.op is Ops.BITCAST:
        root = root.src[0]
    fits = target.dtype is value.dtype is u.dtype and (target.shape == value.shape or value.shape == ())
    return is_update(u) and fits and root.op in (Ops.BUFFER, Ops.ASSIGN, Ops.AFTER, Ops.CONTIGUOUS, Ops.COPY)


def _keeps_dtype(u: UOp) -> bool:
    return len(u.src) == 1 and u.src[0].dtype is u.dtype


def _bind(u: UOp) -> bool:
    variable, value = u.src
    lowest, highest = variable.arg[1:]
    return (
        variable.op is Ops.DEFINE_VAR
        and value.op is Ops.CONST
        and has_one_dtype(u)
        and lowest <= value.arg <= highest
    )


def _function(u: UOp) -> bool:
    return is_void(u) and isinstance(u.arg, FunctionArg) and 0 < u.arg.outputs <= len(u.src)


def _fourier(u: UOp) -> bool:
    x, *roots = u.src
    arg: FourierArg = u.arg
    fits = (x.shape[arg.axis], x.shape[arg.parts]) == (math.prod(arg.factors) + arg.half, 2)
    is_whole = fits and len(roots) == 1 + arg.half
    return is_whole and all(x.shape == s.shape for s in roots) and has_one_dtype(u)


def _factor(u: UOp) -> bool:
    return isinstance(u.arg, FactorArg) and has_one_dtype(u) and u.shape[-2:] == u.arg.shape


def _output(u: UOp) -> bool:
    (function,) = u.src
    is_there = function.op is Ops.FUNCTION and 0 <= u.arg < function.arg.outputs
    return is_there and u.dtype is output_of(u).dtype


tensor_spec = Spec(
    "the tensor graph",
    {
        **{op: all_of(check, is_scalar, _has_shape) for op, check in (*ELEMENTWISE.items(), *PARTS.items())},
        Ops.CONST: all_of(is_const, is_scalar),
        Ops.IOTA: all_of(has_sources(1), lambda u: is_index(u.src[0]) and is_int(u.dtype), has_no_arg),
        Ops.BUFFER: _buffer,
        Ops.DEFINE_VAR: is_variable,
        Ops.BIND: _bind,
        Ops.RESHAPE: _moves(_reshape),
        Ops.EXPAND: _moves(_expand),
        Ops.PERMUTE: _moves(_permute),
        Ops.PAD: _moves(_pad),
        Ops.SHRINK: _moves(_shrink),
        Ops.FLIP: _moves(_flip),
        Ops.REDUCE_AXIS: _reduce_axis,
        Ops.CONTIGUOUS: all_of(_keeps_dtype, has_no_arg),
        Ops.FOURIER: _fourier,
        Ops.FACTOR: _factor,
        Ops.DETACH: all_of(_keeps_dtype, has_no_arg),
        Ops.FUNCTION: _function,
        Ops.OUTPUT: _output,
        Ops.LATER: is_after,
        Ops.DISPATCH: lambda u: isinstance(u.arg, DispatchArg) and u.dtype is u.src[0].dtype,
        Ops.COPY: all_of(_keeps_dtype, lambda u: isinstance(u.arg, str)),
        Ops.ASSIGN: _assign,
        Ops.KERNEL: lambda u: isinstance(u.arg, UOp) and u.arg.op in (Ops.SINK, Ops.COPY),
        Ops.AFTER: is_after,
        Ops.SINK: is_sink,
    },
)

real_spec = Spec(
    "the tensor graph without complex numbers",
    {op: all_of(is_real, check) for op, check in tensor_spec.checks.items() if op not in PARTS},
)
