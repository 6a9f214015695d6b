"""Search for the optimisations of a kernel that run fastest on its device (BEAM).

It starts with the heuristic's list, and goes on to neighbours of the fastest `width` lists for as long as
these gain. What takes many more steps than the best list, by a count of the program's operations, is not
compiled. Each compiled kernel has to give the results of the plain loops before its time counts; times are
taken in rounds, so that all kernels meet the same disturbances. A list that does not beat the heuristic's in
a last comparison of the two is not taken.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from plugrad import events
from plugrad._util import LazyModule, collector_paused
from plugrad.device import OpenDevice
from plugrad.engine import build
from plugrad.engine.compile_queue import compile_queue
from plugrad.engine.search.trial import Trial, Variant
from plugrad.errors import CompileError, KernelOptError
from plugrad.progress import progress
from plugrad.uop import ALU, Ops, UOp
from plugrad.uop.op_cost import op_cost
from plugrad.uop.strides import constant_size

if TYPE_CHECKING:
    from plugrad.codegen import lower as codegen
    from plugrad.codegen.opt import heuristic, kernel_opt
    from plugrad.codegen.opt import neighbours as neighbourhood
    from plugrad.codegen.opt.opt_ops import Opt
else:
    codegen = LazyModule("plugrad.codegen.lower")
    heuristic = LazyModule("plugrad.codegen.opt.heuristic")
    kernel_opt = LazyModule("plugrad.codegen.opt.kernel_opt")
    neighbourhood = LazyModule("plugrad.codegen.opt.neighbours")

# Walks rarely gain beyond this many decisions.
_STEPS = 8
# Kernels compiled and timed in each step, for each list that it starts from.
_TIMED = 16
# The operations of a program, beside those of the best one, from which it is not compiled.
_FAR_MORE_OPERATIONS = 2.0
# Longer programs take seconds to compile, and their code outgrows its cache.
_LONGEST_PROGRAM = 3000
_ROUNDS, _LAST_ROUNDS = 5, 15
# A slower kernel is not run again; nor is one that gained less followed further.
_GIVE_UP_AT = 1.5
_WORTH_A_STEP = 0.98


def search(device: OpenDevice, ast: UOp, width: int) -> "tuple[Opt, ...]":
    """Return the optimisations that make a kernel fastest; the heuristic's, if no others do.

    Raises:
        CompileError: the toolchain refused the kernel with the heuristic's list.
    """
    return _Search(device, ast).run(width)


def is_applicable(device: OpenDevice, ast: UOp, opts: "tuple[Opt, ...]") -> bool:
    """Say whether a kernel takes a list, which another version of plugrad may have found."""
    prepared = codegen.PREPARE.run(ast, device.capabilities)
    try:
        kernel_opt.KernelOpt(prepared, device.capabilities).apply_all(opts)
    except KernelOptError:
        return False
    return True


class _Search:
    def __init__(self, device: OpenDevice, ast: UOp) -> None:
        self.device = device
        self.ast = codegen.PREPARE.run(ast, device.capabilities)
        self.seen: set[UOp] = set()
        self.refused = 0

    def run(self, width: int) -> "tuple[Opt, ...]":
        plain = kernel_opt.KernelOpt(self.ast, self.device.capabilities)
        chosen = heuristic.optimise(kernel_opt.KernelOpt(self.ast, self.device.capabilities))
        lowered = [self._lowered(plain), self._lowered(chosen)]
        loops, base = self._compiled_together(lowered)
        trial = Trial(self.device, self.ast, loops.program.estimates.flops)
        trial.expect(loops)
        if not trial.agrees(base):
            # roundings matter to this kernel's results, so that no list could be told from a wrong one
            return base.program.opts
        trial.time([base], _ROUNDS)
        found = self._walk(base, trial, width)
        best = found
        if found is not base:
            base.seconds.clear()
            found.seconds.clear()
            trial.time([base, found], _LAST_ROUNDS)
            best = found if found.best < base.best * _WORTH_A_STEP else base
        if events.active:
            events.emit(
                events.SearchEvent(
                    name=lowered[1].name,
                    device=self.device.name,
                    before=base.program.opts,
                    after=best.program.opts,
                    seconds_before=base.best,
                    seconds_after=best.best,
                    tried=len(self.seen),
                    refused=self.refused,
                )
            )
        return best.program.opts

    def _walk(self, base: Variant, trial: Trial, width: int) -> Variant:
        beam = [base]
        with progress("optimisation steps", _STEPS) as report:
            for step in range(_STEPS):
                report(step)
                fresh = [v for v in self._compiled(self._promising(beam)) if self._is_right(v, trial)]
                trial.time([beam[0], *fresh], _ROUNDS, _GIVE_UP_AT)
                before, beam = beam[0], sorted([*beam, *fresh], key=lambda v: v.best)[:width]
                if beam[0].best > before.best * _WORTH_A_STEP:
                    break
        return beam[0]

    def _is_right(self, variant: Variant, trial: Trial) -> bool:
        is_right = trial.agrees(variant)
        self.refused += not is_right
        return is_right

    def _promising(self, beam: Sequence[Variant]) -> "list[codegen.Lowered]":
        """Return the new neighbours of some lists that need the fewest operations."""
        found: list[tuple[float, codegen.Lowered]] = []
        least = float("inf")
        for variant in beam:
            for kernel in neighbourhood.neighbours(self.ast, self.device.capabilities, variant.program.opts):
                if kernel.ast in self.seen:
                    continue
                self.seen.add(kernel.ast)
                try:
                    lowered = self._lowered(kernel)
                except KernelOptError:
                    continue
                if len(lowered.program) <= _LONGEST_PROGRAM:
                    cost = program_cost(lowered.program)
                    least = min(least, cost)
                    found.append((cost, lowered))
        found.sort(key=lambda pair: pair[0])
        near = [lowered for cost, lowered in found if cost <= least * _FAR_MORE_OPERATIONS]
        return near[: _TIMED * len(beam)]

    def _lowered(self, kernel: "kernel_opt.KernelOpt") -> "codegen.Lowered":
        with collector_paused():
            return codegen.lower_optimised(kernel, self.ast, build.extra_rules(self.device))

    def _compiled(self, kernels: "Sequence[codegen.Lowered]") -> list[Variant]:
        try:
            return self._compiled_together(kernels)
        except CompileError:
            found: list[Variant] = []
            for kernel in kernels:
                with suppress(CompileError):
                    found += self._compiled_together([kernel])
            return found

    def _compiled_together(self, kernels: "Sequence[codegen.Lowered]") -> list[Variant]:
        # kernels of one library need names of their own
        named = [replace(kernel, name=f"{kernel.name}_{i}") for i, kernel in enumerate(kernels)]
        sources = [build.render(self.device, kernel) for kernel in named]
        with compile_queue(self.device, len(named)) as queue:
            units = zip(named, sources, strict=True)
            done = [compiled for kernel, source in units for compiled in queue.put((kernel.name, source))]
            done += queue.drain()
        programs = [
            build.program(kernel, source, lib)
            for kernel, source, (lib, _) in zip(named, sources, done, strict=True)
        ]
        return [Variant(program, self.device.runner(program), []) for program in programs]


def program_cost(program: Sequence[UOp]) -> float:
    """Return the operations and memory accesses that a program runs, a vector's as one.

    Loops of symbolic size count with their greatest size. A step on each axis of a launch counts once, so
    that programs of one kernel can be compared only where their launches have the same size.
    """
    steps, total = [1.0], 0.0
    for u in program:
        if u.op is Ops.RANGE:
            steps.append(steps[-1] * (constant_size(u) or max(1, int(u.src[0].vmax))))
        elif u.op is Ops.END:
            steps.pop()
        elif u.op is Ops.SPECIAL:
            steps[:] = [n * (int(u.vmax) + 1) for n in steps]
        elif u.op in (Ops.LOAD, Ops.STORE, Ops.WMMA):
            total += steps[-1]
        elif u.op in ALU:
            total += steps[-1] * op_cost(u.op)
    return total
