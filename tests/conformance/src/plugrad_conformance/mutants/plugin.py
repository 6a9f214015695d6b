"""The plugins of mutants with defects after import: `plugin:NAME` is the mutant NAME."""

from plugrad_conformance.mutants.hooks import MutantHooks
from plugrad_conformance.mutants.register import mutant_named


def __getattr__(name: str) -> MutantHooks:
    try:
        return MutantHooks(mutant_named(name.replace("_", "-")))
    except KeyError as error:
        raise AttributeError(name) from error
