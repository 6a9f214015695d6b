"""Solve conditions such as `r == position` for a loop variable, in whatever words.

A sum over `r` of `x[r] if r == position else 0` is `x[position]`: a gather. Its transpose, for all `i` the
sum over `j` of `x[j] if i == position[j] else 0`, is one pass over `j` that adds where each position says: a
scatter. Both take the condition from around the value, and solve it for a range.
"""

from collections.abc import Iterable

from plugrad._frozen import frozen
from plugrad.dtype import dtype_max, dtype_min, dtypes, is_bool, is_int
from plugrad.target import LEAST_SCATTERED
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.strides import shifted
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad.uop.validity import conjunction


@frozen
class Guarded:
    """A value of a reduction that is `neutral` unless all conditions hold.

    Attributes:
        conditions: what has to hold, in the form of `CMPEQ` where it is an equality.
        value: what the reduction takes then.
        neutral: a constant that changes nothing that the reduction takes.
        path: the nodes around the value, down to the conditions.
    """

    conditions: tuple[UOp, ...]
    value: UOp
    neutral: UOp
    path: frozenset[UOp]

    def without(self, condition: UOp) -> UOp:
        """Return the value with all conditions but one around it."""
        others = [c for c in self.conditions if c is not condition]
        return conjunction(others).where(self.value, self.neutral) if others else self.value


@frozen
class Solution:
    """The step of a range in which an equality may hold.

    Attributes:
        condition: the equality.
        position: the step, as an address.
        inside: what holds where there is such a step.
    """

    condition: UOp
    position: UOp
    inside: UOp


def guard_of(op: Ops, value: UOp) -> Guarded | None:
    """Return the conditions around what a reduction by `op` takes; None where there are none.

    before: WHERE(a & ~(b != c), x, 0), added up
    after:  conditions (a, b == c), value x
    """
    conditions: list[UOp] = []
    path: set[UOp] = set()
    neutral: UOp | None = None
    while (found := _outermost(op, value)) is not None:
        condition, holds, inner, otherwise = found
        if neutral is not None and neutral.arg != otherwise.arg:
            break
        path.add(value)
        while value.op in (Ops.CAST, Ops.NEG):
            value = value.src[0]
            path.add(value)
        _collect(condition, holds, conditions, path)
        value, neutral = inner, otherwise
    return (
        None
        if neutral is None
        else Guarded(tuple(dict.fromkeys(conditions)), value, neutral, frozenset(path))
    )


def _outermost(op: Ops, u: UOp) -> tuple[UOp, bool, UOp, UOp] | None:
    """Return a condition, its required truth, the value, and the neutral constant otherwise."""
    if u.op is Ops.CAST and op is not Ops.MAX:
        (inner,) = u.src
        if is_bool(inner.dtype) and op is Ops.ADD:
            return inner, True, u.const_like(1), u.const_like(0)
        if (found := _outermost(op, inner)) is not None:
            condition, holds, value, otherwise = found
            return condition, holds, value.cast(u.dtype), u.const_like(otherwise.arg)
    if u.op is Ops.NEG and op is Ops.ADD and (found := _outermost(op, u.src[0])) is not None:
        condition, holds, value, otherwise = found
        return condition, holds, -value, otherwise
    if u.op is Ops.WHERE:
        condition, x, y = u.src
        if _is_neutral(op, y, x):
            return condition, True, x, y
        if _is_neutral(op, x, y):
            return condition, False, y, x
    if op is Ops.ADD and u.op is Ops.MUL and is_int(u.dtype):
        for factor, other in (u.src, u.src[::-1]):
            if factor.op is Ops.CAST and is_bool(factor.src[0].dtype):
                return factor.src[0], True, other, u.const_like(0)
    if op is Ops.ADD and is_bool(u.dtype) and u.op is not Ops.CONST:
        return u, True, u.const_like(True), u.const_like(False)
    return None


def _is_neutral(op: Ops, u: UOp, beside: UOp) -> bool:
    if u.op is not Ops.CONST:
        return False
    if op is Ops.MAX:
        return u.arg == dtype_min(u.dtype) or (is_int(u.dtype) and beside.vmin >= u.arg)
    return u.arg == (0 if op is Ops.ADD else 1)


def _collect(condition: UOp, holds: bool, out: list[UOp], path: set[UOp]) -> None:
    """Add the conditions under which `condition` is `holds` to `out`, and all nodes to `path`."""
    stack = [(condition, holds)]
    while stack:
        u, holds = stack.pop()
        path.add(u)
        if (parts := _split_condition(u, holds)) is not None:
            stack.extend(reversed(parts))
        elif u.op in (Ops.CMPEQ, Ops.CMPNE) and holds is (u.op is Ops.CMPEQ):
            out.append(u if holds else u.src[0].eq(u.src[1]))
        else:
            out.append(u if holds else ~u)


def _split_condition(u: UOp, holds: bool) -> list[tuple[UOp, bool]] | None:
    """Return conditions that make `u` hold, or not; None if it has no parts."""
    if u.op is (Ops.AND if holds else Ops.OR):
        return [(s, holds) for s in u.src]
    if u.op in (Ops.XOR, Ops.CMPEQ, Ops.CMPNE):
        for s, other in (u.src, u.src[::-1]):
            truth = s.src[0] if s.op is Ops.CAST else s
            if other.op is Ops.CONST and is_bool(truth.dtype) and other.arg in (0, 1):
                return [(truth, holds is (bool(other.arg) is (u.op is Ops.CMPEQ)))]
    if u.op is Ops.WHERE:
        condition, x, y = u.src
        if y.op is Ops.CONST and bool(y.arg) is not holds:
            return [(condition, True), (x, holds)]
        if x.op is Ops.CONST and bool(x.arg) is not holds:
            return [(condition, False), (y, holds)]
    return None


def solve(condition: UOp, r: UOp) -> Solution | None:
    """Return the only step of the range `r` in which an equality holds.

    None where there may be more, or none is found.

    before: CMPEQ(CAST(r * 2 + 1), p)
    after:  position (p - 1) // 2, inside where (p - 1) % 2 == 0, and 0 <= position < size of r
    """
    if condition.op is not Ops.CMPEQ or not is_int(condition.src[0].dtype):
        return None
    x, y = condition.src
    if r not in x.ranges:
        x, y = y, x
    if r in y.ranges or r not in x.ranges:
        return None
    inside: list[UOp] = []
    while x is not r:
        step = _inverted(x, y, r, inside)
        if step is None:
            return None
        x, y = step
    return Solution(condition, y, conjunction((*inside, ~(y < 0), y < r.src[0])))


def _inverted(x: UOp, y: UOp, r: UOp, inside: list[UOp]) -> tuple[UOp, UOp] | None:
    """Return `x == y` without the outermost operation of `x`. `inside` gets further conditions.

    Integers of a dtype wrap: adding, and its inverse, are exact all the same. Others are taken apart where
    bounds say that nothing wraps.
    """
    if x.op is Ops.CAST:
        (inner,) = x.src
        if not is_int(inner.dtype) or x.bounds != inner.bounds:
            return None
        return inner, _narrowed(inner, y, r, inside)
    if x.op is Ops.NEG:
        return x.src[0], -y
    if x.op not in (Ops.ADD, Ops.SUB, Ops.MUL, Ops.XOR):
        return None
    with_r = 0 if r in x.src[0].ranges else 1
    inner, other = x.src[with_r], x.src[1 - with_r]
    if r in other.ranges:
        return None
    if x.op is Ops.ADD:
        return inner, y - other
    if x.op is Ops.SUB:
        return inner, y + other if with_r == 0 else other - y
    if x.op is Ops.XOR:
        return (inner, y ^ other) if not is_bool(x.dtype) else None
    if other.op is not Ops.CONST or not other.arg or not _is_exact_product(x, inner, other.arg):
        return None
    inside.append((y % other).eq(0))
    return inner, y // other


def _is_exact_product(x: UOp, inner: UOp, factor: int) -> bool:
    if x.dtype is dtypes.index:
        return True
    ends = [bound * factor for bound in inner.bounds]
    return min(ends) >= dtype_min(x.dtype) and max(ends) <= dtype_max(x.dtype)


def _narrowed(inner: UOp, y: UOp, r: UOp, inside: list[UOp]) -> UOp:
    """Return `y` in the dtype of `inner`, whose cast did not wrap."""
    lowest, highest = inner.bounds
    if inner is r and (y.dtype.itemsize < 8 or r.src[0].op is Ops.CONST):
        # what lies outside of the range is asked in the end, where nothing can wrap
        return y.cast(dtypes.index)
    if inner is r:
        inside.append(~(y < 0) & (y < r.src[0].cast(y.dtype)))
        return inside[-1].where(y, y.const_like(0)).cast(dtypes.index)
    if y.vmin >= lowest and y.vmax <= highest:
        return y.cast(inner.dtype)
    inside.append(~(y < lowest) & ~(y.const_like(highest) < y))
    # any other number will do outside; this one cannot wrap in what follows
    return inside[-1].where(y, y.const_like(lowest)).cast(inner.dtype)


@frozen
class Scatter:
    """A sum by position: each step adds into one element along the axis `counter`.

    Attributes:
        counter: the axis of the result.
        position: the step of `counter` that a step of the sum belongs to.
        inside: what holds where there is one, and the other conditions, which may read `counter`.
        value: what is taken there.
        neutral: what elements are that no step belongs to.
        overwrites: whether an element is what its last step takes, as of a maximum whose steps rise.
    """

    counter: UOp
    position: UOp
    inside: UOp
    value: UOp
    neutral: UOp
    overwrites: bool


def scatter_of(reduce: UOp, counters: Iterable[UOp]) -> Scatter | None:
    """Return the sum by position in a REDUCE inside the loops `counters`, or None.

    before: REDUCE(ADD, WHERE(CMPEQ(CAST(i), p(j)), x(j), 0), j)
    after:  counter i, position p(j), value x(j), neutral 0
    """
    op, count = reduce.arg
    value, *ended = reduce.src
    guard = guard_of(op, value) if count == 1 else None
    if guard is None or (op is Ops.MAX and not _takes_neutral(guard.neutral, ended)):
        return None
    many = [r for r in counters if r.op is Ops.RANGE and _is_long(r)]
    for condition in guard.conditions:
        for r in many:
            found = solve(condition, r)
            if found is None or r in guard.value.ranges or found.position.ranges.isdisjoint(ended):
                continue
            others = (c for c in guard.conditions if c is not condition)
            inside = conjunction((found.inside, *others))
            overwrites = op is Ops.MAX and _rises(guard, ended)
            return Scatter(r, found.position, inside, guard.value, guard.neutral, overwrites)
    return None


def overwriting(value: UOp, total: UOp, found: Scatter) -> UOp | None:
    """Return the value that a step makes of one with the sum `total`, or None.

    It must not read the element, nor anything else along the counter, where its position may be outside.
    Of a value that takes the sum into another one, it is what the step takes.

    before: WHERE(0 < total, y(total - 1), x(i)) with steps j + 1
    after:  y(j)
    """
    if value is total or not found.overwrites:
        return found.value if value is total or starts_at(value, total) is not None else None
    taken = simplify(value.substitute({total: found.value}))
    reads = (u for u in taken.toposort() if u.op is Ops.INDEX)
    return None if any(found.counter in u.ranges for u in reads) else taken


def starts_at(value: UOp, total: UOp) -> UOp | None:
    """Return the other operand where `value` takes the sum `total` into it, else None.

    before: ADD(x(i), total)
    after:  x(i)
    """
    if value.op is not total.arg[0] or total not in value.src:
        return None
    (start,) = (s for s in value.src if s is not total) if value.src[0] is not value.src[1] else (total,)
    return None if total in start.toposort() else start


def _rises(guard: Guarded, ended: list[UOp]) -> bool:
    """Say whether each step takes more than the one before it."""
    return len(ended) == 1 and shifted(guard.value)[0] is ended[0] and guard.neutral.arg <= guard.value.vmin


def _is_long(r: UOp) -> bool:
    size = r.src[0]
    return r.arg.kind is AxisType.LOOP and size.op is Ops.CONST and size.arg >= LEAST_SCATTERED


def _takes_neutral(neutral: UOp, ended: Iterable[UOp]) -> bool:
    """Say whether a maximum is at least `neutral`, by its bound or a step."""
    return neutral.arg == dtype_min(neutral.dtype) or all(r.src[0].vmin > 0 for r in ended)


def eliminate_ranges(reduce: UOp) -> UOp:
    """Return a REDUCE without the ranges that a condition solves.

    before: REDUCE(ADD, WHERE(CMPEQ(CAST(r), p), x(r), 0), r)
    after:  WHERE(0 <= p < size of r, x(p), 0), every load of which is gated by that condition
    """
    if reduce.op is not Ops.REDUCE or reduce.arg[1] != 1:
        return reduce
    op = reduce.arg[0]
    value, *ranges = reduce.src
    while (guard := guard_of(op, value)) is not None:
        solutions = ((r, s) for r in ranges for c in guard.conditions if (s := solve(c, r)) is not None)
        found = next(solutions, None)
        if found is None:
            break
        r, solution = found
        value = _at_position(guard.without(solution.condition), r, solution, guard.neutral)
        ranges.remove(r)
    return value.reduce(op, *ranges) if len(ranges) < len(reduce.src) - 1 else reduce


def _at_position(value: UOp, r: UOp, solution: Solution, neutral: UOp) -> UOp:
    """Return a value at a computed step of `r`, with its addresses gated."""
    position, inside = solution.position, solution.inside
    done: dict[UOp, UOp] = {r: position}
    for u in value.toposort(lambda u: r in u.ranges and u not in done):
        src = tuple([done.get(s, s) for s in u.src])
        if u.op is Ops.INDEX:
            src = (*src[:2], src[2] & inside if len(src) > 2 else inside)
        done[u] = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
    return inside.where(done.get(value, value), neutral)
