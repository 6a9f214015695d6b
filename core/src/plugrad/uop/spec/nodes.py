"""The conditions on nodes that several stages have: numbers, elementwise operations, sinks."""

from plugrad.dtype import COMPLEX, DType, dtypes, is_bool, is_complex, is_float, is_int, truncate
from plugrad.uop.ops import ALU, COMPLEX_ALU, UNARY, UPDATING, KernelInfo, Ops
from plugrad.uop.spec.stage import Check
from plugrad.uop.uop import UOp


def all_of(*checks: Check) -> Check:
    """Return the check that is all of these."""
    return lambda u: all(check(u) for check in checks)


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
    return all(s.dtype is u.dtype for s in u.src)


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


def _operands(count: int) -> Check:
    def check(u: UOp) -> bool:
        if len(u.src) != count or u.arg is not None or not has_one_dtype(u):
            return False
        if is_complex(u.dtype):
            return u.op in COMPLEX_ALU
        if u.op in _FLOAT_OPS:
            return is_float(u.dtype)
        if u.op in _INT_OPS:
            return is_int(u.dtype)
        if u.op in _BIT_OPS:
            return is_int(u.dtype) or is_bool(u.dtype)
        if u.op is Ops.THREEFRY:
            return u.dtype.scalar() is dtypes.uint64
        return u.dtype is not dtypes.void and not (u.op in _NUMBER_OPS and is_bool(u.dtype))

    return check


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


_UNARY_CHECKS = dict.fromkeys(UNARY, _operands(1))
_BINARY = ALU - set(_UNARY_CHECKS) - {Ops.WHERE, Ops.MULACC, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ}
ELEMENTWISE: dict[Ops, Check] = {
    **_UNARY_CHECKS,
    **dict.fromkeys(_BINARY, _operands(2)),
    **dict.fromkeys((Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ), _compare),
    Ops.WHERE: _where,
    Ops.MULACC: _operands(3),
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
    return len(u.src) > 1 and u.dtype is u.src[0].dtype and u.arg is None
