"""Make a program that fails smaller, while it fails."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from plugrad.testing.programs.program import Array, Program, Step, needed_for
from plugrad.testing.programs.vocabulary import CHANGES, WORDS

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails) -> Program:
    """Return a smaller program that fails too: few results, few steps, inputs for what computes them."""
    for place in program.kept:
        without = _keeping(program, [i for i in program.kept if i != place])
        if without.kept and fails(without):
            program = without
    program = _without_unused(program)
    changed = True
    while changed:
        changed = False
        for place in reversed(range(len(program.steps))):
            if place < len(program.steps) and (smaller := _with_input_at(program, place)) is not None:
                smaller = _without_unused(smaller)
                if fails(smaller):
                    program, changed = smaller, True
    return program


def _keeping(program: Program, kept: list[int]) -> Program:
    expected = dict(zip(program.kept, program.expected, strict=True))
    return replace(program, kept=tuple(kept), expected=tuple(expected[i] for i in kept))


def _values(program: Program) -> list[Array]:
    """Return what NumPy makes of each step, when it is taken."""
    values: list[Array] = []
    for step in program.steps:
        if step.word == "input":
            values.append(step.params[0])
            continue
        operands = [values[i].copy() for i in step.sources]
        with np.errstate(all="ignore"):
            values.append(np.asarray(WORDS[step.word].on_numpy(*operands, *step.params)).copy())
    return values


def _with_input_at(program: Program, place: int) -> Program | None:
    """Replace a step that computes by an input of its value."""
    step = program.steps[place]
    if step.word == "input" or step.word in CHANGES:
        return None
    value = _values(program)[place]
    steps = (*program.steps[:place], Step("input", (), (value,)), *program.steps[place + 1 :])
    return replace(program, steps=steps)


def _without_unused(program: Program) -> Program:
    places = needed_for(program.steps, program.kept, CHANGES)
    new = {old: i for i, old in enumerate(places)}
    steps = [program.steps[i] for i in places]
    return replace(
        program,
        steps=tuple(replace(step, sources=tuple(new[s] for s in step.sources)) for step in steps),
        kept=tuple(new[i] for i in program.kept),
    )
