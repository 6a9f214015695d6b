"""Interpret linear programs: work-items run in lockstep, each value an array over them.

Loops run in Python with trip counts that all work-items share, conditions are masks, and a barrier has
nothing to do since every work-item stands at the same instruction. Each access to memory is checked: one
outside of its buffer is an error that names kernel, buffer and index. Large launches run in pieces of whole
workgroups, one after another.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from plugrad._util import numpy as np
from plugrad.builtin.arithmetic import Array
from plugrad.builtin.listing import Instruction
from plugrad.builtin.steps import Lanes, build_step
from plugrad.uop import Ops

#: Work-items that run together: arrays still fit the cache, and the values of a large kernel fit memory.
LANES = 1 << 16


class Interpreter:
    """A linear program, ready to run."""

    def __init__(self, name: str, program: Sequence[Instruction]) -> None:
        self.name = name
        #: Slots of the buffers that the program writes.
        self.written = _written_slots(program)
        self._length = len(program)
        ends = _closing(program, Ops.END, Ops.RANGE) | _closing(program, Ops.ENDIF, Ops.IF)
        self._steps = [build_step(i, program, ends) for i in range(self._length)]
        self._dead = _last_uses(program, ends)

    def run(
        self,
        buffers: Sequence[Array],
        variables: Mapping[str, int],
        global_size: Sequence[int] = (),
        local_size: Sequence[int] = (),
        threads: int = 1,
    ) -> None:
        """Run all work-items of a launch on `buffers` (bytes, by slot).

        Raises:
            DeviceError: an access lies outside of its buffer, or the program and the launch do not fit.
        """
        sizes = {f"gidx{i}": n for i, n in enumerate(global_size)} | {"thread": threads}
        local = {f"lidx{i}": n for i, n in enumerate(local_size)}
        groups, per_group = math.prod(sizes.values()), math.prod(local.values())
        together = max(1, LANES // max(per_group, 1))
        with np.errstate(all="ignore"):
            for first in range(0, groups if per_group else 0, together):
                group = np.repeat(np.arange(first, min(first + together, groups)), per_group)
                item = np.tile(np.arange(per_group), len(group) // per_group)
                specials = {**_unravel(group, sizes), **_unravel(item, local)}
                values: list[Any] = [None] * self._length
                self._run_lanes(
                    Lanes(
                        self.name, len(group), per_group, specials, sizes | local, variables, buffers, values
                    )
                )

    def _run_lanes(self, lanes: Lanes) -> None:
        steps, dead, values = self._steps, self._dead, lanes.values
        at = 0
        while at < self._length:
            following = steps[at](lanes)
            if following is not None:
                at = following
                continue
            for i in dead[at]:
                values[i] = None
            at += 1


def _unravel(flat: Array, sizes: Mapping[str, int]) -> dict[str, Array]:
    """Return the position on each axis, the first axis running fastest."""
    out: dict[str, Array] = {}
    for name, size in sizes.items():
        out[name] = flat % size
        flat = flat // size
    return out


def _closing(program: Sequence[Instruction], closer: Ops, opener: Ops) -> dict[int, int]:
    """Return the position of the closing instruction of each opening one, both ways."""
    out: dict[int, int] = {}
    for i, ins in enumerate(program):
        if ins.op is closer:
            opened = next(s for s in ins.src if program[s].op is opener)
            out[opened], out[i] = i, opened
    return out


def _last_uses(program: Sequence[Instruction], ends: Mapping[int, int]) -> list[tuple[int, ...]]:
    """Return, for each position, the values that nothing needs after it."""
    last = list(range(len(program)))
    for i, ins in enumerate(program):
        for s in ins.src:
            last[s] = i
    loops = sorted((i, end) for i, end in ends.items() if program[i].op is Ops.RANGE)
    for i in range(len(program)):
        # what comes from outside of a loop is needed in its next turn too; inner loops first
        for start, end in reversed(loops):
            if i < start < last[i] < end:
                last[i] = end
        if program[i].op is Ops.RANGE and i in ends:
            last[i] = ends[i]
    out: list[list[int]] = [[] for _ in program]
    for i, end in enumerate(last):
        out[end].append(i)
    return [tuple(positions) for positions in out]


def _written_slots(program: Sequence[Instruction]) -> frozenset[int]:
    out: set[int] = set()
    for ins in program:
        if ins.op is Ops.STORE:
            place = program[ins.src[0]]
            while place.op is not Ops.PARAM and place.src:
                place = program[place.src[0]]
            if place.op is Ops.PARAM:
                out.add(place.arg[0])
    return frozenset(out)
