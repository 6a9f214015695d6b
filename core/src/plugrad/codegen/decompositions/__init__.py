"""Write the operations that a target lacks with its native ones.

Every target has ADD, MUL, the comparisons, AND, OR, XOR, shifts, CDIV, WHERE, CAST and BITCAST. What else
is not in its `native_ops` is rewritten here, free of branches, for scalars and vectors alike.
"""

from functools import cache

from plugrad.codegen.decompositions import arithmetic, byte_floats, small_floats, threefry, transcendental
from plugrad.errors import DeviceError
from plugrad.target import Capabilities
from plugrad.uop import Ops, PatternMatcher, UOp, graph_rewrite

__all__ = ["decompose", "rules"]


_BY_OP = {**transcendental.TABLES, **threefry.TABLES, **arithmetic.TABLES}
_SMALL_FLOATS = frozenset(dtype.name for dtype in (*small_floats.TABLES, *byte_floats.TABLES))


@cache
def rules(capabilities: Capabilities, *, small: bool = True) -> PatternMatcher:
    """Return the rules that a target with `capabilities` needs.

    Raises:
        DeviceError: the target can neither divide nor take reciprocals.
    """
    can = capabilities
    by_op = _BY_OP | transcendental.TABLES_OF_VECTORS if can.vector_bits else _BY_OP
    missing = {op for op in _BY_OP if op.name not in can.native_ops}
    if {Ops.FDIV, Ops.RECIP} <= missing:
        raise DeviceError(
            "a target needs FDIV or RECIP among its native ops, but has neither: add one to the renderer's "
            f"Capabilities.native_ops, now {sorted(can.native_ops)}."
        )
    # small floats first: an op is widened before it is taken apart
    tables = (
        *(table for dtype, table in small_floats.TABLES.items() if small and dtype not in can.compute_dtypes),
        *(table for dtype, table in byte_floats.TABLES.items() if small and dtype not in can.storage_dtypes),
        *(table for op, table in by_op.items() if op in missing),
    )
    return sum(tables, PatternMatcher())


def decompose(sink: UOp, capabilities: Capabilities) -> UOp:
    """Rewrite operations that the target lacks.

    before: FLOORDIV(x, 8), x: int32
    after:  SHR(x, 3)
    """
    nodes = sink.toposort()
    small = any(dtype.name in _SMALL_FLOATS for dtype in {u.dtype for u in nodes})
    table = rules(capabilities, small=small)
    # most kernels have all they need, and a walk with the rules takes ten times as long
    if any(table.matcher(op) for op in {u.op for u in nodes}):
        sink = graph_rewrite(sink, table, name="decompose")
    return byte_floats.store_as_bytes(sink, capabilities) if small else sink
