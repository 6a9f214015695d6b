"""Recognise sums of one term: `sum(where(iota == wanted, x, 0))`, which a kernel turns into one load.

Their loops never run. So what stands inside of them is computed once for each result, and none of it, as
large as the result times the axis, may get memory.
"""

from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def inside_lookup(u: UOp) -> tuple[UOp, ...]:
    """Return the choice and the comparison inside of a sum with one term; nothing for other nodes.

    before: REDUCE_AXIS(WHERE(CMPEQ(iota, wanted), x, 0)), where `wanted` is the same along the reduced axis
    after:  (the WHERE, the CMPEQ)
    """
    if u.op is not Ops.REDUCE_AXIS or u.arg[0] is not Ops.ADD or len(u.arg[1]) != 1:
        return ()
    choice = u.src[0]
    if choice.op is not Ops.WHERE or choice.src[2].op is not Ops.CONST or choice.src[2].arg != 0:
        return ()
    condition = choice.src[0]
    if condition.op is not Ops.CMPEQ:
        return ()
    (axis,) = u.arg[1]
    one, other = condition.src
    is_lookup = (_counts(one, axis) and _is_fixed(other, axis)) or (
        _counts(other, axis) and _is_fixed(one, axis)
    )
    return (choice, condition) if is_lookup else ()


def _counts(u: UOp, axis: int) -> bool:
    """Say whether `u` counts 0, 1, ... along `axis`."""
    while u.op is Ops.EXPAND or u.op is Ops.CAST:
        u = u.src[0]
    if any(size != 1 for at, size in enumerate(u.shape) if at != axis):
        return False
    while u.op is Ops.RESHAPE or u.op is Ops.CAST:
        u = u.src[0]
    return u.op is Ops.IOTA


def _is_fixed(u: UOp, axis: int) -> bool:
    """Say whether `u` is visibly the same all along `axis`."""
    return u.shape == () or (u.op is Ops.EXPAND and u.src[0].shape[axis] == 1)
