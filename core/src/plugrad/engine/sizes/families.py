"""Remember kernels by skeleton, and choose the template that serves another size.

Two of one size cost two launches; a second size would cost a compiler run.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from plugrad._frozen import frozen
from plugrad._util import LazyModule
from plugrad.device import OpenDevice
from plugrad.engine.sizes.skeleton import Skeleton, skeleton_of
from plugrad.engine.sizes.template import Numbers, Template, template_of
from plugrad.runtime.lru_cache import LruCache
from plugrad.settings import settings
from plugrad.uop.strides import constant_size
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.codegen.opt import analysis
else:
    # most processes ask for each kernel in one size
    analysis = LazyModule("plugrad.codegen.opt.analysis")

#: A graph, and the values of its variables that make it the one that was asked for.
Instance = tuple[UOp, Mapping[str, int]]

# Operations, loads and stores of a kernel whose template costs less than a call of Python does, some 150 us.
# On a Zen 4 core, templates take up to 7 times as long as a kernel of 2**15, 20 us, where no loop of fixed
# size is left for vectors; where one is, some 1.2 times, and a transpose of 2**18 160 us more.
_MOST_WORK = 1 << 18
_MOST_WORK_WITHOUT_LANES = 1 << 15
_LANES = 8
# The level of SHARE_SIZES at which large kernels are shared as well.
_SHARE_ALL = 2
# Templates of a skeleton, and graphs that each is made from.
_MOST_GROUPS = 8
_MOST_EXAMPLES = 8


@frozen
class _Group:
    """Graphs of one skeleton that share a template: those of one layer, in many sizes."""

    examples: tuple[Numbers, ...]
    template: Template | None = None
    has_lanes: tuple[bool, ...] = ()
    """Of each body of the template."""

    def instance(self, numbers: Numbers, bodies: "Sequence[analysis.LoopBody]") -> Instance | None:
        """Return the template and the values of its variables, if it fits."""
        if self.template is None:
            return None
        apart = [body for body, has_lanes in zip(bodies, self.has_lanes, strict=True) if not has_lanes]
        if _takes_long(apart, _MOST_WORK_WITHOUT_LANES):
            return None
        values = self.template.bind(numbers)
        return None if values is None else (self.template.kernel, values)

    def with_example(self, skeleton: Skeleton, numbers: Numbers) -> "_Group | None":
        """Return the group with one more graph; None if no template serves all."""
        if len(self.examples) == _MOST_EXAMPLES:
            return None
        examples = *self.examples, numbers
        template = template_of(skeleton, examples)
        if template is None:
            return None
        return _Group(examples, template, tuple(map(_has_lanes, analysis.bodies_of(template.kernel))))

    @property
    def variables(self) -> int:
        """The number of variables."""
        return 0 if self.template is None else len(self.template.places)


_families: LruCache[tuple[OpenDevice, Skeleton], list[_Group]] = LruCache()


def instances(device: OpenDevice, asts: Iterable[UOp]) -> dict[UOp, Instance]:
    """Return the graph to compile for each kernel that was not there yet.

    The first kernel of a skeleton is compiled as it is, and so are a few that are asked for beside it: the
    layers of a model, which all run again in the next step.
    """
    new: set[Skeleton] = set()
    out: dict[UOp, Instance] = {}
    for ast in asts:
        skeleton, numbers = skeleton_of(ast)
        groups = _families.get((device, skeleton))
        if groups is None:
            groups = list[_Group]()
            _families.put((device, skeleton), groups, settings.CACHE_KERNELS)
            new.add(skeleton)
        is_full = len(groups) == _MOST_GROUPS
        may_share = groups and (is_full or skeleton not in new)
        instance = _instance(skeleton, groups, ast, numbers) if may_share else None
        if instance is None and not is_full:
            groups.append(_Group((numbers,)))
        out[ast] = instance or (ast, {})
    return out


def _instance(skeleton: Skeleton, groups: list[_Group], ast: UOp, numbers: Numbers) -> Instance | None:
    """Return the template that fits, or else one more general: that with the fewest variables."""
    bodies = analysis.bodies_of(ast)
    if _takes_long(bodies, _MOST_WORK):
        return None
    for group in groups:
        if (instance := group.instance(numbers, bodies)) is not None:
            return instance
    wider = [(wide, group) for group in groups if (wide := group.with_example(skeleton, numbers)) is not None]
    if not wider:
        return None
    best, group = min(wider, key=lambda pair: pair[0].variables)
    instance = best.instance(numbers, bodies)
    if instance is None:
        return None
    if group.variables in (0, best.variables) or len(groups) == _MOST_GROUPS:
        groups.remove(group)
    # more variables cost time: those who can do with fewer go on with the other one
    groups.append(best)
    return instance


def _takes_long(bodies: "Iterable[analysis.LoopBody]", most: int) -> bool:
    """Say whether loops do more than `most` operations, where that decides."""
    return settings.SHARE_SIZES != _SHARE_ALL and analysis.work_of(bodies) > most


def _has_lanes(body: "analysis.LoopBody") -> bool:
    """Say whether vectors have a loop of fixed size, if any is not."""
    sizes = [constant_size(r) for r in body.loops]
    return None not in sizes or any(size is not None and size >= _LANES for size in sizes)


def clear_families() -> None:
    """Forget all skeletons."""
    _families.clear()
