"""Run a program on a device in several ways, and compare it with NumPy."""

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Literal

import numpy as np

from plugrad.errors import PlugradError
from plugrad.jit import jit
from plugrad.tensor import Tensor
from plugrad.transforms import function
from plugrad_conformance.programs.any_size import any_size
from plugrad_conformance.programs.op_table import CHANGES, OPS, SHARES
from plugrad_conformance.programs.program import Array, Program

Mode = Literal["together", "one by one", "again", "jit", "jitted state", "any size", "units"]
MODES: tuple[Mode, ...] = ("together", "one by one", "again", "jit", "jitted state", "any size", "units")
# Of steps, one in so many is a unit for the scheduler: several lie between two of them.
_STEPS_OF_A_UNIT = 3


def run(program: Program, device: str, mode: Mode) -> list[Array]:
    """Return the values that `program` keeps.

    Args:
        program: what to run.
        device: where.
        mode: whether to realize all results together, in turn, after the same was built before and kept, or
            in a late call of a jitted function, the first two of which got other values: as arguments, or
            half of them in tensors outside that are assigned to; or in turn, by kernels that serve any size;
            or together, with some steps as units for the scheduler.
    """
    if mode == "jit":
        return _run_jitted(program, device)
    if mode == "jitted state":
        return _run_on_state(program, device)
    if mode == "again":
        return _run_again(program, device)
    with any_size() if mode == "any size" else nullcontext():
        inputs = (Tensor(x, device=device) for x in _inputs(program))
        kept = _evaluate(program, inputs, units=mode == "units")
        if mode in ("together", "units"):
            Tensor.realize(*kept)
        return [t.numpy() for t in kept]


def difference(program: Program, device: str, modes: Sequence[Mode] = MODES) -> str | None:
    """Return the first difference between `device` and NumPy, or None.

    Programs that read values are not jitted: jitted functions refuse that.
    """
    reads = any(OPS[step.op].reads for step in program.steps if step.op != "input")
    for mode in modes:
        if mode in ("jit", "jitted state") and reads:
            continue
        try:
            found = run(program, device, mode)
        except (PlugradError, AssertionError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            return f"{device}, {mode}: {type(error).__name__}: {error}"
        for place, got, want in zip(program.kept, found, program.expected, strict=True):
            if got.dtype != want.dtype or got.shape != want.shape:
                return (
                    f"{device}, {mode}: v{place} is {got.dtype}{got.shape}, and should be "
                    f"{want.dtype}{want.shape}"
                )
            lowest, highest = program.bounds.get(place, (want, want))
            if not _is_within(got, lowest, highest):
                limits = f"\nor from\n{lowest}\nto\n{highest}" if place in program.bounds else ""
                return f"{device}, {mode}: v{place} is\n{got}\nand should be\n{want}{limits}"
    return None


def _is_within(got: Array, lowest: Array, highest: Array) -> bool:
    """Say whether values lie in their bounds, and are NaN where these are."""
    is_number = lowest == lowest
    is_inside = (lowest <= got) & (got <= highest)
    return np.array_equal(got == got, is_number) and bool(np.all(is_inside | ~is_number))


def _inputs(program: Program) -> list[Array]:
    return [step.params[0] for step in program.steps if step.op == "input"]


def _evaluate(program: Program, inputs: Iterable[Tensor], *, units: bool = False) -> list[Tensor]:
    last_use = {i: place for place, step in enumerate(program.steps) for i in (place, *step.sources)}
    last_use.update(dict.fromkeys(program.kept, len(program.steps)))
    values: dict[int, Tensor] = {}
    arriving = iter(inputs)
    for place, step in enumerate(program.steps):
        if step.op == "input":
            values[place] = next(arriving)
        else:
            operands = [values[i] for i in step.sources]
            on_tensor = OPS[step.op].on_tensor
            # a unit has results of its own, which show nobody's memory
            if units and place % _STEPS_OF_A_UNIT == 0 and step.op not in SHARES:
                on_tensor = function(on_tensor)
            result = on_tensor(*operands, *step.params)
            values[place] = operands[0] if step.op in CHANGES else result
            # nobody shall hold what nothing needs any more
            del operands, result
        values = {i: value for i, value in values.items() if last_use[i] > place}
    return [values[i] for i in program.kept]


def _run_again(program: Program, device: str) -> list[Array]:
    inputs = [Tensor(x, device=device) for x in _inputs(program)]
    # copies have equal graphs, and are written to apart
    before = _evaluate(program, [t.contiguous() for t in inputs])
    for t in before[::2]:
        t.realize()
    found = [t.numpy() for t in _evaluate(program, [t.contiguous() for t in inputs])]
    # what was kept is still what it was
    again = [t.numpy() for t in before]
    return found if all(map(_are_equal, found, again)) else again


def _are_equal(x: Array, y: Array) -> bool:
    return x.dtype == y.dtype and np.array_equal(x, y)


def _run_jitted(program: Program, device: str) -> list[Array]:
    @jit
    def computed(*inputs: Tensor) -> tuple[Tensor, ...]:
        return _computed(program, inputs)

    others, inputs = _other_inputs(program), _inputs(program)
    found: list[Array] = []
    for arrays in (others, others, inputs):
        results = computed(*(Tensor(x, device=device).realize() for x in arrays))
        found = [t.numpy() for t in results]
    return found


def _run_on_state(program: Program, device: str) -> list[Array]:
    others, inputs = _other_inputs(program), _inputs(program)
    # realized memory of their own: who writes to a tensor gives no other one its value
    state = [Tensor(x, device=device).contiguous().realize() for x in others[::2]]

    @jit
    def computed(*arguments: Tensor) -> tuple[Tensor, ...]:
        given = [(state if number % 2 == 0 else arguments)[number // 2] for number in range(len(inputs))]
        return _computed(program, given)

    found: list[Array] = []
    # the third call replays, the others find what was computed from the state before
    for arrays in (others, others, others, inputs, inputs):
        for tensor, array in zip(state, arrays[::2], strict=True):
            tensor.assign(Tensor(array, device=device))
        results = computed(*(Tensor(x, device=device).realize() for x in arrays[1::2]))
        found = [t.numpy() for t in results]
    return found


def _computed(program: Program, inputs: Iterable[Tensor]) -> tuple[Tensor, ...]:
    results = [t.contiguous() for t in _evaluate(program, inputs)]
    Tensor.realize(*results)
    return tuple(results)


def _other_inputs(program: Program) -> list[Array]:
    """Return other inputs, since what is replayed has to come from the new ones.

    Division by one that is zero means nothing.
    """
    inputs = _inputs(program)
    return inputs if _divides(program) else [np.flip(x).copy() for x in inputs]


def _divides(program: Program) -> bool:
    return any(step.op in ("floordiv", "mod") for step in program.steps)
