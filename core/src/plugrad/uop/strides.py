"""The coefficient of a range in an index expression: how far a step moves."""

from plugrad.dtype import dtypes, is_int
from plugrad.uop import Ops, UOp


def coefficient(idx: UOp, r: UOp) -> int | None:
    """Return `c` where `idx` is `c * r` plus terms without `r`, else None."""
    if r not in idx.ranges:
        return 0
    if idx is r:
        return 1
    if idx.op is Ops.ADD:
        left, right = coefficient(idx.src[0], r), coefficient(idx.src[1], r)
        return None if left is None or right is None else left + right
    if idx.op is Ops.MUL:
        for factor, other in (idx.src, idx.src[::-1]):
            if factor.op is Ops.CONST:
                inner = coefficient(other, r)
                return None if inner is None else inner * factor.arg
    return None


def usual_step(idx: UOp, r: UOp) -> int:
    """Return the elements between two steps of `r` in `idx` where no limit stops them.

    The last tile of an axis may begin less than a whole tile after the one before it. 0 where not known.
    """
    limited = {u: u.src[0] for u in idx.toposort() if u.op is Ops.MAX and u.src[1].op is Ops.CONST}
    return coefficient(idx.substitute(limited), r) or 0


def shifted(u: UOp) -> tuple[UOp, int]:
    """Split a sum into a term and a constant, through casts, where nothing wraps.

    before: CAST(r + 1)
    after:  r, 1
    """
    shift = 0
    while u.op is Ops.CAST or (u.op is Ops.ADD and u.src[1].op is Ops.CONST):
        inner = u.src[0]
        step = u.src[1].arg if u.op is Ops.ADD else 0
        if not is_int(u.dtype) or (u.vmin, u.vmax) != (inner.vmin + step, inner.vmax + step):
            break
        u, shift = inner, shift + step
    return u, shift


def is_multiple(idx: UOp, count: int) -> bool:
    """Say whether an address is a multiple of `count` for all values of its ranges."""
    if idx.op is Ops.CONST:
        return idx.arg % count == 0
    if idx.op is Ops.MUL:
        return any(is_multiple(s, count) for s in idx.src)
    return idx.op in (Ops.ADD, Ops.MAX) and all(is_multiple(s, count) for s in idx.src)


def constant_size(r: UOp) -> int | None:
    """Return the number of steps of a range where it is a constant."""
    return r.src[0].arg if r.src[0].op is Ops.CONST else None


def flat_position(ranges: tuple[UOp, ...]) -> UOp:
    """Return the position of an element in a copy over all steps of `ranges`.

    before: (i, j) with j of 4
    after:  i*4 + j
    """
    out = UOp.const(dtypes.index, 0)
    for r in ranges:
        out = out * (constant_size(r) or 1) + r
    return out
