"""Every error that a method of Tensor is documented to raise, with what is wrong and its message."""

from refusals import (
    elementwise,
    indexing,
    interop,
    learning,
    linalg,
    making,
    matrices,
    movement,
    reductions,
    spatial,
    stacks,
    statistics,
)
from refusals.case import Case

#: The cases of all topics.
CASES: list[Case] = [
    *making.CASES,
    *interop.CASES,
    *elementwise.CASES,
    *reductions.CASES,
    *statistics.CASES,
    *movement.CASES,
    *stacks.CASES,
    *indexing.CASES,
    *linalg.CASES,
    *matrices.CASES,
    *spatial.CASES,
    *learning.CASES,
]
