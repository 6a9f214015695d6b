"""Kernels while they are lowered: vectors, groups of threads, memory that these share."""

from plugrad.dtype import FLOAT8, dtypes, is_bool
from plugrad.target import FragmentLoad, TensorCore
from plugrad.uop.ops import Ops
from plugrad.uop.spec.kernels import is_memory, is_range, is_reduce
from plugrad.uop.spec.nodes import (
    ELEMENTWISE,
    all_of,
    has_one_dtype,
    is_address,
    is_after,
    is_const,
    is_sink,
    is_update,
    is_variable,
    is_void,
)
from plugrad.uop.spec.stage import Spec
from plugrad.uop.uop import UOp


def _is_in_memory(u: UOp) -> bool:
    return u.op in (Ops.PARAM, Ops.DEFINE_LOCAL) or (u.op is Ops.AFTER and _is_in_memory(u.src[0]))


def is_lowered_index(u: UOp) -> bool:
    """A place in memory for each lane, perhaps under a gate."""
    buffer, idx, *gate = u.src
    fits = _is_in_memory(buffer) and u.dtype.scalar() is buffer.dtype and u.dtype.count == idx.dtype.count
    address = idx.dtype.scalar() in (dtypes.index, dtypes.int32, dtypes.int64)
    return fits and address and len(gate) <= 1 and all(is_bool(g.dtype) for g in gate) and u.arg is None


def is_lowered_load(u: UOp) -> bool:
    """Say whether this loads some lanes, perhaps with a gate and an alternative."""
    place, *rest = u.src
    if place.op is not Ops.INDEX or u.dtype.scalar() is not place.dtype.scalar() or u.arg is not None:
        return False
    if not rest:
        return True
    # the gate stands in one place only
    alt, gate = rest
    return alt.dtype is u.dtype and gate.dtype is dtypes.bool and len(place.src) == 2


def is_lowered_store(u: UOp) -> bool:
    """Say whether this stores some lanes and ends loops or launch axes."""
    place, value, *ranges = u.src
    fits = (
        is_void(u)
        and place.op is Ops.INDEX
        and value.dtype.scalar() is place.dtype.scalar()
        and is_update(u)
        and (u.arg is None or value.dtype.count == 1)
    )
    return fits and all(r.op in (Ops.RANGE, Ops.SPECIAL, Ops.CONST) for r in ranges)


def is_special(u: UOp) -> bool:
    """A place in the grid."""
    return len(u.src) == 1 and isinstance(u.arg, str) and has_one_dtype(u) and is_address(u)


def is_vectorize(u: UOp) -> bool:
    """Scalars as the lanes of one value."""
    return (
        u.dtype.count == len(u.src) > 1 and all(s.dtype is u.dtype.scalar() for s in u.src) and u.arg is None
    )


def is_gep(u: UOp) -> bool:
    """Lanes of a vector."""
    (x,) = u.src
    lanes: tuple[int, ...] = u.arg
    exist = all(0 <= lane < x.dtype.count for lane in lanes)
    return exist and x.dtype.count > 1 and u.dtype is x.dtype.scalar().vec(len(lanes))


def is_wmma(u: UOp) -> bool:
    """A matrix instruction, of fragments as its core has them."""
    a, b, c = u.src
    core: TensorCore = u.arg
    # floats of a byte may have become their bits
    kept = {core.dtype_in, dtypes.uint8} if core.dtype_in in FLOAT8 else {core.dtype_in}
    taken = all(s.dtype.scalar() in kept for s in (a, b))
    counted = (a.dtype.count, b.dtype.count) == (core.a.count, core.b.count)
    return taken and counted and u.dtype is c.dtype is core.dtype_out.vec(core.c.count)


def is_matrix_load(u: UOp) -> bool:
    """Rows of matrices in local memory, spread over the threads of a warp."""
    (place,) = u.src
    load: FragmentLoad = u.arg
    nbytes = 4 * load.matrices
    return place.op is Ops.INDEX and u.dtype.itemsize * u.dtype.count == nbytes and load.matrices in (1, 2, 4)


codegen_spec = Spec(
    "a kernel during lowering",
    {
        **ELEMENTWISE,
        Ops.CONST: is_const,
        Ops.DEFINE_VAR: is_variable,
        Ops.PARAM: is_memory,
        Ops.DEFINE_LOCAL: is_memory,
        Ops.RANGE: all_of(is_range, is_address),
        Ops.SPECIAL: is_special,
        Ops.REDUCE: is_reduce,
        Ops.INDEX: is_lowered_index,
        Ops.LOAD: is_lowered_load,
        Ops.STORE: is_lowered_store,
        Ops.VECTORIZE: is_vectorize,
        Ops.GEP: is_gep,
        Ops.WMMA: is_wmma,
        Ops.LOAD_MATRIX: is_matrix_load,
        Ops.AFTER: is_after,
        Ops.BARRIER: all_of(is_void, lambda u: len(u.src) > 0),
        Ops.COMMIT: all_of(is_void, lambda u: len(u.src) > 0),
        Ops.SINK: is_sink,
    },
)
