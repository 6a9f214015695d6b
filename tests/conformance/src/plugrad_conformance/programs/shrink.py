"""Make a program that fails smaller, while it fails."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from plugrad_conformance.programs.meaning import Shown, evaluate, program_of, take
from plugrad_conformance.programs.op_table import CHANGES, SHARES
from plugrad_conformance.programs.ops.op_spec import is_tame
from plugrad_conformance.programs.program import Array, Program, Step, needed_for

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails) -> Program:
    """Return a smaller program that fails too."""
    # the first value that is wrong alone has the fewest steps before it
    alone = (_keeping(program.steps, [place]) for place in range(len(program.steps)))
    found = next((p for p in alone if p is not None and fails(p)), program)
    while (smaller := next(filter(fails, _smaller(found)), None)) is not None:
        found = smaller
    return found


def _smaller(program: Program) -> Iterator[Program]:
    """Yield programs without a result, or with a step less, the last ones first."""
    candidates = [(program.steps, [i for i in program.kept if i != place]) for place in program.kept]
    for place in reversed(range(len(program.steps))):
        op = program.steps[place].op
        if op in CHANGES or op in _LEAVING:
            candidates.append(_bypassed(program, place))
        if op != "input" and op not in CHANGES:
            candidates.append((_with_input_at(program, place), list(program.kept)))
    for steps, kept in candidates:
        if (smaller := _keeping(steps, kept)) is not None:
            yield smaller


_LEAVING = ("realize", "detach")


def _bypassed(program: Program, place: int) -> tuple[tuple[Step, ...], list[int]]:
    """Return the steps without one, for whose value its first operand stands."""

    def new(i: int) -> int:
        i = program.steps[place].sources[0] if i == place else i
        return i - (i > place)

    rest = (*program.steps[:place], *program.steps[place + 1 :])
    steps = tuple(replace(step, sources=tuple(map(new, step.sources))) for step in rest)
    return steps, list(dict.fromkeys(new(i) for i in program.kept))


def _with_input_at(program: Program, place: int) -> tuple[Step, ...]:
    step = Step("input", (), (_values_of_steps(program.steps)[place],))
    return (*program.steps[:place], step, *program.steps[place + 1 :])


def _values_of_steps(steps: Sequence[Step]) -> list[Array]:
    """Return the value of each step when it is taken."""
    shown: list[Shown] = []
    values: list[Array] = []
    for step in steps:
        shown.append(take(step, [shown[i] for i in step.sources]))
        values.append(shown[-1].values())
    return values


def _keeping(steps: Sequence[Step], kept: Sequence[int]) -> Program | None:
    """Return the program that compares `kept`, without needless steps. None if it means nothing."""
    places = needed_for(steps, kept, CHANGES, SHARES)
    new = {old: i for i, old in enumerate(places)}
    short = tuple(replace(s, sources=tuple(new[i] for i in s.sources)) for s in (steps[i] for i in places))
    try:
        shown = evaluate(short)
    except FloatingPointError:
        return None
    sure = [x.bounds is None for x in shown]
    if not kept or not all(sure[i] for step in short for i in step.sources):
        return None
    if not all(is_tame(x.values()) for x in shown if x.bounds is None):
        return None
    return program_of(short, [new[i] for i in kept], shown)
