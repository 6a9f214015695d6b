"""Recognise sums of one term: `sum(where(iota == wanted, x, 0))`, which a kernel turns into one load.

Their loops never run. So what stands inside of them is computed once for each result, and none of it, as
large as the result times the axis, may get memory. Neither may the comparisons of sums by position, where the
result counts and positions are summed over.
"""

from plugrad.uop.ops import MOVEMENT, Ops
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


def inside_sum_by_position(u: UOp) -> tuple[UOp, ...]:
    """Return the conditions of a reduction that takes values where positions meet; nothing for other nodes.

    before: REDUCE_AXIS(WHERE(EXPAND(CMPEQ(iota, position)), x, 0))
    after:  (the EXPAND, the CMPEQ)
    """
    if u.op is not Ops.REDUCE_AXIS or u.src[0].op is not Ops.WHERE or u.src[0].src[2].op is not Ops.CONST:
        return ()
    found: list[UOp] = []
    stack = [u.src[0].src[0]]
    while stack:
        condition = stack.pop()
        found.append(condition)
        if condition.op in MOVEMENT:
            stack.append(condition.src[0])
        elif condition.op is Ops.AND:
            stack.extend(condition.src)
    return tuple(found) if any(c.op is Ops.CMPEQ and any(map(_is_iota, c.src)) for c in found) else ()


def _is_iota(u: UOp) -> bool:
    while u.op in MOVEMENT or u.op is Ops.CAST:
        u = u.src[0]
    return u.op is Ops.IOTA


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
