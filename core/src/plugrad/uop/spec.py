"""What a legal graph is, stage by stage: the op, dtype, sources and arg that each node may have."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import FLOAT8, DType, dtypes, is_bool, is_float, is_int, truncate
from plugrad.errors import ShapeError, VerifyError
from plugrad.target import TensorCore
from plugrad.uop.ops import ALU, MOVEMENT, REDUCING, UNARY, Axis, BufferArg, FunctionArg, KernelInfo, Ops
from plugrad.uop.pretty import pretty
from plugrad.uop.shape import output_of, pairs_of
from plugrad.uop.uop import UOp

Check = Callable[[UOp], bool]


@frozen
class Spec:
    """A stage's name and, for each op that it allows, what must hold of such a node."""

    name: str
    checks: Mapping[Ops, Check]


def verify(root: UOp, spec: Spec) -> None:
    """Check every node of `root` against `spec`.

    Raises:
        VerifyError: names the node, what it is made of, and the stage that forbids it.
    """
    for node in root.toposort():
        verify_node(node, spec)


def verify_node(node: UOp, spec: Spec) -> None:
    """Check one node against `spec`.

    Raises:
        VerifyError: as `verify`.
    """
    check = spec.checks.get(node.op)
    try:
        if check is not None and check(node):
            return
        why = "this stage has no such op" if check is None else "its dtype, sources or arg are wrong"
    except (ShapeError, TypeError, ValueError, AttributeError, IndexError, KeyError) as error:
        # a check that stumbles over a malformed arg has found what it looks for
        why = str(error)
    sources = "\n".join(f"  {s.op.name} {s.dtype} arg={s.arg!r}" for s in node.src)
    raise VerifyError(
        f"{spec.name} forbids {node.op.name} {node.dtype} arg={node.arg!r}: {why}. Its sources:\n"
        f"{sources or '  none'}\nThe node: {pretty(node, most=30)}"
    )


# --- what specs are made of ---


def _all(*checks: Check) -> Check:
    return lambda u: all(check(u) for check in checks)


def _sources(count: int) -> Check:
    return lambda u: len(u.src) == count


def _no_arg(u: UOp) -> bool:
    return u.arg is None


def _scalar(u: UOp) -> bool:
    return u.dtype.count == 1


def _is_index(u: UOp) -> bool:
    return u.dtype is dtypes.index


def _is_address(u: UOp) -> bool:
    """Index arithmetic, also after it was given a width."""
    return u.dtype in (dtypes.index, dtypes.int32, dtypes.int64)


def _storable(dtype: DType) -> bool:
    return dtype.count == 1 and dtype.kind not in ("void", "index")


def _same_dtypes(u: UOp) -> bool:
    return all(s.dtype is u.dtype for s in u.src)


def _void(u: UOp) -> bool:
    return u.dtype is dtypes.void


def _const(u: UOp) -> bool:
    kind = bool if is_bool(u.dtype) else float if is_float(u.dtype) else int
    if u.src or type(u.arg) is not kind or u.dtype is dtypes.void:
        return False
    return u.arg != u.arg or truncate(u.arg, u.dtype) == u.arg


def _define_var(u: UOp) -> bool:
    name, lowest, highest = u.arg
    ints = type(lowest) is int and type(highest) is int
    return not u.src and isinstance(name, str) and ints and lowest <= highest and is_int(u.dtype)


_FLOAT_OPS = (UNARY - {Ops.NEG}) | {Ops.FDIV, Ops.FMOD, Ops.POW}
_INT_OPS = frozenset({Ops.FLOORDIV, Ops.FLOORMOD, Ops.CDIV, Ops.CMOD, Ops.SHL, Ops.SHR})
_BIT_OPS = frozenset({Ops.AND, Ops.OR, Ops.XOR})
_NUMBER_OPS = frozenset({Ops.NEG, Ops.SUB, Ops.MULACC})


def _operands(count: int) -> Check:
    def check(u: UOp) -> bool:
        if len(u.src) != count or u.arg is not None or not _same_dtypes(u):
            return False
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
        and not {"index"} & {u.src[0].dtype.kind, u.dtype.kind}
    )


_UNARY_CHECKS = dict.fromkeys(UNARY, _operands(1))
_BINARY = ALU - set(_UNARY_CHECKS) - {Ops.WHERE, Ops.MULACC, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ}

_ELEMENTWISE: dict[Ops, Check] = {
    **_UNARY_CHECKS,
    **dict.fromkeys(_BINARY, _operands(2)),
    **dict.fromkeys((Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ), _compare),
    Ops.WHERE: _where,
    Ops.MULACC: _operands(3),
    Ops.CAST: _cast,
    Ops.BITCAST: _bitcast,
}

# --- tensors ---


def _has_shape(u: UOp) -> bool:
    """Whether sources fit each other: finding the shape raises where they do not."""
    shape: Any = u.shape
    return shape is not None


def _moves(check: Callable[[UOp, Any], bool]) -> Check:
    """A movement node of a value with a shape, with index dimensions behind it."""

    def checked(u: UOp) -> bool:
        x, *dims = u.src
        return u.dtype is x.dtype and _has_shape(x) and all(map(_is_index, dims)) and check(u, x.shape)

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
        and len(axes) > 0
        and list(axes) == sorted(set(axes))
        and in_range
    )


def _buffer(u: UOp) -> bool:
    return not u.src and isinstance(u.arg, BufferArg) and _storable(u.dtype) and _ints(u.arg.shape)


def _assign(u: UOp) -> bool:
    target, value = u.src
    root = target
    while root.op in MOVEMENT or root.op is Ops.BITCAST:
        root = root.src[0]
    fits = target.dtype is value.dtype is u.dtype and (target.shape == value.shape or value.shape == ())
    return u.arg is None and fits and root.op in (Ops.BUFFER, Ops.ASSIGN, Ops.AFTER, Ops.CONTIGUOUS, Ops.COPY)


def _keeps_dtype(u: UOp) -> bool:
    return len(u.src) == 1 and u.src[0].dtype is u.dtype


def _bind(u: UOp) -> bool:
    variable, value = u.src
    lowest, highest = variable.arg[1:]
    return (
        variable.op is Ops.DEFINE_VAR
        and value.op is Ops.CONST
        and _same_dtypes(u)
        and lowest <= value.arg <= highest
    )


def _sink(u: UOp) -> bool:
    return _void(u) and (u.arg is None or isinstance(u.arg, KernelInfo))


def _after(u: UOp) -> bool:
    return len(u.src) > 1 and u.dtype is u.src[0].dtype and u.arg is None


def _function(u: UOp) -> bool:
    return _void(u) and isinstance(u.arg, FunctionArg) and 0 < u.arg.outputs <= len(u.src)


def _output(u: UOp) -> bool:
    (function,) = u.src
    is_there = function.op is Ops.FUNCTION and 0 <= u.arg < function.arg.outputs
    return is_there and u.dtype is output_of(u).dtype


tensor_spec = Spec(
    "the tensor graph",
    {
        **{op: _all(check, _scalar, _has_shape) for op, check in _ELEMENTWISE.items()},
        Ops.CONST: _all(_const, _scalar),
        Ops.IOTA: _all(_sources(1), lambda u: _is_index(u.src[0]) and is_int(u.dtype), _no_arg),
        Ops.BUFFER: _buffer,
        Ops.DEFINE_VAR: _define_var,
        Ops.BIND: _bind,
        Ops.RESHAPE: _moves(_reshape),
        Ops.EXPAND: _moves(_expand),
        Ops.PERMUTE: _moves(_permute),
        Ops.PAD: _moves(_pad),
        Ops.SHRINK: _moves(_shrink),
        Ops.FLIP: _moves(_flip),
        Ops.REDUCE_AXIS: _reduce_axis,
        Ops.CONTIGUOUS: _all(_keeps_dtype, _no_arg),
        Ops.DETACH: _all(_keeps_dtype, _no_arg),
        Ops.FUNCTION: _function,
        Ops.OUTPUT: _output,
        Ops.LATER: _after,
        Ops.COPY: _all(_keeps_dtype, lambda u: isinstance(u.arg, str)),
        Ops.ASSIGN: _assign,
        Ops.KERNEL: lambda u: isinstance(u.arg, UOp) and u.arg.op in (Ops.SINK, Ops.COPY),
        Ops.AFTER: _after,
        Ops.SINK: _sink,
    },
)

# --- kernels ---

_MEMORY = (Ops.PARAM, Ops.DEFINE_LOCAL)


def _memory(u: UOp) -> bool:
    number, numel = u.arg
    return (
        not u.src
        and type(number) is int
        and number >= 0
        and type(numel) is int
        and numel >= 0
        and _storable(u.dtype)
    )


def _range(u: UOp) -> bool:
    return len(u.src) == 1 and isinstance(u.arg, Axis) and _same_dtypes(u)


def _are_ranges(nodes: tuple[UOp, ...]) -> bool:
    return all(r.op is Ops.RANGE for r in nodes) and len(set(nodes)) == len(nodes)


def _reduce(u: UOp) -> bool:
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
    fits = buffer.op is Ops.PARAM and u.dtype is buffer.dtype and _is_index(idx) and u.arg is None
    return fits and len(gate) <= 1 and all(g.dtype is dtypes.bool for g in gate)


def _load(u: UOp) -> bool:
    return len(u.src) == 1 and u.src[0].op is Ops.INDEX and u.dtype is u.src[0].dtype and u.arg is None


def _store(u: UOp) -> bool:
    place, value, *ranges = u.src
    return (
        _void(u)
        and place.op is Ops.INDEX
        and value.dtype is place.dtype
        and _are_ranges(tuple(ranges))
        and u.arg is None
    )


kernel_spec = Spec(
    "a kernel before lowering",
    {
        **{op: _all(check, _scalar) for op, check in _ELEMENTWISE.items()},
        Ops.CONST: _all(_const, _scalar),
        Ops.DEFINE_VAR: _define_var,
        Ops.PARAM: _memory,
        Ops.RANGE: _all(_range, _is_index),
        Ops.REDUCE: _all(_reduce, _scalar),
        Ops.INDEX: _index,
        Ops.LOAD: _load,
        Ops.STORE: _store,
        Ops.SINK: _all(_sink, lambda u: len(u.src) > 0 and all(s.op is Ops.STORE for s in u.src)),
    },
)

# --- kernels while they are lowered ---


def _is_memory(u: UOp) -> bool:
    return u.op in _MEMORY or (u.op is Ops.AFTER and _is_memory(u.src[0]))


def _lowered_index(u: UOp) -> bool:
    buffer, idx, *gate = u.src
    fits = _is_memory(buffer) and u.dtype.scalar() is buffer.dtype and u.dtype.count == idx.dtype.count
    address = idx.dtype.scalar() in (dtypes.index, dtypes.int32, dtypes.int64)
    return fits and address and len(gate) <= 1 and all(is_bool(g.dtype) for g in gate) and u.arg is None


def _lowered_load(u: UOp) -> bool:
    place, *rest = u.src
    if place.op is not Ops.INDEX or u.dtype.scalar() is not place.dtype.scalar() or u.arg is not None:
        return False
    if not rest:
        return True
    # the gate stands in one place only
    alt, gate = rest
    return alt.dtype is u.dtype and gate.dtype is dtypes.bool and len(place.src) == 2


def _lowered_store(u: UOp) -> bool:
    place, value, *ranges = u.src
    fits = (
        _void(u) and place.op is Ops.INDEX and value.dtype.scalar() is place.dtype.scalar() and u.arg is None
    )
    return fits and all(r.op in (Ops.RANGE, Ops.SPECIAL, Ops.CONST) for r in ranges)


def _special(u: UOp) -> bool:
    return len(u.src) == 1 and isinstance(u.arg, str) and _same_dtypes(u) and _is_address(u)


def _vectorize(u: UOp) -> bool:
    return (
        u.dtype.count == len(u.src) > 1 and all(s.dtype is u.dtype.scalar() for s in u.src) and u.arg is None
    )


def _gep(u: UOp) -> bool:
    (x,) = u.src
    lanes: tuple[int, ...] = u.arg
    exist = all(0 <= lane < x.dtype.count for lane in lanes)
    return exist and x.dtype.count > 1 and u.dtype is x.dtype.scalar().vec(len(lanes))


def _wmma(u: UOp) -> bool:
    a, b, c = u.src
    core: TensorCore = u.arg
    # floats of a byte may have become their bits
    kept = {core.dtype_in, dtypes.uint8} if core.dtype_in in FLOAT8 else {core.dtype_in}
    taken = all(s.dtype.scalar() in kept for s in (a, b))
    counted = (a.dtype.count, b.dtype.count) == (core.a.count, core.b.count)
    return taken and counted and u.dtype is c.dtype is core.dtype_out.vec(core.c.count)


codegen_spec = Spec(
    "a kernel during lowering",
    {
        **_ELEMENTWISE,
        Ops.CONST: _const,
        Ops.DEFINE_VAR: _define_var,
        Ops.PARAM: _memory,
        Ops.DEFINE_LOCAL: _memory,
        Ops.RANGE: _all(_range, _is_address),
        Ops.SPECIAL: _special,
        Ops.REDUCE: _reduce,
        Ops.INDEX: _lowered_index,
        Ops.LOAD: _lowered_load,
        Ops.STORE: _lowered_store,
        Ops.VECTORIZE: _vectorize,
        Ops.GEP: _gep,
        Ops.WMMA: _wmma,
        Ops.AFTER: _after,
        Ops.BARRIER: _all(_void, lambda u: len(u.src) > 0),
        Ops.SINK: _sink,
    },
)

# --- linear programs ---


def _no_index_dtype(u: UOp) -> bool:
    return u.dtype.scalar() is not dtypes.index


def _linear_index(u: UOp) -> bool:
    return _lowered_index(u) and len(u.src) == 2 and _scalar(u)


def _closes(opener: Ops) -> Check:
    return lambda u: _void(u) and len(u.src) == 1 and u.src[0].op is opener


def _accumulate(u: UOp) -> bool:
    acc, value = u.src
    return _void(u) and acc.op is Ops.DEFINE_ACC and acc.dtype is value.dtype


linear_spec = Spec(
    "a linear program",
    {
        **{op: _all(check, _no_index_dtype) for op, check in _ELEMENTWISE.items()},
        Ops.CONST: _all(_const, _no_index_dtype),
        Ops.DEFINE_VAR: _all(_define_var, _no_index_dtype),
        Ops.PARAM: _memory,
        Ops.DEFINE_LOCAL: _memory,
        Ops.DEFINE_ACC: _all(_sources(1), _same_dtypes, lambda u: type(u.arg) is int),
        Ops.ACCUMULATE: _accumulate,
        Ops.RANGE: _all(_range, _is_address, _no_index_dtype),
        Ops.END: _closes(Ops.RANGE),
        Ops.IF: _all(_sources(1), _void, lambda u: u.src[0].dtype is dtypes.bool),
        Ops.ENDIF: _closes(Ops.IF),
        Ops.SPECIAL: _all(_special, _no_index_dtype),
        Ops.INDEX: _linear_index,
        Ops.LOAD: _lowered_load,
        Ops.STORE: _all(_lowered_store, _sources(2)),
        Ops.VECTORIZE: _vectorize,
        Ops.GEP: _gep,
        Ops.WMMA: _wmma,
        Ops.AFTER: _after,
        Ops.BARRIER: _void,
    },
)

_CLOSED_BY = {Ops.END: Ops.RANGE, Ops.ENDIF: Ops.IF}


def verify_linear(program: Sequence[UOp]) -> None:
    """Check a linear program: each node is legal, stands once and after its sources, inside their blocks.

    Raises:
        VerifyError: names the position and the node.
    """
    block_of: dict[UOp, tuple[UOp, ...]] = {}
    blocks: tuple[UOp, ...] = ()
    for position, u in enumerate(program):
        verify_node(u, linear_spec)
        here = f"instruction {position}, {u.op.name},"
        if u in block_of:
            raise VerifyError(f"{here} stands twice: {pretty(u, most=30)}")
        if u.op in _CLOSED_BY:
            if not blocks or blocks[-1] is not u.src[0]:
                innermost = f"{blocks[-1].op.name} {blocks[-1].arg}" if blocks else "none"
                raise VerifyError(
                    f"{here} closes {u.src[0].arg}, but the innermost open block is {innermost}."
                )
            block_of[u] = blocks = blocks[:-1]
            continue
        for s in u.src:
            if s not in block_of:
                raise VerifyError(
                    f"{here} uses a {s.op.name} that does not stand before it: {pretty(s, most=30)}"
                )
            # what a STORE did stays done; everything else has a value that goes with its block
            if s.op is not Ops.STORE and block_of[s] != blocks[: len(block_of[s])]:
                raise VerifyError(f"{here} uses a {s.op.name} of a loop or condition that has ended.")
        if u.op in (Ops.RANGE, Ops.IF):
            blocks = (*blocks, u)
        block_of[u] = blocks
    if blocks:
        raise VerifyError(f"{blocks[-1].op.name} {blocks[-1].arg} is never closed.")
