"""All operations of random programs, by name."""

from plugrad_conformance.programs.ops import (
    changes,
    constants,
    elementwise,
    gradients,
    indexing,
    mixed,
    movement,
    narrow,
    reductions,
    spatial,
    symbolic,
    timing,
)
from plugrad_conformance.programs.ops.op_spec import OpSpec

_MODULES = (
    elementwise,
    constants,
    mixed,
    reductions,
    movement,
    spatial,
    indexing,
    changes,
    timing,
    narrow,
    gradients,
    symbolic,
)
OPS: dict[str, OpSpec] = {op.name: op for module in _MODULES for op in module.OPS}
CHANGES = frozenset(op.name for op in OPS.values() if op.changes)
SHARES = CHANGES | {op.name for op in OPS.values() if op.is_view}
