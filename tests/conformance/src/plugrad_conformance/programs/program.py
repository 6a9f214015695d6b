"""A straight-line program over tensors, as data: it can be run, printed, cut and kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Step:
    """One operation.

    Attributes:
        op: its name in the table of operations.
        sources: the steps whose values it takes.
        params: what else it takes; plain Python values and arrays.
    """

    op: str
    sources: tuple[int, ...] = ()
    params: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Program:
    """Steps in order; the value of each has the step's place as its name.

    Attributes:
        steps: the operations.
        kept: the steps whose values are compared at the end, in this order. A value that is not kept is let
            go once no step needs it.
        expected: what NumPy says they are.
        bounds: of those that may differ, the least and the greatest value, by the step's place.
    """

    steps: tuple[Step, ...]
    kept: tuple[int, ...]
    expected: tuple[Array, ...]
    bounds: Mapping[int, tuple[Array, Array]] = field(default_factory=dict[int, tuple[Array, Array]])

    def __str__(self) -> str:
        """Return the program as lines of steps and their operands."""
        lines = [f"v{i} = {_call(step)}" for i, step in enumerate(self.steps)]
        return "\n".join([*lines, f"compare {', '.join(f'v{i}' for i in self.kept)}"])


def _call(step: Step) -> str:
    return f"{step.op}({', '.join([*(f'v{i}' for i in step.sources), *map(_as_source, step.params)])})"


def _as_source(value: Any) -> str:
    if isinstance(value, np.ndarray):
        array = cast(Array, value)
        return f"np.array({array.tolist()}, np.{array.dtype.name}).reshape({array.shape})"
    return repr(value)


def needed_for(
    steps: Sequence[Step], wanted: Iterable[int], changes: frozenset[str], shares: frozenset[str]
) -> list[int]:
    """Return the steps that the values of `wanted` depend on, in order.

    Args:
        steps: all steps.
        wanted: places of values.
        changes: the operations that change their first source; they belong to whatever shows its memory.
        shares: the operations whose value shows memory of their first source.
    """
    owners: list[int] = []
    for place, step in enumerate(steps):
        owners.append(owners[step.sources[0]] if step.op in shares else place)
    needed = set(wanted)
    while True:
        more = {s for i in needed for s in steps[i].sources}
        owned = {owners[i] for i in needed}
        more |= {i for i, step in enumerate(steps) if step.op in changes and owners[i] in owned}
        if more <= needed:
            return sorted(needed)
        needed |= more
