"""Schedule one part of a graph, and place its kernels for each equal part."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from plugrad import events
from plugrad._frozen import frozen
from plugrad.schedule.calls.kernelize import KernelCall, make_kernel_call, written_kernel
from plugrad.schedule.fused_kernel import FusedKernel
from plugrad.schedule.fusion import COPIED, FILLED, SCATTERED, TOO_MANY_BUFFERS, Boundary, Devices
from plugrad.schedule.parts import GraphPart, PartKey
from plugrad.schedule.rangeify import Rangeify
from plugrad.schedule.scatter import scattered
from plugrad.schedule.versions import slice_of
from plugrad.uop import ELEMENTWISE, Ops, UOp, simplify


@frozen
class ScheduledPart:
    """The decisions of the scheduler about a part, in the nodes of its graph.

    Attributes:
        stored: values that have memory, for whatever reason beside the cost of computing them again.
        moving: assignments that read other elements of their memory than they write: their values are to be
            copied first. Where there are any, nothing else is decided.
        walk: what rangeify found out. None for a known part while nobody listens to passes: it is large.
        calls: the kernels; None until they are made.
    """

    stored: frozenset[UOp]
    moving: frozenset[UOp]
    walk: Rangeify | None
    calls: tuple[KernelCall, ...] | None = None


class KnownParts(Protocol):
    """Parts that were scheduled before, by their graph and their stored values."""

    def get(self, key: PartKey) -> ScheduledPart | None:
        """Return a part, or None."""
        ...

    def put(self, key: PartKey, part: ScheduledPart) -> None:
        """Remember a part."""
        ...


def find_part(key: PartKey, known: KnownParts | None) -> ScheduledPart | None:
    """Return a part scheduled before, with all that listeners to passes need."""
    found = None if known is None else known.get(key)
    is_whole = found is not None and (found.walk is not None or not events.listening(events.PassEvent))
    return found if is_whole else None


def loops_of(sink: UOp, stored: frozenset[UOp], devices: Devices) -> ScheduledPart:
    """Return the part with the values that get memory, and loops for every value."""
    reasons = _reasons_of_updates(sink)
    copied = _copied(sink)
    reasons |= dict.fromkeys(copied - stored, COPIED)
    stored |= copied
    while True:
        walk = Rangeify(sink, devices.cost, devices.default, set(stored), reasons)
        kernels = walk.run()
        # fuse until no kernel is too big, copy until none reads elements that it overwrites
        if cuts := {u for k in kernels for u in _cut_for_buffer_limit(k, walk)} - stored:
            stored |= cuts
            reasons |= dict.fromkeys(cuts, TOO_MANY_BUFFERS)
        elif sums := scattered(walk) - stored:
            stored |= sums
            reasons |= dict.fromkeys(sums, SCATTERED)
        else:
            moving = frozenset([k.root for k in kernels if _reads_elsewhere(k, walk)])
            return ScheduledPart(stored, moving, walk)


def with_kernels(sink: UOp, part: ScheduledPart) -> ScheduledPart:
    """Return the part with its kernels; one that has them stays as it is."""
    if part.calls is not None:
        return part
    walk = part.walk
    assert walk is not None, "loops come first"
    calls = [
        written_kernel(u, walk) if u.op is Ops.KERNEL else _sorted(make_kernel_call(walk.kernels[u], walk))
        for u in sink.toposort()
        if u.op is Ops.KERNEL or (u in walk.kernels and 0 not in u.shape)
    ]
    return replace(part, calls=tuple(calls), walk=walk if events.listening(events.PassEvent) else None)


def _sorted(call: KernelCall) -> KernelCall:
    """Return a call whose sums have their terms in the order of its names.

    Those of the graph may order two equal kernels differently.
    """
    return replace(call, ast=simplify(call.ast))


def placed_calls(part: GraphPart, scheduled: ScheduledPart) -> Iterator[KernelCall]:
    """Yield the calls of a part with the memory of the graph."""
    calls = scheduled.calls or ()
    made = {call.root for call in calls}
    for call in calls:
        yield KernelCall(
            ast=call.ast,
            memory=tuple([part.memory(u, made) for u in call.memory]),
            root=part.nodes[call.root],
            reads=tuple(map(part.version, call.reads)),
            target=None if call.target is None else part.version(call.target),
            device=call.device,
            after=tuple(map(part.version, call.after)),
        )


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


def _cut_for_buffer_limit(kernel: FusedKernel, walk: Rangeify) -> set[UOp]:
    """Return values that must have memory, to keep `kernel` within its device's buffers.

    From inputs to result, whenever a value would read too much, the source that reads most is cut.
    """
    most = walk.cost[kernel.device].max_buffers if kernel.device in walk.cost else 0
    if not most or kernel.ast is None or len(_buffers(kernel, walk)) <= most:
        return set()
    cuts: set[UOp] = set()
    # for each value, the memory that computing it reads; one place is for the output
    below: dict[UOp, frozenset[UOp]] = {}
    for u in kernel.root.toposort(lambda u: u is kernel.root or not _is_memory(u, walk)):
        reads = [
            below[s] if s in below else frozenset({walk.storage_of(s)} if _is_memory(s, walk) else ())
            for s in u.src
        ]
        while len(frozenset[UOp]().union(*reads)) > most - 1:
            largest = max(range(len(reads)), key=lambda i: len(reads[i]))
            cut = u.src[largest].base
            if len(reads[largest]) < 2 or cut.op not in ELEMENTWISE | {Ops.REDUCE_AXIS}:
                break
            cuts.add(cut)
            reads[largest] = frozenset((cut,))
        below[u] = frozenset[UOp]().union(*reads)
    return cuts


def _buffers(kernel: FusedKernel, walk: Rangeify) -> set[UOp]:
    assert kernel.ast is not None, "a COPY has no kernel"
    return {walk.storage_of(walk.memory_of(u)) for u in kernel.ast.toposort() if u.op is Ops.PARAM}


def _is_memory(u: UOp, walk: Rangeify) -> bool:
    return u in walk.kernels or u.op in (Ops.BUFFER, Ops.AFTER)
