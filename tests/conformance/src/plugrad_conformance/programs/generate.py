"""Make a random program, running it with NumPy to find possible steps."""

import math
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plugrad_conformance.programs.meaning import Shown, program_of, take
from plugrad_conformance.programs.op_table import OPS, SHARES
from plugrad_conformance.programs.ops.op_spec import MOST_ELEMENTS, OpSpec, array_of, is_tame, random_array
from plugrad_conformance.programs.program import Array, Program, Step

# How often an operation is tried; those that rarely apply, or make the most trouble, more often.
_WEIGHTS = {
    **{"set": 3, "set_rows": 2, "assign": 2, "add_to": 2, "realize": 2, "matmul": 4, "cat": 2, "cast": 3},
    **{"convolve": 8, "average_pool": 6, "max_pool": 3, "einsum": 4, "mixed": 6, "gather": 2},
    **{"narrow": 12, "narrow_pair": 12, "gradient": 8, "gradient_pair": 12, "symbolic": 2, "where": 3},
    **{"constants": 20},
}
_MASKED = ("masked", "masked_select", "masked_fill", "set_masked")
_READS = 0.2
# How often a program lets go of values that nothing needs any more, and how often it computes one again: the
# same graph then stands for two tensors.
_FORGETS = 0.5
_REPEATS = 0.08
# How often a program is about memory alone: who shows what, who writes when, and what waits for it.
_ABOUT_MEMORY = 0.3
_BESIDE_MEMORY = ("contiguous", "add", "add_scalar", "mul_scalar", "sort", "cat", "cast", "sum", "gradient")


@dataclass
class _Draft:
    steps: list[Step] = field(default_factory=list[Step])
    shown: list[Shown] = field(default_factory=list[Shown])
    took: list[list[Array]] = field(default_factory=list[list[Array]])  # the operands, as they were

    def add(self, step: Step, operands: list[Shown]) -> int:
        self.steps.append(step)
        self.took.append([x.values() for x in operands])
        self.shown.append(take(step, operands))
        return len(self.steps) - 1

    def of_dtype(self, dtype: "np.dtype[Any]") -> list[int]:
        """Return the values of a dtype that steps may go on with."""
        return [i for i, x in enumerate(self.shown) if x.memory.dtype == dtype and x.bounds is None]

    def input(self, array: Array) -> int:
        return self.add(Step("input", (), (array.copy(),)), [])


def random_program(seed: int, length: int = 40) -> Program:
    """Return the random program of `seed` with about `length` steps."""
    rng = random.Random(seed)
    draft = _Draft()
    for _ in range(rng.randint(2, 5)):
        draft.input(random_array(rng))
    # what reads values cannot be jitted, so that most programs do not
    reads = rng.random() < _READS
    operations = [op for op in OPS.values() if reads or not op.reads]
    if rng.random() < _ABOUT_MEMORY:
        operations = [op for op in operations if op.name in SHARES or op.name in _BESIDE_MEMORY]
    weights = [_WEIGHTS.get(op.name, 1) for op in operations]
    while len(draft.steps) < length:
        if rng.random() < _REPEATS:
            _repeat(draft, rng.randrange(len(draft.steps)))
            continue
        (op,) = rng.choices(operations, weights)
        _try(rng, draft, op)
    kept = list(range(len(draft.steps)))
    rng.shuffle(kept)
    if rng.random() < _FORGETS:
        kept = kept[: 1 + len(kept) // 4]
    return program_of(draft.steps, kept, draft.shown)


def _repeat(draft: _Draft, place: int) -> None:
    """Compute a value again, if what it is computed from is as it was."""
    step = draft.steps[place]
    operands = [draft.shown[i] for i in step.sources]
    if step.op == "input" or OPS[step.op].changes:
        return
    if all(map(np.array_equal, draft.took[place], [x.values() for x in operands])):
        draft.add(step, operands)


def _try(rng: random.Random, draft: _Draft, op: OpSpec) -> None:
    sources = [_pick(rng, draft) for _ in range(op.arity)]
    if op.arity > 1:
        sources = _matching(rng, draft, op, sources)
    operands = [draft.shown[i] for i in sources]
    values = [x.values() for x in operands]
    params = op.propose(rng, values)
    if params is None or (op.changes and operands[0].is_expanded):
        return
    step = Step(op.name, tuple(sources), params)
    with np.errstate(all="ignore"):
        result = np.asarray(op.on_numpy(*values, *params))
    if result.size <= MOST_ELEMENTS and (op.bounds is not None or is_tame(result)):
        draft.add(step, operands)


def _pick(rng: random.Random, draft: _Draft) -> int:
    sure = [i for i, x in enumerate(draft.shown) if x.bounds is None]
    return rng.choice(sure[-6:] if rng.random() < 0.6 else sure)


def _matching(rng: random.Random, draft: _Draft, op: OpSpec, sources: list[int]) -> list[int]:
    """Exchange operands for others of a fitting dtype, or for a new input."""
    if op.arity == 3:
        truths = draft.of_dtype(np.dtype(np.bool_))
        sources = [rng.choice(truths) if truths else sources[0], *sources[1:]]
    *others, first, second = sources
    memory = draft.shown[first].memory
    if op.name == "mixed":
        return sources
    wanted = np.dtype(np.bool_) if op.name in _MASKED else memory.dtype
    if draft.shown[second].memory.dtype == wanted and rng.random() < 0.5:
        return sources
    alike = [i for i in draft.of_dtype(wanted) if i != first]
    if alike and rng.random() < 0.6:
        return [*others, first, rng.choice(alike)]
    shape = draft.shown[first].places.shape
    if op.name in ("matmul", "einsum"):
        shape = (*shape[:-2], *shape[:-3:-1])
    if rng.random() < 0.5 and math.prod(shape) <= MOST_ELEMENTS:
        return [*others, first, draft.input(array_of(rng, shape, wanted.name))]
    return sources
