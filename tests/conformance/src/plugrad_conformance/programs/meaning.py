"""The meaning of a program to NumPy, with views that share memory as tensors do.

NumPy's own views would not do: some of its reshapes copy where a tensor's do not. So a value is a list of
places in memory of its own, or of another value.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrad_conformance.programs.op_table import OPS
from plugrad_conformance.programs.ops.op_spec import is_tame
from plugrad_conformance.programs.program import Array, Program, Step


@dataclass(frozen=True)
class Shown:
    """The memory of a step's value, and its view of it.

    Attributes:
        memory: elements, in one row.
        places: which of them are shown, in the value's shape.
        is_expanded: whether it, or what it shows a part of, shows elements more than once: nobody may write.
        bounds: the least and the greatest that devices may have instead; None where all have the same, and
            others may go on with it.
    """

    memory: Array
    places: NDArray[np.intp]
    is_expanded: bool = False
    bounds: tuple[Array, Array] | None = None

    def values(self) -> Array:
        """Return the elements as they are now."""
        return np.asarray(self.memory[self.places])


def fresh(values: Any) -> Shown:
    """Return a value with memory of its own."""
    array = np.array(values)
    return Shown(array.reshape(-1), np.arange(array.size).reshape(array.shape))


def take(step: Step, operands: Sequence[Shown]) -> Shown:
    """Do one step and return its value, a changed first operand included.

    Raises:
        FloatingPointError: it divides an integer by zero, which means nothing.
    """
    if step.op == "input":
        return fresh(step.params[0])
    op = OPS[step.op]
    if step.op == "bitcast":
        first = operands[0]
        return replace(first, memory=first.memory.view(step.params[0]), bounds=None)
    if op.is_view:
        first = operands[0]
        places = np.asarray(op.on_numpy(first.places, *step.params))
        return Shown(first.memory, places, first.is_expanded or len(np.unique(places)) < places.size)
    values = [x.values() for x in operands]
    with np.errstate(all="ignore", divide="raise"):
        result = np.asarray(op.on_numpy(*values, *step.params))
    if op.bounds is not None:
        ends = op.bounds(*values, *step.params)
        is_sure = is_tame(result) and np.array_equal(*ends)
        return fresh(result) if is_sure else replace(fresh(result), bounds=ends)
    if not op.changes:
        return fresh(result)
    operands[0].memory[operands[0].places] = result
    return operands[0]


def evaluate(steps: Sequence[Step]) -> list[Shown]:
    """Take all steps; return their values at the end."""
    shown: list[Shown] = []
    for step in steps:
        shown.append(take(step, [shown[i] for i in step.sources]))
    return shown


def program_of(steps: Sequence[Step], kept: Sequence[int], shown: Sequence[Shown]) -> Program:
    """Return the program that compares `kept` with its values at the end."""
    bounds = {i: ends for i in kept if (ends := shown[i].bounds) is not None}
    return Program(tuple(steps), tuple(kept), tuple(shown[i].values() for i in kept), bounds)
