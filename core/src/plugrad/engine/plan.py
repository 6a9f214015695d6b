"""ExecutionPlan what realizing values takes: the schedule, its memory, and where each value is afterwards."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from plugrad import events
from plugrad._frozen import frozen
from plugrad._util import LazyModule, collector_paused
from plugrad.device import Device
from plugrad.dtype import DType
from plugrad.engine import storage
from plugrad.engine.arena import Prepared, prepare, temporaries
from plugrad.engine.checks import lines_of
from plugrad.engine.hazards import Pending, overwritten_by, pending_readers
from plugrad.engine.resolve_graph import resolve_graph, resolved_nodes
from plugrad.engine.schedule_cache import Canonical, KnownParts, cached_schedule, canonicalize
from plugrad.engine.slice_offsets import variable_offsets
from plugrad.progress import progress
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.origin import CallSite, call_site
from plugrad.schedule.prepare.lower_complex import complex_view
from plugrad.schedule.shape_guards import Condition
from plugrad.schedule.versions import IN_PLACE, VERSIONS, device_of, memory_of, outputs_of_kernel, owners
from plugrad.settings import settings
from plugrad.uop import MOVEMENT, Ops, UOp, greatest
from plugrad.uop.shape import pairs_of

if TYPE_CHECKING:
    from plugrad.schedule import create, fusion
    from plugrad.schedule.calls.kernelize import KernelCall
    from plugrad.uop import spec
else:
    # whoever computes nothing needs no scheduler, and should not wait for its import
    create = LazyModule("plugrad.schedule.create")
    fusion = LazyModule("plugrad.schedule.fusion")
    spec = LazyModule("plugrad.uop.spec")

# What needs no kernel to be there: memory, and numbers that any kernel can write down.
_THERE = frozenset({Ops.BUFFER, Ops.CONST, Ops.BIND, Ops.DEFINE_VAR})
# What is not computed for itself: views, what is there, and what gradients alone see.
_PASSED = frozenset({*MOVEMENT, *_THERE, Ops.BITCAST, Ops.DETACH})
# Values whose memory is all of them, whatever part is asked for.
_WHOLE = frozenset({Ops.ASSIGN, Ops.AFTER, Ops.CONTIGUOUS, Ops.COPY})


@frozen
class Result:
    """A value that has memory afterwards.

    Attributes:
        value: a node of the user's graph.
        place: where it will lie: a BUFFER, or movement ops on one.
        made: the node of the schedule that stands for it.
        is_passing: a version of memory that a later one in this schedule overwrites.
    """

    value: UOp
    place: UOp
    made: UOp
    is_passing: bool = False


@frozen
class ExecutionPlan:
    """A schedule and the memory that it runs on.

    Attributes:
        graph: the canonical graph that was scheduled.
        calls: what to run.
        conditions: what has to hold of the values of its variables.
        memory: the buffer of each node that a call names.
        temporaries: the buffers among them that nobody asks for afterwards.
        results: where values are afterwards.
        lines: the lines that wrote nodes of the graph down, under CHECK=1.
    """

    graph: Canonical
    calls: "tuple[KernelCall, ...]"
    conditions: tuple[Condition, ...]
    memory: dict[UOp, Buffer]
    temporaries: frozenset[Buffer]
    results: list[Result]
    lines: Mapping[UOp, CallSite]

    def buffers(self, call: "KernelCall") -> tuple[Buffer, ...]:
        """Return the memory that `call` works on, slot by slot."""
        return tuple([self.memory[node] for node in call.memory])

    def overwritten(self, calls: "Iterable[KernelCall]") -> set[UOp]:
        """Return the BUFFERs that `calls` write over; what the schedule filled itself is none."""
        targets = [target for call in calls for target in call.targets]
        if not targets:
            return set()
        memory, buffers = owners(), self.graph.buffers
        return {buffers[owner] for owner in map(memory, targets) if owner in buffers}


def make_plan(
    values: Iterable[UOp],
    device: str | None,
    *,
    share_memory: bool = True,
    share_slices: bool = True,
    before: "Mapping[UOp, UOp] | None" = None,
    constants: "Collection[Buffer]" = frozenset(),
    known: "Resolved | None" = None,
) -> ExecutionPlan:
    """Return the plan for giving `values` memory.

    Args:
        values: nodes of the user's graph.
        device: where values without a device are computed; None: the default device.
        share_memory: let intermediate values that are not alive at the same time lie in the same memory.
        share_slices: let the kernels of one slice of memory serve all others of its length.
        before: more values, each with the graph that gives it memory (see `plugrad.engine.hazards`).
        constants: memory whose contents stay, so that what is computed from it alone is computed once.
        known: the values resolved, if that has been done.
    """
    default = Device.canonicalize(device)
    given = {v: v for v in values if v.device is not None or storage.resolve(v, default).device is None}
    roots: Sequence[UOp] = tuple(given)
    nodes = resolved = resolved_nodes(roots) if not before and all(map(_is_root, roots)) else None
    is_resolved = nodes is not None
    if nodes is None or resolved is None:
        given.update(before or {})
        found = _resolve(given, known)
        roots, nodes, resolved = found.roots, found.nodes, found.graphs
    if settings.SPEC:
        spec.verify(UOp.sink(*roots), spec.tensor_spec)
    graph = canonicalize(roots, nodes, variable_offsets(nodes) if share_slices else None)
    if events.active and events.listening(events.RenameEvent):
        events.emit(events.RenameEvent((resolved, graph.nodes)))
    memory = {numbered: storage.buffer_of(b) for numbered, b in graph.buffers.items()}
    kept = frozenset([n for n, buffer in memory.items() if buffer in constants] if constants else ())
    made = cached_schedule(graph.sink, default, lambda: _schedule(graph.sink, default, kept), kept)
    places = _Places(graph, memory, default)
    if is_resolved and not made.schedule.effects:
        pairs = zip(roots, made.schedule.results, strict=True)
        results = [Result(value, places.of(final, value.dtype), final) for value, final in pairs]
    else:
        results = _results(given, resolved, graph, made, places)
    passing = dict(temporaries(made, share_memory))
    memory.update(passing)
    for part, owner in made.parts.items():
        ((begin, end),) = pairs_of(part)
        assert isinstance(begin, int), "parts of memory have a fixed place"
        assert isinstance(end, int), "parts of memory have a fixed size"
        memory[part] = memory[owner].view(end - begin, part.dtype, begin * part.dtype.itemsize)
    owners = frozenset([b.whole for b in passing.values()])
    calls, conditions = made.schedule.calls, made.schedule.conditions
    lines = lines_of(resolved, graph) if settings.CHECK else {}
    return ExecutionPlan(graph, calls, conditions, memory, owners, results, lines)


class Resolved:
    """Values with what is realized as memory, as it is now.

    Attributes:
        top: the values, as one node.
        graphs: what stands for nodes below it.
        roots: the values to compute.
        nodes: these and all nodes below.
    """

    def __init__(self, values: Iterable[UOp], known: Mapping[UOp, UOp] | None = None) -> None:
        self.top = UOp.sink(*values)
        self.graphs = resolve_graph(self.top, known or {})
        found = map(root_of, self.graphs[self.top].src)
        self.roots = list(dict.fromkeys(root for root in found if root is not None))
        self.nodes = UOp.sink(*self.roots).toposort()

    @cached_property
    def waiting(self) -> Pending:
        """Pending readers of memory that computing the values overwrites."""
        return pending_readers(self.roots, self.nodes, self.graphs)


def _resolve(given: dict[UOp, UOp], known: Resolved | None) -> Resolved:
    """Return the values to compute for `given`, to which pending readers are added."""
    found = known if known is not None and known.top.src == (*given.values(),) else Resolved(given.values())
    if found.waiting:
        given.update(found.waiting)
        return Resolved(given.values(), found.graphs)
    return found


def _is_root(value: UOp) -> bool:
    """Say whether a value is computed for itself: no view, memory or number."""
    return bool(value.src) and value.op not in _PASSED


def root_of(u: UOp) -> UOp | None:
    """Return the value to compute for the view `u`; None if it is in memory.

    That is the smallest of the values that `u` is a view of; of equally large ones, that which saves a view.
    """
    base = u.base
    if base.op in _THERE:
        return None
    if base.op in _WHOLE and not _only_reshaped(u, base) and not _is_loaded(base):
        return base
    if base.op in IN_PLACE:
        return base
    chain = [u]
    while chain[-1] is not base:
        chain.append(chain[-1].src[0])
    chain.reverse()
    best = base
    for view, below in zip(chain[1:], chain, strict=False):
        is_next = below is best and view.op is Ops.RESHAPE
        best = view if is_next or _is_smaller(view, best) else best
    return best


def _is_loaded(u: UOp) -> bool:
    """Say whether `u` copies from a device that only stores: its parts are loaded alone."""
    device = u.src[0].device
    return u.op is Ops.COPY and device is not None and not Device[device].can_compute


def _only_reshaped(u: UOp, base: UOp) -> bool:
    while u.op is Ops.RESHAPE:
        u = u.src[0]
    return u is base


def _is_static(u: UOp) -> bool:
    return all(isinstance(size, int) for size in u.shape)


def _is_smaller(view: UOp, best: UOp) -> bool:
    """Say whether a view takes less memory for all values of its variables."""
    most, room = _numel(view), _numel(best)
    return most < room or (most == room and _is_static(best) and not _is_static(view))


def _numel(u: UOp) -> int:
    return math.prod(map(greatest, u.shape))


def _schedule(sink: UOp, default: str, constants: frozenset[UOp]) -> Prepared:
    nodes = sink.toposort()
    names = {u.device or default for u in nodes if u.op in (Ops.BUFFER, Ops.COPY)} | {default}
    cost = {
        name: fusion.CostModel.of(Device[name].capabilities, deterministic=settings.DETERMINISTIC)
        for name in names
        if Device[name].can_compute
    }
    known = KnownParts(default, settings.DETERMINISTIC)
    with progress(f"scheduling {len(nodes)} operations", None), collector_paused():
        return prepare(create.create_schedule(sink, cost, default, constants, known))


class _Places:
    """The memory of a schedule's nodes, new where a node owns some."""

    def __init__(self, graph: Canonical, memory: dict[UOp, Buffer], default: str) -> None:
        self._buffers = graph.buffers
        self._bindings = graph.bindings
        self._memory = memory
        self._default = default
        self._known: dict[UOp, UOp] = {}
        self._site = call_site()  # one line asks for all of them

    def of(self, u: UOp, dtype: DType) -> UOp:
        """Return the place of `u`: a user's BUFFER, or movement ops on one.

        `dtype` is that of the value: in a schedule complex numbers have a last axis of parts.
        """
        above: list[UOp] = []
        while u not in self._known and (u.op in IN_PLACE or (u.op in MOVEMENT and u.base.op in VERSIONS)):
            above.append(u)
            u = u.src[0]
        place = self._known.get(u)
        if place is None:
            place = self._known[u] = self._buffers[u] if u.op is Ops.BUFFER else self._new(u, dtype)
        for node in reversed(above):
            if node.op in MOVEMENT:
                sizes = [self._bound(s) for s in node.src[1:]]
                if place.dtype is node.dtype:
                    place = UOp(node.op, node.dtype, (place, *sizes), node.arg)
                else:
                    place = complex_view(node, sizes, place)
            self._known[node] = place
        return place

    def _bound(self, size: Any) -> Any:
        return size.substitute(self._bindings) if self._bindings and isinstance(size, UOp) else size

    def _new(self, u: UOp, dtype: DType) -> UOp:
        """Return new memory for `u`, for a symbolic shape a view of its greatest size."""
        device = device_of(u) or self._default
        shape: Any = u.shape if dtype is u.dtype else u.shape[:-1]
        if all(isinstance(size, int) for size in shape):
            place = storage.new_buffer(device, shape, dtype, self._site)
            self._memory[u] = storage.buffer_of(place)
            return place
        flat = storage.new_buffer(device, (math.prod(map(greatest, shape)),), dtype, self._site)
        self._memory[u] = storage.buffer_of(flat)
        bound = tuple(map(self._bound, shape))
        return flat.shrink(((0, math.prod(bound)),)).reshape(bound)


def _results(
    given: Mapping[UOp, UOp], resolved: dict[UOp, UOp], graph: Canonical, made: Prepared, places: _Places
) -> list[Result]:
    """Return the places of the user's nodes afterwards: results, assigns and copies."""
    stands_for = dict(zip(graph.sink.src, made.schedule.results, strict=True))
    stands_for.update((u, v) for u, v in made.schedule.effects.items() if v in made.has_memory)
    gone = overwritten_by(u for u in graph.nodes.values() if u.op is Ops.ASSIGN)
    there: dict[UOp, Result] = {}
    for node, canonical in graph.nodes.items():
        final = stands_for.get(canonical)
        if final is not None:
            there[node] = Result(node, places.of(final, node.dtype), final, canonical in gone)
    out = dict(there)
    effects = made.schedule.effects
    for before, after in resolved.items():
        if before.op is Ops.KERNEL and (kernel := effects.get(graph.nodes[after])) is not None:
            # one launch wrote all of its outputs, whichever was asked for
            out.update((v, Result(v, memory_of(v), kernel)) for v in outputs_of_kernel(before))
        if before is not after and before.src and (found := there.get(after)) is not None:
            out[before] = Result(before, found.place, found.made, found.is_passing)
    for value, made_by in given.items():
        is_new = value.src and (value not in out or made_by is not value)
        if is_new and (view := _view_result(value, resolved[made_by], there)) is not None:
            out[value] = view
        if (result := out.get(value)) is not None and value.base.op not in VERSIONS:
            # what was computed in another shape is there as well
            while value.op is Ops.RESHAPE and (below := value.src[0]) not in out and _is_static(below):
                value = below
                out[value] = Result(value, result.place.reshape(value.shape), result.made)
    return [result for result in out.values() if result.value is not result.place]


def _view_result(value: UOp, final: UOp, there: dict[UOp, Result]) -> Result | None:
    base = final
    while base not in there and base.op in MOVEMENT:
        base = base.src[0]
    if base.op is Ops.BUFFER:
        return Result(value, final, base)
    if (found := there.get(base)) is None:
        return None
    return Result(value, final.substitute({base: found.place}), found.made, found.is_passing)
