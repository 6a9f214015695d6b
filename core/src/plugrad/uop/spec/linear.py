"""Linear programs: what renderers read, instruction by instruction."""

from collections.abc import Sequence

from plugrad.dtype import dtypes
from plugrad.errors import VerifyError
from plugrad.uop.node.pretty import pretty
from plugrad.uop.ops import Ops
from plugrad.uop.spec.kernels import is_memory, is_range
from plugrad.uop.spec.lowered import (
    is_gep,
    is_lowered_index,
    is_lowered_load,
    is_lowered_store,
    is_matrix_load,
    is_special,
    is_vectorize,
    is_wmma,
)
from plugrad.uop.spec.nodes import (
    ELEMENTWISE,
    all_of,
    has_one_dtype,
    has_sources,
    is_address,
    is_after,
    is_const,
    is_scalar,
    is_variable,
    is_void,
)
from plugrad.uop.spec.stage import Check, Spec, verify_node
from plugrad.uop.uop import UOp


def _no_index_dtype(u: UOp) -> bool:
    return u.dtype.scalar() is not dtypes.index


def _closes(opener: Ops) -> Check:
    return lambda u: is_void(u) and len(u.src) == 1 and u.src[0].op is opener


def _accumulate(u: UOp) -> bool:
    acc, value = u.src
    return is_void(u) and acc.op is Ops.DEFINE_ACC and acc.dtype is value.dtype


def _copies_lanes(u: UOp) -> bool:
    to, source, *gate = u.src
    are_places = to.op is source.op is Ops.INDEX and to.dtype is source.dtype
    return are_places and len(gate) < 2 and type(u.arg) is int


linear_spec = Spec(
    "a linear program",
    {
        **{op: all_of(check, _no_index_dtype) for op, check in ELEMENTWISE.items()},
        Ops.CONST: all_of(is_const, _no_index_dtype),
        Ops.DEFINE_VAR: all_of(is_variable, _no_index_dtype),
        Ops.PARAM: is_memory,
        Ops.DEFINE_LOCAL: is_memory,
        Ops.DEFINE_ACC: all_of(has_sources(1), has_one_dtype, lambda u: type(u.arg) is int),
        Ops.ACCUMULATE: _accumulate,
        Ops.RANGE: all_of(is_range, is_address, _no_index_dtype),
        Ops.END: _closes(Ops.RANGE),
        Ops.IF: all_of(has_sources(1), is_void, lambda u: u.src[0].dtype is dtypes.bool),
        Ops.ENDIF: _closes(Ops.IF),
        Ops.SPECIAL: all_of(is_special, _no_index_dtype),
        Ops.INDEX: lambda u: is_lowered_index(u) and len(u.src) == 2 and is_scalar(u),
        Ops.LOAD: is_lowered_load,
        Ops.STORE: all_of(is_lowered_store, has_sources(2)),
        Ops.VECTORIZE: is_vectorize,
        Ops.GEP: is_gep,
        Ops.WMMA: is_wmma,
        Ops.LOAD_MATRIX: is_matrix_load,
        Ops.AFTER: is_after,
        Ops.BARRIER: is_void,
        Ops.COMMIT: is_void,
        Ops.COPY_ASYNC: all_of(is_void, _copies_lanes),
    },
)


_CLOSED_BY = {Ops.END: Ops.RANGE, Ops.ENDIF: Ops.IF}


def verify_linear(program: Sequence[UOp]) -> None:
    """Check a linear program: legal nodes, each once, sources first, inside their blocks."""
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
            # what a store did stays done; everything else has a value that goes with its block
            if s.op not in (Ops.STORE, Ops.COPY_ASYNC) and block_of[s] != blocks[: len(block_of[s])]:
                raise VerifyError(f"{here} uses a {s.op.name} of a loop or condition that has ended.")
        if u.op in (Ops.RANGE, Ops.IF):
            blocks = (*blocks, u)
        block_of[u] = blocks
    if blocks:
        raise VerifyError(f"{blocks[-1].op.name} {blocks[-1].arg} is never closed.")
