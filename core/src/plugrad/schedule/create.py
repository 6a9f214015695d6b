"""The scheduler's passes in order: from a graph of tensors to kernel calls."""

import itertools
from collections.abc import Mapping
from dataclasses import replace

from plugrad._frozen import frozen
from plugrad.schedule.buffer_limit import split_for_buffer_limit
from plugrad.schedule.check import check_graph
from plugrad.schedule.copies import Copies
from plugrad.schedule.fused_kernel import FusedKernel
from plugrad.schedule.fusion import COPIED, FILLED, SCATTERED, TOO_MANY_BUFFERS, Boundary, CostModel, Devices
from plugrad.schedule.kernelize import KernelCall, make_kernel_call, written_kernel
from plugrad.schedule.order import VersionConflict, order
from plugrad.schedule.partial_load import loaded_parts
from plugrad.schedule.prepare import lower_complex as pairs
from plugrad.schedule.prepare.dispatch import dispatch
from plugrad.schedule.prepare.normalize import normalize
from plugrad.schedule.rangeify import Rangeify
from plugrad.schedule.scatter import scattered, update_atomically
from plugrad.schedule.shape_guards import Condition, conditions_of
from plugrad.schedule.versions import VERSIONS, memory_of, slice_of
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
        walk: what rangeify found out; None before.
        calls: the kernels; None until they are made.
    """

    graph: UOp
    asked: int
    stored: frozenset[UOp] = frozenset()
    walk: Rangeify | None = None
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
    graph = normalize(draft.graph, devices)
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
    graph, stored, reasons = draft.graph, set(draft.stored), _reasons_of_updates(draft.graph)
    while True:
        copied = _copied(graph)
        reasons |= dict.fromkeys(copied - stored, COPIED)
        walk = Rangeify(graph, devices.cost, devices.default, stored | copied, reasons)
        kernels = walk.run()
        # fuse until no kernel is too big, copy until none reads elements that it overwrites
        if cuts := {u for k in kernels for u in split_for_buffer_limit(k, walk)} - stored:
            stored = stored | cuts
            reasons |= dict.fromkeys(cuts, TOO_MANY_BUFFERS)
        elif sums := scattered(walk) - stored:
            stored = stored | sums
            reasons |= dict.fromkeys(sums, SCATTERED)
        elif moving := frozenset(k.root for k in kernels if _reads_elsewhere(k, walk)):
            graph, stored = Copies(values_of=moving).apply(graph, stored)
        else:
            return replace(draft, graph=graph, stored=frozenset(stored), walk=walk)


def make_kernels(draft: ScheduleDraft, devices: Devices) -> ScheduleDraft:
    """Give kernels canonical parameters, ranges and names, so that equal computations are one object."""
    walk = draft.walk
    assert walk is not None, "rangeify comes first"
    calls = tuple(
        written_kernel(u, walk) if u.op is Ops.KERNEL else make_kernel_call(walk.kernels[u], walk)
        for u in draft.graph.toposort()
        if u.op is Ops.KERNEL or (u in walk.kernels and 0 not in u.shape)
    )
    return replace(draft, calls=calls)


def put_in_order(draft: ScheduleDraft, devices: Devices) -> ScheduleDraft:
    """Order kernels by their reads and writes. Versions that would be gone are copied first."""
    while True:
        try:
            kept = frozenset(draft.graph.src[: draft.asked])
            calls = order(draft.calls or (), draft.graph.toposort(), kept)
            return replace(draft, calls=tuple(calls))
        except VersionConflict as conflict:
            graph, stored = Copies(versions=conflict.versions).apply(draft.graph, set(draft.stored))
            draft = replace(draft, graph=graph, stored=frozenset(stored), calls=None)
            draft = make_kernels(rangeify(draft, devices), devices)


SCHEDULING = Pipeline(
    "schedule",
    (
        Stage(lower_complex, real_spec, "first: nothing behind it knows of complex numbers"),
        Stage(normalize_graph, real_spec, "fusion should see one spelling of each value"),
        Stage(scatter, real_spec, "what a sum by position selects is known from its last spelling"),
        Stage(rangeify, real_spec, "all uses of a value are known once the graph is final"),
        Stage(make_kernels, kernel_spec, "a kernel is cut out when all of its loops are there"),
        Stage(put_in_order, kernel_spec, "last: what a kernel reads is known from the kernel itself"),
    ),
)


def create_schedule(
    sink: UOp, cost: Mapping[str, CostModel], default_device: str, constants: frozenset[UOp] = frozenset()
) -> Schedule:
    """Return the kernels that compute the sources of `sink`, in a runnable order.

    Args:
        sink: SINK of the values that are to have memory.
        cost: the cost model of each device in the graph that computes, and of `default_device`.
        default_device: where values without a device are computed.
        constants: BUFFERs whose contents stay from run to run, but for those that the graph writes.

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
    draft = ScheduleDraft(UOp.sink(*top.src, *(chosen.get(u, u) for u in effects)), asked)
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


def _reasons_of_updates(graph: UOp) -> dict[UOp, Boundary]:
    """Return the reasons for the memory of updates, which is filled first."""
    updates = [u for u in graph.toposort() if u.op is Ops.ASSIGN and u.arg is not None]
    return dict.fromkeys((u.src[0] for u in updates), FILLED) | dict.fromkeys(updates, SCATTERED)


def _copied(graph: UOp) -> set[UOp]:
    """Return the values that need memory because they are copied to another device."""
    sources = [u.src[0] for u in graph.toposort() if u.op is Ops.COPY and 0 not in u.shape]
    return {u for u in sources if slice_of(u) is None}


def _reads_elsewhere(kernel: FusedKernel, walk: Rangeify) -> bool:
    """Say whether an assignment reads other elements of its memory than the one it writes."""
    root = kernel.root
    if root.op is not Ops.ASSIGN or kernel.ast is None:
        return False
    storage, written = walk.storage_of(root), kernel.ast.src[0].src[1]
    return any(
        u.op is Ops.INDEX and u.src[1] is not written and walk.storage_of(walk.memory_of(u.src[0])) is storage
        for u in kernel.ast.src[1].toposort()
    )
