"""The scheduler's passes in order: from a graph of tensors to kernel calls."""

import itertools
from collections.abc import Mapping
from dataclasses import replace

from plugrad._frozen import frozen
from plugrad.schedule.calls.horizontal_fusion import join_kernels
from plugrad.schedule.calls.kernelize import KernelCall
from plugrad.schedule.calls.order import VersionConflict, order
from plugrad.schedule.check import check_graph
from plugrad.schedule.copies import with_copies
from plugrad.schedule.fusion import CostModel, Devices
from plugrad.schedule.partial_load import loaded_parts
from plugrad.schedule.parts import GraphPart, split
from plugrad.schedule.prepare import lower_complex as pairs
from plugrad.schedule.prepare.activation_masks import read_masks_of_results
from plugrad.schedule.prepare.dispatch import dispatch
from plugrad.schedule.prepare.normalize import normalize
from plugrad.schedule.scatter import update_atomically
from plugrad.schedule.scheduled_part import (
    KnownParts,
    PartKey,
    ScheduledPart,
    find_part,
    loops_of,
    placed_calls,
    with_kernels,
)
from plugrad.schedule.shape_guards import Condition, conditions_of
from plugrad.schedule.versions import VERSIONS, memory_of
from plugrad.uop import Ops, UOp
from plugrad.uop.passes import Pipeline, Stage
from plugrad.uop.spec import kernel_spec, real_spec

# What a schedule brings about beside the values that were asked for; nobody may bring it about again.
_EFFECTS = frozenset({Ops.ASSIGN, Ops.AFTER, Ops.COPY, Ops.KERNEL})


@frozen
class Schedule:
    """Kernel calls in order, and where the values are afterwards.

    Attributes:
        calls: what to run.
        results: for each source of the SINK, the node whose memory holds it.
        effects: from each assignment and copy in the graph to the node whose memory holds it.
        conditions: what has to hold of the values of its variables before it runs.
    """

    calls: tuple[KernelCall, ...]
    results: tuple[UOp, ...]
    effects: Mapping[UOp, UOp]
    conditions: tuple[Condition, ...] = ()


@frozen
class ScheduleDraft:
    """A schedule in the making.

    Attributes:
        graph: SINK of the values that were asked for, and behind them of the graph's effects.
        asked: how many values were asked for.
        stored: values that get memory whatever the cost model says.
        known: parts that were scheduled before.
        parts: what `graph` falls into, and how each is scheduled; None before rangeify.
        calls: the kernels; None until they are made.
    """

    graph: UOp
    asked: int
    stored: frozenset[UOp] = frozenset()
    known: KnownParts | None = None
    parts: tuple[tuple[GraphPart, ScheduledPart], ...] | None = None
    calls: tuple[KernelCall, ...] | None = None

    @property
    def graphs(self) -> tuple[UOp, ...]:
        """The kernels once they are made (copies have none), before that the tensor graph."""
        if self.calls is None:
            return (self.graph,)
        return tuple(call.ast for call in self.calls if call.ast.op is Ops.SINK)

    def __str__(self) -> str:
        return "\n".join(map(str, self.graphs))


def lower_complex(draft: ScheduleDraft, devices: Devices) -> ScheduleDraft:
    """Turn complex numbers into pairs of real ones."""
    return replace(draft, graph=pairs.lower_complex(draft.graph))


def normalize_graph(draft: ScheduleDraft, devices: Devices) -> ScheduleDraft:
    """Remove nodes for gradients or spelling only, and give requested numbers a kernel."""
    graph = read_masks_of_results(normalize(draft.graph, devices))
    values = zip(graph.src, draft.graph.src, strict=True)
    written = [_written(u, before.device) for u, before in itertools.islice(values, draft.asked)]
    graph = UOp.sink(*written, *graph.src[draft.asked :])
    stored = frozenset(u for u in graph.src[: draft.asked] if u.base.op not in VERSIONS)
    return replace(draft, graph=graph, stored=stored)


def scatter(draft: ScheduleDraft, devices: Devices) -> ScheduleDraft:
    """Turn sums by position into atomic updates where these cost less."""
    graph, new = update_atomically(draft.graph, devices)
    stored = frozenset(new[u] for u in draft.stored if new[u].base.op not in VERSIONS)
    return replace(draft, graph=graph, stored=stored)


def rangeify(draft: ScheduleDraft, devices: Devices) -> ScheduleDraft:
    """Choose by cost the values that get memory, and give every value its loops."""
    graph, stored, known = draft.graph, draft.stored, draft.known
    while True:
        made: dict[PartKey, ScheduledPart] = {}
        parts: list[tuple[GraphPart, ScheduledPart]] = []
        for part in split(graph, stored, devices.takes_parts):
            if (scheduled := made.get(part.key) or find_part(part.key, known)) is None:
                scheduled = loops_of(*part.key, devices)
            made[part.key] = scheduled
            parts.append((part, scheduled))
        if not (moving := {part.nodes[u] for part, scheduled in parts for u in scheduled.moving}):
            stored |= {part.nodes[u] for part, scheduled in parts for u in scheduled.stored}
            return replace(draft, graph=graph, stored=stored, parts=tuple(parts))
        graph, stored = with_copies(graph, stored, values_of=moving)


def make_kernels(draft: ScheduleDraft, devices: Devices) -> ScheduleDraft:
    """Give kernels canonical parameters, ranges and names, so that equal computations are one object."""
    assert draft.parts is not None, "rangeify comes first"
    made: dict[PartKey, ScheduledPart] = {}
    for part, scheduled in draft.parts:
        if part.key not in made:
            made[part.key] = with_kernels(part.sink, scheduled)
    if draft.known is not None and len(draft.parts) > 1:
        for key, scheduled in made.items():
            draft.known.put(key, scheduled)
    parts = tuple([(part, made[part.key]) for part, _ in draft.parts])
    calls = {call.root: call for placed in parts for call in placed_calls(*placed)}
    return replace(draft, parts=parts, calls=tuple([calls[u] for u in draft.graph.toposort() if u in calls]))


def put_in_order(draft: ScheduleDraft, devices: Devices) -> ScheduleDraft:
    """Order kernels by their reads and writes. Versions that would be gone are copied first."""
    while True:
        try:
            kept = frozenset(draft.graph.src[: draft.asked])
            calls = order(draft.calls or (), draft.graph.toposort(), kept)
            return replace(draft, calls=tuple(calls))
        except VersionConflict as conflict:
            graph, stored = with_copies(draft.graph, draft.stored, versions=conflict.versions)
            draft = replace(draft, graph=graph, stored=stored, calls=None)
            draft = make_kernels(rangeify(draft, devices), devices)


def fuse_horizontally(draft: ScheduleDraft, devices: Devices) -> ScheduleDraft:
    """Join kernels over the same loops that read the same memory."""
    return replace(draft, calls=tuple(join_kernels(draft.calls or (), devices.cost)))


SCHEDULING = Pipeline(
    "schedule",
    (
        Stage(lower_complex, real_spec, "first: nothing behind it knows of complex numbers"),
        Stage(normalize_graph, real_spec, "fusion should see one spelling of each value"),
        Stage(scatter, real_spec, "what a sum by position selects is known from its last spelling"),
        Stage(rangeify, real_spec, "all uses of a value are known once the graph is final"),
        Stage(make_kernels, kernel_spec, "a kernel is cut out when all of its loops are there"),
        Stage(put_in_order, kernel_spec, "what a kernel reads is known from the kernel itself"),
        Stage(fuse_horizontally, kernel_spec, "last: the order says what may run at one time"),
    ),
)


def create_schedule(
    sink: UOp,
    cost: Mapping[str, CostModel],
    default_device: str,
    constants: frozenset[UOp] = frozenset(),
    known: KnownParts | None = None,
) -> Schedule:
    """Return the kernels that compute the sources of `sink`, in a runnable order.

    Args:
        sink: SINK of the values that are to have memory.
        cost: the cost model of each device in the graph that computes, and of `default_device`.
        default_device: where values without a device are computed.
        constants: BUFFERs whose contents stay from run to run, but for those that the graph writes.
        known: parts of graphs that were scheduled before, by the same costs.

    Raises:
        ScheduleError: the graph mixes devices, assigns to what is no memory, or has a node that is no tensor
            operation.
        DeviceError: a device that only stores data would have to compute.
    """
    chosen = dispatch(sink, cost, default_device)
    graph = chosen.get(sink, sink)
    check_graph(graph)
    asked = len(graph.src)
    parts = loaded_parts(graph, cost)
    top = UOp.sink(*(parts.get(u, u) for u in graph.src)) if parts else graph
    reached = top.toposort()
    effects = [u for u in sink.toposort() if u.op in _EFFECTS and chosen.get(u, u) in reached]
    # rewriting keeps the place of each source, which is how an effect is found again
    draft = ScheduleDraft(UOp.sink(*top.src, *(chosen.get(u, u) for u in effects)), asked, known=known)
    written = {memory_of(u.src[0].base) for u in reached if u.op is Ops.ASSIGN}
    done = SCHEDULING.run(draft, Devices(cost, default_device, constants - written))
    places = done.graph.src
    made = dict(zip(effects, places[asked:], strict=True))
    return Schedule(done.calls or (), places[:asked], made, conditions_of(graph))


def _written(u: UOp, device: str | None) -> UOp:
    """Give requested numbers a kernel that stores them; others inline them.

    The tag keeps the device: a sum over no elements of a device's memory is a number, but belongs there.
    """
    return u if u.device is not None else u.contiguous().rtag(device)
