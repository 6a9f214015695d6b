"""All mutants by name, and their devices."""

from functools import cache

from plugrad.plugin.manager import plugins
from plugrad_conformance.mutants import arithmetic, contract, graphs, launch, matrices, memory
from plugrad_conformance.mutants.mutant import Mutant

#: What a fresh process runs so that it knows the mutants' devices.
SETUP = "from plugrad_conformance.mutants.register import register; register()"

#: Wrapped like the mutants, without a defect: every case that kills one of them must pass.
UNMUTATED = (
    Mutant("none", "no defect", ()),
    Mutant("none-compiled", "no defect", (), base="CPU"),
    Mutant("none-with-matrices", "no defect", (), renderer=matrices.declaring),
)


@cache
def all_mutants() -> tuple[Mutant, ...]:
    """Return the mutants, by what they break."""
    return (
        *memory.MUTANTS,
        *launch.MUTANTS,
        *graphs.MUTANTS,
        *arithmetic.MUTANTS,
        *matrices.MUTANTS,
        *contract.MUTANTS,
    )


def mutants_like(unmutated: Mutant) -> list[Mutant]:
    """Return the mutants of the same base, with its matrix instruction or without."""
    return [
        mutant
        for mutant in all_mutants()
        if mutant.base == unmutated.base
        and (mutant in matrices.MUTANTS) == (unmutated.renderer is matrices.declaring)
    ]


@cache
def mutant_named(name: str) -> Mutant:
    """Return one mutant.

    Raises:
        KeyError: there is none of this name.
    """
    return {mutant.name: mutant for mutant in (*all_mutants(), *UNMUTATED)}[name]


def register() -> None:
    """Make a device of each mutant. Nothing is imported until one is asked for."""
    for mutant in (*all_mutants(), *UNMUTATED):
        plugins.register_builtin(mutant.device, mutant.value)
