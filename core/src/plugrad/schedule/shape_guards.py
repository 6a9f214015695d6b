"""The conditions under which a graph is valid for all values of its variables.

One set of kernels serves all values of a variable, also ones that nobody had looked at when the graph was
written down. A slice that leaves its axis at one of them would read what lies beside it. What holds for all
values is known when a graph is scheduled; what is left is asked each time.
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any

from plugrad._frozen import frozen
from plugrad.errors import ShapeError
from plugrad.uop import Ops, UOp, add_sizes, greatest, least, simplify
from plugrad.uop.shape import pairs_of, size_at

Size = int | UOp


@frozen
class Condition:
    """Numbers in ascending order; of a RESHAPE, numbers of elements that are equal.

    Attributes:
        op: the operation that asks for it.
        numbers: of a SHRINK 0, begin, end and size of an axis; of PAD and IOTA 0 and a size.
    """

    op: Ops
    numbers: tuple[Size, ...]

    def check(self, values: Mapping[str, int]) -> None:
        """Do nothing if it holds with the variables at `values`.

        Raises:
            ShapeError: it does not.
        """
        numbers = [size_at(number, values) for number in self.numbers]
        if numbers == sorted(numbers) and (self.op is not Ops.RESHAPE or len(set(numbers)) == 1):
            return
        at = ", ".join(f"{name}={value}" for name, value in sorted(self._used(values).items()))
        raise ShapeError(f"with {at}: {_WRONG[self.op].format(*numbers)} Bind other values.")

    def _used(self, values: Mapping[str, int]) -> dict[str, int]:
        names = {v.arg[0] for number in self.numbers if isinstance(number, UOp) for v in number.variables()}
        return {name: value for name, value in values.items() if name in names}


_WRONG = {
    Ops.SHRINK: "a slice of {1}..{2} leaves its axis of size {3}.",
    Ops.PAD: "padding by {1} elements.",
    Ops.IOTA: "an axis of {1} elements.",
    Ops.RESHAPE: "{0} elements are no {1} elements in another shape.",
}


def conditions_of(sink: UOp) -> tuple[Condition, ...]:
    """Return conditions below `sink` that fail for some values of the variables.

    before: BUFFER(6).shrink(((0, n),)), for n in 2..8
    after:  (Condition(SHRINK, (0, 0, n, 6)),)
    """
    found: dict[Condition, None] = {}
    order = sink.toposort()
    if not any(u.op is Ops.DEFINE_VAR for u in order):
        return ()
    for u in order:
        for condition in _asked_by(u):
            if not _holds(condition):
                found[condition] = None
    return tuple(found)


def _asked_by(u: UOp) -> list[Condition]:
    if u.op is Ops.SHRINK:
        pairs = zip(pairs_of(u), u.src[0].shape, strict=True)
        return [Condition(u.op, (0, begin, end, size)) for (begin, end), size in pairs]
    if u.op is Ops.PAD:
        return [Condition(u.op, (0, amount)) for pair in pairs_of(u) for amount in pair]
    if u.op is Ops.IOTA:
        return [Condition(u.op, (0, size)) for size in u.shape]
    if u.op is Ops.RESHAPE:
        return [Condition(u.op, (_product(u.src[0].shape), _product(u.shape)))]
    return []


def _product(shape: tuple[Any, ...]) -> Any:
    total = math.prod(shape)
    return simplify(total) if isinstance(total, UOp) else total


def _holds(condition: Condition) -> bool:
    """Say whether a condition holds whatever the variables are."""
    numbers = condition.numbers
    if not any(isinstance(number, UOp) for number in numbers):
        return True
    rises = [add_sizes(after, before * -1) for before, after in itertools.pairwise(numbers)]
    is_equality = condition.op is Ops.RESHAPE
    return all(least(rise) >= 0 and (not is_equality or greatest(rise) == 0) for rise in rises)
