"""Gate loads before loops that may have no steps.

What does not move along a loop is computed before it, once. With sizes that a variable says, the loop may be
empty, and such a load's address outside of its buffer: in `x[n:].sum()` of one row at most, the row is `n`.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from plugrad.codegen.rebuild import ENDING, ended_by, rebuild
from plugrad.uop import Ops, UOp
from plugrad.uop.shape import least
from plugrad.uop.validity import conjunction, conjuncts


def guard_empty_loops(sink: UOp, _: Any = None) -> UOp:
    """Gate loads before loops that may be empty by the loops' sizes.

    before: REDUCE(LOAD(INDEX(p, n)), k), k of 2-n steps, and n of 1..2 beyond the end of p
    after:  REDUCE(LOAD(INDEX(p, n, 0 < 2-n)), k)
    """
    return rebuild(sink, _guarded, ops=ENDING)


def _guarded(u: UOp) -> UOp | None:
    ended = ended_by(u)
    loops = [r for r in ended if r.op is Ops.RANGE and r.src[0].vmin <= 0]
    if not loops:
        return None
    values = (rebuild(value, partial(_gated, loops=loops)) for value in u.src[: -len(ended)])
    return u.replace(src=(*values, *ended))


def _gated(load: UOp, loops: Sequence[UOp]) -> UOp | None:
    if load.op is not Ops.LOAD:
        return None
    memory, idx, *gates = load.src[0].src
    whole = memory.src[0] if memory.op is Ops.AFTER else memory
    missing = [r.src[0] > 0 for r in loops if r not in load.ranges]
    if not missing or (idx.vmin >= 0 and idx.vmax < least(whole.arg[1])):
        return None
    conditions = dict.fromkeys([*(c for gate in gates for c in conjuncts(gate)), *missing])
    return load.replace(src=(memory.index(idx, conjunction(conditions)), *load.src[1:]))
