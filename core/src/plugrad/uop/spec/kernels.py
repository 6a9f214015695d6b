"""Kernels before they are lowered: loops, reductions, scalar memory accesses."""

from plugrad.dtype import dtypes
from plugrad.uop.ops import REDUCING, Axis, FactorArg, FourierArg, Ops
from plugrad.uop.spec.nodes import (
    ELEMENTWISE,
    all_of,
    has_one_dtype,
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
from plugrad.uop.spec.stage import Spec
from plugrad.uop.uop import UOp


def is_memory(u: UOp) -> bool:
    """A buffer: its number, and how many elements it has, which variables may decide."""
    number, numel = u.arg
    return (
        not u.src
        and type(number) is int
        and number >= 0
        and (is_index(numel) if isinstance(numel, UOp) else type(numel) is int and numel >= 0)
        and is_storable(u.dtype)
        and is_real(u)
    )


def is_range(u: UOp) -> bool:
    """The beginning of a loop."""
    return len(u.src) == 1 and isinstance(u.arg, Axis) and has_one_dtype(u)


def _are_ranges(nodes: tuple[UOp, ...]) -> bool:
    return all(r.op is Ops.RANGE for r in nodes) and len(set(nodes)) == len(nodes)


def is_reduce(u: UOp) -> bool:
    """A reduction of values, all together, over loops."""
    op, count = u.arg
    values, ranges = u.src[:count], u.src[count:]
    return (
        op in REDUCING
        and len(values) == count >= 1
        and all(v.dtype is u.dtype for v in values)
        and _are_ranges(ranges)
    )


def _index(u: UOp) -> bool:
    buffer, idx, *gate = u.src
    memory = buffer.src[0] if buffer.op is Ops.AFTER else buffer
    fits = (
        memory.op in (Ops.PARAM, Ops.DEFINE_LOCAL)
        and u.dtype is buffer.dtype
        and is_index(idx)
        and u.arg is None
    )
    return fits and len(gate) <= 1 and all(g.dtype is dtypes.bool for g in gate)


def _load(u: UOp) -> bool:
    return len(u.src) == 1 and u.src[0].op is Ops.INDEX and u.dtype is u.src[0].dtype and u.arg is None


def _store(u: UOp) -> bool:
    place, value, *ranges = u.src
    return (
        is_void(u)
        and place.op is Ops.INDEX
        and value.dtype is place.dtype
        and _are_ranges(tuple(ranges))
        and is_update(u)
    )


def _after(u: UOp) -> bool:
    memory, *effects = u.src
    is_staged = len(effects) == 1 and effects[0].op is Ops.BARRIER
    return memory.op in (Ops.PARAM, Ops.DEFINE_LOCAL) and (is_staged or _are_ranges(u.src[1:]))


def _fourier(u: UOp) -> bool:
    *values, place, part = u.src
    is_whole = isinstance(u.arg, FourierArg) and len(values) == 2 + u.arg.half
    return is_whole and all(s.dtype is u.dtype for s in values) and _are_ranges((place, part))


def _factor(u: UOp) -> bool:
    x, row, column = u.src
    return x.dtype is u.dtype and _are_ranges((row, column)) and isinstance(u.arg, FactorArg)


kernel_spec = Spec(
    "a kernel before lowering",
    {
        **{op: all_of(check, is_scalar) for op, check in ELEMENTWISE.items()},
        Ops.CONST: all_of(is_const, is_scalar),
        Ops.DEFINE_VAR: is_variable,
        Ops.PARAM: is_memory,
        Ops.DEFINE_LOCAL: is_memory,
        Ops.AFTER: all_of(is_after, _after),
        Ops.BARRIER: all_of(is_void, lambda u: all(s.op is Ops.STORE for s in u.src)),
        Ops.FOURIER: _fourier,
        Ops.FACTOR: _factor,
        Ops.RANGE: all_of(is_range, is_index),
        Ops.REDUCE: all_of(is_reduce, is_scalar),
        Ops.INDEX: _index,
        Ops.LOAD: _load,
        Ops.STORE: _store,
        Ops.SINK: all_of(is_sink, lambda u: len(u.src) > 0 and all(s.op is Ops.STORE for s in u.src)),
    },
)
