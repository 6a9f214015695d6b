"""One schedule for graphs that differ only in buffers and values of variables.

The canonical graph has its buffers numbered in the order of use and bound values taken out; being
hash-consed, it is its own key.
"""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING

from plugrad._frozen import field, frozen
from plugrad.dtype import DType, is_complex
from plugrad.engine.arena import Prepared
from plugrad.engine.slice_offsets import with_offsets
from plugrad.errors import ScheduleError
from plugrad.runtime.lru_cache import LruCache
from plugrad.schedule.prepare.lower_complex import real_memory
from plugrad.settings import settings
from plugrad.uop import Ops, UOp
from plugrad.uop.ops import BufferArg

if TYPE_CHECKING:
    from plugrad.engine.recipes.recipe import Recipe
    from plugrad.schedule.parts import PartKey
    from plugrad.schedule.scheduled_part import ScheduledPart


@frozen
class Canonical:
    """A graph without what changes from one run to the next.

    Attributes:
        sink: the graph.
        buffers: from each numbered BUFFER, and what kernels call it, to the one it stands for.
        variables: (name, lowest, highest) of each variable.
        values: what variables are bound to, by name. A variable of a second value goes by another name.
        bindings: from each variable to its BIND.
        nodes: from each node of the given graph to its canonical form.
    """

    sink: UOp
    buffers: dict[UOp, UOp]
    variables: list[tuple[str, int, int]]
    values: dict[str, int]
    bindings: dict[UOp, UOp]
    nodes: dict[UOp, UOp] = field(repr=False)

    def renamed(self) -> list[UOp]:
        """Return the BINDs of variables that are bound to another value elsewhere in the graph."""
        return [bind for variable, bind in self.bindings.items() if bind.src[0] is not variable]

    def check_bound(self) -> None:
        """Raise ScheduleError if a variable has no value."""
        for name, lowest, highest in self.variables:
            if name not in self.values:
                raise ScheduleError(
                    f"the variable {name} ({lowest}..{highest}) has no value, so nothing that depends on it "
                    f"can be computed. Build with {name}.bind(value) in place of {name}."
                )


def canonicalize(
    roots: Sequence[UOp],
    graph: Collection[UOp] | None = None,
    offsets: Mapping[UOp, Mapping[int, UOp]] | None = None,
) -> Canonical:
    """Number the buffers of the graph with these roots, and take bound values out.

    Args:
        roots: what the graph computes.
        graph: its nodes, sources first, where somebody has walked it already.
        offsets: slices whose offsets are taken out as well, each with its BINDs by axis.
    """
    graph = graph or UOp.sink(*roots).toposort()
    buffers: dict[UOp, UOp] = {}
    variables: list[tuple[str, int, int]] = []
    values: dict[str, int] = {}
    bindings: dict[UOp, UOp] = {}
    done: dict[UOp, UOp] = {}
    known = done.__getitem__
    offsets = offsets or {}
    for bind in [bind for by_axis in offsets.values() for bind in by_axis.values()]:
        variable, values[variable.arg[0]] = bind.unbind()
        variables.append(variable.arg)
        bindings[variable] = bind
    for u in graph:
        op = u.op
        if not u.src:
            done[u] = u
            if op is Ops.BUFFER:
                # numbers below zero: no BUFFER of a user has one, so a cached graph keeps no memory alive
                done[u] = numbered = _numbered(-1 - len(buffers), u.dtype, u.arg.device, u.arg.shape)
                buffers[numbered] = u
                if is_complex(u.dtype):
                    # what kernels call it
                    buffers[real_memory(numbered)] = u
            elif op is Ops.DEFINE_VAR:
                variables.append(u.arg)
        elif u in offsets:
            by_axis = {axis: bind.src[0] for axis, bind in offsets[u].items()}
            done[u] = with_offsets(u, [done[s] for s in u.src], by_axis)
        elif op is Ops.DETACH:
            # gradients alone see it
            done[u] = done[u.src[0]]
        elif op is Ops.BIND:
            variable, value = u.unbind()
            if values.get(variable.arg[0], value) != value:
                variable = _another(variable, graph, values)
                variables.append(variable.arg)
            values[variable.arg[0]] = value
            bindings[variable] = u
            done[u] = variable
        else:
            src = tuple(map(known, u.src))
            # tags are for CHECK=1
            done[u] = u if src == u.src and u.tag is None else UOp(op, u.dtype, src, u.arg)
    sink = UOp.sink(*[done[root] for root in roots])
    return Canonical(sink, buffers, variables, values, bindings, done)


@lru_cache(1024)
def _numbered(number: int, dtype: DType, device: str, shape: tuple[int, ...]) -> UOp:
    return UOp(Ops.BUFFER, dtype, (), BufferArg(number, device, shape))


def _another(variable: UOp, graph: Iterable[UOp], taken: Container[str]) -> UOp:
    """Return a variable like `variable` with a name new to `graph` and `taken`."""
    name, *bounds = variable.arg
    names = {u.arg[0] for u in graph if u.op is Ops.DEFINE_VAR}
    free = next(f"{name}_{n}" for n in count(2) if f"{name}_{n}" not in names and f"{name}_{n}" not in taken)
    return UOp(Ops.DEFINE_VAR, variable.dtype, (), (free, *bounds))


# Training loops use a handful; the bound is for programs of ever new shapes.
_cache: LruCache[tuple[UOp, str, bool, frozenset[UOp]], Prepared] = LruCache()
_parts: "LruCache[tuple[UOp, frozenset[UOp], str, bool], ScheduledPart]" = LruCache()


def cached_schedule(
    sink: UOp, device: str, create: Callable[[], Prepared], constants: frozenset[UOp] = frozenset()
) -> Prepared:
    """Return the schedule of the canonical graph `sink`, from `create` unless it is known."""
    key = (sink, device, settings.DETERMINISTIC, constants)
    found = _cache.get(key)
    if found is None:
        found = create()
        _cache.put(key, found, settings.CACHE_SCHEDULES)
    return found


@frozen
class KnownParts:
    """Parts of schedules that were made before.

    Attributes:
        device: where values without a device are computed.
        deterministic: whether sums of floats have one order.
    """

    device: str
    deterministic: bool

    def get(self, key: "PartKey") -> "ScheduledPart | None":
        """Return the part of a graph, or None."""
        return _parts.get((*key, self.device, self.deterministic))

    def put(self, key: "PartKey", part: "ScheduledPart") -> None:
        """Remember how a part is scheduled."""
        _parts.put((*key, self.device, self.deterministic), part, settings.CACHE_SCHEDULES)


#: Recipes by the hash of a form (see `plugrad.engine.recipes`), which is long: a look-up hashes a key twice.
recipes: "LruCache[int, Recipe]" = LruCache()


def clear_schedules() -> None:
    """Forget all schedules."""
    _cache.clear()
    _parts.clear()
    recipes.clear()
