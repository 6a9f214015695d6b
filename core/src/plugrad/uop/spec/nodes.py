"""The conditions on nodes that several stages have: numbers, elementwise operations, sinks."""

import functools
from collections.abc import Callable

from plugrad.dtype import COMPLEX, DType, dtypes, is_bool, is_complex, is_float, is_int, truncate
from plugrad.uop.ops import ALU, COMPLEX_ALU, UNARY, UPDATING, KernelInfo, Ops
from plugrad.uop.spec.stage import Check
from plugrad.uop.uop import UOp


def all_of(*checks: Check) -> Check:
    """Return the check that is all of these."""
    # each node of each graph is asked while testing: two calls take half the time of a generator
    return functools.reduce(_both, checks)


def _both(first: Check, second: Check) -> Check:
    return lambda u: first(u) and second(u)


def has_sources(count: int) -> Check:
    """Return the check for a number of sources."""
    return lambda u: len(u.src) == count


def has_no_arg(u: UOp) -> bool:
    """A node that its op, dtype and sources describe."""
    return u.arg is None


def is_scalar(u: UOp) -> bool:
    """A node of one lane."""
    return u.dtype.count == 1


def is_index(u: UOp) -> bool:
    """Index arithmetic that has no width yet."""
    return u.dtype is dtypes.index


def is_address(u: UOp) -> bool:
    """Index arithmetic, also after it was given a width."""
    return u.dtype in (dtypes.index, dtypes.int32, dtypes.int64)


def is_storable(dtype: DType) -> bool:
    """A dtype that memory may have."""
    return dtype.count == 1 and dtype.kind not in ("void", "index")


def has_one_dtype(u: UOp) -> bool:
    """A node of the dtype of its sources."""
    dtype = u.dtype
    return all([s.dtype is dtype for s in u.src])


def is_void(u: UOp) -> bool:
    """A node without a value."""
    return u.dtype is dtypes.void


def is_real(u: UOp) -> bool:
    """A node that neither is nor takes complex numbers."""
    return not is_complex(u.dtype) and not any(is_complex(s.dtype) for s in u.src)


def is_const(u: UOp) -> bool:
    """A number that its dtype holds."""
    kind = bool if is_bool(u.dtype) else float if is_float(u.dtype) else int
    if u.src or type(u.arg) is not kind or u.dtype is dtypes.void or is_complex(u.dtype):
        return False
    return u.arg != u.arg or truncate(u.arg, u.dtype) == u.arg


def is_variable(u: UOp) -> bool:
    """A named integer, and its limits."""
    name, lowest, highest = u.arg
    ints = type(lowest) is int and type(highest) is int
    return not u.src and isinstance(name, str) and ints and lowest <= highest and is_int(u.dtype)


_FLOAT_OPS = (UNARY - {Ops.NEG}) | {Ops.FDIV, Ops.FMOD, Ops.POW}
_INT_OPS = frozenset({Ops.FLOORDIV, Ops.FLOORMOD, Ops.CDIV, Ops.CMOD, Ops.SHL, Ops.SHR})
_BIT_OPS = frozenset({Ops.AND, Ops.OR, Ops.XOR})
_NUMBER_OPS = frozenset({Ops.NEG, Ops.SUB, Ops.MULACC})


def _operands(op: Ops, count: int) -> Check:
    takes_complex, takes = op in COMPLEX_ALU, _operand_kind(op)

    def check(u: UOp) -> bool:
        if len(u.src) != count or u.arg is not None or not has_one_dtype(u):
            return False
        return takes_complex if is_complex(u.dtype) else takes(u.dtype)

    return check


def _operand_kind(op: Ops) -> Callable[[DType], bool]:
    """Return the condition on what `op` takes where it is not complex."""
    if op in _FLOAT_OPS:
        return is_float
    if op in _INT_OPS:
        return is_int
    if op in _BIT_OPS:
        return lambda dtype: is_int(dtype) or is_bool(dtype)
    if op is Ops.THREEFRY:
        return lambda dtype: dtype.scalar() is dtypes.uint64
    if op in _NUMBER_OPS:
        return lambda dtype: dtype is not dtypes.void and not is_bool(dtype)
    return lambda dtype: dtype is not dtypes.void


def _compare(u: UOp) -> bool:
    a, b = u.src
    return (
        u.arg is None
        and a.dtype is b.dtype
        and u.dtype is dtypes.bool.vec(a.dtype.count)
        and a.dtype is not dtypes.void
        and (u.op in COMPLEX_ALU or not is_complex(a.dtype))
    )


def _where(u: UOp) -> bool:
    condition, x, y = u.src
    return (
        u.arg is None and condition.dtype is dtypes.bool.vec(u.dtype.count) and x.dtype is y.dtype is u.dtype
    )


def _cast(u: UOp) -> bool:
    (x,) = u.src
    return u.arg is None and x.dtype.count == u.dtype.count and dtypes.void not in (x.dtype, u.dtype)


def _bitcast(u: UOp) -> bool:
    return (
        _cast(u)
        and u.src[0].dtype.itemsize == u.dtype.itemsize
        and not {"index", "complex"} & {u.src[0].dtype.kind, u.dtype.kind}
    )


def _complex(u: UOp) -> bool:
    x, y = u.src
    return u.arg is None and x.dtype is y.dtype is COMPLEX.get(u.dtype)


def _is_complex_part(u: UOp) -> bool:
    (z,) = u.src
    return u.arg is None and u.dtype is COMPLEX.get(z.dtype)


_BINARY = ALU - UNARY - {Ops.WHERE, Ops.MULACC, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ}
ELEMENTWISE: dict[Ops, Check] = {
    **{op: _operands(op, 1) for op in UNARY},
    **{op: _operands(op, 2) for op in _BINARY},
    **dict.fromkeys((Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ), _compare),
    Ops.WHERE: _where,
    Ops.MULACC: _operands(Ops.MULACC, 3),
    Ops.CAST: _cast,
    Ops.BITCAST: _bitcast,
}
PARTS: dict[Ops, Check] = {Ops.COMPLEX: _complex, Ops.REAL: _is_complex_part, Ops.IMAG: _is_complex_part}


def is_update(u: UOp) -> bool:
    """Say whether this writes, or combines by an op of any order."""
    return u.arg is None or u.arg in UPDATING


def is_sink(u: UOp) -> bool:
    """Say whether this is a SINK of values or effects."""
    return is_void(u) and (u.arg is None or isinstance(u.arg, KernelInfo))


def is_after(u: UOp) -> bool:
    """A value that others come before."""
    return u.dtype is u.src[0].dtype and (len(u.src) > 1 if u.arg is None else type(u.arg) is int)
