"""Find sums and maxima over all steps before one, or those of its key.

For all `j` the sum over `l` of `x[l] if l < j and key[l] == key[j] else 0` is one pass over `j` that keeps a
total for each key. Elements that are ordered by a digit go behind as many of their own as come before them.
Without keys, there is one total. A maximum is kept in the same way.
"""

from collections.abc import Iterable, Sequence

from plugrad._frozen import frozen
from plugrad.dtype import dtypes, is_float, is_int
from plugrad.target import LEAST_SCATTERED
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.range_elimination import guard_of
from plugrad.uop.strides import shifted
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp
from plugrad.uop.validity import conjunction

# Totals of so many keys stay in the first cache.
_MOST_KEYS = 1 << 12


@frozen
class RunningSum:
    """For each step of a range, a sum over the earlier ones of its key.

    Attributes:
        counter: the axis of the result, whose steps come in order.
        key: the key of a step; a constant where there are none.
        value: what a step adds to the total of its key.
        neutral: the total of no steps.
    """

    counter: UOp
    key: UOp
    value: UOp
    neutral: UOp

    @property
    def keys(self) -> int:
        """The number of keys that there may be."""
        return int(self.key.vmax) - int(self.key.vmin) + 1


def running_sum_of(reduce: UOp, counters: Iterable[UOp]) -> RunningSum | None:
    """Return the running sum, or maximum, in a REDUCE inside the loops `counters`, or None.

    before: REDUCE(ADD, WHERE(CMPLT(l, j) & CMPEQ(key(l), key(j)), x(l), 0), l)
    after:  counter j, key key(j), value x(j)
    """
    op, count = reduce.arg
    value, *ended = reduce.src
    if op not in (Ops.ADD, Ops.MAX) or count != 1 or len(ended) != 1:
        return None
    guard = guard_of(op, value)
    is_exact = op is Ops.MAX or is_int(reduce.dtype)
    if guard is None or not (is_exact or _is_narrower(guard.value)):
        return None
    (step,) = ended
    for counter in counters:
        if not _has_steps_of(counter, step) or counter in guard.value.ranges:
            continue
        others = [c for c in guard.conditions if not _is_before(c, step, counter)]
        limits = [c for c in others if counter in c.ranges]
        key = _key_of(limits, step, counter)
        if len(others) == len(guard.conditions) or key is None:
            continue
        added = guard.value
        if gates := [c for c in others if c not in limits]:
            added = conjunction(gates).where(added, guard.neutral)
        found = RunningSum(counter, key, _moved(added, step, counter), guard.neutral)
        return found if found.keys <= _MOST_KEYS else None
    return None


def _is_narrower(value: UOp) -> bool:
    """Say whether sums of these floats lose nothing of them."""
    source = value.src[0].dtype if value.op is Ops.CAST else value.dtype
    return is_float(source) and source.itemsize < value.dtype.itemsize


def _has_steps_of(counter: UOp, step: UOp) -> bool:
    if counter.op is not Ops.RANGE or counter.arg.kind is not AxisType.LOOP:
        return False
    size = counter.src[0]
    return size is step.src[0] and size.op is Ops.CONST and size.arg >= LEAST_SCATTERED


def _is_before(condition: UOp, step: UOp, counter: UOp) -> bool:
    """Say whether a condition is `step < counter`, also as `~(counter < step + 1)`."""
    is_negated = condition.op is Ops.XOR and condition.src[1].op is Ops.CONST
    less = condition.src[0] if is_negated else condition
    if less.op is not Ops.CMPLT:
        return False
    (low, less_low), (high, less_high) = map(shifted, less.src[::-1] if is_negated else less.src)
    return (low, high) == (step, counter) and less_low - less_high == is_negated


def _key_of(limits: Sequence[UOp], step: UOp, counter: UOp) -> UOp | None:
    """Return the key of `counter` if conditions ask only that `step` has it too."""
    if not limits:
        return UOp.const(dtypes.int32, 0)
    condition = limits[0]
    if len(limits) > 1 or condition.op is not Ops.CMPEQ or not is_int(condition.src[0].dtype):
        return None
    for mine, other in (condition.src, condition.src[::-1]):
        if step not in mine.ranges and _moved(other, step, counter) is mine:
            return mine
    return None


def _moved(u: UOp, step: UOp, counter: UOp) -> UOp:
    return simplify(u.substitute({step: counter}))
