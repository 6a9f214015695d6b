"""Run each kernel as a template's instance, as if of a later size."""

import random
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from unittest import mock

from plugrad.device import OpenDevice
from plugrad.engine.compile import clear_loaded
from plugrad.engine.sizes import families
from plugrad.engine.sizes.families import Instance
from plugrad.engine.sizes.skeleton import Hole, skeleton_of
from plugrad.engine.sizes.template import Numbers, template_of
from plugrad.settings import context
from plugrad.uop.uop import UOp

_MOST_VARIABLES = 6
# The least number that is a size or a place, and no part of a rule.
_LEAST = {Hole.INDEX: 2, Hole.NUMEL: 1}


@contextmanager
def any_size() -> Generator[None]:
    """Run kernels that serve other sizes too; which sizes vary is drawn by the kernel."""
    # what was there before would run in their place
    clear_loaded()
    with context(SHARE_SIZES=1), mock.patch.object(families, "instances", _instances):
        yield
    clear_loaded()


def _instances(device: OpenDevice, asts: Iterable[UOp]) -> dict[UOp, Instance]:
    return {ast: _instance(ast) for ast in asts}


def _instance(ast: UOp) -> Instance:
    skeleton, numbers = skeleton_of(ast)
    template = template_of(skeleton, [numbers, _others(skeleton.holes, numbers, random.Random(ast.key))])
    values = None if template is None else template.bind(numbers)
    return (ast, {}) if template is None or values is None else (template.kernel, values)


def _others(holes: Iterable[Hole], numbers: Numbers, rng: random.Random) -> Numbers:
    """Return numbers of which some are larger, equal ones by as much."""
    pairs = list(zip(holes, numbers, strict=True))
    sizes = sorted({n for hole, n in pairs if hole in _LEAST and abs(n) >= _LEAST[hole]})
    larger = {n: n + rng.randint(1, 3) for n in sizes if rng.random() < 0.6}
    chosen = dict(list(larger.items())[:_MOST_VARIABLES])
    return tuple([chosen.get(n, n) if hole in _LEAST or hole is Hole.VALUE else n for hole, n in pairs])
